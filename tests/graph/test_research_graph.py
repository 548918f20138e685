"""The research graph under a scripted model: ways to run it, crashes in every node, several drivers, checkpoints."""

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.runtime import RunControl

import researchdesk as rd
from researchdesk.graph.checkpoints import open_checkpointer
from researchdesk.graph.research import ResearchGraph, create_research_graph
from researchdesk.stores.ledger import Append
from researchdesk.stores.sqlite.ledger import SqliteLedger
from researchdesk.tools.sources.ports import Fetched

from .scripted_model import QUESTION, QUOTES, Script, ScriptedModel, View, researcher, scripted_source, sky

Ran = Callable[[ResearchGraph, str], Any]
VOLATILE = (
    "duration_ms",
    "input_digest",
    "message_id",
    "request_digest",
    "fetched_at",
    "input_tokens",
    "data",
    "text",
    "steps_left",
    "notes_id",
    "text_hash",
)


class Crash(BaseException):
    """Ends a process in the middle of something: nothing in the package catches it."""


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[rd.Desk]:
    with rd.open_desk(tmp_path / "home") as opened:
        yield opened


def graph_on(desk: rd.Desk, script: Script = researcher, **options: Any) -> ResearchGraph:
    given = {"model": ScriptedModel(script=script), "sources": sky(), "scope": "quick", **options}
    return create_research_graph(desk, **given)


def thread(session_id: str = "s") -> Any:
    return {"configurable": {"thread_id": session_id}}


def run(graph: ResearchGraph, session_id: str = "s") -> dict[str, Any]:
    return dict(graph.invoke({"objective": QUESTION}, thread(session_id)))


def essence(desk: rd.Desk, session_id: str = "s") -> list[tuple[str, str]]:
    """The session's events without times, measures and requests whose answer was lost."""
    events = [(e.type, json.loads(e.payload)) for e in desk.existing(session_id).events()]
    found = []
    for (kind, body), following in zip(events, [*events[1:], ("", {})], strict=True):
        if kind == "model_called" and following[0] not in ("model_answered", "model_failed"):
            continue
        kept = {
            key: value for key, value in body.items() if key not in (*VOLATILE, "session_id", "artifact_id")
        }
        if kind == "model_called":
            kept.pop("ordinal")
        kept.pop("receipt", None)
        if kept.get("entity_type") == "research_run":
            kept.pop("entity_id")
        found.append((kind, without_ids(json.dumps(kept, sort_keys=True), desk, session_id)))
    return found


def without_ids(text: str, desk: rd.Desk, session_id: str) -> str:
    """The text with the session's artifact ids, which are made from its name, by their order."""
    for n, row in enumerate(
        desk.ledger.query("SELECT id FROM artifacts WHERE session_id = ? ORDER BY seq", (session_id,))
    ):
        text = text.replace(str(row["id"]), f"artifact {n}")
    return text


def calls_of(desk: rd.Desk, session_id: str = "s") -> list[tuple[str, str]]:
    rows = desk.ledger.query(
        "SELECT turn_id, id FROM tool_calls WHERE session_id = ? ORDER BY seq", (session_id,)
    )
    return [(str(row["turn_id"]), str(row["id"])) for row in rows]


# -- ways to run it -------------------------------------------------------------------------------------------


def streamed(graph: ResearchGraph, session_id: str) -> None:
    list(
        graph.stream(
            {"objective": QUESTION}, thread(session_id), stream_mode=["updates", "messages", "custom"]
        )
    )


def awaited(graph: ResearchGraph, session_id: str) -> None:
    asyncio.run(graph.ainvoke({"objective": QUESTION}, thread(session_id)))


def streamed_async(graph: ResearchGraph, session_id: str) -> None:
    async def drain() -> None:
        async for _ in graph.astream({"objective": QUESTION}, thread(session_id), stream_mode="values"):
            pass

    asyncio.run(drain())


@pytest.mark.parametrize("way", [streamed, awaited, streamed_async])
def test_every_way_to_run_it_leaves_the_same_ledger(desk: rd.Desk, way: Ran) -> None:
    graph = graph_on(desk)
    assert run(graph, "s")["status"] == "completed"
    way(graph, "other")
    assert essence(desk, "other") == essence(desk, "s")
    assert desk.verify().ok


def test_the_output_names_session_end_and_report(desk: rd.Desk) -> None:
    ended = run(graph_on(desk))
    report = desk.existing("s").run
    assert report is not None
    assert ended == {
        "session_id": "s",
        "status": "completed",
        "stop_reason": None,
        "report_artifact_id": report.report_artifact_id,
    }


