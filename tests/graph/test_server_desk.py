"""A desk on a PostgreSQL server as people use it: whole runs, killed and resumed, exports to and from a folder."""

import contextlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.postgres import PostgresSaver

import researchdesk as rd
from researchdesk.graph import checkpoints, runner
from researchdesk.graph.runner import new_session_id, resume_research, run_research
from researchdesk.graph.waiting import waiting
from researchdesk.state.errors import SessionBusy, StoreAway, Unavailable, UsageError
from researchdesk.state.ids import session_stream
from researchdesk.stores.postgres import connection
from researchdesk.stores.postgres.address import Address, parse_address
from researchdesk.stores.postgres.connection import connect
from researchdesk.tools.sources.gathering import Sources
from researchdesk.tools.sources.web.archive import LedgerArchive
from researchdesk.tools.workspace import Desk, open_desk

from ..desks import Caller, scripted_source
from .commands import QUESTION, command, ended, environment, ran, shape, shown, write_documents
from .conftest import Undisturbed

KILLED_AT = 60


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_documents(tmp_path / "corpus")


def test_a_run_that_is_killed_goes_on_and_ends_as_one_that_was_not(
    postgres: str, corpus: Path, undisturbed: Undisturbed
) -> None:
    run = ("run", QUESTION, "--corpus", corpus, "--scope", "quick", "--json")
    with subprocess.Popen(
        command(*run, "--session", "r1", "--home", postgres),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment(),
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if json.loads(line).get("seq", 0) >= KILLED_AT:
                process.kill()
                break
    with open_desk(postgres) as desk:
        assert desk.ledger.head(session_stream("r1")).count >= KILLED_AT
        assert desk.existing("r1").run.stage != "completed"  # type: ignore[union-attr]
        assert desk.verify().problems == ()
    ended("resume", "r1", "--home", postgres)
    with open_desk(postgres) as desk:
        assert desk.verify().problems == ()
        assert shape(desk, "r1") == undisturbed.shape
        calls = desk.ledger.query("SELECT turn_id, id FROM tool_calls WHERE session_id = ?", ("r1",))
        assert len({(row["turn_id"], row["id"]) for row in calls}) == len(calls)
        assert [row["numbers"] for row in desk.ledger.query("SELECT count(*) AS numbers FROM events")] == [
            desk.ledger.tail(limit=10_000)[-1].global_seq
        ]
    assert "completed" in shown("status", "r1", "--home", postgres)


def test_every_command_that_looks_at_a_run_answers(postgres: str, corpus: Path) -> None:
    with open_desk(postgres) as desk:
        run_research(desk, QUESTION, corpus=[corpus], scope="quick", session_id="r1")
        report = shown("report", "r1", "--home", postgres)
        assert "## References" in report
    looks: dict[str, Callable[[str], bool]] = {
        "sessions": lambda text: "r1" in text,
        "sources": lambda text: "s_001" in text,
        "questions": lambda text: "q_001" in text,
        "claims": lambda text: "c_001" in text,
        "log": lambda text: "deep_research_complete" in text,
        "events": lambda text: "research_completed" in text,
        "verify": lambda text: text.startswith("ok: checked 1 streams"),
    }
    for name, expected in looks.items():
        assert expected(shown(name, "--home", postgres)), name


def test_a_session_goes_to_a_folder_and_back_with_the_same_bytes(postgres: str, tmp_path: Path) -> None:
    source = scripted_source()
    with open_desk(tmp_path / "folder") as folder, open_desk(postgres) as desk:
        research = Caller(folder.session("s1", sources=Sources(providers=(source,), fetchers=(source,))))
        research.start()
        research.ok("search_sources", query="sky")
        research.ok("archive_source", locator="https://b.org/")
        gone = research.source("forget this")
        folder.purge("s1", [gone], actor="human:me", reason="asked")
        exported = folder.export("s1", tmp_path / "1.jsonl").read_bytes()
        assert not desk.import_session(tmp_path / "1.jsonl").already_here
        assert desk.import_session(tmp_path / "1.jsonl").already_here
        assert desk.verify().problems == ()
        assert desk.export("s1", tmp_path / "2.jsonl").read_bytes() == exported
        assert desk.rebuild("s1") == folder.rebuild("s1")
        assert desk.verify().problems == ()
        desk.export("s1", tmp_path / "2.zip")
        with open_desk(tmp_path / "third") as third:
            third.import_session(tmp_path / "2.zip")
            assert third.verify().problems == ()
        assert desk.existing("s1").workspace == folder.existing("s1").workspace


def test_a_page_that_was_archived_is_looked_up(postgres: str) -> None:
    source = scripted_source()
    with open_desk(postgres) as desk:
        research = Caller(desk.session("s1", sources=Sources(providers=(source,), fetchers=(source,))))
        research.start()
        research.ok("archive_source", locator="https://b.org/")
        assert (
            LedgerArchive(desk.ledger).known("https://b.org/") is None
        )  # nothing says that it may be called unchanged
        assert LedgerArchive(desk.ledger).known("https://c.org/") is None


def test_a_finished_run_is_handed_off_and_purged(postgres: str) -> None:
    with open_desk(postgres) as desk:
        Caller(desk.session("s1")).finish()
        assert desk.handoff("s1") == desk.handoff("s1")
        assert desk.latest() == "s1"
        assert {summary.session_id for summary in desk.sessions()} == {"s1", "s1-next"}
        assert desk.purge("s1", actor="human:me", reason="law") > 3
        assert desk.verify().problems == ()


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE events SET payload = replace(payload, 'Why', 'How') WHERE seq = 2",
        "DELETE FROM events WHERE seq = (SELECT max(seq) FROM events)",
        "UPDATE heads SET rows_digest = hash",
        "UPDATE artifacts SET name = 'another'",
        "DELETE FROM artifact_sources",
        "UPDATE blobs SET bytes = 'x'",
        "INSERT INTO sessions SELECT 'ghost', labels, \"user\", parent, profile, continues, created_at FROM sessions",
    ],
)
def test_what_was_changed_behind_the_ledger_is_found(postgres: str, change: str) -> None:
    with open_desk(postgres) as desk:
        Caller(desk.session("s1")).finish()
        assert desk.verify().ok
        with connect(parse_address(postgres)) as raw:
            raw.execute("SET session_replication_role = replica")  # no trigger and no reference is looked at
            assert raw.execute(change).rowcount
        assert not desk.verify().ok


