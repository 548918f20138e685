"""The one statement that an append is: counter, head, bodies, events and rows, all or nothing, in one round trip.

Its parts wait for each other by what they read: everything stands on ``moved``, the head that was moved, and that on
``turn``, the counter's row, whose lock every append holds until its commit. Statements of one shape have one text,
which the server prepares once for each connection.
"""

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import orjson
from psycopg.types.numeric import Int8

from researchdesk.state.row_changes import Row, RowChange
from researchdesk.state.tables import TABLES
from researchdesk.stores.ledger import Append

EVENT_FIELDS = (
    *("stream", "seq", "event_id", "type", "schema_version"),
    *("ts", "refs", "payload", "prev_hash", "hash"),
)
_event_values = attrgetter(*EVENT_FIELDS)
_NUMBERS = frozenset({"seq", "schema_version"})
_LISTED = 4
"""Up to so many events or rows of a table are written as parameters, more as one JSON text."""
Rows = Mapping[str, list[Row]]


@dataclass(frozen=True, slots=True)
class _Shape:
    """What the text of an append depends on: a size of 0 stands for a JSON text."""

    begins: bool
    leased: bool
    settles: bool
    events: int
    bodies: bool
    inserts: tuple[tuple[str, int], ...]
    updates: tuple[tuple[str, int], ...]
    deletes: tuple[tuple[str, int], ...]


def append_statement(append: Append) -> tuple[str, list[Any]]:
    """The statement (with ``$1``, ``$2`` …) and its parameters."""
    written = _written(append.rows)
    shape = _Shape(
        append.head.count == 0,
        append.lease is not None,
        append.settles is not None and not needs_second_look(append),
        _size(append.events),
        bool(append.bodies),
        *(tuple((table, _size(rows)) for table, rows in kind.items()) for kind in written),
    )
    values = _parameters(append, shape, written)
    # A number has one type whatever its size, so that a text is prepared once.
    return _text(shape), [Int8(value) if type(value) is int else value for value in values]


def needs_second_look(append: Append) -> bool:
    """Whether it keeps or drops bodies by what others have committed while it waited for its turn.

    That is for a statement of its own, whose view is newer than that of the one that waited.
    """
    return bool(append.adopts or append.drops)


def rows_text(rows: list[Row], table: str) -> str:
    """Rows of a table as a JSON list of objects."""
    columns = TABLES[table].columns
    return orjson.dumps([dict(zip(columns, row, strict=True)) for row in rows]).decode()


def _size(items: Any) -> int:
    return len(items) if len(items) <= _LISTED else 0


def _written(changes: tuple[RowChange, ...]) -> tuple[Rows, Rows, Rows]:
    """The rows that are new, those that are changed and those that go, by table: what all the changes come to."""
    first: dict[tuple[str, Row], RowChange] = {}
    last: dict[tuple[str, Row], RowChange] = {}
    for change in changes:
        place = (change.table, change.key)
        first.setdefault(place, change)
        last[place] = change
    inserts: dict[str, list[Row]] = {}
    updates: dict[str, list[Row]] = {}
    deletes: dict[str, list[Row]] = {}
    for place, change in last.items():
        old, new = first[place].old, change.new
        if new is not None:
            (inserts if old is None else updates).setdefault(change.table, []).append(new)
        elif old is not None:
            deletes.setdefault(change.table, []).append(old)
    return inserts, updates, deletes


def _parameters(append: Append, shape: _Shape, written: tuple[Rows, Rows, Rows]) -> Iterator[Any]:
    """The values, in the order in which `_text` asks for them."""
    lease = append.lease
    yield from (len(append.events), append.stream, append.head.count, append.head.hash)
    yield from (append.events[-1].hash, append.rows_digest)
    yield from (lease.session_id, lease.epoch) if lease else (None, 0)
    if shape.bodies:
        yield from (list(append.bodies), list(append.bodies.values()))
    if shape.settles and append.settles:
        yield from (append.settles.session, append.settles.turn, append.settles.call)
    if shape.events:
        for event in append.events:
            yield from _event_values(event)
    else:
        yield orjson.dumps(append.events).decode()
    for sizes, rows in zip((shape.inserts, shape.updates, shape.deletes), written, strict=True):
        for table, size in sizes:
            if size:
                for row in rows[table]:
                    yield from row
            else:
                yield rows_text(rows[table], table)