@pytest.mark.parametrize("way", [run, awaited])
def test_documents_of_one_turn_are_read_at_the_same_time_and_recorded_in_call_order(
    desk: rd.Desk, way: Ran
) -> None:
    together, turn = threading.Barrier(len(QUOTES), timeout=20), threading.Condition()
    waiting = list(reversed(QUOTES))

    class Slow(type(scripted_source())):  # type: ignore[misc]
        def fetch(self, locator: str) -> Fetched:
            together.wait()
            with turn:  # the last call's document arrives first
                assert turn.wait_for(lambda: waiting[0] == locator, timeout=20)
                waiting.pop(0)
                turn.notify_all()
            return super().fetch(locator)  # type: ignore[no-any-return]

    source = scripted_source()
    source.__class__ = Slow
    way(graph_on(desk, sources=rd.Sources(providers=(source,), fetchers=(source,))), "s")
    run_ = desk.existing("s").run
    assert run_ is not None
    assert [source.url for source in run_.all_sources] == list(QUOTES)


def test_the_picture_shows_both_stages(desk: rd.Desk) -> None:
    picture = graph_on(desk).get_graph().draw_mermaid()
    assert "knowledge_base" in picture
    assert "report_writing" in picture


def test_a_corpus_that_the_factory_was_not_given_is_refused(desk: rd.Desk, tmp_path: Path) -> None:
    graph = create_research_graph(desk, model=ScriptedModel(script=researcher), corpus=[tmp_path])
    with pytest.raises(rd.UsageError, match="was not given to this graph"):
        graph.invoke({"objective": QUESTION, "corpus": ["/etc"]}, thread())
    assert desk.sessions() == []


# -- crashes --------------------------------------------------------------------------------------------------