def test_two_desks_of_one_database_know_nothing_of_each_other(postgres: str) -> None:
    other = f"{postgres[:-1]}{'f' if postgres[-1] != 'f' else '0'}"
    try:
        with open_desk(postgres) as one, open_desk(other) as two:
            assert (one.home != two.home, one.where) == (True, parse_address(postgres).shown)
            Caller(one.session("s1")).start()
            assert two.sessions() == []
            with one.driving(one.existing("s1")), two.driving(two.session("s1")):
                pass
    finally:
        with psycopg.connect(parse_address(other).conninfo, autocommit=True) as raw:
            raw.execute(f"DROP SCHEMA IF EXISTS {parse_address(other).schema} CASCADE")


def test_a_desk_may_be_named_by_a_word_of_sql(postgres: str) -> None:
    named = re.sub(r"schema=\w+", "schema=user", postgres)
    with psycopg.connect(parse_address(named).conninfo, autocommit=True) as raw:
        try:
            with open_desk(named) as desk:
                Caller(desk.session("s1")).start()
                assert desk.verify().problems == ()
        finally:
            raw.execute('DROP SCHEMA IF EXISTS "user" CASCADE')


def test_a_new_name_is_given_once(postgres: str) -> None:
    with open_desk(postgres) as one, open_desk(postgres) as two:
        assert [new_session_id(desk) for desk in (one, two, one)] == ["r1", "r2", "r3"]


def test_a_driver_whose_connection_is_cut_is_no_driver_any_more(postgres: str) -> None:
    with open_desk(postgres) as one, open_desk(postgres) as two:
        session = one.session("s1")
        lock = one.locks.lock("s1")
        lock.acquire()
        with pytest.raises(SessionBusy), two.driving(two.existing("s1")):
            pass
        with connect(parse_address(postgres)) as raw:
            held = "SELECT pg_terminate_backend(%s::int, 5000)"
            raw.execute(held, (lock._connection.info.backend_pid,))  # type: ignore[attr-defined]
        with two.driving(two.existing("s1")) as driven:
            Caller(driven).start()
        lock.release()
        assert session.run is not None


