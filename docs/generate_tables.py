"""Writes docs/tables.md from the DDL: `python docs/generate_tables.py`. A test holds the two together."""

import sqlite3
from pathlib import Path

from researchdesk.stores.sqlite.migrations import steps

PAGE = Path(__file__).parent / "tables.md"
HEAD = """# Tables

Generated from the schema by `docs/generate_tables.py`. Ids of a session are unique together with `session_id`. Rows
are implied by events: `researchdesk verify` recomputes them, `researchdesk rebuild` writes them anew.
"""


def page() -> str:
    """The page that belongs to this version's schema."""
    database = sqlite3.connect(":memory:")
    for _, script in steps():
        database.executescript(script)
    names = database.execute(
        "SELECT name, type FROM sqlite_schema WHERE type IN ('table', 'view') ORDER BY rowid"
    )
    return HEAD + "".join(_section(database, name, kind) for name, kind in names.fetchall())


def _section(database: sqlite3.Connection, name: str, kind: str) -> str:
    lines = [
        f"\n## {name}{' (view)' if kind == 'view' else ''}\n",
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
