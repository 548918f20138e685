"""Copying whole desks between backends: nothing is changed, lost or written twice, however often it is begun."""

import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from researchdesk.state.desk import events as desk_events
from researchdesk.state.desk.files import Cause
from researchdesk.state.errors import (
    IntegrityError,
    LedgerCorrupt,
    ResearchdeskError,
    Unavailable,
    UsageError,
)
from researchdesk.state.ids import DESK_STREAM, content_hash, stream_owner
from researchdesk.state.tables import TABLES
from researchdesk.stores import transfer
from researchdesk.stores.codec import Refs
from researchdesk.stores.ledger import Append, Ledger
from researchdesk.stores.postgres.address import is_address, parse_address
from researchdesk.stores.postgres.connection import connect as connect_server
from researchdesk.stores.replay import extend, nothing_yet
from researchdesk.stores.sqlite.connection import connect as connect_file
from researchdesk.stores.sqlite.ledger import SqliteLedger
from researchdesk.stores.transfer import Copied, CopyProgress
from researchdesk.tools.workspace import Desk, open_desk

from ..desks import SKY, Caller, call
from ..tools.investigate.scripts import investigator, verified
from .contract import TS, recorded

KINDS = ("folder", "server")
WAYS = [(source, target) for source in KINDS for target in KINDS]
NewHome = Callable[[str], str]
PAGE = SKY * 40
ONLY_HERE = "Only here. " * 300
PLAN = b"# Plan\n\nRead on.\n"


ALL_WAYS = pytest.mark.parametrize("homes", WAYS, ids=[" to ".join(way) for way in WAYS], indirect=True)


@pytest.fixture(params=WAYS[1:3], ids=[" to ".join(way) for way in WAYS[1:3]])
def homes(request: pytest.FixtureRequest, new_home: NewHome) -> tuple[str, str]:
    """A source and a target on the other backend; with `ALL_WAYS`, also on the same one."""
    source, target = request.param
    return new_home(source), new_home(target)


@pytest.fixture
def desks(homes: tuple[str, str]) -> Iterator[tuple[Desk, Desk]]:
    """Both opened, the source filled."""
    with open_desk(homes[0]) as source, open_desk(homes[1]) as target:
        fill(source)
        yield source, target


def fill(desk: Desk) -> None:
    """Sessions that were written by turns: a finished one, one whose texts were purged, an investigation, a new one.

    A body is shared, one was purged and came back, and a call has fetched something and has no record yet.
    """
    finished, purged = Caller(desk.session("s1")), Caller(desk.session("s2"))
    finished.start()
    purged.start("Why is the 空 blue, “really”?")
    shared = purged.source(PAGE, locator="https://a.org/")
    finished.source(PAGE, locator="https://a.org/")
    purged.source(ONLY_HERE, locator="https://b.org/")
    desk.purge("s2", [shared], actor="human:me", reason="law")
    desk.purge("s2", actor="human:me", reason="law")
    verified(investigator(desk, "s3", user="me"))
    purged.source(ONLY_HERE, locator="https://b.org/again")
    report, handoff = finished.write_all()
    finished.complete(report, handoff)
    desk.handoff("s1")
    desk.session("s5")
    write_files(desk)
    stage(desk, "open", b"raw \xff\x00 bytes", b"text")


def write_files(desk: Desk) -> None:
    """A file of the desk that was made, changed and deleted, written together with an event of a session."""
    cause = Cause(session_id="s5", turn_id="", tool_call_id="c1")
    made = desk_events.FileCreated(
        file_id="f_1",
        path="plan.md",
        kind="markdown",
        content_hash=content_hash(PLAN),
        chars=len(PLAN),
        actor="human:me",
        at=TS,
        cause=cause,
    )
    changed = desk_events.FileChanged(
        file_id="f_1",
        op="update",
        path="plan.md",
        content_hash=content_hash(PLAN * 2),
        chars=2 * len(PLAN),
        deleted=False,
        actor="human:me",
        at=TS,
        revision_id="v_1",
    )
    files = extend(nothing_yet(DESK_STREAM), [made, changed], stream=DESK_STREAM, ts=TS, refs=Refs())
    before = desk.records.projection("s5")
    calls = extend(before, [recorded("c1")], stream="session:s5", ts=TS, refs=Refs())
    bodies = {content_hash(body): body for body in (PLAN, PLAN * 2)}
    desk.ledger.append(calls.append, replace(files.append, bodies=bodies))


