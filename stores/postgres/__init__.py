"""The PostgreSQL backend of the ledger; it needs the extra ``postgres``."""