@functools.lru_cache(maxsize=1024)
def _text(shape: _Shape) -> str:
    numbers = iter(range(9, 65_536))
    parts = ["turn AS (UPDATE counter SET global_seq = global_seq + $1 RETURNING global_seq - $1 AS base)"]
    source = "turn"
    if shape.leased:
        # Locked, so that its newest version counts, not the one from before this statement had its turn.
        parts.append(
            "driver AS (SELECT base FROM turn, leases WHERE session_id = $7 AND epoch = $8 FOR SHARE OF leases)"
        )
        source = "driver"
    parts.append(f"moved AS ({_begin(source) if shape.begins else _move(source)})")
    if shape.bodies:
        bodies = f"unnest(${next(numbers)}::text[], ${next(numbers)}::bytea[]) AS body"
        parts.append(
            f"bodies AS (INSERT INTO blobs SELECT body.* FROM moved, {bodies} ON CONFLICT DO NOTHING)"
        )
    if shape.settles:
        call = (f"{name} = ${next(numbers)}" for name in ("session_id", "turn_id", "tool_call_id"))
        parts.append(f"settled AS (DELETE FROM gathered USING moved WHERE {' AND '.join(call)})")
    names = ", ".join(EVENT_FIELDS)
    parts.append(
        f"happened AS (INSERT INTO events (global_seq, {names}) SELECT base + seq - $3, {names} "
        f"FROM turn, moved, {_events(shape.events, numbers)})"
    )
    for n, (table, size) in enumerate(shape.inserts):
        parts.append(f"new{n} AS (INSERT INTO {table} SELECT r.* FROM {_rows(table, size, numbers)} AS r)")
    for n, (table, size) in enumerate(shape.updates):
        parts.append(f"changed{n} AS ({_update(table, size, numbers)})")
    for n, (table, size) in enumerate(shape.deletes):
        parts.append(f"gone{n} AS ({_delete(table, size, numbers)})")
    return (
        f"WITH {', '.join(parts)} "
        "SELECT CASE WHEN NOT EXISTS (SELECT 1 FROM moved) THEN refuse_append($2, $7, $8) END"
    )


def _begin(source: str) -> str:
    # The hash of a head that is not there is asked for all the same: each parameter has to stand in each text.
    return (
        f"INSERT INTO heads (stream, count, hash, rows_digest) SELECT $2, $3 + $1, $5, $6 FROM {source} "
        "WHERE $4 <> '' ON CONFLICT DO NOTHING RETURNING 1"
    )


def _move(source: str) -> str:
    return (
        f"UPDATE heads SET count = count + $1, hash = $5, rows_digest = $6 FROM {source} "
        "WHERE stream = $2 AND count = $3 AND hash = $4 RETURNING 1"
    )


def _events(size: int, numbers: Iterator[int]) -> str:
    if not size:
        return f"json_populate_recordset(NULL::events, ${next(numbers)}::json)"
    lines = (
        ", ".join(f"${next(numbers)}::{'bigint' if name in _NUMBERS else 'text'}" for name in EVENT_FIELDS)
        for _ in range(size)
    )
    return f"(VALUES {', '.join(f'({line})' for line in lines)}) AS e ({', '.join(EVENT_FIELDS)})"


def _rows(table: str, size: int, numbers: Iterator[int]) -> str:
    """Rows as a part of FROM, once there is a moved head. The columns of `TABLES` are in the order of the DDL's."""
    if not size:
        return f"(SELECT p.* FROM moved, json_populate_recordset(NULL::{table}, ${next(numbers)}::json) AS p)"
    width = len(TABLES[table].columns)
    rows = (", ".join(f"${next(numbers)}" for _ in range(width)) for _ in range(size))
    return "(" + " UNION ALL ".join(f"SELECT (ROW({row})::{table}).* FROM moved" for row in rows) + ")"


def quoted(column: str) -> str:
    """A column's name; ``user`` is a word of the language."""
    return f'"{column}"'


def _update(table: str, size: int, numbers: Iterator[int]) -> str:
    shape = TABLES[table]
    values = ", ".join(f"{quoted(name)} = r.{quoted(name)}" for name in shape.columns[shape.key_size :])
    return f"UPDATE {table} AS old SET {values} FROM {_rows(table, size, numbers)} AS r WHERE {_same(table)}"


def _delete(table: str, size: int, numbers: Iterator[int]) -> str:
    return f"DELETE FROM {table} AS old USING {_rows(table, size, numbers)} AS r WHERE {_same(table)}"


def _same(table: str) -> str:
    return " AND ".join(f"old.{quoted(name)} = r.{quoted(name)}" for name in TABLES[table].key)
