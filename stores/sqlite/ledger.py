"""The ledger on one SQLite file; several processes and threads may use it at the same time."""

import contextlib
import os
import threading
import weakref
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import UTC, datetime
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar

from researchdesk.state.copying import maker
from researchdesk.state.errors import IntegrityError, LeaseLost, UsageError
from researchdesk.state.ids import CallId, content_hash, session_stream, stream_owner
from researchdesk.state.queries import Query
from researchdesk.state.row_changes import Row, RowChange
from researchdesk.state.tables import TABLES, Table, tables_of
from researchdesk.stores.codec import StoredEvent
from researchdesk.stores.ledger import Append, Head, HeadMoved, Lease, Staged
from researchdesk.stores.sqlite import desk_search
from researchdesk.stores.sqlite.connection import (
    Connection,
    connect,
    dbapi,
    journal_mode,
    rows_as_dicts,
    sqlite_errors,
)
from researchdesk.stores.sqlite.migrations import SCHEMA, expected_schema, migrate
from researchdesk.stores.sqlite.writer import Writer

T = TypeVar("T")

WRONG_QUERY = ("syntax error", "incomplete input", "no such ", "readonly", "ambiguous")
_EVENT_FIELDS = (
    *("stream", "seq", "event_id", "type", "schema_version"),
    *("ts", "refs", "payload", "prev_hash", "hash"),
)
_EVENT_COLUMNS = ", ".join(_EVENT_FIELDS)
_event_values = attrgetter(*_EVENT_FIELDS)
_make_event = maker(StoredEvent)  # its fields are the columns below, in that order
_INSERT_EVENT = f"INSERT INTO events ({_EVENT_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_SELECT_EVENT = f"SELECT {_EVENT_COLUMNS}, global_seq FROM events"
_DROP_BODY = (
    "DELETE FROM blobs WHERE hash = ? AND NOT EXISTS "
    "(SELECT 1 FROM session_bodies AS used WHERE used.hash = blobs.hash AND used.released_seq IS NULL) "
    "AND NOT EXISTS (SELECT 1 FROM desk_bodies AS used WHERE used.hash = blobs.hash)"
)
_CALL_COLUMNS = TABLES["tool_calls"].columns
_LOOK_UP = (
    f"SELECT heads.count, heads.hash, heads.rows_digest, {', '.join(f'c.{name}' for name in _CALL_COLUMNS)} "
    "FROM (SELECT 1) LEFT JOIN heads ON heads.stream = ? "
    "LEFT JOIN tool_calls AS c ON c.session_id = ? AND c.turn_id = ? AND c.id = ?"
)
_SELECT_CALL = (
    f"SELECT {', '.join(_CALL_COLUMNS)} FROM tool_calls WHERE session_id = ? AND turn_id = ? AND id = ?"
)
_OF_CALL = "session_id = ? AND turn_id = ? AND tool_call_id = ?"


def _insert(table: Table) -> str:
    marks = ", ".join("?" for _ in table.columns)
    return f"INSERT INTO {table.name} ({', '.join(table.columns)}) VALUES ({marks})"


def _update(table: Table) -> str:
    values = ", ".join(f"{column} = ?" for column in table.columns[table.key_size :])
    return f"UPDATE {table.name} SET {values} WHERE {' AND '.join(f'{column} = ?' for column in table.key)}"


def _delete(table: Table) -> str:
    return f"DELETE FROM {table.name} WHERE {' AND '.join(f'{column} = ?' for column in table.key)}"


_INSERTS = {name: _insert(table) for name, table in TABLES.items()}
_UPDATES = {name: _update(table) for name, table in TABLES.items()}
_DELETES = {name: _delete(table) for name, table in TABLES.items()}


# A forked child may not even close its parent's connection: that could take the parent's locks and log away.
_PARENTS: list[Connection] = []
_OPEN: "weakref.WeakSet[SqliteLedger]" = weakref.WeakSet()
_forking: list["SqliteLedger"] = []
_fork = threading.RLock()


def _before_fork() -> None:
    """Let every transaction end: the library in the child would take one that is open for its own, for ever."""
    _fork.acquire()
    _forking[:] = _OPEN
    for ledger in _forking:
        ledger._lock.acquire()


def _after_in_parent() -> None:
    for ledger in _forking:
        ledger._lock.release()
    _forking.clear()
    _fork.release()


def _after_in_child() -> None:
    """A child has its own connection, and locks that no thread of its parent holds."""
    for ledger in _forking:
        _PARENTS.append(ledger._connection)
        ledger._forked = True
        ledger._lock = threading.RLock()
    _forking.clear()
    _fork.release()  # the thread that forked is the one that goes on in the child