def stage(desk: Desk, name: str, *bodies: bytes) -> None:
    """What a call of the second session has fetched."""
    kept = {content_hash(body): body for body in bodies}
    desk.ledger.stage(call("s2", name), input_digest="d", receipt='{"page": 1}', bodies=kept)


def everything(ledger: Ledger) -> dict[str, Any]:
    """All that a copy has to have."""
    streams = ledger.streams()
    names = sorted({stream_owner(stream) for stream in streams})
    staged = [
        call(str(r["session_id"]), str(r["tool_call_id"])) for r in ledger.query("SELECT * FROM gathered")
    ]
    return {
        "events": ledger.tail(limit=100_000),
        "heads": {stream: ledger.head(stream) for stream in streams},
        "rows": {table: [ledger.rows(table, name) for name in names] for table in TABLES},
        "bodies": {key: ledger.body(key) for key in ledger.body_hashes()},
        "staged": {
            one: (found, [ledger.staged_body(one, key) for key in found.hashes])
            for one in staged
            if (found := ledger.staged(one))
        },
    }


def count(ledger: Ledger, table: str) -> int:
    return int(str(ledger.query(f"SELECT count(*) AS n FROM {table}")[0]["n"]))


def behind(desk: Desk, statement: str) -> None:
    """Change something past the ledger, its guards aside."""
    if is_address(desk.where):
        with connect_server(parse_address(desk.where)) as server:
            server.execute("SET session_replication_role = replica")
            assert server.execute(statement).rowcount
        return
    file = connect_file(Path(desk.where) / "ledger.sqlite")
    guards = file.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
    for name, _ in guards:
        file.execute(f"DROP TRIGGER {name}")
    file.execute("PRAGMA foreign_keys=OFF")
    assert file.execute(statement).rowcount
    for _, sql in guards:
        file.execute(sql)
    file.close()


# -- a whole copy -----------------------------------------------------------------------------------------------


@ALL_WAYS
def test_a_copy_is_equal_to_its_source_in_everything_and_says_what_it_is(desks: tuple[Desk, Desk]) -> None:
    source, target = desks
    copied = source.copy_to(target)
    whole = everything(source.ledger)
    assert everything(target.ledger) == whole
    assert len(whole["staged"]) == 1 and len(whole["heads"]) == 6
    assert target.verify().problems == ()
    assert copied == Copied(
        streams=6,
        events=len(whole["events"]),
        rows=sum(count(target.ledger, table) for table in TABLES),
        bodies=len(whole["bodies"]) + 1,  # one was purged and came back: it was written twice
        body_bytes=sum(map(len, whole["bodies"].values())) + len(ONLY_HERE),
        gathered=1,
        events_before=0,
        checked=target.verify().checked,
    )
    again = source.copy_to(target)
    assert again == Copied(streams=6, events_before=len(whole["events"]), checked=copied.checked)
    assert everything(target.ledger) == whole


@ALL_WAYS
def test_a_desk_that_went_there_and_came_back_exports_the_same_bytes(
    desks: tuple[Desk, Desk], new_home: NewHome, tmp_path: Path
) -> None:
    source, target = desks
    with open_desk(new_home("server" if source.address else "folder")) as back:
        source.copy_to(target)
        target.copy_to(back)
        assert everything(back.ledger) == everything(source.ledger)
        for session in ("s1", "s2", "s3", "s1-next", "s5"):
            for form in ("jsonl", "zip"):
                first = source.export(session, tmp_path / f"first.{form}").read_bytes()
                assert back.export(session, tmp_path / f"back.{form}").read_bytes() == first
                assert target.export(session, tmp_path / f"there.{form}").read_bytes() == first


def test_a_copy_has_no_driver_and_work_goes_on_in_it(desks: tuple[Desk, Desk]) -> None:
    source, target = desks
    with source.driving(source.existing("s2")):
        source.copy_to(target)
    assert count(target.ledger, "leases") == 0
    with target.driving(target.existing("s2")) as session:
        writer = Caller(session)
        writer.count = 100
        writer.source("More text than before.")
    assert target.verify().problems == ()


