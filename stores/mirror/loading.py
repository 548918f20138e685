"""Writing rows into a mirror: many as columns, few through an appender."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np
from duckdb import Appender, DuckDBPyConnection

from researchdesk.state.row_changes import Row
from researchdesk.state.tables import Table
from researchdesk.stores.mirror.schema import quoted, stored_type, typed

MANY: Final = 300
"""From so many rows on, making columns of them costs less than handing them over one by one."""
_BUFFER = "appender_data"  # DuckDB's name for the rows of an appender
_COLUMNS = "mirrored_columns"
_SEPARATOR = "\x1f"  # stands in no id


class Loader:
    """Inserts and deletes rows over one connection, within whatever transaction is open."""

    def __init__(self, connection: DuckDBPyConnection) -> None:
        self._connection = connection
        self._appenders: dict[str, Appender] = {}

    def delete(self, table: Table, places: Sequence[Row]) -> None:
        """Remove the rows whose first columns have these values; all of them name as many columns."""
        if len(places) >= MANY:
            self._from_columns(_deletion(table, len(places[0])), places)
            return
        # Two lists cost a third of a join: the first one skips the row groups of other owners.
        owners = list({place[0] for place in places})
        self._connection.execute(
            _listed_deletion(table, len(places[0])),
            [owners, [_SEPARATOR.join(map(str, place)) for place in places]],
        )

    def insert(self, table: Table, rows: Sequence[Row]) -> None:
        """Add rows as the ledger hands them out."""
        work = _insertion(table)
        if len(rows) >= MANY:
            self._from_columns(work, rows)
            return
        appender = self._appenders.get(table.name)
        if appender is None:
            statement = work.statement.format(rows=_BUFFER)
            appender = self._appenders[table.name] = self._connection.query_appender(statement, work.types)
        appender.append_rows(rows)
        appender.flush()

    def _from_columns(self, work: "_Work", rows: Sequence[Row]) -> None:
        self._connection.register(_COLUMNS, _as_columns(work.types, rows))
        self._connection.execute(work.statement.format(rows=_COLUMNS))
        self._connection.unregister(_COLUMNS)


@dataclass(frozen=True, slots=True)
class _Work:
    """A statement over rows of these types, which stand in it as ``{rows}``."""

    statement: str
    types: dict[str, Any]


@cache
def _insertion(table: Table) -> _Work:
    values = ", ".join(typed(table.name, name) for name in table.columns)
    types = {name: stored_type(table.name, name) for name in table.columns}
    return _Work(f"INSERT INTO {table.name} SELECT {values} FROM {{rows}}", types)


@cache
def _deletion(table: Table, width: int) -> _Work:
    columns = table.columns[:width]
    named = ", ".join(map(quoted, columns))
    types = {name: stored_type(table.name, name) for name in columns}
    return _Work(f"DELETE FROM {table.name} WHERE ({named}) IN (SELECT ({named}) FROM {{rows}})", types)


@cache
def _listed_deletion(table: Table, width: int) -> str:
    columns = table.columns[:width]
    key = ", ".join(map(quoted, columns))
    return f"DELETE FROM {table.name} WHERE {quoted(columns[0])} IN ? AND concat_ws(chr({ord(_SEPARATOR)}), {key}) IN ?"


def _as_columns(types: dict[str, str], rows: Iterable[Row]) -> dict[str, Any]:
    columns = zip(*rows, strict=True)
    return {
        name: _numbers(values) if kind == "BIGINT" else np.array(values, dtype=object)
        for (name, kind), values in zip(types.items(), columns, strict=True)
    }


def _numbers(values: Sequence[Any]) -> Any:
    if None not in values:
        return np.array(values, dtype=np.int64)
    missing = [value is None for value in values]
    return np.ma.masked_array(np.array([value or 0 for value in values], dtype=np.int64), mask=missing)
