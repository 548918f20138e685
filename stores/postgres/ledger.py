"""The ledger in one schema of a PostgreSQL database; processes of several machines may use it at the same time."""

import contextlib
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

import psycopg
from psycopg import Connection

from researchdesk.state.copying import maker
from researchdesk.state.errors import IntegrityError, LeaseLost, UsageError
from researchdesk.state.ids import CallId, content_hash, session_stream, stream_owner
from researchdesk.state.queries import Query
from researchdesk.state.row_changes import Row
from researchdesk.state.tables import TABLES, tables_of
from researchdesk.stores.codec import StoredEvent
from researchdesk.stores.ledger import Append, Head, HeadMoved, Lease, Staged
from researchdesk.stores.postgres import desk_search
from researchdesk.stores.postgres.address import Address
from researchdesk.stores.postgres.appending import append_statement, needs_second_look, quoted, rows_text
from researchdesk.stores.postgres.connection import Pool, connect, patiently, postgres_errors
from researchdesk.stores.postgres.migrations import catalogue, expected_catalogue, migrate
from researchdesk.stores.postgres.placeholders import driver_text

T = TypeVar("T")

_WRONG_QUERY = ("42", "22", "25006", "0A")
_EVENT_COLUMNS = "stream, seq, event_id, type, schema_version, ts, refs, payload, prev_hash, hash, global_seq"
_make_event = maker(StoredEvent)  # its fields are the columns above, in that order
_SELECT_EVENT = f"SELECT {_EVENT_COLUMNS} FROM events"
_CALL_COLUMNS = TABLES["tool_calls"].columns
_LOOK_UP = (
    f"SELECT heads.count, heads.hash, heads.rows_digest, {', '.join(f'c.{name}' for name in _CALL_COLUMNS)} "
    "FROM (SELECT 1) AS one LEFT JOIN heads ON heads.stream = %s "
    "LEFT JOIN tool_calls AS c ON c.session_id = %s AND c.turn_id = %s AND c.id = %s"
)
_SETTLE = "SELECT settle(%s, %s, %s)"
_SELECT_CALL = (
    f"SELECT {', '.join(_CALL_COLUMNS)} FROM tool_calls WHERE session_id = %s AND turn_id = %s AND id = %s"
)
_OF_CALL = "session_id = %s AND turn_id = %s AND tool_call_id = %s"
_STREAMS = (
    "SELECT stream FROM (SELECT stream, min(global_seq) AS first FROM events GROUP BY stream "
    "UNION ALL SELECT stream, NULL FROM heads WHERE stream NOT IN (SELECT stream FROM events)) AS known "
    "ORDER BY first NULLS LAST, stream"
)
_NUMBERS = "SELECT counter.global_seq, (SELECT count(*) FROM events), (SELECT max(global_seq) FROM events) FROM counter"
_UNSAFE = "SELECT name FROM pg_settings WHERE name IN ('fsync', 'full_page_writes') AND setting = 'off'"


