"""Numbered schema steps: each file in `schema/` runs once, in order, in one transaction."""

import contextlib
from importlib.resources import files
from pathlib import Path

from researchdesk.state.errors import Unavailable
from researchdesk.stores.sqlite.connection import Connection, dbapi, sqlite_errors, transaction

# The tables under a full-text index are the library's own, whose versions make them differently.
SCHEMA = (
    "SELECT name, sql FROM sqlite_schema "
    "WHERE sql IS NOT NULL AND name NOT IN (SELECT name FROM pragma_table_list WHERE type = 'shadow')"
)
APPLICATION_ID = 0x5244_534B  # "RDSK"


def steps() -> list[tuple[int, str]]:
    """The schema steps of this version: number and SQL text."""
    folder = files("researchdesk.stores.sqlite") / "schema"
    found = sorted(
        (item for item in folder.iterdir() if item.name.endswith(".sql")), key=lambda item: item.name
    )
    return [(int(item.name[:3]), item.read_text(encoding="utf-8")) for item in found]


def expected_schema() -> set[tuple[str, str]]:
    """Name and SQL of everything that the steps make."""
    with contextlib.closing(dbapi.connect(":memory:")) as fresh:
        for _, sql in steps():
            fresh.executescript(sql)
        return set(fresh.execute(SCHEMA).fetchall())


def migrate(connection: Connection, path: Path) -> int:
    """Bring a ledger file to this version's schema; returns the schema number. A second time changes nothing.

    Raises:
        Unavailable: the file was written by a newer version, or belongs to another program.
    """
    newest = steps()[-1][0]
    with sqlite_errors(path):
        found = connection.execute("PRAGMA user_version").fetchone()[0]
        owner = connection.execute("PRAGMA application_id").fetchone()[0]
        tables = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
    if owner not in (0, APPLICATION_ID) or (owner == 0 and tables):
        raise Unavailable(f"{path} is a database of another program; choose another home folder")
    if found > newest:
        raise Unavailable(
            f"{path} was written by a newer version (schema {found}, this one knows {newest}). "
            "Upgrade researchdesk to open it; nothing was changed"
        )
    if found == newest:
        return newest
    with transaction(connection, path):
        found = connection.execute("PRAGMA user_version").fetchone()[0]  # another process may have been first
        for number, sql in steps():
            if number > found:
                _run(connection, sql)
        connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version={newest}")
    return newest


def _run(connection: Connection, sql: str) -> None:
    """Execute a script statement by statement, inside the transaction that is open."""
    statement = ""
    for line in sql.splitlines(keepends=True):
        statement += line
        if dbapi.complete_statement(statement):
            connection.execute(statement)
            statement = ""
