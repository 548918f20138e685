"""The SQL statements that something sends, written down and sent again by a plain connection."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from researchdesk.stores.sqlite.connection import Connection, dbapi
from researchdesk.stores.sqlite.ledger import SqliteLedger

Statement = tuple[str, Any]


class _Recording(dbapi.Connection):
    """A connection that writes down its statements."""

    seen: list[Statement] | None = None

    def execute(self, sql: str, parameters: Any = ()) -> Any:
        if self.seen is not None:
            self.seen.append((sql, parameters))
        return super().execute(sql, parameters)

    def executemany(self, sql: str, parameters: Any) -> Any:
        rows = list(parameters)
        if self.seen is not None:
            self.seen += [(sql, row) for row in rows]
        return super().executemany(sql, rows)


def recording_ledger(home: Path) -> SqliteLedger:
    """A ledger whose statements `statements_of` can write down."""
    real = dbapi.connect

    def recording(*where: Any, **how: Any) -> Any:
        return real(*where, factory=_Recording, **how)

    dbapi.connect = recording
    try:
        return SqliteLedger(home / "ledger.sqlite")
    finally:
        dbapi.connect = real


def statements_of(ledger: SqliteLedger, work: Callable[[], object]) -> list[Statement]:
    """The statements that ``work`` sends to a recording ledger."""
    own: list[Statement] = []
    ledger._connection.seen = own
    work()
    ledger._connection.seen = None
    return own


def replayed(connection: Connection, calls: list[list[Statement]]) -> Callable[[], None]:
    """Does the statements of one call after the other, as a plain script would."""
    following = iter(calls)

    def work() -> None:
        for sql, parameters in next(following):
            cursor = connection.execute(sql, parameters)
            if cursor.description is not None:
                cursor.fetchall()

    return work