class PostgresLedger:
    """A `Ledger` in one schema.

    Every append is one statement and its own transaction; one that keeps gathered bodies takes a second. Work that
    was under way when the server went away is done again when it is back; what was committed already is recognised by
    the stream's events.
    """

    def __init__(self, address: Address, pool: Pool, *, frozen: Connection[Any] | None = None) -> None:
        """Use `open`; with ``frozen``, everything is read in that connection's transaction."""
        self.address = address
        self._pool = pool
        self._frozen = frozen
        self._frozen_lock = threading.RLock()

    @classmethod
    def open(cls, address: Address, *, make: bool = True) -> "PostgresLedger":
        """Connect, and migrate the schema where needed.

        Raises:
            NotFound: there is no desk and ``make`` is false.
            Unavailable: there is no such server, or the schema is of a newer version or another program.
        """
        pool = Pool(address)
        try:
            with postgres_errors(address), pool.connection() as db:
                migrate(db, address, make=make)
        except BaseException:
            pool.close()
            raise
        return cls(address, pool)

    def _do(self, work: Callable[[Connection[Any]], T]) -> T:
        """What ``work`` gives; it may be run again, on another connection, when the server went away under it."""
        if self._frozen is not None:
            with self._frozen_lock, postgres_errors(self.address):
                return work(self._frozen)

        def attempt() -> T:
            with self._pool.connection() as db:
                return work(db)

        with postgres_errors(self.address):
            return patiently(attempt, lost=self._pool.drop_idle)

    def _all(
        self, sql: str, parameters: Sequence[Any] = (), *, binary: bool = False
    ) -> list[tuple[Any, ...]]:
        return self._do(lambda db: db.execute(sql, parameters, binary=binary).fetchall())

    def write_one(self, sql: str, parameters: Sequence[Any]) -> tuple[Any, ...] | None:
        """The row that a writing statement returns; it has to be one that may be run again."""
        return self._one(sql, parameters)

    def _one(
        self, sql: str, parameters: Sequence[Any] = (), *, binary: bool = False, prepare: bool | None = None
    ) -> tuple[Any, ...] | None:
        def work(db: Connection[Any]) -> tuple[Any, ...] | None:
            row: tuple[Any, ...] | None = db.execute(
                sql, parameters, prepare=prepare, binary=binary
            ).fetchone()
            return row

        return self._do(work)

    def describe(self) -> str:
        row = self._one("SELECT current_setting('server_version'), current_setting('synchronous_commit')")
        assert row is not None
        return f"PostgreSQL {row[0].split()[0]}, synchronous_commit {row[1]}, {self.address.shown}"

    def head(self, stream: str) -> Head:
        row = self._one(
            "SELECT count, hash, rows_digest FROM heads WHERE stream = %s", (stream,), prepare=True
        )
        return Head(count=row[0], hash=row[1], rows_digest=row[2]) if row else Head()

    def streams(self) -> list[str]:
        # Heads may be missing or events may: a stream that only one of the two knows is a fault to be found.
        return [row[0] for row in self._all(_STREAMS)]

    def read(self, stream: str, *, after: int = 0) -> list[StoredEvent]:
        return _stored(
            self._all(f"{_SELECT_EVENT} WHERE stream = %s AND seq > %s ORDER BY seq", (stream, after))
        )

    def tail(self, *, after: int = 0, limit: int = 1000) -> list[StoredEvent]:
        rows = self._all(
            f"{_SELECT_EVENT} WHERE global_seq > %s ORDER BY global_seq LIMIT %s", (after, limit)
        )
        return _stored(rows)

    def append(self, *appends: Append) -> None:
        statements = [append_statement(append) for append in appends]
        in_one = len(appends) == 1 and not needs_second_look(appends[0])
        tries = 0

        def work(db: Connection[Any]) -> None:
            nonlocal tries
            tries += 1
            with contextlib.nullcontext() if in_one else db.transaction():
                for append, (sql, values) in zip(appends, statements, strict=True):
                    psycopg.RawCursor(db).execute(sql, values, prepare=True)
                    if needs_second_look(append):
                        db.execute(_SETTLE, _settled(append))

        try:
            self._do(work)
        except (HeadMoved, LeaseLost):
            # The connection may have gone after the commit and before its answer.
            if tries == 1 or not self._holds(appends[-1].events[-1]):
                raise

    def _holds(self, event: StoredEvent) -> bool:
        same = "SELECT 1 FROM events WHERE stream = %s AND seq = %s AND hash = %s"
        return self._one(same, (event.stream, event.seq, event.hash)) is not None

    def look_up(self, call: CallId) -> tuple[Head, dict[str, str] | None]:
        key = (session_stream(call.session), call.session, call.turn, call.call)
        row = self._one(_LOOK_UP, key, prepare=True)
        assert row is not None
        head = Head(count=row[0], hash=row[1], rows_digest=row[2]) if row[0] is not None else Head()
        return head, None if row[3] is None else dict(zip(_CALL_COLUMNS, row[3:], strict=True))

    def call_row(self, call: CallId) -> dict[str, str] | None:
        row = self._one(_SELECT_CALL, (call.session, call.turn, call.call), prepare=True)
        return dict(zip(_CALL_COLUMNS, row, strict=True)) if row else None

    def body(self, content_hash: str) -> bytes | None:
        row = self._one("SELECT bytes FROM blobs WHERE hash = %s", (content_hash,), binary=True)
        return _checked(content_hash, row[0]) if row else None

    def stage(self, call: CallId, *, input_digest: str, receipt: str, bodies: Mapping[str, bytes]) -> None:
        now = datetime.now(UTC).isoformat()
        key = (call.session, call.turn, call.call)
        values = (*key, input_digest, receipt, now, list(bodies), list(bodies.values()))
        self._one("SELECT stage(%s, %s, %s, %s, %s, %s, %s::text[], %s::bytea[])", values)

    def staged(self, call: CallId) -> Staged | None:
        row = self._one(
            "SELECT input_digest, receipt, ARRAY(SELECT hash FROM gathered_bodies AS b WHERE b.session_id = "
            "g.session_id AND b.turn_id = g.turn_id AND b.tool_call_id = g.tool_call_id ORDER BY hash) "
            f"FROM gathered AS g WHERE {_OF_CALL}",
            (call.session, call.turn, call.call),
        )
        return Staged(input_digest=row[0], receipt=row[1], hashes=tuple(row[2])) if row else None

    def staged_body(self, call: CallId, content_hash: str) -> bytes | None:
        row = self._one(
            f"SELECT bytes FROM gathered_bodies WHERE {_OF_CALL} AND hash = %s",
            (call.session, call.turn, call.call, content_hash),
            binary=True,
        )
        return _checked(content_hash, row[0]) if row else None

    def take_lease(self, session_id: str, *, holder: str) -> Lease:
        now = datetime.now(UTC).isoformat()
        row = self._one("SELECT take_lease(%s, %s, %s)", (session_id, holder, now))
        assert row is not None
        return Lease(session_id=session_id, epoch=row[0])

    def lease_holder(self, session_id: str) -> str:
        row = self._one("SELECT holder FROM leases WHERE session_id = %s", (session_id,))
        return row[0] if row else ""

    def rows(self, table: str, owner: str) -> list[Row]:
        shape = TABLES[table]
        columns = ", ".join(map(quoted, shape.columns))
        key = ", ".join(map(quoted, shape.key))
        return self._all(f"SELECT {columns} FROM {table} WHERE {shape.owner} = %s ORDER BY {key}", (owner,))

    def replace_rows(self, stream: str, *, head: Head, rows: Mapping[str, list[Row]]) -> None:
        def work(db: Connection[Any]) -> None:
            with db.transaction():
                db.execute("SELECT 1 FROM counter FOR UPDATE")  # its turn among the appends
                found = db.execute("SELECT count, hash FROM heads WHERE stream = %s", (stream,)).fetchone()
                if (found or (0, head.hash)) != (head.count, head.hash):
                    raise HeadMoved(stream)
                db.execute("SELECT set_config('researchdesk.rebuilds', 'yes', true)")
                for table, shape in reversed(tables_of(stream).items()):
                    db.execute(f"DELETE FROM {table} WHERE {shape.owner} = %s", (stream_owner(stream),))
                if "desk_files" in tables_of(stream):
                    desk_search.empty(db, stream_owner(stream))
                for table, new in rows.items():
                    db.execute(
                        f"INSERT INTO {table} SELECT * FROM json_populate_recordset(NULL::{table}, %s)",
                        (rows_text(new, table),),
                    )
                db.execute("UPDATE heads SET rows_digest = %s WHERE stream = %s", (head.rows_digest, stream))

        self._do(work)

    def search_files(
        self, desk_id: str, query: Query, *, among: Collection[str] | None = None, limit: int
    ) -> list[list[str]]:
        return self._do(lambda db: desk_search.search(db, desk_id, query, among=among, limit=limit))

    def body_hashes(self) -> Iterator[str]:
        return iter([row[0] for row in self._all("SELECT hash FROM blobs ORDER BY hash")])

    def faults(self) -> list[str]:
        where = self.address.shown
        found = [
            f"{where}: the server runs with {name}=off and may lose what it acknowledged"
            for (name,) in self._all(_UNSAFE)
        ]
        numbers = self._one(_NUMBERS)
        if numbers is None or len({numbers[0], numbers[1], numbers[2] or 0}) > 1:
            found.append(f"{where}: counter, number and last place of the events differ: {numbers}")
        here = self._do(catalogue)
        names = {name for name, _ in here ^ expected_catalogue(self.address)}
        found += [f"{where}: the schema of '{name}' is not what it was made as" for name in sorted(names)]
        return found or [f"{where}: {fault}" for fault in self._do(desk_search.faults)]

    @contextlib.contextmanager
    def snapshot(self) -> Iterator["PostgresLedger"]:
        if self._frozen is not None:
            yield self
            return
        with postgres_errors(self.address):
            connection = connect(self.address)
        try:
            with postgres_errors(self.address):
                connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
                connection.execute("SELECT 1 FROM counter").fetchone()  # the first read fixes what is seen
            yield PostgresLedger(self.address, self._pool, frozen=connection)
        finally:
            connection.close()

    def query(self, sql: str, parameters: tuple[object, ...] = ()) -> list[dict[str, object]]:
        if sql.upper().split(maxsplit=1)[:1] not in (["SELECT"], ["WITH"]):
            raise UsageError("a query is one SELECT; it cannot change anything")

        def answer(db: Connection[Any]) -> list[dict[str, object]]:
            # Prepared, a text cannot hold several statements; rolled back, it leaves no setting behind.
            with db.transaction(force_rollback=True):
                db.execute("SET TRANSACTION READ ONLY")
                cursor = db.execute(driver_text(sql), parameters, prepare=True)
                names = [column.name for column in cursor.description or ()]
                return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

        def work(db: Connection[Any]) -> list[dict[str, object]]:
            try:
                return answer(db)
            except psycopg.Error as problem:
                state = problem.sqlstate or ""
                if not state.startswith(_WRONG_QUERY) and not isinstance(
                    problem, psycopg.ProgrammingError | psycopg.DataError
                ):
                    raise
                raise UsageError(f"the query cannot be answered: {problem}") from None

        return self._do(work)

    def close(self) -> None:
        if self._frozen is None:
            self._pool.close()


def _stored(rows: list[tuple[Any, ...]]) -> list[StoredEvent]:
    return [_make_event(*row) for row in rows]


def _settled(append: Append) -> tuple[Any, ...]:
    """The arguments of the server's function that settles a call and drops bodies."""
    call = append.settles
    identity = [call.session, call.turn, call.call] if call else None
    return identity, list(append.adopts), list(append.drops)


def _checked(expected: str, body: bytes) -> bytes:
    found = content_hash(body)
    if found != expected:
        raise IntegrityError(f"the body {expected} has changed on disk: its bytes hash to {found}")
    return body
