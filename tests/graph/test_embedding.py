"""The research graph inside somebody else's graph, and under LangChain's own wrappers."""

import asyncio
from pathlib import Path
from typing import Any, TypedDict, cast

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph

import researchdesk as rd
from researchdesk.graph.research import ResearchGraph

QUESTION = "How wide must a widget be?"


class Outer(TypedDict, total=False):
    objective: str
    session_id: str
    status: str
    report_artifact_id: str


@pytest.fixture
def desk(tmp_path: Path) -> rd.Desk:
    return rd.open_desk(tmp_path / "home")


@pytest.fixture
def graph(desk: rd.Desk, tmp_path: Path) -> ResearchGraph:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "guide.md").write_text("# Widget guide\n\nThe widget must be at least 12 millimetres wide.\n")
    (docs / "standard.md").write_text(
        "# Widget standard\n\nA widget shall be at least 10 millimetres wide.\n"
    )
    return rd.create_research_graph(desk, corpus=[docs], scope="quick", template="general")


def ledger_of(desk: rd.Desk, session_id: str) -> list[str]:
    return [event.type for event in desk.existing(session_id).events()]


def thread(name: str) -> Any:
    return {"configurable": {"thread_id": name}}


def test_a_node_of_another_graph_runs_whole_and_leaves_the_same_ledger_sync_and_async(
    desk: rd.Desk, graph: ResearchGraph
) -> None:
    builder = StateGraph(Outer)
    builder.add_node("research", graph)
    builder.add_edge(START, "research")
    builder.add_edge("research", END)
    outer = builder.compile(checkpointer=InMemorySaver())
    first = outer.invoke({"objective": QUESTION}, thread("sync"))
    second = asyncio.run(outer.ainvoke({"objective": QUESTION}, thread("async")))
    assert (first["status"], first["session_id"]) == ("completed", "sync")
    assert (second["status"], second["session_id"]) == ("completed", "async")
    assert ledger_of(desk, "sync") == ledger_of(desk, "async")
    assert desk.verify().ok


def test_a_copy_with_config_keeps_its_desk_and_a_missing_thread_gets_a_session_of_its_own(
    desk: rd.Desk, graph: ResearchGraph
) -> None:
    tagged = graph.with_config({"tags": ["mine"]}).invoke({"objective": QUESTION}, thread("tagged"))
    loose = graph.invoke({"objective": QUESTION})
    assert tagged["session_id"] == "tagged"
    assert loose["status"] == "completed"
    assert {summary.session_id for summary in desk.sessions()} == {"tagged", loose["session_id"]}


def test_each_new_event_is_on_the_custom_stream_and_a_callback_event(
    desk: rd.Desk, graph: ResearchGraph
) -> None:
    streamed = [
        part["data"]
        for part in graph.stream(
            {"objective": QUESTION}, thread("streamed"), stream_mode=["custom"], version="v2"
        )
    ]
    stored = desk.existing("streamed").events(after=1)
    assert [(event["seq"], event["kind"]) for event in streamed] == [
        (event.seq, event.type) for event in stored
    ]

    async def called_back() -> list[int]:
        events = graph.astream_events({"objective": QUESTION}, thread("called"), version="v2")
        return [
            cast("Any", event["data"])["seq"] async for event in events if event["event"] == "on_custom_event"
        ]

    assert asyncio.run(called_back()) == [event.seq for event in desk.existing("called").events(after=1)]


def test_a_completed_thread_answers_again_without_a_new_event(desk: rd.Desk, graph: ResearchGraph) -> None:
    first = graph.invoke({"objective": QUESTION}, thread("twice"))
    events = ledger_of(desk, "twice")
    assert graph.invoke({"objective": QUESTION}, thread("twice")) == first
    assert ledger_of(desk, "twice") == events
    with pytest.raises(rd.UsageError, match="already"):
        graph.invoke({"objective": "Something else?"}, thread("twice"))


def test_a_question_that_cannot_be_taken_opens_no_session(desk: rd.Desk) -> None:
    for objective in ("", "  ", "x" * 5_000):
        with pytest.raises(rd.UsageError, match="objective"):
            rd.run_research(desk, objective)
    assert desk.sessions() == []
