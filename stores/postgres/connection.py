"""The one way to connect to a PostgreSQL server: which settings, what they are read back as, whose errors they are.

A process keeps a few connections and gives each to one thread at a time. A forked child has none of them: it lets go
of its copies of their sockets, so that its parent's sessions and locks end with the parent.
"""

import contextlib
import logging
import os
import random
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import psycopg
from psycopg import Connection

from researchdesk.state.errors import (
    IntegrityError,
    LeaseLost,
    LedgerCorrupt,
    ResearchdeskError,
    StoreAway,
    Unavailable,
    UsageError,
)
from researchdesk.stores.ledger import HeadMoved
from researchdesk.stores.postgres.address import Address

T = TypeVar("T")

# What the driver warns of is raised as well, and told once.
logging.getLogger("psycopg").addHandler(logging.NullHandler())

PREPARED = 400
AT_ONCE = 4
"""Connections that the threads of a process share."""
WAIT_SECONDS = 30
PATIENCE_SECONDS = 20.0
"""How long work is tried again while the server restarts."""
STATEMENT_SECONDS = 300
HEAD_MOVED, LEASE_LOST, NOT_STAGED = "RD001", "RD002", "RD003"
SETTINGS = {
    "synchronous_commit": "on",
    "default_transaction_isolation": "read committed",
    "default_transaction_read_only": "off",
    "lock_timeout": f"{WAIT_SECONDS}s",
    "statement_timeout": f"{STATEMENT_SECONDS // 60}min",
    "idle_in_transaction_session_timeout": "0",
    "row_security": "off",
    "timezone": "UTC",
    "jit": "off",
    "plan_cache_mode": "force_generic_plan",
}
_SINCE = {"idle_session_timeout": 140_000, "transaction_timeout": 170_000}
"""Settings that end connections which wait, as that of a lock does: off where the server's version knows them."""
_SHUTDOWN = ("57P01", "57P02", "57P03", "57P05", "08")
_AGAIN = ("40001", "40P01")
_FULL = ("53", "58")

# A forked child may neither use nor end what is its parent's.
_OPEN: "weakref.WeakSet[Connection[Any]]" = weakref.WeakSet()
_POOLS: "weakref.WeakSet[Pool]" = weakref.WeakSet()
_parents: list[Connection[Any]] = []


def _after_in_child() -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    for connection in list(_OPEN):
        # Not closed: its number must not become that of another file while the connection still knows it.
        with contextlib.suppress(psycopg.Error, OSError):
            os.dup2(nothing, connection.pgconn.socket)
        _parents.append(connection)
    os.close(nothing)
    _OPEN.clear()
    for pool in list(_POOLS):
        pool.begin()


os.register_at_fork(after_in_child=_after_in_child)


def connect(address: Address, *, schema: str = "", **more: Any) -> Connection[Any]:
    """A connection in autocommit mode whose search path is the desk's schema alone.

    Raises:
        psycopg.Error: there is no server, or it lets nobody in.
        Unavailable: the server does not take the settings that durability asks for.
    """
    wanted = SETTINGS | {"search_path": schema or address.schema}
    own = " ".join(f"-c {name}={value.replace(' ', chr(92) + ' ')}" for name, value in wanted.items())
    connection = Connection.connect(
        address.conninfo,
        autocommit=True,
        options=f"{address.options} {own}".strip(),
        application_name="researchdesk",
        client_encoding="utf8",
        connect_timeout=10,
        keepalives_idle=30,
        keepalives_interval=10,
        keepalives_count=3,
        **more,
    )
    _OPEN.add(connection)
    connection.prepared_max = PREPARED
    try:
        _check_settings(connection, address, wanted)
    except BaseException:
        connection.close()
        raise
    return connection


def _check_settings(connection: Connection[Any], address: Address, wanted: dict[str, str]) -> None:
    """Refuse a server that keeps other settings, as one behind a pooler that drops them."""
    expected = wanted | {"server_encoding": "UTF8", "transaction_read_only": "off"}
    asked = [f"current_setting('{name}')" for name in expected]
    newer = [name for name, version in _SINCE.items() if connection.info.server_version >= version]
    asked += [f"set_config('{name}', '0', false)" for name in newer]
    with connection.cursor(row_factory=psycopg.rows.tuple_row) as cursor:
        found = cursor.execute(f"SELECT {', '.join(asked)}").fetchone() or ()
    for (name, value), kept in zip((expected | dict.fromkeys(newer, "0")).items(), found, strict=True):
        if kept != value:
            raise Unavailable(
                f"{address.shown}: the server keeps {name}={kept} instead of {value}. A ledger needs a direct "
                "connection to a primary server (or a pooler in session mode) and a database in UTF8"
            )