def test_a_child_that_lives_on_keeps_no_lock_of_its_parent(postgres: str) -> None:
    with open_desk(postgres) as desk:
        desk.session("s1")
        out, into = os.pipe()
        parent = os.fork()
        if parent == 0:
            desk.locks.lock("s1").acquire()
            if os.fork() == 0:  # it outlives the one that holds the lock
                os.close(into)
                os.read(out, 1)
            os._exit(0)
        os.waitpid(parent, 0)
        try:
            with desk.driving(desk.existing("s1")):
                pass
        finally:
            os.write(into, b"x")


def test_the_environment_may_name_a_desk_on_a_server(
    postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RESEARCHDESK_HOME", postgres)
    with open_desk() as desk:
        Caller(desk.session("s1")).start()
        assert desk.home.parent == Path(".researchdesk") / "postgres"
    assert "s1" in ended("sessions")


def test_what_may_be_typed_next_names_the_desk_without_its_password(postgres: str, tmp_path: Path) -> None:
    user, at, rest = postgres.rpartition("@")
    home = f"{user}:hunter2{at}{rest}"
    (tmp_path / "a.md").write_text("# A\n")
    told = [
        ran(*words, "--home", home)
        for words in (("desk", "put", "a.md", tmp_path / "a.md"), ("desk", "rm", "a.md"))
    ]
    assert [done.returncode for done in told] == [0, 0]
    assert parse_address(postgres).shown in told[1].stderr
    assert "hunter2" not in "".join(done.stdout + done.stderr for done in told)


def test_without_the_driver_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "researchdesk.stores.postgres.ledger", None)
    with pytest.raises(UsageError, match=r"pip install 'researchdesk\[postgres\]'"):
        open_desk("postgresql://host/database")


# -- checkpoints ----------------------------------------------------------------------------------------------------


def test_the_checkpointer_is_the_servers_and_trusts_no_types(postgres: str) -> None:
    with open_desk(postgres) as desk, checkpoints.checkpointer_of(desk) as saver:
        assert isinstance(saver, PostgresSaver)
        assert saver.serde._allowed_msgpack_modules is None  # type: ignore[attr-defined]


def test_checkpoints_are_made_beside_whatever_else_runs_in_the_database(postgres: str) -> None:
    with open_desk(postgres) as desk, connect(parse_address(postgres)) as raw:
        raw.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        raw.execute("SELECT count(*) FROM events")  # as a backup does, for as long as it takes
        with checkpoints.checkpointer_of(desk) as saver:
            assert saver.get_tuple({"configurable": {"thread_id": "t"}}) is None


@pytest.mark.parametrize(
    "damage",
    [
        "DROP SCHEMA {} CASCADE",
        "DROP TABLE {}.checkpoint_blobs",
        "ALTER TABLE {}.checkpoints DROP COLUMN thread_id CASCADE",
        "DELETE FROM {}.checkpoint_migrations WHERE v > 5",
    ],
)
def test_spoiled_checkpoints_do_not_matter(postgres: str, corpus: Path, damage: str) -> None:
    address = parse_address(postgres)

    def stop(event: dict[str, Any]) -> None:
        if event.get("seq", 0) >= KILLED_AT:
            raise KeyboardInterrupt

    with open_desk(postgres) as desk:
        with pytest.raises(KeyboardInterrupt):
            run_research(desk, QUESTION, corpus=[corpus], scope="quick", session_id="r1", on_event=stop)
        with connect(address) as raw:
            raw.execute(damage.format(address.checkpoints))
        assert resume_research(desk, "r1").status == "completed"
        assert desk.verify().problems == ()


@pytest.fixture
def saver_of_a_run(monkeypatch: pytest.MonkeyPatch) -> list[PostgresSaver]:
    """The checkpointers of the runs that are driven here."""
    savers: list[PostgresSaver] = []

    @contextlib.contextmanager
    def kept(desk: Desk) -> Iterator[BaseCheckpointSaver[str]]:
        with checkpoints.checkpointer_of(desk) as saver:
            assert isinstance(saver, PostgresSaver)
            savers.append(saver)
            yield saver

    monkeypatch.setattr(runner, "checkpointer_of", kept)
    return savers