def test_working_copies_of_notes_are_written_from_the_ledger(desks: tuple[Desk, Desk]) -> None:
    source, target = desks
    source.copy_to(target)
    (first,) = (source.home / "notes").iterdir()
    (second,) = (target.home / "notes").iterdir()
    assert (second.name, second.read_bytes()) == (first.name, first.read_bytes())
    assert b"Passwords have at least 8 characters." in second.read_bytes()


def test_an_empty_desk_is_copied_too(homes: tuple[str, str]) -> None:
    with open_desk(homes[0]) as source, open_desk(homes[1]) as target:
        assert source.copy_to(target) == Copied(checked=target.verify().checked)


# -- going on where another copy ended ------------------------------------------------------------------------------


@ALL_WAYS
def test_a_later_copy_brings_what_is_new_and_takes_away_what_was_purged(desks: tuple[Desk, Desk]) -> None:
    source, target = desks
    source.copy_to(target)
    before = count(source.ledger, "events")
    gone = content_hash(ONLY_HERE.encode())
    assert target.ledger.body(gone) is not None
    source.purge("s2", actor="human:me", reason="law")
    Caller(source.session("s6")).start()
    open_call = Caller(source.existing("s2"))
    settled = call("s2", "open")
    open_call.session.call("deep_research_status", {}, tool_call_id=settled.call)
    stage(source, "later", b"later")
    copied = source.copy_to(target)
    assert (copied.streams, copied.events_before) == (7, before)
    assert copied.events == count(source.ledger, "events") - before
    assert everything(target.ledger) == everything(source.ledger)
    assert target.ledger.body(gone) is None and target.ledger.call_row(settled) is not None
    assert [one.call for one in everything(target.ledger)["staged"]] == ["later"]
    assert target.verify().problems == ()


def test_a_body_that_another_session_of_the_target_stands_on_stays(desks: tuple[Desk, Desk]) -> None:
    source, target = desks
    own = Caller(target.session("own"))
    own.start()
    own.source(ONLY_HERE)
    source.copy_to(target)
    source.purge("s2", actor="human:me", reason="law")
    source.copy_to(target)
    assert source.ledger.body(content_hash(ONLY_HERE.encode())) is None
    assert target.ledger.body(content_hash(ONLY_HERE.encode())) == ONLY_HERE.encode()
    assert target.verify().problems == ()


def test_what_only_the_target_has_stays_as_it_is(desks: tuple[Desk, Desk]) -> None:
    source, target = desks
    Caller(target.session("own")).finish()
    own = target.ledger.read("session:own")
    source.copy_to(target)
    assert target.ledger.read("session:own") == own
    first, *rest = target.ledger.tail(after=len(own), limit=100_000)
    assert [e.hash for e in (first, *rest)] == [e.hash for e in source.ledger.tail(limit=100_000)]
    assert target.verify().problems == ()


def test_sessions_that_were_imported_before_are_not_written_again(
    desks: tuple[Desk, Desk], tmp_path: Path
) -> None:
    source, target = desks
    target.import_session(source.export("s3", tmp_path / "s3.zip"))
    there = source.ledger.head("session:s3").count
    copied = source.copy_to(target)
    assert (copied.events_before, copied.events) == (there, count(source.ledger, "events") - there)
    assert {stream: target.ledger.head(stream) for stream in source.ledger.streams()} == {
        stream: source.ledger.head(stream) for stream in source.ledger.streams()
    }


@ALL_WAYS
def test_a_copy_that_is_killed_again_and_again_at_any_moment_is_completed_by_the_next(
    homes: tuple[str, str],
) -> None:
    with open_desk(homes[0]) as source:
        fill(source)
        whole = everything(source.ledger)
        ends = []
        for steps in (1, 8, 10, 7, 13):
            kill_after(steps, *homes)
            with open_desk(homes[1]) as target:
                assert target.verify().problems == ()
                there = target.ledger.tail(limit=100_000)
                assert there == whole["events"][: len(there)]
                ends.append(len(there))
        assert ends == sorted(ends) and ends[1] > 0 and ends[-1] < len(whole["events"])
        with open_desk(homes[1]) as target:
            source.copy_to(target)
            assert everything(target.ledger) == whole