os.register_at_fork(before=_before_fork, after_in_parent=_after_in_parent, after_in_child=_after_in_child)


class SqliteLedger:
    """A `Ledger` in one file.

    One connection a process serves all its threads, one statement or transaction at a time; what several threads
    append at the same time shares a transaction. A forked child opens its own.
    """

    def __init__(self, path: Path, *, open_file: Callable[[Path], Connection] = connect) -> None:
        self._path = path
        self._open_file = open_file
        self._lock = threading.RLock()
        self._connection = open_file(path)
        self._writer = Writer(self._connection, self._lock)
        self._forked = False
        self._frozen = False
        migrate(self._connection, path)
        _OPEN.add(self)

    @property
    def _db(self) -> Connection:
        if self._forked:
            self._open_again()
        return self._connection

    def _open_again(self) -> None:
        with self._lock:
            if self._forked:
                self._connection = self._open_file(self._path)
                self._writer = Writer(self._connection, self._lock)
                self._forked = False

    def _write(self, work: Callable[[Connection], T]) -> T:
        """What ``work`` gives, when it is on disk."""
        if self._forked:
            self._open_again()
        with sqlite_errors(self._path):
            return self._writer.write(work)

    def _all(self, sql: str, parameters: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        with self._lock, sqlite_errors(self._path):
            return self._db.execute(sql, parameters).fetchall()

    def _one(self, sql: str, parameters: tuple[Any, ...] = ()) -> tuple[Any, ...] | None:
        with self._lock, sqlite_errors(self._path):
            row: tuple[Any, ...] | None = self._db.execute(sql, parameters).fetchone()
            return row

    def describe(self) -> str:
        return f"SQLite {dbapi.sqlite_version}, journal {journal_mode()}, synchronous FULL, {self._path}"

    def head(self, stream: str) -> Head:
        row = self._one("SELECT count, hash, rows_digest FROM heads WHERE stream = ?", (stream,))
        return Head(count=row[0], hash=row[1], rows_digest=row[2]) if row else Head()

    def streams(self) -> list[str]:
        # Heads may be missing or events may: a stream that only one of the two knows is a fault to be found.
        rows = self._all(
            "SELECT stream FROM (SELECT stream, min(global_seq) AS first FROM events GROUP BY stream "
            "UNION SELECT stream, 9e18 FROM heads WHERE stream NOT IN (SELECT stream FROM events)) ORDER BY first"
        )
        return [row[0] for row in rows]

    def read(self, stream: str, *, after: int = 0) -> list[StoredEvent]:
        rows = self._all(f"{_SELECT_EVENT} WHERE stream = ? AND seq > ? ORDER BY seq", (stream, after))
        return _stored(rows)

    def tail(self, *, after: int = 0, limit: int = 1000) -> list[StoredEvent]:
        rows = self._all(f"{_SELECT_EVENT} WHERE global_seq > ? ORDER BY global_seq LIMIT ?", (after, limit))
        return _stored(rows)

    def append(self, *appends: Append) -> None:
        def work(db: Connection) -> None:
            for append in appends:
                self._append(db, append)

        self._write(work)

    def _append(self, db: Connection, append: Append) -> None:
        self._check_lease(db, append.lease)
        self._move_head(db, append)
        if append.bodies:
            db.executemany(
                "INSERT INTO blobs (hash, bytes) VALUES (?, ?) ON CONFLICT (hash) DO NOTHING",
                list(append.bodies.items()),
            )
        if append.settles is not None:
            self._settle(db, append.settles, append.adopts)
        for event in append.events:
            db.execute(_INSERT_EVENT, _event_values(event))
        for change in append.rows:  # after the bodies, which the desk's index reads
            _write_row(db, change)
        if append.drops:
            db.executemany(_DROP_BODY, [(key,) for key in append.drops])

    def _check_lease(self, db: Connection, lease: Lease | None) -> None:
        if lease is None:
            return
        row = db.execute(
            "SELECT epoch, holder FROM leases WHERE session_id = ?", (lease.session_id,)
        ).fetchone()
        if row is None or row[0] != lease.epoch:
            who = row[1] if row else "nobody"
            raise LeaseLost(
                f"session '{lease.session_id}' was taken over by {who}; this process stops, nothing was written"
            )

    def _check_head(self, db: Connection, stream: str, head: Head) -> None:
        row = db.execute("SELECT count, hash FROM heads WHERE stream = ?", (stream,)).fetchone()
        if (row or (0, head.hash)) != (head.count, head.hash):
            raise HeadMoved(stream)

    def _move_head(self, db: Connection, append: Append) -> None:
        """Set the stream's head from the one that the writer decided upon to the one after its events."""
        old, last = append.head, append.events[-1]
        if old.count == 0:
            written = db.execute(
                "INSERT INTO heads (stream, count, hash, rows_digest) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                (append.stream, last.seq, last.hash, append.rows_digest),
            )
        else:
            written = db.execute(
                "UPDATE heads SET count = ?, hash = ?, rows_digest = ? WHERE stream = ? AND count = ? AND hash = ?",
                (last.seq, last.hash, append.rows_digest, append.stream, old.count, old.hash),
            )
        if not written.rowcount:
            raise HeadMoved(append.stream)

    def _settle(self, db: Connection, call: CallId, adopts: tuple[str, ...]) -> None:
        key = (call.session, call.turn, call.call)
        for content in adopts:
            db.execute(
                f"INSERT INTO blobs (hash, bytes) SELECT hash, bytes FROM gathered_bodies WHERE {_OF_CALL} "
                "AND hash = ? ON CONFLICT (hash) DO NOTHING",
                (*key, content),
            )
            if db.execute("SELECT 1 FROM blobs WHERE hash = ?", (content,)).fetchone() is None:
                raise IntegrityError(
                    f"the body {content} that call '{call.call}' stands on is not staged; nothing was written"
                )
        db.execute(f"DELETE FROM gathered WHERE {_OF_CALL}", key)

    def look_up(self, call: CallId) -> tuple[Head, dict[str, str] | None]:
        key = (session_stream(call.session), call.session, call.turn, call.call)
        row = self._one(_LOOK_UP, key)
        assert row is not None
        head = Head(count=row[0], hash=row[1], rows_digest=row[2]) if row[0] is not None else Head()
        return head, None if row[3] is None else dict(zip(_CALL_COLUMNS, row[3:], strict=True))

    def call_row(self, call: CallId) -> dict[str, str] | None:
        row = self._one(_SELECT_CALL, (call.session, call.turn, call.call))
        return dict(zip(_CALL_COLUMNS, row, strict=True)) if row else None

    def body(self, content_hash: str) -> bytes | None:
        row = self._one("SELECT bytes FROM blobs WHERE hash = ?", (content_hash,))
        return _checked(content_hash, row[0]) if row else None

    def stage(self, call: CallId, *, input_digest: str, receipt: str, bodies: Mapping[str, bytes]) -> None:
        key = (call.session, call.turn, call.call)

        def work(db: Connection) -> None:
            now = datetime.now(UTC).isoformat()
            db.execute(f"DELETE FROM gathered WHERE {_OF_CALL} AND input_digest <> ?", (*key, input_digest))
            written = db.execute(
                "INSERT INTO gathered VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                (*key, input_digest, receipt, now),
            )
            if written.rowcount:
                db.executemany(
                    "INSERT INTO gathered_bodies VALUES (?, ?, ?, ?, ?)",
                    [(*key, content, body) for content, body in bodies.items()],
                )

        self._write(work)

    def staged(self, call: CallId) -> Staged | None:
        key = (call.session, call.turn, call.call)
        row = self._one(f"SELECT input_digest, receipt FROM gathered WHERE {_OF_CALL}", key)
        if row is None:
            return None
        hashes = self._all(f"SELECT hash FROM gathered_bodies WHERE {_OF_CALL} ORDER BY hash", key)
        return Staged(input_digest=row[0], receipt=row[1], hashes=tuple(h for (h,) in hashes))

    def staged_body(self, call: CallId, content_hash: str) -> bytes | None:
        key = (call.session, call.turn, call.call)
        row = self._one(
            f"SELECT bytes FROM gathered_bodies WHERE {_OF_CALL} AND hash = ?", (*key, content_hash)
        )
        return _checked(content_hash, row[0]) if row else None

    def take_lease(self, session_id: str, *, holder: str) -> Lease:
        def work(db: Connection) -> int:
            epoch: int = db.execute(
                "INSERT INTO leases VALUES (?, 1, ?, ?) ON CONFLICT (session_id) DO UPDATE SET "
                "epoch = epoch + 1, holder = excluded.holder, acquired_at = excluded.acquired_at RETURNING epoch",
                (session_id, holder, datetime.now(UTC).isoformat()),
            ).fetchone()[0]
            return epoch

        return Lease(session_id=session_id, epoch=self._write(work))

    def lease_holder(self, session_id: str) -> str:
        row = self._one("SELECT holder FROM leases WHERE session_id = ?", (session_id,))
        return row[0] if row else ""

    def rows(self, table: str, owner: str) -> list[Row]:
        shape = TABLES[table]
        columns, key = ", ".join(shape.columns), ", ".join(shape.key)
        return self._all(f"SELECT {columns} FROM {table} WHERE {shape.owner} = ? ORDER BY {key}", (owner,))

    def replace_rows(self, stream: str, *, head: Head, rows: Mapping[str, list[Row]]) -> None:
        def work(db: Connection) -> None:
            self._check_head(db, stream, head)
            # Artifacts are append-only for everybody else: their guards step aside for this transaction. So does what
            # keeps the desk's index, which is made anew.
            aside = db.execute(
                "SELECT name, sql FROM sqlite_schema "
                "WHERE type = 'trigger' AND tbl_name IN ('artifacts', 'desk_texts')"
            ).fetchall()
            for name, _ in aside:
                db.execute(f"DROP TRIGGER {name}")
            for table, shape in reversed(tables_of(stream).items()):
                db.execute(f"DELETE FROM {table} WHERE {shape.owner} = ?", (stream_owner(stream),))
            for table, new in rows.items():
                db.executemany(_INSERTS[table], new)
            if "desk_files" in tables_of(stream):
                desk_search.rebuild(db)
            for _, sql in aside:
                db.execute(sql)
            db.execute("UPDATE heads SET rows_digest = ? WHERE stream = ?", (head.rows_digest, stream))

        self._write(work)

    def search_files(
        self, desk_id: str, query: Query, *, among: Collection[str] | None = None, limit: int
    ) -> list[list[str]]:
        with self._lock, sqlite_errors(self._path):
            return desk_search.search(self._db, desk_id, query, among=among, limit=limit)

    def body_hashes(self) -> Iterator[str]:
        return iter([row[0] for row in self._all("SELECT hash FROM blobs ORDER BY hash")])

    def faults(self) -> list[str]:
        found = [
            f"{self._path}: {line}" for (line,) in self._all("PRAGMA integrity_check(20)") if line != "ok"
        ]
        here = set(self._all(SCHEMA))
        names = {name for name, _ in here ^ expected_schema()}
        found += [
            f"{self._path}: the schema of '{name}' is not what it was made as" for name in sorted(names)
        ]
        return found or [f"{self._path}: {fault}" for fault in self._search_faults()]

    def _search_faults(self) -> list[str]:
        """What is wrong with the desk's index; on a connection of its own, as a snapshot may not take a lock."""
        with sqlite_errors(self._path), contextlib.closing(self._open_file(self._path)) as own:
            return desk_search.faults(own)

    @contextlib.contextmanager
    def snapshot(self) -> Iterator["SqliteLedger"]:
        if self._frozen:
            yield self
            return
        frozen = SqliteLedger(self._path, open_file=self._open_file)
        frozen._frozen = True
        try:
            with sqlite_errors(self._path):
                frozen._db.execute("BEGIN")
                frozen._db.execute("SELECT 1 FROM heads").fetchone()  # the first read fixes what is seen
            yield frozen
        finally:
            frozen.close()

    def query(self, sql: str, parameters: tuple[object, ...] = ()) -> list[dict[str, object]]:
        if sql.upper().split(maxsplit=1)[:1] not in (["SELECT"], ["WITH"]):
            raise UsageError("a query is one SELECT; it cannot change anything")
        with self._lock, sqlite_errors(self._path):
            self._db.execute("PRAGMA query_only=ON")
            try:
                return rows_as_dicts(self._db.execute(sql, parameters))
            except dbapi.OperationalError as problem:
                if not any(sign in str(problem) for sign in WRONG_QUERY):
                    raise
                raise UsageError(f"the query cannot be answered: {problem}") from None
            finally:
                self._db.execute("PRAGMA query_only=OFF")

    def close(self) -> None:
        with self._lock:
            if not self._forked:  # else it is still the parent's
                self._connection.close()


def _stored(rows: list[tuple[Any, ...]]) -> list[StoredEvent]:
    return [_make_event(*row) for row in rows]


def _write_row(db: Connection, change: RowChange) -> None:
    if change.new is None:
        db.execute(_DELETES[change.table], change.key)
    elif change.old is None:
        db.execute(_INSERTS[change.table], change.new)
    else:
        db.execute(_UPDATES[change.table], (*change.new[len(change.key) :], *change.key))


def _checked(expected: str, body: bytes) -> bytes:
    found = content_hash(body)
    if found != expected:
        raise IntegrityError(f"the body {expected} has changed on disk: its bytes hash to {found}")
    return body