def cutting(address: Address, savers: list[PostgresSaver]) -> Callable[[dict[str, Any]], None]:
    """An observer of a run that has the server end the checkpoints' connection in the middle of it."""

    def cut(event: dict[str, Any]) -> None:
        if event.get("seq") == KILLED_AT:
            conn = savers[-1].conn
            assert isinstance(conn, psycopg.Connection)
            with connect(address) as raw:
                raw.execute("SELECT pg_terminate_backend(%s::int, 5000)", (conn.info.backend_pid,))

    return cut


def test_a_run_goes_on_when_the_server_ended_the_connection_of_its_checkpoints(
    postgres: str, corpus: Path, saver_of_a_run: list[PostgresSaver]
) -> None:
    cut = cutting(parse_address(postgres), saver_of_a_run)
    with open_desk(postgres) as desk:
        assert (
            run_research(desk, QUESTION, corpus=[corpus], scope="quick", on_event=cut).status == "completed"
        )
        assert "research_blocked" not in [event.type for event in desk.existing("r1").events()]


@pytest.fixture
def other(postgres: str) -> Iterator[str]:
    """The desk's URL for a user of the server who was granted nothing."""
    address = parse_address(postgres)
    role = f"{address.schema}_user"
    with psycopg.connect(address.conninfo, autocommit=True) as raw:
        try:
            raw.execute(f"CREATE ROLE {role} LOGIN")
        except psycopg.errors.InsufficientPrivilege:
            pytest.skip("the tests' user may make no other user")
        try:
            url = f"{postgres}&user={role}"
            with contextlib.suppress(psycopg.OperationalError):
                psycopg.connect(parse_address(url).conninfo).close()
                yield url
                return
            pytest.skip("the server asks other users for a password")
        finally:
            raw.execute(f"DROP OWNED BY {role}")
            raw.execute(f"DROP ROLE {role}")


def test_another_user_works_with_what_it_was_granted_and_is_told_what_it_was_not(
    postgres: str, other: str, corpus: Path
) -> None:
    address = parse_address(postgres)
    role, both = f"{address.schema}_user", f"{address.schema}, {address.checkpoints}"
    with open_desk(postgres) as desk, psycopg.connect(address.conninfo, autocommit=True) as raw:
        rd.queue_research(desk, QUESTION, corpus=[corpus], scope="quick")
        with checkpoints.checkpointer_of(desk):
            pass
        with pytest.raises(Unavailable, match=rf"may not use the schema {address.schema}\."):
            open_desk(other)
        raw.execute(f"GRANT USAGE ON SCHEMA {address.schema} TO {role}")
        raw.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {both} TO {role}")
        with open_desk(other) as theirs:
            with pytest.raises(Unavailable, match=f"may not use the schema {address.checkpoints}, where"):
                resume_research(theirs, "r1")
            raw.execute(f"GRANT USAGE ON SCHEMA {address.checkpoints} TO {role}")
            assert resume_research(theirs, "r1").status == "completed"
        assert desk.verify().problems == ()


def test_a_server_that_stays_away_leaves_a_run_that_waits_for_the_next_driver(
    postgres: str, corpus: Path, saver_of_a_run: list[PostgresSaver], monkeypatch: pytest.MonkeyPatch
) -> None:
    cut = cutting(parse_address(postgres), saver_of_a_run)
    with open_desk(postgres) as desk:
        with monkeypatch.context() as patched, pytest.raises(StoreAway, match=r"\?schema=.*try again"):
            patched.setattr(connection, "PATIENCE_SECONDS", -1.0)
            run_research(desk, QUESTION, corpus=[corpus], scope="quick", on_event=cut)
        assert waiting(desk) == ["r1"]
        assert resume_research(desk, "r1").status == "completed"
        assert desk.verify().problems == ()


def test_a_desk_in_a_folder_is_named_by_it(tmp_path: Path) -> None:
    with open_desk(tmp_path) as desk:
        assert (desk.address, desk.where) == (None, str(tmp_path))
