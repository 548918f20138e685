"""Changes of rows, and the digest over all rows of a stream that is kept in step with them.

A change names the row that stood there before, so that the digest follows without reading any row: rows are hashed
one by one and their hashes added, modulo 2^256.
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import orjson

from researchdesk.state.tables import TABLES, Value

Row = tuple[Value, ...]
MODULUS = 1 << 256
NO_ROWS = "0" * 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
    """What the envelope adds to a payload: sequence in the stream and UTC time, ISO 8601."""

    seq: int
    ts: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RowChange:
    """A row as it is after an event and as it was before it; None where there is none, which is so once at most."""

    table: str
    new: Row | None
    old: Row | None = None

    @property
    def key(self) -> Row:
        """The row's key, which a change leaves as it is."""
        row = self.new if self.new is not None else self.old
        assert row is not None
        return row[: TABLES[self.table].key_size]


def insert(table: str, *values: Value) -> RowChange:
    """A row that was not there before."""
    assert len(values) == len(TABLES[table].columns), table
    return RowChange(table=table, new=values)


def json_text(value: object) -> str:
    """JSON for a column that holds a list."""
    return orjson.dumps(value).decode()


def changes_between(table: str, before: Iterable[Row], after: Iterable[Row]) -> Iterator[RowChange]:
    """How some rows of a table became others."""
    size = TABLES[table].key_size
    old, new = ({row[:size]: row for row in rows} for rows in (before, after))
    for key in {**old, **new}:
        if old.get(key) != new.get(key):
            yield RowChange(table=table, new=new.get(key), old=old.get(key))


def row_digest(table: str, row: Row) -> int:
    """The hash of one row as a number.

    Columns that a later schema step added count only where they hold something else than their default, so that
    rows written before that step keep their hash.
    """
    values = list(row)
    for default in reversed(TABLES[table].added):
        if values[-1] != default:
            break
        values.pop()
    return int.from_bytes(hashlib.sha256(orjson.dumps([table, *values])).digest(), "big")


def shift_digest(digest: str, changes: tuple[RowChange, ...]) -> str:
    """The digest over a stream's rows after ``changes``; 64 hex digits."""
    total = int(digest, 16)
    for change in changes:
        if change.new is not None:
            total += row_digest(change.table, change.new)
        if change.old is not None:
            total -= row_digest(change.table, change.old)
    return f"{total % MODULUS:064x}"
