"""The PostgreSQL ledger: the contract, and what only a server can get wrong."""

import contextlib
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from researchdesk.state.errors import (
    IntegrityError,
    LeaseLost,
    LedgerCorrupt,
    NotFound,
    Unavailable,
    UsageError,
)
from researchdesk.state.ids import content_hash
from researchdesk.state.tables import TABLES
from researchdesk.stores.ledger import HeadMoved, Ledger
from researchdesk.stores.postgres import migrations
from researchdesk.stores.postgres.address import Address, parse_address
from researchdesk.stores.postgres.connection import connect, postgres_errors
from researchdesk.stores.postgres.ledger import PostgresLedger
from researchdesk.stores.postgres.migrations import catalogue, migrate, steps
from researchdesk.stores.postgres.placeholders import driver_text
from researchdesk.stores.sqlite.connection import dbapi
from researchdesk.stores.sqlite.migrations import steps as sqlite_steps
from researchdesk.stores.verify import verify
from researchdesk.tools.workspace import open_desk

from ..desks import call
from ..postgres_server import NO_SERVER, server
from .contract import LedgerContract, artifact, recorded
from .streams_contract import StreamsContract

Raw = Callable[[str], None]


class TestPostgresLedger(StreamsContract, LedgerContract):
    @pytest.fixture
    def address(self, postgres: str) -> Address:
        return parse_address(postgres)

    @pytest.fixture
    def reopen(self, address: Address) -> Callable[[], Ledger]:
        return lambda: PostgresLedger.open(address)

    @pytest.fixture
    def raw(self, address: Address) -> Raw:
        def run(sql: str) -> None:
            with postgres_errors(address), connect(address) as db:
                db.execute(sql)

        return run

    @pytest.fixture
    def db(self, ledger: Ledger, address: Address) -> Iterator[psycopg.Connection[Any]]:
        """A connection past the ledger."""
        with connect(address) as connection:
            yield connection

    # -- schema -------------------------------------------------------------------------------------------------

    def test_a_table_that_is_kept_cannot_be_emptied(self, ledger: Ledger, raw: Raw) -> None:
        self.begin(ledger)
        self.write(ledger, artifact(1), bodies={content_hash(b"body"): b"body"})
        for table in ("events", "artifacts", "blobs"):
            with pytest.raises(IntegrityError, match="append-only"):
                raw(f"TRUNCATE {table} CASCADE")
        assert verify(ledger).ok

    def test_migrating_twice_changes_nothing(self, ledger: Ledger, db: Any, address: Address) -> None:
        before = catalogue(db)
        assert migrate(db, address) == steps()[-1][0]
        assert catalogue(db) == before
        assert db.execute("SELECT number FROM schema_steps ORDER BY number").fetchall() == [
            (number,) for number, _ in steps()
        ]

    def test_a_desk_of_the_first_step_is_brought_to_the_newest(
        self, address: Address, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        first, *later = steps()
        monkeypatch.setattr(migrations, "steps", lambda: [first])
        with connect(address) as db:
            assert migrate(db, address) == 1
            monkeypatch.undo()
            assert migrate(db, address) == later[-1][0]
        ledger = PostgresLedger.open(address)
        assert ledger.faults() == []
        ledger.close()

    def test_a_ledger_of_a_newer_version_is_left_alone(
        self, ledger: Ledger, db: Any, address: Address
    ) -> None:
        db.execute("INSERT INTO schema_steps VALUES (999)")
        with pytest.raises(Unavailable, match=r"newer version.*999"):
            PostgresLedger.open(address)

    @pytest.mark.parametrize(
        ("made", "name"),
        [
            ("TABLE mine (x integer)", "mine.x"),
            ("FUNCTION mine() RETURNS integer LANGUAGE sql AS 'SELECT 1'", "mine"),
        ],
    )
    def test_a_schema_of_another_program_is_left_alone(self, address: Address, made: str, name: str) -> None:
        with connect(address) as db:
            db.execute(f"CREATE SCHEMA {address.schema}")
            db.execute(f"CREATE {made}")
            with pytest.raises(Unavailable, match="another program"):
                PostgresLedger.open(address)
            assert {name for name, _ in catalogue(db)} == {name}

    def test_looking_at_no_desk_makes_none(self, address: Address) -> None:
        with pytest.raises(NotFound, match=f"no desk at .*schema={address.schema}"):
            PostgresLedger.open(address, make=False)
        with connect(address) as db:
            there = db.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (address.schema,)).fetchone()
        assert there is None

    def test_many_who_open_a_new_desk_at_once_make_one(self, address: Address) -> None:
        problems: list[BaseException] = []

        def work() -> None:
            try:
                PostgresLedger.open(address).close()
            except BaseException as problem:
                problems.append(problem)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert problems == []

    @pytest.mark.parametrize(
        ("change", "names"),
        [
            ("DROP TRIGGER events_keep_rows ON events", ["events events_keep_rows"]),
            ("ALTER TABLE events DISABLE TRIGGER events_keep_rows", ["events events_keep_rows"]),
            ("ALTER TABLE claims ADD COLUMN mine text", ["claims.mine"]),
            ("ALTER TABLE claims DROP CONSTRAINT claims_kind_check", ["claims claims_kind_check"]),
            ("CREATE TABLE mine (x integer)", ["mine.x"]),
            (
                "CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS "
                "'BEGIN RETURN NULL; END'",
                ["refuse_change"],
            ),
        ],
    )
    def test_a_schema_that_was_changed_is_a_fault(
        self, ledger: Ledger, raw: Raw, change: str, names: list[str]
    ) -> None:
        raw(change)
        assert [re.findall("schema of '(.*?)'", fault)[0] for fault in ledger.faults()] == names
        assert not verify(ledger).ok

    def test_numbers_with_a_gap_are_a_fault(self, ledger: Ledger, raw: Raw) -> None:
        self.begin(ledger)
        raw("UPDATE counter SET global_seq = global_seq + 1")
        assert ["differ: (3, 2, 2)" in fault for fault in ledger.faults()] == [True]

    def test_a_table_that_is_missing_is_damage(self, ledger: Ledger, raw: Raw) -> None:
        raw("DROP TABLE leases")
        with pytest.raises(LedgerCorrupt, match="damaged"):
            ledger.lease_holder("s1")

    # -- queries ------------------------------------------------------------------------------------------------

    def test_a_query_leaves_no_setting_behind(self, ledger: Ledger) -> None:
        name = "default_transaction_read_only"
        assert ledger.query("SELECT set_config(?, 'on', false) AS now", (name,)) == [{"now": "on"}]
        self.begin(ledger)
        assert ledger.query("SELECT current_setting(?) AS now", (name,)) == [{"now": "off"}]

    def test_a_query_that_fails_in_a_snapshot_leaves_it_as_it_was(self, ledger: Ledger) -> None:
        self.begin(ledger)
        with ledger.snapshot() as frozen:
            for sql in ("SELECT nothing FROM heads", "SELECT 1/0", "SELECT '\0'"):
                with pytest.raises(UsageError):
                    frozen.query(sql)
            assert frozen.head("session:s1").count == 2

    # -- turns --------------------------------------------------------------------------------------------------

    def test_an_append_that_waited_for_its_turn_checks_what_stands_then(
        self, ledger: Ledger, db: Any, address: Address
    ) -> None:
        """The lease is taken over, and the stream goes on, between the start of a statement and its turn."""
        self.begin(ledger)
        lease = ledger.take_lease("s1", holder="old")
        driven, _ = self.extension(ledger, [recorded("c1")])
        late, _ = self.extension(ledger, [recorded("c2")])
        raised: list[BaseException] = []

        def work(append: Any) -> None:
            try:
                ledger.append(append)
            except (LeaseLost, HeadMoved) as problem:
                raised.append(problem)

        threads = [
            threading.Thread(target=work, args=(append,)) for append in (replace(driven, lease=lease), late)
        ]
        with db.transaction():
            db.execute("SELECT 1 FROM counter FOR UPDATE")
            for thread in threads:
                thread.start()
            self.wait_for_waiting(address, 2)
            db.execute("UPDATE leases SET epoch = epoch + 1, holder = 'the faster one'")
            db.execute("UPDATE heads SET hash = md5(hash) || md5(hash)")
        for thread in threads:
            thread.join()
        assert sorted(type(problem).__name__ for problem in raised) == ["HeadMoved", "LeaseLost"]
        assert any("the faster one" in str(problem) for problem in raised)
        assert [e.global_seq for e in ledger.tail()] == [1, 2]

    def wait_for_waiting(self, address: Address, count: int) -> None:
        """Until so many sessions wait for the counter of this desk."""
        waiting = (
            "SELECT count(DISTINCT pid) FROM pg_locks JOIN pg_stat_activity USING (pid) "
            "WHERE relation = to_regclass('counter') AND wait_event_type = 'Lock'"
        )
        deadline = time.monotonic() + 30
        with connect(address) as watching:
            while (watching.execute(waiting).fetchone() or (0,))[0] < count:
                assert time.monotonic() < deadline

    def test_threads_share_a_few_connections_and_leave_no_gap(self, ledger: Ledger) -> None:
        names = [f"t{n}" for n in range(12)]
        for name in names:
            self.begin(ledger, name)

        def work(name: str) -> None:
            for n in range(5):
                self.write(ledger, recorded(f"c{n}"), session=name)

        threads = [threading.Thread(target=work, args=(name,)) for name in names]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [e.global_seq for e in ledger.tail()] == list(range(1, 12 * 7 + 1))
        assert verify(ledger).ok

    # -- a server that goes away --------------------------------------------------------------------------------

    @pytest.mark.parametrize("done", [False, True], ids=["before", "after"])
    def test_a_connection_that_is_lost_in_a_commit_is_settled(
        self, ledger: Ledger, monkeypatch: pytest.MonkeyPatch, done: bool
    ) -> None:
        self.begin(ledger)
        lost: list[str] = []

        class Losing(psycopg.RawCursor[Any]):
            def execute(self, *args: Any, **more: Any) -> Any:
                if not lost:
                    lost.append("once")
                    if done:
                        super().execute(*args, **more)
                    self.connection.close()
                    raise psycopg.OperationalError("server closed the connection unexpectedly")
                return super().execute(*args, **more)

        monkeypatch.setattr(psycopg, "RawCursor", Losing)
        self.write(ledger, recorded("c1"))
        assert lost == ["once"]
        assert [e.seq for e in ledger.read("session:s1")] == [1, 2, 3]
        assert verify(ledger).problems == ()

    def test_a_connection_that_is_lost_after_a_commit_of_two_statements_is_settled(
        self, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.begin(ledger)
        kept = content_hash(b"kept")
        ledger.stage(call(), input_digest="d", receipt="r", bodies={kept: b"kept"})
        real = psycopg.Connection.transaction
        lost: list[str] = []

        @contextlib.contextmanager
        def losing(connection: psycopg.Connection[Any], **more: Any) -> Iterator[Any]:
            with real(connection, **more) as transaction:
                yield transaction
            if not lost:
                lost.append("once")
                connection.close()
                raise psycopg.OperationalError("server closed the connection unexpectedly")

        monkeypatch.setattr(psycopg.Connection, "transaction", losing)
        self.write(ledger, artifact(1, b"kept"), recorded("c1"), settles=call(), adopts=(kept,))
        assert (lost, ledger.body(kept), ledger.staged(call())) == (["once"], b"kept", None)
        assert [e.global_seq for e in ledger.tail()] == [1, 2, 3, 4]
        assert verify(ledger).problems == ()

    def test_a_lost_commit_that_somebody_else_overtook_is_no_success(
        self, ledger: Ledger, reopen: Callable[[], Ledger], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.begin(ledger)
        late, _ = self.extension(ledger, [recorded("c1")])
        other = reopen()
        real = psycopg.RawCursor

        class Losing(psycopg.RawCursor[Any]):
            def execute(self, *args: Any, **more: Any) -> Any:
                monkeypatch.setattr(psycopg, "RawCursor", real)
                self_outer.write(other, recorded("c2"))
                self.connection.close()
                raise psycopg.OperationalError("server closed the connection unexpectedly")

        self_outer = self
        monkeypatch.setattr(psycopg, "RawCursor", Losing)
        with pytest.raises(HeadMoved):
            ledger.append(late)
        other.close()
        assert ledger.call_row(call(call="c1")) is None
        assert verify(ledger).ok

    def test_sessions_that_the_server_ended_are_replaced(self, ledger: Ledger, db: Any) -> None:
        self.begin(ledger)
        pool = ledger._pool._idle  # type: ignore[attr-defined]
        for connection in list(pool):
            db.execute("SELECT pg_terminate_backend(%s::int, 5000)", (connection.info.backend_pid,))
        self.write(ledger, recorded("c1"))
        for connection in list(pool):
            db.execute("SELECT pg_terminate_backend(%s::int, 5000)", (connection.info.backend_pid,))
        assert len(ledger.read("session:s1")) == 3

    def test_a_server_that_is_not_there_is_told_at_once(self) -> None:
        nobody = parse_address("postgresql://me:secret@127.0.0.1:1/test?schema=x")
        with pytest.raises(Unavailable, match=r"postgresql://me@127\.0\.0\.1:1/test") as found:
            PostgresLedger.open(nobody)
        assert "secret" not in str(found.value)
        assert "Check that the server runs and lets this user into this database" in str(found.value)

    def test_a_server_that_does_not_keep_what_durability_asks_for_is_refused(
        self, address: Address, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        real = psycopg.Connection.connect

        def pooled(*args: Any, options: str, **more: Any) -> Any:
            return real(
                *args, options=options.replace("synchronous_commit=on", "synchronous_commit=off"), **more
            )

        monkeypatch.setattr(psycopg.Connection, "connect", pooled)
        with pytest.raises(Unavailable, match="synchronous_commit=off instead of on"):
            PostgresLedger.open(address)

    def test_connections_that_wait_are_not_ended_by_a_setting(self, postgres: str) -> None:
        known = "SELECT name FROM pg_settings WHERE name ~ '^(idle_.*|transaction)_timeout$'"
        with psycopg.connect(parse_address(postgres).conninfo) as db:
            names = [name for (name,) in db.execute(known)]
        hasty = parse_address(f"{postgres}&options={'%20'.join(f'-c%20{name}%3D1h' for name in names)}")
        shown = "SELECT " + ", ".join(f"current_setting('{name}')" for name in names)
        with psycopg.connect(hasty.conninfo, options=hasty.options) as db:
            assert db.execute(shown).fetchone() == ("1h",) * len(names)
        with connect(hasty) as db:
            assert db.execute(shown).fetchone() == ("0",) * len(names)

    # -- processes ----------------------------------------------------------------------------------------------

    def test_a_child_that_ends_takes_no_session_of_its_parent_along(self, ledger: Ledger, db: Any) -> None:
        self.begin(ledger)
        with ledger.snapshot() as frozen:
            child = os.fork()
            if child == 0:
                with contextlib.suppress(BaseException):
                    ledger.close()
                os._exit(0)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
            assert frozen.head("session:s1").count == 2
        assert db.execute("SELECT 1").fetchone() == (1,)
        self.write(ledger, recorded("c1"))


# -- both schemas ---------------------------------------------------------------------------------------------------


@pytest.fixture
def made(postgres: str) -> Iterator[psycopg.Connection[Any]]:
    address = parse_address(postgres)
    PostgresLedger.open(address).close()
    with connect(address) as db:
        yield db


@pytest.fixture
def sqlite() -> Iterator[Any]:
    with contextlib.closing(dbapi.connect(":memory:")) as db:
        db.executescript("".join(sql for _, sql in sqlite_steps()))
        yield db


def test_the_tables_of_both_backends_have_the_same_columns_keys_and_references(
    made: Any, sqlite: Any
) -> None:
    own = {"heads", "blobs", "leases", "gathered", "gathered_bodies"}
    for name in (*TABLES, *own):
        info = sqlite.execute(f"PRAGMA table_info({name})").fetchall()
        kinds = {"TEXT": "text", "INTEGER": "bigint", "BLOB": "bytea"}
        expected = [(row[1], kinds[row[2]], bool(row[3] or row[5])) for row in info]
        found = made.execute(
            "SELECT attname, format_type(atttypid, NULL), attnotnull FROM pg_attribute "
            "WHERE attrelid = to_regclass(%s) AND attnum > 0 ORDER BY attnum",
            (name,),
        ).fetchall()
        assert found == expected, name
        assert _references(made, name) == _sqlite_references(sqlite, name), name


def _references(db: Any, table: str) -> set[tuple[str, tuple[str, ...]]]:
    rows = db.execute(
        "SELECT confrelid::regclass::text, ARRAY(SELECT attname::text FROM unnest(conkey) WITH ORDINALITY AS k(n, at) "
        "JOIN pg_attribute ON attrelid = conrelid AND attnum = k.n ORDER BY at), condeferred "
        "FROM pg_constraint WHERE contype = 'f' AND conrelid = to_regclass(%s)",
        (table,),
    ).fetchall()
    assert all(deferred for _, _, deferred in rows) or table == "gathered_bodies"
    return {(name, tuple(columns)) for name, columns, _ in rows}


def _sqlite_references(db: Any, table: str) -> set[tuple[str, tuple[str, ...]]]:
    found: dict[int, tuple[str, list[str]]] = {}
    for number, _, target, column, *_ in db.execute(f"PRAGMA foreign_key_list({table})"):
        found.setdefault(number, (target, []))[1].append(column)
    return {(target, tuple(columns)) for target, columns in found.values()}


def _checks(ddl: str) -> dict[str, list[str]]:
    """The conditions of each table, in the words of SQLite's DDL and in their order."""
    for pattern, sqlite_word in (
        (r"(\w+)::json IS NOT NULL", r"json_valid(\1)"),
        (r"(\w+) LIKE 'sha256:%'", r"\1 GLOB 'sha256:*'"),
        (r"\s+", " "),
    ):
        ddl = re.sub(pattern, sqlite_word, ddl)
    tables = re.findall(r"CREATE TABLE (\w+) \((.*?)\)[^()]*?;", ddl)
    return {
        name: [_condition(body, found.end()) for found in re.finditer(r"CHECK \(", body)]
        for name, body in tables
    }


_AS_TABLE = re.compile(r"ALTER TABLE model_calls ADD CONSTRAINT \w+\s+CHECK (\(.*?\));")


def _condition(body: str, start: int) -> str:
    depth = 1
    for at, letter in enumerate(body[start:], start):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if depth == 0:
            return body[start:at]
    return body[start:]


def test_both_backends_check_the_same_conditions() -> None:
    sqlite, postgres = (_checks("".join(sql for _, sql in found)) for found in (sqlite_steps(), steps()))
    assert sum(map(len, sqlite.values())) > 100
    own = {"counter", "schema_steps"}
    # One database makes the table anew where the other changes its condition.
    sqlite["model_calls"] = sqlite.pop("model_calls_with_chats")
    (stage,) = _checks(_AS_TABLE.sub(r"CREATE TABLE changed (CHECK \1);", steps()[2][1]))["changed"]
    postgres["model_calls"][1] = stage
    assert {name: found for name, found in postgres.items() if name not in {*own, "events"}} == {
        name: found for name, found in sqlite.items() if name != "events"
    }
    assert postgres["events"] == ["global_seq >= 1", *sqlite["events"]]


def test_texts_are_compared_byte_by_byte_as_sqlite_does(made: Any) -> None:
    others = made.execute(
        "SELECT attrelid::regclass::text, attname FROM pg_attribute JOIN pg_collation l ON l.oid = attcollation "
        "WHERE attrelid IN (SELECT oid FROM pg_class WHERE relnamespace = current_schema()::regnamespace "
        "AND relkind = 'r') AND attnum > 0 AND collname <> 'C'"
    ).fetchall()
    assert others == []


# -- texts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT ? + ?", "SELECT %s + %s"),
        ("SELECT '?' || ? || 'it''s ?'", "SELECT '?' || %s || 'it''s ?'"),
        ("SELECT a % 2 FROM t WHERE b LIKE 'x%'", "SELECT a %% 2 FROM t WHERE b LIKE 'x%%'"),
        ('SELECT "a?" -- why?\n, ?', 'SELECT "a?" -- why?\n, %s'),
    ],
)
def test_placeholders_become_those_of_the_driver(sql: str, expected: str) -> None:
    assert driver_text(sql) == expected


@pytest.mark.parametrize(
    ("url", "conninfo", "schema", "shown"),
    [
        (
            "postgresql://me:pw@host:5433/db?schema=desk_1&sslmode=require",
            "postgresql://me:pw@host:5433/db?sslmode=require",
            "desk_1",
            "postgresql://me@host:5433/db?sslmode=require&schema=desk_1",
        ),
        (
            "postgres://host/db",
            "postgres://host/db",
            "researchdesk",
            "postgresql://host/db?schema=researchdesk",
        ),
        (
            "postgresql:///db?options=-csearch_path%3Dmine%20-c%20work_mem%3D64MB&password=pw",
            "postgresql:///db?password=pw",
            "mine",
            "postgresql:///db?options=-c%20work_mem%3D64MB&schema=mine",
        ),
    ],
)
def test_an_address_names_server_and_schema_and_shows_no_secret(
    url: str, conninfo: str, schema: str, shown: str
) -> None:
    address = parse_address(url)
    assert (address.conninfo, address.schema, address.shown) == (conninfo, schema, shown)
    assert parse_address(shown).shown == shown
    assert ("work_mem" in address.options) == ("work_mem" in url)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql:db",
        "mysql://host/db",
        "postgresql://host/db?schema=A%20B",
        "postgresql://host/db?schema=" + "x" * 51,
        "postgresql://[host/db",
        'postgresql://host/db?schema=a"b',
        "PostgreSQL://me:secret@host/db",
        "postgresql+psycopg://me:secret@host/db",
        "postgresql://me:se@secret@host/db",
        "postgresql://me:secret/x@host/db",
        "postgresql://me:7/secret@host/db",
        "postgresql://me:secret#x@host/db",
        "postgresql://me:secret?x=y@host/db",
        "postgresql://me:secret[@host/db",
        "postgresql://host:secret/db",
    ],
)
def test_what_is_no_address_of_a_desk_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(UsageError) as found:
        parse_address(url)
    assert "secret" not in str(found.value)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://a,b:5433,[::1]:5432/db",
        "postgresql://me:p%40%2F%3A%23@%2Frun%2Fpostgresql/db",
        "postgresql:///db?user=me@realm",
    ],
)
def test_an_address_may_name_several_servers_a_socket_and_any_password(url: str) -> None:
    address = parse_address(url)
    assert (address.conninfo, parse_address(address.shown).shown) == (
        url.replace("@realm", "%40realm"),
        address.shown,
    )
    assert "p%40" not in f"{address!r} {address.shown} {address.folder}"