class Pool:
    """The connections of a process to one desk, made when they are needed; safe for any number of threads.

    It has no threads of its own, so that a process which uses it may fork.
    """

    def __init__(self, address: Address) -> None:
        self._address = address
        self._open = True
        self.begin()
        _POOLS.add(self)

    def begin(self) -> None:
        """Start without a connection, as a forked child does."""
        self._idle: list[Connection[Any]] = []
        self._lock = threading.Lock()
        self._turns = threading.BoundedSemaphore(AT_ONCE)

    @contextlib.contextmanager
    def connection(self) -> Iterator[Connection[Any]]:
        """A connection for this thread alone; one that is broken afterwards is not used again."""
        if not self._open:
            raise UsageError(f"{self._address.shown}: this ledger is closed")
        with self._turns:
            with self._lock:
                connection = self._idle.pop() if self._idle else None
            connection = connection or connect(self._address)
            try:
                yield connection
            finally:
                self._give_back(connection)

    def _give_back(self, connection: Connection[Any]) -> None:
        if connection.pgconn.transaction_status != psycopg.pq.TransactionStatus.IDLE:
            connection.close()  # broken, or interrupted in the middle of something
        with self._lock:
            if connection.closed:
                return
            if self._open:
                self._idle.append(connection)
                return
        connection.close()

    def drop_idle(self) -> None:
        """Forget the connections that nobody uses: the server went away, and they with it."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def close(self) -> None:
        """End all connections; those in use end when they are given back."""
        self._open = False
        self.drop_idle()


def may_pass(problem: psycopg.Error) -> bool:
    """Whether the same work may succeed on another connection: the server went away, or chose this one to give way."""
    state = problem.sqlstate
    if state is None:
        return isinstance(problem, psycopg.OperationalError)
    return state.startswith(_SHUTDOWN) or state in _AGAIN


def patiently(work: Callable[[], T], *, lost: Callable[[], None]) -> T:
    """What ``work`` gives, which is done again while the server is away; ``lost`` lets go of what broke before.

    Raises:
        psycopg.Error: doing it again would not help, or the server stays away.
    """
    deadline, pause = time.monotonic() + PATIENCE_SECONDS, 0.02
    while True:
        try:
            return work()
        except psycopg.Error as problem:
            if not may_pass(problem) or time.monotonic() > deadline:
                raise
        lost()
        time.sleep(random.uniform(pause / 2, pause))
        pause = min(2 * pause, 1.0)


def own_error(address: Address, problem: psycopg.Error) -> ResearchdeskError | HeadMoved:
    """The driver's error as one of the package's, with the desk and a way out."""
    state, said = problem.sqlstate or "", _said(problem)
    where = address.shown
    if state == HEAD_MOVED:
        return HeadMoved(said)
    if state == LEASE_LOST:
        return LeaseLost(f"{said}; this process stops, nothing was written")
    if state == NOT_STAGED:
        return IntegrityError(f"{said}; nothing was written")
    if state.startswith(("22", "23")) or isinstance(problem, psycopg.DataError):
        return IntegrityError(f"{where}: a row was refused by the database ({said}); nothing was written")
    if state == "42501":
        return Unavailable(f"{where}: {said}. Grant this user the schema and its tables, then try again")
    if state.startswith(("42", "XX")):
        return LedgerCorrupt(f"{where}: the schema or a stored row is damaged ({said})")
    if state.startswith("54"):
        return Unavailable(f"{where}: {said}. Nothing was written; this is more than the server can take")
    if state.startswith(_FULL):
        return StoreAway(f"{where}: {said}. Nothing was written; make room on the server and resume")
    if not state and isinstance(problem, psycopg.ProgrammingError):
        return UsageError(f"{where}: {said}")
    if not state and isinstance(problem, psycopg.OperationalError):
        return StoreAway(
            f"{where}: {said}. Check that the server runs and lets this user into this database, then try again; what "
            "was recorded before is safe"
        )
    return StoreAway(f"{where}: {said}. What was recorded before is safe; try again")


def _said(problem: psycopg.Error) -> str:
    """The server's own words in one line; a driver's message may go on for long."""
    lines = (problem.diag.message_primary or str(problem) or type(problem).__name__).split("\n")
    return " ".join(line.strip() for line in lines if line.strip())[:500].rstrip(".?")


@contextlib.contextmanager
def postgres_errors(address: Address) -> Iterator[None]:
    """Turns the driver's errors into those of the package."""
    try:
        yield
    except psycopg.Error as problem:
        raise own_error(address, problem) from None
