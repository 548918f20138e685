"""Whether a mirror is what its ledger holds, row for row."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import chain, zip_longest
from typing import Any, Final

import orjson
from duckdb import DuckDBPyConnection

from researchdesk.state.row_changes import Row
from researchdesk.state.tables import TABLES, Table
from researchdesk.stores.ledger import Ledger
from researchdesk.stores.mirror.clusters import cluster_rows
from researchdesk.stores.mirror.news import all_rows, event_pages, event_row
from researchdesk.stores.mirror.schema import CLUSTERS, EVENTS, column_type, quoted

_FETCHED: Final = 5_000


def differences(connection: DuckDBPyConnection, ledger: Ledger) -> list[str]:
    """As `Mirror.differences`: of each table that differs, the first place."""
    expected: list[tuple[Table, Iterable[Row]]] = [
        (EVENTS, (event_row(event) for page in event_pages(ledger, after=0) for event in page)),
        *((table, chain.from_iterable(all_rows(ledger, table))) for table in TABLES.values()),
        (CLUSTERS, sorted(_clusters(ledger))),
    ]
    return [found for table, rows in expected if (found := _difference(connection, table, rows))]


def _clusters(ledger: Ledger) -> Iterator[Row]:
    links = chain.from_iterable(all_rows(ledger, TABLES["claim_sources"]))
    yield from cluster_rows(ledger, dict.fromkeys(row[:2] for row in links))


def _difference(connection: DuckDBPyConnection, table: Table, expected: Iterable[Row]) -> str:
    kinds = [column_type(table.name, name) for name in table.columns]
    there = (tuple(map(_value, kinds, row)) for row in expected)
    for number, (theirs, ours) in enumerate(zip_longest(there, _found(connection, table)), start=1):
        if theirs != ours:
            return (
                f"table {table.name}, row {number}: the ledger has {theirs!r:.300}, the mirror {ours!r:.300}"
            )
    return ""


def _found(connection: DuckDBPyConnection, table: Table) -> Iterator[Row]:
    columns, key = (", ".join(map(quoted, names)) for names in (table.columns, table.key))
    cursor = connection.execute(f"SELECT {columns} FROM {table.name} ORDER BY {key}")
    while rows := cursor.fetchmany(_FETCHED):
        yield from rows


def _value(kind: str, stored: Any) -> Any:
    """What a stored value is in the mirror."""
    match kind:
        case "BOOLEAN":
            return bool(stored)
        case "TIMESTAMPTZ":
            return _time(stored)
        case "JSON":
            return stored if _is_json(stored) else None
        case _:
            return stored


def _time(text: str | None) -> datetime | None:
    try:
        return datetime.fromisoformat(text) if text else None
    except ValueError:
        return None


def _is_json(text: str | None) -> bool:
    try:
        return bool(text) and orjson.loads(str(text)) is not Ellipsis
    except ValueError:
        return False
