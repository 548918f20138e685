"""The columns of a mirror have the names of the ledger's, and types that say what stands in them."""

import re
import sqlite3
from collections.abc import Iterator

import pytest

from researchdesk.stores.mirror.schema import MIRRORED, column_type, stored_type
from researchdesk.stores.sqlite.migrations import steps


@pytest.fixture(scope="module")
def ledger() -> Iterator[sqlite3.Connection]:
    database = sqlite3.connect(":memory:")
    for _, script in steps():
        database.executescript(script)
    yield database
    database.close()


def declared(ledger: sqlite3.Connection, table: str) -> tuple[dict[str, str], str]:
    """The types of a table's columns, and its SQL."""
    types = {row[1]: row[2] for row in ledger.execute(f"PRAGMA table_info({table})")}
    ((sql,),) = ledger.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (table,)).fetchall()
    return types, sql


@pytest.mark.parametrize("table", MIRRORED)
def test_a_number_of_the_ledger_is_one_here_and_a_checked_text_has_its_type(
    ledger: sqlite3.Connection, table: str
) -> None:
    types, sql = declared(ledger, table)
    assert sorted(types) == sorted(MIRRORED[table].columns)
    for column, declared_type in types.items():
        kind = column_type(table, column)
        assert (stored_type(table, column) == "BIGINT") == (declared_type == "INTEGER"), column
        is_flag = f"{column} IN (0, 1)" in sql
        assert (kind == "BOOLEAN") == is_flag, column
        assert kind == "JSON" or not re.search(rf"json_valid\({column}\)", sql), column
        assert (kind == "TIMESTAMPTZ") == (column == "ts" or column.endswith("_at")), column
