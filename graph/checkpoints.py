"""LangGraph's checkpoints, apart from the ledger: control state only, disposable, never trusted with types."""

import contextlib
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver

from researchdesk.state.errors import Unavailable
from researchdesk.tools.workspace import Desk

_NO_DAMAGE = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_BUSY)


def safe_serializer() -> JsonPlusSerializer:
    """The serializer that loads no types but LangGraph's own safe ones."""
    return JsonPlusSerializer(allowed_msgpack_modules=None)


def checkpointer_of(desk: Desk) -> AbstractContextManager[BaseCheckpointSaver[str]]:
    """The checkpointer of a desk: a file in its home folder, or tables beside its ledger on the server."""
    if desk.address is None:
        return open_checkpointer(desk.home / "checkpoints.sqlite")
    # Only who has a desk on a server needs its driver.
    from researchdesk.graph.server_checkpoints import open_server_checkpointer

    return open_server_checkpointer(desk.address)


@contextlib.contextmanager
def open_checkpointer(path: Path) -> Iterator[SqliteSaver]:
    """A checkpointer on ``path``; a file that cannot be read is moved aside, since the ledger has everything.

    Raises:
        Unavailable: it cannot be written, as on a disk that is full.
    """
    try:
        connection, saver = _opened_or_anew(path)
        with contextlib.closing(connection):
            yield saver
    except sqlite3.Error as problem:
        raise Unavailable(
            f"{path}: {problem}. What is recorded is safe in the ledger; make room and check that the folder can be "
            "written, then resume"
        ) from None


def _opened_or_anew(path: Path) -> tuple[sqlite3.Connection, SqliteSaver]:
    try:
        return _opened(path)
    except sqlite3.Error as problem:
        if getattr(problem, "sqlite_errorcode", 0) & 0xFF in _NO_DAMAGE:
            raise
        aside = path.with_name(f"{path.name}.unreadable-{datetime.now(UTC):%Y%m%dT%H%M%S%f}")
        with contextlib.suppress(FileNotFoundError):
            path.rename(aside)
        for suffix in ("-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        return _opened(path)


def _opened(path: Path) -> tuple[sqlite3.Connection, SqliteSaver]:
    # `SqliteSaver` expects the standard library's errors, so this file is opened by nothing else.
    connection = sqlite3.connect(path, check_same_thread=False, timeout=30)
    try:
        saver = SqliteSaver(connection, serde=safe_serializer())
        saver.setup()
        saver.delete_thread("")  # touches every table, so that a damaged file shows now
    except BaseException:
        connection.close()
        raise
    return connection, saver