class Fragile:
    """Crashes before or after the n-th write of a kind."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, method: str) -> None:
        self.count, self.at, self.after, self.lock = 0, 0, False, threading.Lock()
        original = getattr(SqliteLedger, method)

        def written(ledger: SqliteLedger, *args: Any, **more: Any) -> Any:
            with self.lock:
                self.count += 1
                own = self.count
            if own == self.at and not self.after:
                raise Crash
            result = original(ledger, *args, **more)
            if own == self.at:
                raise Crash
            return result

        monkeypatch.setattr(SqliteLedger, method, written)

    def crash(self, at: int, *, after: bool) -> None:
        self.count, self.at, self.after = 0, at, after


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("method", ["append", "stage"])
def test_a_crash_at_any_write_leaves_one_effect_a_call(
    desk: rd.Desk, monkeypatch: pytest.MonkeyPatch, method: str, after: bool
) -> None:
    fragile = Fragile(monkeypatch, method)
    graph = graph_on(desk)
    run(graph, "whole")
    wanted, writes = essence(desk, "whole"), fragile.count
    assert writes > 3
    for at in range(2 if after else 1, writes + 1, 5 if method == "append" else 1):
        session_id = f"crash{at}"
        fragile.crash(at, after=after)
        with pytest.raises(Crash):
            run(graph, session_id)
        fragile.crash(0, after=after)
        assert run(graph, session_id)["status"] == "completed"
        assert essence(desk, session_id) == wanted
        assert len(set(calls_of(desk, session_id))) == len(calls_of(desk, session_id))
    assert desk.verify().ok
    assert desk.ledger.query("SELECT * FROM gathered") == []


def test_a_crash_in_any_request_is_asked_again_and_answered_once(desk: rd.Desk) -> None:
    asked: list[str] = []

    def crashing(at: int) -> Callable[[View], AIMessage]:
        def script(view: View) -> AIMessage:
            asked.append(json.dumps({**view, "budget": None, "last": None}))
            if len(asked) == at:
                raise Crash
            return researcher(view)

        return script

    run(graph_on(desk, crashing(0)), "whole")
    wanted, requests = essence(desk, "whole"), len(asked)
    for at in range(1, requests + 1):
        asked.clear()
        graph = graph_on(desk, crashing(at))
        with pytest.raises(Crash):
            run(graph, f"crash{at}")
        run(graph, f"crash{at}")
        assert essence(desk, f"crash{at}") == wanted
        assert len(asked) == requests + 1
        assert asked[at - 1] == asked[at]


def test_a_document_that_was_staged_before_a_crash_is_not_read_again(
    desk: rd.Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = scripted_source()
    graph = graph_on(desk, sources=rd.Sources(providers=(source,), fetchers=(source,)))
    original = SqliteLedger.append
    archived: list[Append] = []

    def first_archive(ledger: SqliteLedger, append: Append) -> None:
        if append.adopts and not archived:
            archived.append(append)
            raise Crash
        original(ledger, append)

    monkeypatch.setattr(SqliteLedger, "append", first_archive)
    with pytest.raises(Crash):
        run(graph)
    assert run(graph)["status"] == "completed"
    assert source.fetch_calls == dict.fromkeys(QUOTES, 1)
    assert source.search_calls == {"sky": 1}


# -- drivers, checkpoints, clocks -----------------------------------------------------------------------------


def test_a_second_driver_of_a_session_is_refused_and_the_first_goes_on(desk: rd.Desk, tmp_path: Path) -> None:
    refused: list[str] = []

    def script(view: View) -> AIMessage:
        with rd.open_desk(tmp_path / "home") as another, pytest.raises(rd.SessionBusy) as busy:
            run(graph_on(another))
        refused.append(str(busy.value))
        return researcher(view)

    assert run(graph_on(desk, script))["status"] == "completed"
    assert all("is being driven by process" in text for text in refused)
    assert desk.verify().ok


@pytest.mark.parametrize("saver", ["memory", "sqlite"])
def test_time_travel_adds_no_event(
    desk: rd.Desk, tmp_path: Path, saver: str, caplog: pytest.LogCaptureFixture
) -> None:
    with open_checkpointer(tmp_path / "checkpoints.sqlite") as file:
        graph = graph_on(desk, checkpointer=file if saver == "sqlite" else InMemorySaver())
        ended = run(graph)
        before = desk.existing("s").events()
        for snapshot in list(graph.get_state_history(thread()))[1:]:
            assert graph.invoke(None, snapshot.config) in (ended, None)
            assert desk.existing("s").events() == before
        kept = graph.get_state(thread()).values.get("messages", [])
    assert all(isinstance(message, AIMessage | ToolMessage) for message in kept)
    assert not [record for record in caplog.records if "serde" in record.name]


@pytest.mark.parametrize("damage", ["garbage", "missing", "empty", "folder of another"])
def test_a_spoiled_checkpoint_file_does_not_matter(desk: rd.Desk, damage: str) -> None:
    crashed: list[View] = []

    def script(view: View) -> AIMessage:
        if view["stage"] == "report_writing" and not crashed:
            crashed.append(view)
            raise Crash
        return researcher(view)

    model = ScriptedModel(script=script)
    given: dict[str, Any] = {"model": model, "sources": sky(), "scope": "quick", "session_id": "s"}
    with pytest.raises(Crash):
        rd.run_research(desk, QUESTION, **given)
    file = desk.home / "checkpoints.sqlite"
    file.unlink(missing_ok=True)
    if damage == "garbage":
        file.write_bytes(b"SQLite format 3\x00" + bytes(range(256)) * 64)
    elif damage == "empty":
        file.touch()
    elif damage == "folder of another":
        with open_checkpointer(file) as saver:
            assert isinstance(saver, SqliteSaver)
            stale = create_research_graph(desk, model=model, sources=sky(), scope="quick", checkpointer=saver)
            stale.invoke({"objective": "Something else"}, thread("another"))
    result = rd.resume_research(desk, "s", model=model, sources=given["sources"])
    assert result.status == "completed"
    assert len(set(calls_of(desk))) == len(calls_of(desk))
    assert desk.verify().ok


@pytest.mark.parametrize("shift", [timedelta(hours=-1), timedelta(days=365), None])
def test_a_clock_that_is_wrong_changes_nothing(tmp_path: Path, shift: timedelta | None) -> None:
    start = datetime(2026, 5, 1, tzinfo=UTC)

    def clock() -> str:
        return (start + (shift or timedelta())).isoformat(timespec="microseconds")

    crashed: list[View] = []

    def script(view: View) -> AIMessage:
        if view["stage"] == "report_writing" and not crashed:
            crashed.append(view)
            raise Crash
        return researcher(view)

    given: dict[str, Any] = {"model": ScriptedModel(script=script), "sources": sky()}
    with rd.open_desk(tmp_path / "home", clock=lambda: start.isoformat(timespec="microseconds")) as desk:
        with pytest.raises(Crash):
            rd.run_research(desk, QUESTION, scope="quick", session_id="s", **given)
        before = [event.hash for event in desk.existing("s").events()]
    with rd.open_desk(tmp_path / "home", clock=clock) as desk:
        assert rd.resume_research(desk, "s", **given).status == "completed"
        assert [event.hash for event in desk.existing("s").events()][: len(before)] == before
        run(graph_on(desk), "whole")
        assert [e for e in essence(desk) if e[0] != "run_configured"] == [
            e for e in essence(desk, "whole") if e[0] != "run_configured"
        ]
        assert desk.verify().ok


@pytest.mark.parametrize("at", [3, 9, 20])
def test_a_run_that_is_asked_to_stop_stops_and_can_be_resumed(desk: rd.Desk, at: int) -> None:
    control = RunControl()

    def watch(event: dict[str, Any]) -> None:
        if event["seq"] == at:
            control.request_drain("test")

    given: dict[str, Any] = {"model": ScriptedModel(script=researcher), "sources": sky()}
    drained = rd.run_research(
        desk, QUESTION, scope="quick", session_id="s", on_event=watch, control=control, **given
    )
    assert (drained.drained, drained.status) == (True, "active")
    assert desk.existing("s").workspace.pending_request is None
    assert rd.resume_research(desk, "s", **given).status == "completed"
    run(graph_on(desk), "whole")
    assert essence(desk) == essence(desk, "whole")
