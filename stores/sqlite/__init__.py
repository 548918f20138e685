"""The SQLite backend of the ledger."""
