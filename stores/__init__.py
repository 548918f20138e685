"""Where facts rest: the ledger and its backends."""