def kill_after(steps: int, source: str, target: str) -> None:
    """Begin a copy in transactions of a few events, and kill it once it has told of so many steps.

    The first seven steps are about the source's streams, each of the others is a transaction.
    """
    script = Path(__file__).with_name("copier.py")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen(
        [sys.executable, "-P", str(script), source, target, "3"], env=environment, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert all(process.stdout.readline() for _ in range(steps)), "it ended before it was killed"
        process.kill()


def test_events_that_were_written_together_come_together(
    new_home: NewHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transfer, "BATCH_EVENTS", 1)
    transactions: list[list[str]] = []
    append = SqliteLedger.append

    def watched(ledger: SqliteLedger, *appends: Append) -> None:
        transactions.append([event.ts for one in appends for event in one.events])
        append(ledger, *appends)

    with open_desk(new_home("folder")) as source, open_desk(new_home("folder")) as target:
        fill(source)
        monkeypatch.setattr(SqliteLedger, "append", watched)
        source.copy_to(target)
    moments = [set(times) for times in transactions]
    assert len(moments) > 30 and all(len(times) == 1 for times in moments)
    assert len(set.union(*moments)) == len(moments)


def test_many_sessions_by_turns_are_folded_again_where_too_many_are_open(
    desks: tuple[Desk, Desk], monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = desks
    monkeypatch.setattr(transfer, "HELD", 1)
    monkeypatch.setattr(transfer, "BATCH_EVENTS", 3)
    source.copy_to(target)
    assert everything(target.ledger) == everything(source.ledger)


def test_the_bodies_of_a_desk_are_never_in_memory_together(
    new_home: NewHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    megabyte = 1_000_000
    with open_desk(new_home("folder")) as source, open_desk(new_home("folder")) as target:
        writer = Caller(source.session("s1"))
        writer.start()
        for n in range(60):
            writer.source(f"{n:04d}" * (megabyte // 8))
        monkeypatch.setattr(transfer, "BATCH_BYTES", 2 * megabyte)
        tracemalloc.start()
        copied = source.copy_to(target)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert copied.body_bytes == 30 * megabyte
    assert peak < 12 * megabyte


# -- others who write ---------------------------------------------------------------------------------------------


def test_a_copy_is_the_source_of_one_moment_while_others_write_there(
    desks: tuple[Desk, Desk], monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = desks
    monkeypatch.setattr(transfer, "BATCH_EVENTS", 10)
    before = everything(source.ledger)
    writer = Caller(source.existing("s2"))
    writer.count = 100

    def write(progress: CopyProgress) -> None:
        if progress.stage == "copying":
            writer.source(f"Written while {progress.done} are copied.")

    source.copy_to(target, on_progress=write)
    assert everything(target.ledger) == before
    source.copy_to(target)
    assert everything(target.ledger) == everything(source.ledger)


def test_a_session_that_somebody_writes_to_in_the_target_is_left_to_them(
    desks: tuple[Desk, Desk], monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = desks
    monkeypatch.setattr(transfer, "BATCH_EVENTS", 10)
    written: list[int] = []

    def write(progress: CopyProgress) -> None:
        if progress.stage == "copying" and not written:
            other = Caller(target.existing("s1"))
            other.count = 100
            other("deep_research_status")
            written.append(target.ledger.head("session:s1").count)

    with pytest.raises(UsageError, match="session:s1: somebody wrote to it in the target"):
        source.copy_to(target, on_progress=write)
    assert written == [target.ledger.head("session:s1").count]
    assert target.verify().problems == ()


# -- what is refused ----------------------------------------------------------------------------------------------


def test_another_history_under_the_same_name_is_refused_before_anything_is_written(
    desks: tuple[Desk, Desk],
) -> None:
    source, target = desks
    target.import_session(source.export("s1", Path(source.home) / "s1.zip"))
    Caller(target.session("s2")).start("Another question?")
    for name, desk in (("here", source), ("there", target)):
        desk.existing("s1").call("deep_research_status", {}, tool_call_id=name)
    parted = source.ledger.head("session:s1").count
    before = everything(target.ledger)
    with pytest.raises(UsageError, match="nothing was copied") as problem:
        source.copy_to(target)
    assert "session:s2: from event 1 on they differ (session_opened of 20" in str(problem.value)
    assert f"session:s1: from event {parted} on they differ (call_recorded of 20" in str(problem.value)
    assert everything(target.ledger) == before


def test_a_target_that_went_on_is_refused_and_can_be_copied_back(desks: tuple[Desk, Desk]) -> None:
    source, target = desks
    source.copy_to(target)
    end = source.ledger.head("session:s2").count
    writer = Caller(target.existing("s2"))
    writer.count = 100
    writer.source("Written in the copy.")
    went_on = target.ledger.head("session:s2").count
    with pytest.raises(UsageError, match="the other way round") as problem:
        source.copy_to(target)
    assert f"session:s2: the target goes on to event {went_on}, the source ends at {end}" in str(
        problem.value
    )
    assert target.copy_to(source).events == went_on - end
    assert everything(source.ledger) == everything(target.ledger)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (
            "UPDATE events SET payload = replace(payload, 'really', 'truly') WHERE stream = 'session:s2'",
            "event 2",
        ),
        ("DELETE FROM events WHERE stream = 'session:s2' AND seq = 4", "there is a gap"),
        ("DELETE FROM events WHERE stream = 'session:s2' AND seq > 9", "its head record says"),
        ("DELETE FROM heads WHERE stream = 'session:s2'", "its head record says 0"),
        ("UPDATE artifacts SET name = 'another' WHERE session_id = 's2'", "it is not what the events say"),
        ("DELETE FROM blobs", "it is missing"),
        ("UPDATE gathered_bodies SET bytes = 'x'", "has changed on disk"),
    ],
)
@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_source_is_named_and_nothing_is_copied(
    new_home: NewHome, kind: str, change: str, named: str
) -> None:
    with open_desk(new_home(kind)) as source, open_desk(new_home("folder")) as target:
        fill(source)
        behind(source, change if source.address else change.replace("'x'", "x'78'"))
        with pytest.raises((LedgerCorrupt, IntegrityError), match=named):
            source.copy_to(target)
        assert (target.ledger.streams(), list(target.ledger.body_hashes())) == ([], [])


def test_a_copy_that_does_not_verify_is_told(desks: tuple[Desk, Desk]) -> None:
    source, target = desks
    source.copy_to(target)
    behind(target, "UPDATE artifacts SET name = 'another' WHERE session_id = 's1'")
    with pytest.raises(IntegrityError, match=r"not sound, keep the source: table artifacts"):
        source.copy_to(target)


def test_a_desk_is_not_copied_to_itself_whatever_it_is_called(new_home: NewHome, tmp_path: Path) -> None:
    home = new_home("folder")
    with open_desk(home) as desk:
        (tmp_path / "link").symlink_to(home)
        for name in (home, tmp_path / "link", f"{home}/../{Path(home).name}"):
            with open_desk(name) as same, pytest.raises(UsageError, match="the same desk"):
                desk.copy_to(same)


def test_a_schema_is_not_copied_to_itself_whatever_it_is_called(new_home: NewHome) -> None:
    url = new_home("server")
    with open_desk(url) as desk, open_desk(url) as same, pytest.raises(UsageError, match="the same desk"):
        desk.copy_to(same)
    other = url.replace("127.0.0.1", "localhost").replace("schema=", "application_name=x&schema=")
    with open_desk(url) as desk, open_desk(other) as same, pytest.raises(UsageError, match="the same desk"):
        desk.copy_to(same)


@pytest.mark.parametrize("fault", [Unavailable("the disk is full"), KeyboardInterrupt()])
def test_a_copy_that_breaks_off_goes_on_later(
    desks: tuple[Desk, Desk], fault: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = desks
    monkeypatch.setattr(transfer, "BATCH_EVENTS", 10)

    def fail(progress: CopyProgress) -> None:
        if progress.stage == "copying":
            raise fault

    with pytest.raises((ResearchdeskError, KeyboardInterrupt)):
        source.copy_to(target, on_progress=fail)
    there = count(target.ledger, "events")
    assert 10 <= there < count(source.ledger, "events")
    copied = source.copy_to(target)
    assert copied.events_before == there
    assert everything(target.ledger) == everything(source.ledger)
