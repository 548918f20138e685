"""LangGraph's checkpoints on a PostgreSQL server, in a schema of their own beside the desk's."""

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import psycopg
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata, CheckpointTuple
from langgraph.checkpoint.postgres import PostgresSaver
from psycopg import Connection
from psycopg.rows import dict_row

from researchdesk.graph.checkpoints import safe_serializer
from researchdesk.state.errors import Unavailable
from researchdesk.stores.postgres.address import Address
from researchdesk.stores.postgres.connection import connect, own_error, patiently, postgres_errors
from researchdesk.stores.postgres.migrations import lock_number

T = TypeVar("T")

_USABLE = "SELECT has_schema_privilege(oid, 'USAGE') AS usable FROM pg_namespace WHERE nspname = %s"
_NO_DAMAGE = psycopg.errors.InsufficientPrivilege
WAIT_SECONDS = 60.0


class ServerSaver(PostgresSaver):
    """A checkpointer whose connection is made anew where the server ended it, as it does when it restarts.

    Whatever it does while a graph runs may be done twice.
    """

    conn: Connection[Any]

    def __init__(self, address: Address) -> None:
        self._address = address
        super().__init__(self._connected(), serde=safe_serializer())

    def _connected(self) -> Connection[Any]:
        return connect(
            self._address, schema=self._address.checkpoints, row_factory=dict_row, prepare_threshold=0
        )

    def _again(self, work: Callable[[], T]) -> T:
        used = self.conn

        def attempt() -> T:
            nonlocal used
            with self.lock:
                if self.conn.closed:
                    self.conn = self._connected()
                used = self.conn
            return work()

        try:
            return patiently(attempt, lost=lambda: used.close())
        except psycopg.OperationalError as problem:
            raise own_error(self._address, problem) from None

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return self._again(lambda: super(ServerSaver, self).get_tuple(config))

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        return self._again(lambda: super(ServerSaver, self).put(config, checkpoint, metadata, new_versions))

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        self._again(lambda: super(ServerSaver, self).put_writes(config, writes, task_id, task_path))

    def delete_thread(self, thread_id: str) -> None:
        self._again(lambda: super(ServerSaver, self).delete_thread(thread_id))

    def close(self) -> None:
        """End the connection."""
        self.conn.close()


@contextlib.contextmanager
def open_server_checkpointer(address: Address) -> Iterator[PostgresSaver]:
    """A checkpointer beside a desk; tables that are not as it made them are made anew: the ledger has everything.

    Raises:
        Unavailable: the server cannot be reached, or does not let us make the schema.
    """
    with postgres_errors(address), contextlib.closing(ServerSaver(address)) as saver:
        try:
            _ready(saver.conn, saver, address)
        except psycopg.ProgrammingError as problem:
            if isinstance(problem, _NO_DAMAGE):
                raise
            saver.conn.execute(f"DROP SCHEMA IF EXISTS {address.checkpoints} CASCADE")
            _ready(saver.conn, saver, address)
        yield saver


def _ready(connection: Connection[Any], saver: PostgresSaver, address: Address) -> None:
    """Make the tables where they are missing, and touch each, so that what is wrong with them shows now."""
    if _version(connection) < len(saver.MIGRATIONS) - 1:
        with _alone(connection, address):
            there = connection.execute(_USABLE, (address.checkpoints,)).fetchone()
            if there is not None and not there["usable"]:
                raise Unavailable(
                    f"{address.shown}: this user may not use the schema {address.checkpoints}, where checkpoints are "
                    "kept. Grant it that schema and its tables, then resume"
                )
            if there is None:
                connection.execute(f"CREATE SCHEMA {address.checkpoints}")
            if _version(connection) < 0:
                _make(connection, saver)
            else:
                saver.setup()
    saver.delete_thread("")


def _make(connection: Connection[Any], saver: PostgresSaver) -> None:
    """Make the tables where there are none, in one transaction.

    What `setup` does, but for indexes that are made concurrently: tables without a row do not need that, and it waits
    for every transaction in the database, such as a copy or a verification of another desk.
    """
    with connection.transaction():
        for version, step in enumerate(saver.MIGRATIONS):
            connection.execute(step.replace("INDEX CONCURRENTLY", "INDEX"))  # type: ignore[arg-type, call-overload, unused-ignore]
            connection.execute("INSERT INTO checkpoint_migrations (v) VALUES (%s)", (version,))


def _version(connection: Connection[Any]) -> int:
    found = connection.execute("SELECT to_regclass('checkpoint_migrations') AS named").fetchone()
    if found is None or found["named"] is None:
        return -1
    newest = connection.execute("SELECT max(v) AS newest FROM checkpoint_migrations").fetchone()
    return -1 if newest is None or newest["newest"] is None else int(newest["newest"])


@contextlib.contextmanager
def _alone(connection: Connection[Any], address: Address) -> Iterator[None]:
    """The only process that makes tables here.

    The lock is asked for again and again, not waited for: an index that is made concurrently waits for every
    statement that runs, and so would for one that waits for this lock.
    """
    number, deadline = lock_number("checkpoints", address.schema), time.monotonic() + WAIT_SECONDS
    while True:
        found = connection.execute("SELECT pg_try_advisory_lock(%s) AS taken", (number,)).fetchone()
        if found is not None and found["taken"]:
            break
        if time.monotonic() > deadline:
            raise Unavailable(f"{address.shown}: another process makes the checkpoints' tables for very long")
        time.sleep(0.05)
    try:
        yield
    finally:
        connection.execute("SELECT pg_advisory_unlock(%s)", (number,))
