"""Several writers at once, drivers that overtake each other, and writers that are killed."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from researchdesk.state.errors import LeaseLost, SessionBusy
from researchdesk.stores.locks import SessionLock
from researchdesk.tools.workspace import open_desk

from ..desks import SKY, Caller, call
from .writers import THREADS


@pytest.fixture(params=["sqlite", "postgres"])
def home(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A desk of each backend."""
    return request.getfixturevalue("postgres") if request.param == "postgres" else str(tmp_path)


def writers(what: str, home: str, number: int) -> Any:
    """What the processes of `writers.py` report."""
    script = Path(__file__).with_name("writers.py")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-P", str(script), what, home, str(number)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_two_processes_lose_nothing_and_leave_no_gap(home: str) -> None:
    count = 25
    with open_desk(home) as desk:
        for session in ("s1", "own-a", "own-b"):
            Caller(desk.session(session)).start()
        texts = writers("together", home, count)
        assert len(texts["a"]) == count and texts["a"] == texts["b"]
        run = desk.existing("s1").run
        assert run is not None
        assert len(run.sources) == 3 * count
        assert [source.source_id for source in run.all_sources] == [
            f"s_{n:03d}" for n in range(1, 3 * count + 1)
        ]
        names = {f"{writer}-{n}" for writer in ("a", "b", "shared") for n in range(count)}
        assert {artifact.name for artifact in run.artifacts.values()} == names
        for own in ("own-a", "own-b"):
            alone = desk.existing(own).run
            assert alone is not None and len(alone.sources) == count
        numbers = [event.global_seq for event in desk.ledger.tail(limit=10_000)]
        assert numbers == list(range(1, len(numbers) + 1))
        assert desk.verify().ok


def test_a_writer_that_is_killed_at_any_moment_loses_nothing_that_was_acknowledged(home: str) -> None:
    with open_desk(home) as desk:
        Caller(desk.session("s1")).start()
    acknowledged = writers("killed", home, 15)
    assert len(acknowledged) >= 10
    with open_desk(home) as desk:
        assert desk.verify().problems == ()
        session = desk.existing("s1")
        run = session.run
        assert run is not None
        recorded = {artifact.name for artifact in run.artifacts.values()}
        assert set(acknowledged) <= recorded
        assert len(recorded) == len(run.artifacts) == len(run.sources)
        assert len(recorded) - len(acknowledged) <= 15
        rows = desk.ledger.query("SELECT id FROM tool_calls WHERE name = 'deep_research_save_artifact'")
        assert {str(row["id"]) for row in rows} == recorded
        for name in acknowledged[::10]:
            assert desk.ledger.call_row(call(call=name)) is not None
        assert session.call("deep_research_status", {}, tool_call_id="after").status == "success"


def test_threads_that_are_killed_in_a_shared_transaction_lose_nothing_that_was_acknowledged(
    home: str,
) -> None:
    names = [f"t{n}" for n in range(THREADS)]
    with open_desk(home) as desk:
        for name in names:
            Caller(desk.session(name)).start()
    acknowledged = writers("killed-in-threads", home, 12)
    assert len(acknowledged) >= 8
    with open_desk(home) as desk:
        assert desk.verify().problems == ()
        recorded = set()
        for name in names:
            run = desk.existing(name).run
            assert run is not None
            own = {artifact.name for artifact in run.artifacts.values()}
            assert all(key.startswith(f"{name}.") for key in own)
            assert len(own) == len(run.artifacts)
            recorded |= own
        assert set(acknowledged) <= recorded
        assert len(recorded) - len(acknowledged) <= 12 * THREADS


def test_threads_of_one_desk_write_to_one_session_without_an_error(home: str) -> None:
    with open_desk(home) as desk:
        session = desk.session("s1")
        Caller(session).start()
        problems: list[BaseException] = []

        def work(writer: int) -> None:
            try:
                for n in range(10):
                    mark = {
                        "round": 0,
                        "stage": "knowledge_base",
                        "status": "active",
                        "summary": f"{writer}.{n}",
                    }
                    done = session.call("deep_research_checkpoint", mark, tool_call_id=f"w{writer}-{n}")
                    assert done.status == "success"
            except BaseException as problem:
                problems.append(problem)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert problems == []
        assert session.run is not None and session.run.checkpoint_count == 50
        assert desk.verify().ok


def test_verifying_and_exporting_while_others_write_raises_no_alarm(home: str, tmp_path: Path) -> None:
    with open_desk(home) as desk:
        research = Caller(desk.session("s1"))
        research.start()
        stop = threading.Event()

        def work() -> None:
            other = open_desk(home)
            writer = Caller(other.existing("s1"))
            writer.count = 1_000
            while not stop.is_set():
                writer.source()
            other.close()

        thread = threading.Thread(target=work)
        thread.start()
        try:
            for n in range(6):
                assert desk.verify().problems == ()
                desk.export("s1", tmp_path / f"{n}.jsonl")
                desk.export("s1", tmp_path / f"{n}.zip")
        finally:
            stop.set()
            thread.join()
        for n in range(6):
            with open_desk(tmp_path / f"in{n}") as other:
                assert not other.import_session(tmp_path / f"{n}.jsonl").already_here
            with open_desk(tmp_path / f"zip{n}") as other:
                assert not other.import_session(tmp_path / f"{n}.zip").already_here
                assert other.verify().ok


# -- drivers ----------------------------------------------------------------------------------------------------


def test_a_second_driver_is_told_who_drives(home: str) -> None:
    with open_desk(home) as one, open_desk(home) as two:
        session = one.session("s1")
        with one.driving(session) as driven:
            with (
                pytest.raises(SessionBusy, match=rf"process {os.getpid()} on "),
                two.driving(two.existing("s1")),
            ):
                pass
            assert one.ledger.lease_holder("s1").startswith(f"process {os.getpid()}")
        with two.driving(two.existing("s1")) as driver:
            assert driver.lease is not None and driver.lease.epoch == 2
        assert session.lease is None
        with pytest.raises(LeaseLost):
            Caller(driven).start()
        Caller(session).start()


def test_a_driver_that_was_overtaken_can_write_no_more_and_people_still_can(home: str) -> None:
    with open_desk(home) as one, open_desk(home) as two:
        with one.driving(one.session("s1")) as driven:
            slow = Caller(driven)
            slow.start()
            two.ledger.take_lease("s1", holder="the faster one")
            before = two.existing("s1").events()
            with pytest.raises(LeaseLost, match="the faster one"):
                slow.source()
            assert two.existing("s1").events() == before
            assert list(two.ledger.body_hashes()) == []
            person = Caller(two.existing("s1"))
            person.count = 100
            person.source(SKY)
        assert two.verify().ok


def test_two_sessions_can_be_driven_at_once(home: str) -> None:
    with open_desk(home) as desk:
        one, two = desk.session("S1"), desk.session("s1")
        with desk.driving(one), desk.driving(two):
            Caller(one).start()
            Caller(two).start()
        assert desk.verify().ok


def test_a_lock_is_free_as_soon_as_its_holder_lets_go_even_when_a_child_lives_on(tmp_path: Path) -> None:
    lock = SessionLock(tmp_path, "s1")
    lock.acquire()
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(into)
        os.read(out, 1)
        os._exit(0)
    try:
        lock.release()
        lock.release()
        again = SessionLock(tmp_path, "s1")
        again.acquire()
        again.release()
    finally:
        os.write(into, b"x")
        os.waitpid(child, 0)
        os.close(into)
        os.close(out)