@pytest.mark.parametrize("url", ["mysql://me:secret@host/db", "Postgres://host/db", "sqlite:///x.db"])
def test_a_url_of_something_else_is_no_folder(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=r"names no desk.*postgresql://user@host/database") as found:
        open_desk(url)
    assert ("secret" in str(found.value), list(tmp_path.iterdir())) == (False, [])


def test_a_test_server_is_found_or_named() -> None:
    assert server() == "" or server().startswith("postgres")


def test_eight_processes_append_to_one_desk_without_an_error_or_a_gap(postgres: str) -> None:
    script = Path(__file__).resolve().parents[2] / "benchmarks" / "postgres.py"
    few = ("--processes", "8", "--each", "20", "--appends", "0")
    done = subprocess.run(
        [sys.executable, script, "--server", server(), *few],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "160" in done.stdout


def test_a_server_that_is_stopped_at_once_loses_nothing_and_no_writer_notices() -> None:
    if not (shutil.which("initdb") or list(Path("/usr/lib/postgresql").glob("*/bin/initdb"))):
        pytest.skip(f"{NO_SERVER}, and no initdb to make one")
    script = Path(__file__).resolve().parents[2] / "benchmarks" / "postgres_stops.py"
    done = subprocess.run(
        [sys.executable, script, "--stops", "2"], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
