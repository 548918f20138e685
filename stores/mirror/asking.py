"""Asking a mirror: one SELECT, in a DuckDB that can neither change it nor reach anything else."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import duckdb
from duckdb import DuckDBPyConnection, DuckDBPyRelation, StatementType

from researchdesk.state.errors import UsageError

MEMORY: Final = "1GB"
"""What a question of the command line may take."""
_ANSWER: Final = "memory.main.answer"
_CLOSE_OFF: Final = (
    "SET TimeZone = 'UTC'",
    "SET temp_directory = ''",
    "SET enable_external_access = false",
    "SET lock_configuration = true",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Columns, their DuckDB types, and rows; ``more`` where there are others that were not asked for."""

    columns: tuple[str, ...]
    types: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]]
    more: bool = False


def answer(connection: DuckDBPyConnection, sql: str, *, limit: int, seconds: float) -> Answer:
    """As `Mirror.answer`; the connection answers nothing else afterwards."""
    connection.execute(f"SET memory_limit = '{MEMORY}'").fetchall()
    asked = _closed_off(connection, sql)
    too_late = threading.Timer(seconds, connection.interrupt)
    too_late.start()
    try:
        cursor = connection.execute(asked)
        rows = cursor.fetchmany(limit + 1) if limit else cursor.fetchall()
        described = cursor.description or []
    except duckdb.InterruptException:
        raise UsageError(f"the query took longer than {seconds:g} seconds and was stopped") from None
    except duckdb.Error as problem:
        raise _unanswered(problem) from None
    finally:
        too_late.cancel()
    return Answer(
        columns=tuple(column[0] for column in described),
        types=tuple(str(column[1]) for column in described),
        rows=rows[:limit] if limit else rows,
        more=bool(limit) and len(rows) > limit,
    )


def materialized(connection: DuckDBPyConnection, sql: str) -> DuckDBPyRelation:
    """As `Mirror.relation`: the rows are a table in memory, so that the mirror's file is not needed any more."""
    asked = _closed_off(connection, sql)
    try:
        connection.execute(f"CREATE TABLE {_ANSWER} AS SELECT * FROM ({asked}\n)").fetchall()
    except duckdb.Error as problem:
        raise _unanswered(problem) from None
    return connection.table(_ANSWER)


def _closed_off(connection: DuckDBPyConnection, sql: str) -> str:
    """The one statement of a text, once the connection can do nothing but read the mirror.

    Raises:
        UsageError: it is not one SELECT.
    """
    for statement in _CLOSE_OFF:
        connection.execute(statement).fetchall()
    try:
        found = connection.extract_statements(sql)
    except duckdb.Error as problem:
        raise _unanswered(problem) from None
    except TypeError:  # of characters that UTF-8 does not have
        raise UsageError("a query is a text in UTF-8; this one holds something else") from None
    if len(found) != 1 or found[0].type != StatementType.SELECT:
        raise UsageError("a query is one SELECT (or DESCRIBE, SHOW, SUMMARIZE); it cannot change anything")
    return _unended(found[0].query)


def _unended(statement: str) -> str:
    """The text of one statement without the semicolon that ends it, and without the comments after that."""
    text = statement.encode()
    places = (place for place, kind in duckdb.tokenize(statement) if kind == duckdb.token_type.operator)
    end = next((place for place in places if text[place : place + 1] == b";"), None)
    return text[:end].decode()


def _unanswered(problem: duckdb.Error) -> UsageError:
    return UsageError(f"the query cannot be answered: {str(problem).strip()[:2_000]}")
