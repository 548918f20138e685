"""What a chat shows while it goes on: effects in call order, panels that are worked on, on both streams."""

import asyncio
import threading
from typing import Any, cast

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

import researchdesk as rd
from researchdesk.graph import turns
from researchdesk.graph.desk.chat import DeskGraph

from ..scripted_model import says
from .chats import chat_on, create, kinds, read, say, thread, update

GIVEN: Any = {"messages": [("user", "Make three files.")]}


def shown(graph: DeskGraph, given: Any = GIVEN, kind: str = "desk.effect") -> list[dict[str, Any]]:
    parts = graph.stream(given, thread(), stream_mode=["custom"], version="v2")
    return [part["data"] for part in parts if part["data"]["type"] == kind]


def test_calls_that_end_in_reverse_are_committed_and_shown_in_their_order(
    desk: rd.Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    gather, ended = turns.gather_call, [threading.Event() for _ in range(4)]
    ended[3].set()
    order: list[str] = []

    def reversed_order(driver: Any, call_id: str) -> None:
        number = int(call_id.removeprefix("call_")) - 1
        assert ended[number + 1].wait(timeout=20)
        gather(driver, call_id)
        order.append(call_id)
        ended[number].set()

    monkeypatch.setattr("researchdesk.graph.desk.nodes.gather_call", reversed_order)
    graph, _ = chat_on(desk, [says(*(create(f"{n}.md") for n in "abc")), says(text="Done.")])
    effects = shown(graph)
    assert order == ["call_3", "call_2", "call_1"]
    assert [(effect["action"], effect["toolCallId"]) for effect in effects] == [
        ("openPanel", "call_1"),
        ("openPanel", "call_2"),
        ("openPanel", "call_3"),
        *((action, f"call_{n}") for n in (1, 2, 3) for action in ("updateContent", "notify")),
    ]
    assert [panel.title for panel in desk.panels("chat").panels] == ["a.md", "b.md", "c.md"]
    assert desk.files.get("a.md").created_seq < desk.files.get("c.md").created_seq


def test_an_effect_is_json_with_the_names_of_the_contract(desk: rd.Desk) -> None:
    graph, _ = chat_on(desk, [says(create("a.md")), says(text="Done.")])
    opened, changed, told = shown(graph)
    file = desk.files.get("a.md")
    assert opened == {
        "type": "desk.effect",
        "action": "openPanel",
        "id": opened["id"],
        "toolCallId": "call_1",
        "panelType": "markdown",
        "panelId": f"panel_{file.id}",
        "title": "a.md",
        "meta": {"fileId": file.id, "sourceToolCallId": "call_1"},
    }
    payload = {"fileId": file.id, "hash": file.content_hash, "rev": 1, "path": "a.md"}
    assert (changed["channel"], changed["payload"]) == ("file:changed", payload)
    assert (told["level"], told["message"]) == ("success", 'Created "a.md"')
    assert [effect["id"].rpartition(":")[2] for effect in (opened, changed, told)] == ["0", "1", "2"]


def test_a_panel_whose_file_a_call_works_on_is_active_from_its_start_to_its_end(desk: rd.Desk) -> None:
    answers = [
        says(create("a.md")),
        says(text="Made."),
        says(read("a.md"), read("no.md")),
        says(text="Read."),
    ]
    graph, _ = chat_on(desk, answers)
    assert shown(graph, kind="desk.indicator") == []
    events = shown(graph, {"messages": [("user", "Read it.")]}, kind="desk.indicator")
    assert [(event["indicator"], event["toolCallId"]) for event in events] == [
        ("ai-active", "call_1"),
        ("ai-modified", "call_1"),
    ]
    assert {event["panelId"] for event in events} == {f"panel_{desk.files.get('a.md').id}"}


def test_everything_is_on_the_custom_stream_and_a_callback_event(desk: rd.Desk) -> None:
    answers = [says(create("a.md")), says(text="Made.")]
    graph, _ = chat_on(desk, answers)
    parts = graph.stream(GIVEN, thread("one"), stream_mode=["custom"], version="v2")
    streamed = [(part["data"]["type"], part["data"].get("kind")) for part in parts]
    second, _ = chat_on(desk, [says(create("b.md")), says(text="Made.")])

    async def called_back() -> list[Any]:
        events = second.astream_events(GIVEN, thread("two"), version="v2")
        return [cast("Any", e["data"]) async for e in events if e["event"] == "on_custom_event"]

    told = asyncio.run(called_back())
    assert [(event["type"], event.get("kind")) for event in told] == streamed
    assert [kind for _, kind in streamed if kind] == ["run_configured", *kinds(desk, "one")]


def test_a_chat_runs_the_same_in_an_event_loop(notes: rd.Desk) -> None:
    graph, _ = chat_on(
        notes, [says(create(), update(notes, "a.md", content="ONE\n")), says(text="Done.")], approval="wait"
    )

    async def whole() -> dict[str, Any]:
        out = await graph.ainvoke(GIVEN, thread())
        (question,) = out["__interrupt__"]
        return await graph.ainvoke(Command(resume={question.id: {"approved": True}}), thread())

    out = asyncio.run(whole())
    assert out["messages"][-1].content == "Done." and notes.files.read("a.md") == "ONE\n"
    assert kinds(notes)[-3:] == ["call_settled", "model_called", "model_answered"]


def test_an_answer_streams_as_it_is_spoken(desk: rd.Desk) -> None:
    graph, _ = chat_on(desk, [says(text="Hello there.")])
    chunks = [chunk for chunk, _ in graph.stream(GIVEN, thread(), stream_mode="messages")]
    assert any(chunk.content == "Hello there." for chunk in chunks)


def test_checkpoints_do_not_grow_with_the_conversation(desk: rd.Desk) -> None:
    saver = InMemorySaver()
    long = "A sentence that says nothing, at some length. " * 20

    def script(request: Any) -> AIMessage:
        return says(create(f"{len(desk.files.listed())}.md")) if not request.results else says(text=long)

    graph, model = chat_on(desk, script, checkpointer=saver)
    sizes = []
    for turn in range(50):
        say(graph, f"Turn {turn}: one more file, please.")
        saved = saver.get_tuple(thread())
        assert saved is not None
        sizes.append(len(saver.serde.dumps_typed(saved.checkpoint)[1]))
    assert len(desk.files.listed()) == 50
    assert max(sizes) < 30_000
    assert max(sizes[40:]) < 1.1 * max(sizes[20:30])
    spoken = [sum(len(str(m.content)) for m in request.messages) for request in model.asked]
    assert max(spoken) < 120_000 and "earlier messages" in model.asked[-1].system


def test_a_drawing_of_the_graph_shows_its_turn(desk: rd.Desk) -> None:
    drawn = rd.create_desk_graph(desk).get_graph().draw_mermaid()
    for edge in (
        "receive --> plan",
        "plan -.-> act",
        "act --> observe",
        "observe --> plan",
        "plan -.-> approve",
    ):
        assert edge in drawn
