"""The chat over a desk: a graph that drives its turns from the ledger."""
