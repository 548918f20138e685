"""Many processes on one desk: queued and orphaned sessions are driven by workers, each by one at a time."""

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langgraph.runtime import RunControl
from typer.testing import CliRunner

import researchdesk as rd
from researchdesk.graph import cli
from researchdesk.graph.offline.model import OfflineChatModel
from researchdesk.graph.runner import run_research
from researchdesk.graph.waiting import OFTEN, take_up, waiting
from researchdesk.state.ids import session_stream
from researchdesk.stores.postgres.address import parse_address
from researchdesk.stores.postgres.connection import connect
from researchdesk.stores.postgres.migrations import lock_number
from researchdesk.tools.sources.corpus import Corpus
from researchdesk.tools.workspace import Desk, open_desk

from ..desks import Caller
from .commands import QUESTION, command, ended, environment, ran, shape, shown, write_documents
from .conftest import Undisturbed

KILLED_AT = 60


@pytest.fixture(params=["sqlite", "postgres"])
def home(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A desk of each backend."""
    return request.getfixturevalue("postgres") if request.param == "postgres" else str(tmp_path / "home")


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_documents(tmp_path / "corpus")


@pytest.fixture
def desk(home: str) -> Iterator[Desk]:
    with open_desk(home) as opened:
        yield opened


def queued(desk: Desk, corpus: Path, *, count: int = 1) -> list[str]:
    return [rd.queue_research(desk, QUESTION, corpus=corpus, scope="quick") for _ in range(count)]


def worked(home: str, *options: str) -> tuple[int, list[dict[str, Any]], str]:
    """The exit code, the JSON lines and stderr of a worker that ends by itself."""
    done = ran("work", "--until-empty", "--json", "--home", home, *options)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def told(lines: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(line["type"].removeprefix("session."), line["session_id"]) for line in lines]


def statuses(desk: Desk) -> dict[str, str]:
    return {one.session_id: one.status for one in desk.sessions()}


def pid_of(line: dict[str, Any]) -> int:
    return int(line["worker"].split()[1])


# -- queueing -------------------------------------------------------------------------------------------------------


def test_what_is_queued_waits_and_a_worker_makes_of_it_what_a_run_is(
    home: str, desk: Desk, corpus: Path, undisturbed: Undisturbed
) -> None:
    run = ("run", QUESTION, "--corpus", corpus, "--scope", "quick", "--home", home)
    assert ended(*run, "--queue") == "r1\n"
    assert json.loads(shown(*run, "--queue", "--json")) == {
        "type": "result",
        "session_id": "r2",
        "status": "active",
        "outcome": "queued",
        "exit_code": 0,
    }
    assert waiting(desk) == ["r1", "r2"]
    code, lines, said = worked(home)
    assert (code, told(lines)) == (0, [("taken", "r1"), ("ended", "r1"), ("taken", "r2"), ("ended", "r2")])
    assert f"working in {desk.where}: 2 sessions wait" in said
    assert lines[1]["outcome"] == "completed"
    assert "## References" in Path(lines[1]["report_path"]).read_text()
    assert waiting(desk) == []
    assert shape(desk, "r1") == shape(desk, "r2") == undisturbed.shape
    assert desk.verify().problems == ()


def test_what_is_wrong_with_a_question_is_told_when_it_is_queued(
    tmp_path: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with open_desk(tmp_path / "home") as desk:
        with pytest.raises(rd.UsageError, match="no such folder"):
            rd.queue_research(desk, QUESTION, corpus=tmp_path / "nothing")
        with pytest.raises(rd.UsageError):
            rd.queue_research(desk, " ", corpus=corpus)
        with pytest.raises(rd.Unavailable, match="cannot be set up"):
            rd.queue_research(desk, QUESTION, corpus=corpus, model="openai:gpt-5")
        assert desk.sessions() == []


def test_a_blocked_session_waits_again_when_it_is_resumed_into_the_queue(
    tmp_path: Path, corpus: Path
) -> None:
    home = tmp_path / "home"
    with open_desk(home) as desk:
        blocked = run_research(desk, QUESTION, corpus=corpus, scope="quick", session_id="r1", max_steps=1)
        assert (blocked.status, waiting(desk)) == ("blocked", [])
        before = desk.existing("r1").workspace.seq
        assert (
            take_up(desk, "r1", control=RunControl(), on_taken=lambda _: pytest.fail("it was taken")) is None
        )
        assert desk.existing("r1").workspace.seq == before
        assert (
            CliRunner()
            .invoke(cli.app, ["resume", "--queue", "--max-steps", "0", "--home", str(home)])
            .exit_code
            == 0
        )
        assert waiting(desk) == ["r1"]
        ended_run = take_up(desk, "r1", control=RunControl(), on_taken=lambda _: None)
        assert ended_run is not None and ended_run.status == "completed"


# -- who takes what -------------------------------------------------------------------------------------------------


def test_a_session_that_somebody_drives_is_passed_over_and_shown_with_its_driver(
    home: str, desk: Desk, corpus: Path
) -> None:
    first, second = queued(desk, corpus, count=2)
    with desk.driving(desk.existing(first)):
        assert waiting(desk) == [second]
        code, lines, _ = worked(home)
        assert (code, told(lines)) == (0, [("taken", second), ("ended", second)])
        drivers = {
            one["session_id"]: one["driver"]
            for one in json.loads(ended("sessions", "--json", "--home", home))
        }
        assert drivers == {first: f"process {os.getpid()} on {os.uname().nodename}", second: ""}
        assert f"process {os.getpid()}" in ended("status", first, "--home", home)
        assert f"process {os.getpid()}" in ended("sessions", "--home", home)
    assert waiting(desk) == [first]
    assert json.loads(shown("status", first, "--home", home, "--json"))["driver"] == ""


def test_a_session_of_somebody_elses_agent_waits_for_nobody(desk: Desk) -> None:
    Caller(desk.session("s1")).start()
    assert (statuses(desk), waiting(desk)) == ({"s1": "active"}, [])


def test_sessions_that_lost_driver_after_driver_come_last(desk: Desk, corpus: Path) -> None:
    first, second, third = queued(desk, corpus, count=3)
    for _ in range(OFTEN):
        desk.ledger.take_lease(second, holder="somebody who died")
    assert waiting(desk) == [first, third, second]


def test_a_run_is_its_commands_own_while_it_still_reads_its_documents(
    tmp_path: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[list[str], dict[str, str]]] = []
    refresh = Corpus.refresh

    def looked(self: Corpus) -> Any:
        with open_desk(tmp_path / "home") as other:
            seen.append((waiting(other), statuses(other)))
        return refresh(self)

    monkeypatch.setattr(Corpus, "refresh", looked)
    run = ["run", QUESTION, "--corpus", str(corpus), "--scope", "quick", "--home", str(tmp_path / "home")]
    assert CliRunner().invoke(cli.app, run).exit_code == 0
    assert seen[0] == ([], {"r1": "active"})


def test_an_orphan_of_a_graph_finds_its_corpus_from_any_folder(
    tmp_path: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with open_desk(tmp_path / "home") as desk:
        graph = rd.create_research_graph(desk, corpus="corpus", scope="quick")
        graph.invoke({"objective": QUESTION, "corpus": ["corpus"]}, {"configurable": {"thread_id": "t1"}})
        config = desk.existing("t1").workspace.config
        assert config is not None and config.corpus == (str(corpus.resolve()),)


def test_two_workers_that_saw_the_same_session_wait_drive_it_once(
    desk: Desk, home: str, corpus: Path
) -> None:
    (session,) = queued(desk, corpus)
    with open_desk(home) as other:

        def late(_: rd.Session) -> None:
            with pytest.raises(rd.SessionBusy):
                take_up(other, session, control=RunControl(), on_taken=lambda _: pytest.fail("it was taken"))

        ended_run = take_up(desk, session, control=RunControl(), on_taken=late)
        assert ended_run is not None and ended_run.status == "completed"
        seq = desk.existing(session).workspace.seq
        assert (
            take_up(other, session, control=RunControl(), on_taken=lambda _: pytest.fail("it was taken"))
            is None
        )
        assert desk.existing(session).workspace.seq == seq


# -- what goes wrong ------------------------------------------------------------------------------------------------


def test_a_session_that_cannot_be_driven_here_is_left_with_the_reason_and_the_others_go_on(
    home: str, desk: Desk, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = shutil.copytree(corpus, tmp_path / "elsewhere")
    monkeypatch.setenv("OPENAI_API_KEY", "for the queue alone")
    absent = rd.queue_research(desk, QUESTION, corpus=elsewhere, scope="quick")
    paid = rd.queue_research(desk, QUESTION, corpus=corpus, scope="quick", model="openai:gpt-5")
    (fine,) = queued(desk, corpus)
    shutil.rmtree(elsewhere)
    monkeypatch.delenv("OPENAI_API_KEY")
    code, lines, said = worked(home)
    assert code == 1
    kinds = [
        ("taken", absent),
        ("left", absent),
        ("taken", paid),
        ("left", paid),
        ("taken", fine),
        ("ended", fine),
    ]
    assert told(lines) == kinds
    assert [line["error"]["type"] for line in lines if line["type"] == "session.left"] == [
        "UsageError",
        "Unavailable",
    ]
    assert f"left    {absent}  no such folder or file" in said
    assert "OPENAI_API_KEY" in said
    assert statuses(desk) == {absent: "active", paid: "active", fine: "completed"}
    assert waiting(desk) == [absent, paid]


def test_a_worker_does_not_try_again_at_once_what_failed(tmp_path: Path, corpus: Path) -> None:
    elsewhere = shutil.copytree(corpus, tmp_path / "elsewhere")
    with open_desk(tmp_path / "home") as desk:
        absent = rd.queue_research(desk, QUESTION, corpus=elsewhere, scope="quick")
        shutil.rmtree(elsewhere)
        with started("--poll", "0.1", "--home", str(desk.home)) as worker:
            lines = [next_line(worker), next_line(worker)]
            (fine,) = queued(desk, corpus)
            lines += [next_line(worker), next_line(worker)]
            worker.send_signal(signal.SIGTERM)
            assert worker.wait() == 0
    assert told(lines) == [("taken", absent), ("left", absent), ("taken", fine), ("ended", fine)]
    assert lines[1]["again_in"] >= 30


def test_a_worker_that_is_told_to_stop_leaves_its_session_to_the_next(
    home: str, desk: Desk, corpus: Path
) -> None:
    first, second = queued(desk, corpus, count=2)
    with started("--home", home) as worker:
        assert told([next_line(worker)]) == [("taken", first)]
        worker.send_signal(signal.SIGTERM)
        rest, said = worker.communicate()
        assert worker.returncode == 3, said
    assert told([json.loads(line) for line in rest.splitlines()]) == [("left", first)]
    assert f"left    {first}  stopped as asked" in said
    assert f"stopped; in {desk.where}: 2 sessions wait" in said
    assert waiting(desk) == [first, second]
    code, lines, _ = worked(home, "--jobs", "2")
    assert (code, {name for kind, name in told(lines) if kind == "ended"}) == (0, {first, second})
    assert desk.verify().problems == ()


def test_children_end_with_the_process_that_started_them(tmp_path: Path, corpus: Path) -> None:
    with open_desk(tmp_path / "home") as desk:
        queued(desk, corpus, count=2)
        with started("--jobs", "2", "--home", str(desk.home)) as parent:
            lines = [next_line(parent), next_line(parent)]
            parent.kill()
            rest = parent.communicate()[0]  # it ends when the last child has closed its end
        left = [
            line["session_id"]
            for line in map(json.loads, rest.splitlines())
            if line["type"] == "session.left"
        ]
        assert len({pid_of(line) for line in lines}) == 2
        assert sorted(waiting(desk)) == sorted(left)


def test_killed_workers_are_replaced_and_every_session_ends_as_if_nobody_had_disturbed_it(
    home: str, desk: Desk, corpus: Path, undisturbed: Undisturbed
) -> None:
    sessions = queued(desk, corpus, count=6)
    killed: list[int] = []
    lines = []
    with started("--jobs", "2", "--until-empty", "--home", home) as parent:
        assert parent.stdout is not None
        for text in parent.stdout:
            lines.append(line := json.loads(text))
            if line["type"] == "session.taken" and len(killed) < 2:
                while desk.ledger.head(session_stream(line["session_id"])).count < KILLED_AT:
                    assert parent.poll() is None
                os.kill(pid_of(line), signal.SIGKILL)
                killed.append(pid_of(line))
        assert parent.wait() == 0
    assert len(killed) == 2
    drivers: dict[str, list[int]] = {name: [] for name in sessions}
    for line in lines:
        if line["type"] == "session.taken":
            drivers[line["session_id"]].append(pid_of(line))
    # Only of a killed worker was a session ever taken over, and only once for each kill.
    assert sorted(pid for own in drivers.values() for pid in own[:-1]) == sorted(killed)
    assert sorted(name for kind, name in told(lines) if kind == "ended") == sorted(sessions)
    for name in sessions:
        assert shape(desk, name) == undisturbed.shape
        kinds = [event.type for event in desk.existing(name).events()]
        assert kinds.count("model_answered") == undisturbed.answers
        assert kinds.count("model_called") - undisturbed.answers <= len(drivers[name]) - 1
        calls = desk.ledger.query("SELECT turn_id, id FROM tool_calls WHERE session_id = ?", (name,))
        assert len({(row["turn_id"], row["id"]) for row in calls}) == len(calls)
    numbers = [event.global_seq for event in desk.ledger.tail(limit=100_000)]
    assert numbers == list(range(1, len(numbers) + 1))
    assert desk.ledger.query("SELECT * FROM gathered") == []
    assert desk.verify().problems == ()


def test_a_driver_that_lost_its_lock_is_overtaken_and_does_nothing_more(
    postgres: str, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = OfflineChatModel._generate
    asked = 0

    with open_desk(postgres) as one, open_desk(postgres) as two:
        (session,) = queued(one, corpus)

        def cut(self: OfflineChatModel, *rest: Any, **more: Any) -> Any:
            nonlocal asked
            asked += 1
            if (
                asked == 3
            ):  # the server lets go of the lock in the middle of a request, and another worker is quick
                with connect(parse_address(postgres)) as raw:
                    raw.execute(
                        _CUT.format(number=lock_number("session", parse_address(postgres).schema, session))
                    )
                overtaking = take_up(two, session, control=RunControl(), on_taken=lambda _: None)
                assert overtaking is not None and overtaking.status == "completed"
            return answer(self, *rest, **more)

        monkeypatch.setattr(OfflineChatModel, "_generate", cut)
        with pytest.raises(rd.LeaseLost):
            take_up(one, session, control=RunControl(), on_taken=lambda _: None)
        kinds = [event.type for event in two.existing(session).events()]
        assert kinds.count("model_called") == kinds.count("model_answered") + 1 == asked
        assert two.verify().problems == ()


_CUT = (
    "SELECT pg_terminate_backend(pid, 5000) FROM pg_locks WHERE locktype = 'advisory' AND granted "
    "AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) "
    "AND (classid::bigint << 32 | objid::bigint) = {number}"
)


def started(*options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command("work", "--json", *options),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )


def next_line(process: subprocess.Popen[str]) -> dict[str, Any]:
    assert process.stdout is not None
    line: dict[str, Any] = json.loads(process.stdout.readline())
    return line
