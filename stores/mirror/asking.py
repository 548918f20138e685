"""Asking a mirror: one SELECT, in a DuckDB that can neither change it nor reach anything else."""

import contextlib
import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import duckdb
from duckdb import DuckDBPyConnection, DuckDBPyRelation, StatementType

from researchdesk.state.errors import UsageError
from researchdesk.stores.mirror.opening import is_damaged

MEMORY: Final = "1GB"
"""What a question of the command line may take."""
_ANSWER: Final = "memory.main.answer"
_PAUSE_SECONDS: Final = 0.05
_MOST: Final = 2**62
"""Rows that DuckDB can be asked for at once; no machine holds as many."""
_CLOSE_OFF: Final = (
    "SET TimeZone = 'UTC'",
    "SET temp_directory = ''",
    "SET enable_external_access = false",
    "SET lock_configuration = true",
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Columns, their DuckDB types, and rows; ``more`` where there are others that were not asked for."""

    columns: tuple[str, ...]
    types: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]]
    more: bool = False


def answer(connection: DuckDBPyConnection, sql: str, *, limit: int, seconds: float | None) -> Answer:
    """As `Mirror.answer`; the connection answers nothing else afterwards."""
    connection.execute(f"SET memory_limit = '{MEMORY}'").fetchall()
    asked = _closed_off(connection, sql)

    def answered() -> Answer:
        cursor = connection.execute(asked)
        rows = cursor.fetchmany(min(limit, _MOST) + 1) if limit else cursor.fetchall()
        described = cursor.description or []
        return Answer(
            columns=tuple(column[0] for column in described),
            types=tuple(str(column[1]) for column in described),
            rows=rows[:limit] if limit else rows,
            more=bool(limit) and len(rows) > limit,
        )

    return _in_time(connection, answered, seconds=seconds)


def materialized(connection: DuckDBPyConnection, sql: str, *, seconds: float | None) -> DuckDBPyRelation:
    """As `Mirror.relation`: the rows are a table in memory, so that the mirror's file is not needed any more."""
    asked = _closed_off(connection, sql)
    made = f"CREATE TABLE {_ANSWER} AS SELECT * FROM ({asked}\n)"
    _in_time(connection, lambda: connection.execute(made).fetchall(), seconds=seconds)
    return connection.table(_ANSWER)


def _in_time(connection: DuckDBPyConnection, work: Callable[[], T], *, seconds: float | None) -> T:
    """What ``work`` gives, which is stopped after so many seconds, and by an interrupt from the keyboard.

    It runs in a thread of its own: DuckDB looks for no signal while it works.

    Raises:
        UsageError: it took longer, or DuckDB has no answer.
        duckdb.Error: the mirror is damaged.
    """
    if seconds is not None and not seconds > 0:
        raise UsageError(f"a query may take more than 0 seconds, or None for any time; got {seconds!r:.50}")
    until = math.inf if seconds is None else time.monotonic() + seconds
    with ThreadPoolExecutor(max_workers=1) as worker:
        working = worker.submit(work)
        try:
            while not wait((working,), timeout=_PAUSE_SECONDS).done:  # which lets an interrupt in
                if time.monotonic() > until:
                    raise UsageError(
                        f"the query took longer than {seconds:g} seconds and was stopped; narrow it, or allow more"
                    )
            return working.result()
        except duckdb.Error as problem:
            if is_damaged(problem):
                raise
            raise _unanswered(problem) from None
        except MemoryError:
            raise UsageError(
                "the answer takes more memory than there is for it; narrow the query, or take fewer rows"
            ) from None
        finally:
            while not working.done():  # again and again: one that comes between two statements is lost
                connection.interrupt()
                wait((working,), timeout=_PAUSE_SECONDS)


def _closed_off(connection: DuckDBPyConnection, sql: str) -> str:
    """The one statement of a text, once the connection can do nothing but read the mirror.

    Raises:
        UsageError: it is not one SELECT.
    """
    for statement in _CLOSE_OFF:
        connection.execute(statement).fetchall()
    found = _statements(connection, sql)
    if _kinds(found) == [StatementType.SELECT]:
        return _unended(found[0].query)
    if _kinds(found) == [StatementType.MULTI]:
        # A PIVOT without a list of its columns: DuckDB looks for them first. Only a SELECT can stand within brackets.
        pivoted = f"SELECT * FROM ({_unended(found[0].query)}\n)"
        with contextlib.suppress(UsageError):
            if _kinds(_statements(connection, pivoted)) == [StatementType.MULTI]:
                return pivoted
    raise UsageError("a query is one SELECT (or DESCRIBE, SHOW, SUMMARIZE, PIVOT); it cannot change anything")


def _statements(connection: DuckDBPyConnection, sql: str) -> list[duckdb.Statement]:
    try:
        return connection.extract_statements(sql)
    except duckdb.Error as problem:
        raise _unanswered(problem) from None
    except TypeError:  # of characters that UTF-8 does not have
        raise UsageError("a query is a text in UTF-8; this one holds something else") from None


def _kinds(statements: Sequence[duckdb.Statement]) -> list[StatementType | None]:
    """What each statement is; None for a kind that DuckDB's module has no name for."""
    found: list[StatementType | None] = []
    for statement in statements:
        try:
            found.append(statement.type)
        except ValueError:
            found.append(None)
    return found


def _unended(statement: str) -> str:
    """The text of one statement without the semicolon that ends it, and without the comments after that."""
    text = statement.encode()
    places = (place for place, kind in duckdb.tokenize(statement) if kind == duckdb.token_type.operator)
    end = next((place for place in places if text[place : place + 1] == b";"), None)
    return text[:end].decode()


def _unanswered(problem: duckdb.Error) -> UsageError:
    return UsageError(f"the query cannot be answered: {str(problem).strip()[:2_000]}")
