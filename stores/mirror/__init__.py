"""The mirror: the ledger's events and rows in one DuckDB file, for questions across everything that agents did."""
