"""Writes docs/tables.md from the DDL: `python docs/generate_tables.py`. A test holds the two together."""

import sqlite3
from pathlib import Path

from researchdesk.stores.sqlite.migrations import steps

PAGE = Path(__file__).parent / "tables.md"
HEAD = """# Tables

Generated from the schema by `docs/generate_tables.py`. Ids of a session are unique together with `session_id`. Rows
are implied by events: `researchdesk verify` recomputes them, `researchdesk rebuild` writes them anew.
"""
KINDS = {"view": " (view)", "virtual": " (full-text index)"}


def page() -> str:
    """The page that belongs to this version's schema."""
    database = sqlite3.connect(":memory:")
    for _, script in steps():
        database.executescript(script)
    # The tables under a full-text index are the library's own.
    names = database.execute(
        "SELECT s.name, l.type FROM sqlite_schema s JOIN pragma_table_list l USING (name) "
        "WHERE l.schema = 'main' AND l.type <> 'shadow' ORDER BY s.rowid"
    )
    return HEAD + "".join(_section(database, name, kind) for name, kind in names.fetchall())


def _section(database: sqlite3.Connection, name: str, kind: str) -> str:
    lines = [
        f"\n## {name}{KINDS.get(kind, '')}\n",
        "| column | type | key |",
        "|---|---|---|",
    ]
    for _, column, declared, _, _, key in database.execute(f"PRAGMA table_info({name})"):
        lines.append(f"| `{column}` | {declared.lower()} | {key or ''} |")
    foreign = {(row[2], row[3]) for row in database.execute(f"PRAGMA foreign_key_list({name})")}
    targets = sorted({table for table, _ in foreign})
    if targets:
        lines += ["", "References: " + ", ".join(f"`{table}`" for table in targets) + "."]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
