"""Researching through the clients of Google and Anthropic: whole runs, what their requests hold, how they fail."""

import json
import logging
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import researchdesk as rd
from researchdesk.graph import turns
from researchdesk.graph.research import create_research_graph
from researchdesk.tools.registry import REGISTRY

from .chat_server import ChatServer, Fault, Reply, Script, over_the_wire
from .scripted_model import QUESTION, QUOTES, View, researcher, sky

PRICE = rd.Price(input="1", cached_input="0.1", output="5")
WIRES = pytest.mark.parametrize("wire", ["gemini", "anthropic"])


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long it was waited between tries; nobody waits here."""
    waited: list[float] = []
    monkeypatch.setattr(turns, "pause", waited.append)
    return waited


@pytest.fixture
def desk(tmp_path: Path, waits: list[float]) -> Iterator[rd.Desk]:
    with rd.open_desk(tmp_path / "home") as opened:
        yield opened


def model_of(server: ChatServer, wire: str) -> Any:
    return server.gemini_model() if wire == "gemini" else server.anthropic_model()


def research(desk: rd.Desk, wire: str, script: Script, **more: Any) -> tuple[rd.RunResult, ChatServer]:
    with ChatServer(script) as server:
        options = {"sources": sky(), "scope": "quick", "session_id": "s", **more}
        return rd.run_research(desk, QUESTION, model=model_of(server, wire), **options), server


def assert_every_call_has_one_record(desk: rd.Desk) -> None:
    answered, recorded = [], []
    for event in desk.existing("s").events():
        body = json.loads(event.payload)
        if event.type == "model_answered":
            answered += [(body["turn_id"], one["id"]) for one in body["calls"]]
        elif event.type == "call_recorded" and body["turn_id"]:
            recorded.append((body["turn_id"], body["tool_call_id"]))
    assert recorded == answered and len(set(answered)) == len(answered) > 0


def tools_of(request: dict[str, Any], wire: str) -> list[tuple[str, str, dict[str, Any]]]:
    """Name, description and schema of each tool, as they were sent."""
    if wire == "anthropic":
        return [(one["name"], one["description"], one["input_schema"]) for one in request["tools"]]
    (group,) = request["tools"]
    none = {
        "type": "OBJECT",
        "properties": {},
        "required": [],
    }  # a tool without arguments goes without a schema
    return [
        (one["name"], one["description"], one.get("parameters", none))
        for one in group["functionDeclarations"]
    ]


def plain(schema: Any) -> Any:
    """What every provider has to be told of a schema: kinds, names, words, choices and what is required."""
    if isinstance(schema, list):
        return [plain(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {
        key: plain(value)
        for key, value in schema.items()
        if key in ("items", "required", "enum", "description") and value != []
    }
    if "properties" in schema:
        kept["properties"] = {name: plain(value) for name, value in schema["properties"].items()}
    return {**kept, "type": str(schema["type"]).lower()}


@WIRES
def test_a_whole_research_goes_over_the_wire(desk: rd.Desk, wire: str) -> None:
    ended, server = research(desk, wire, researcher)
    assert (ended.status, ended.stop_reason) == ("completed", None)
    run = desk.existing("s").run
    assert run is not None
    assert next(iter(QUOTES.values())) in desk.records.text(
        run.artifacts[ended.report_artifact_id].content_hash
    )
    workspace = desk.existing("s").workspace
    assert len(server.requests) == workspace.called == workspace.answered
    assert workspace.spent.input_tokens == 1_000 * len(server.requests)
    assert workspace.spent.output_tokens == 100 * len(server.requests)
    assert workspace.cost is None, "the price of a model that a server of one's own answers for is not known"
    assert_every_call_has_one_record(desk)
    assert desk.verify().ok


@WIRES
def test_each_request_holds_rules_view_and_tools_whole(desk: rd.Desk, wire: str) -> None:
    _, server = research(desk, wire, researcher)
    specs = REGISTRY.investigative_loop
    sent: set[str] = set()
    for request in server.requests:
        rules = request["system"] if wire == "anthropic" else request["systemInstruction"]
        assert len(json.dumps(rules)) > 500
        turns_sent = request["messages"] if wire == "anthropic" else request["contents"]
        assert [message["role"] for message in turns_sent] == ["user"]
        for name, description, schema in tools_of(request, wire):
            assert description == specs[name].description
            assert plain(schema) == plain(specs[name].schema())
            sent.add(name)
    assert {"search_sources", "archive_source", "notes_append", "deep_research_complete"} <= sent


def test_what_gemini_read_from_its_cache_and_thought_is_counted(desk: rd.Desk) -> None:
    def cached(view: View) -> Reply:
        reply = over_the_wire(researcher(view))
        return Reply(content=reply.content, calls=reply.calls, cached=500, reasoning=40)

    ended, server = research(desk, "gemini", cached, prices=PRICE)
    assert ended.status == "completed"
    spent, asked = desk.existing("s").workspace.spent, len(server.requests)
    assert (spent.input_tokens, spent.cached_tokens) == (1_000 * asked, 500 * asked)
    assert (spent.output_tokens, spent.reasoning_tokens) == (100 * asked, 40 * asked)
    # 500 at 1, 500 at 0.1 and 100 at 5 for a million
    assert spent.cost == asked * Decimal("0.00105")


@WIRES
@pytest.mark.parametrize("status", [429, 503])
def test_a_request_that_may_work_later_is_made_again_once_at_a_time(
    desk: rd.Desk, waits: list[float], wire: str, status: int
) -> None:
    faults = iter([Fault(status=status), Fault(status=status)])
    ended, server = research(desk, wire, lambda view: next(faults, None) or researcher(view))
    assert ended.status == "completed"
    assert len(server.requests) == desk.existing("s").workspace.answered + 2, (
        "the client makes no tries of its own"
    )
    assert len([seconds for seconds in waits if seconds]) == 2


@WIRES
@pytest.mark.parametrize("status", [400, 401])
def test_a_refusal_is_final_and_told(desk: rd.Desk, wire: str, status: int) -> None:
    ended, server = research(desk, wire, lambda view: Fault(status=status))
    assert (ended.status, len(server.requests)) == ("blocked", 1)
    assert ended.blocked_reason.startswith("no evidence: model_unavailable, ")


@WIRES
def test_an_answer_that_breaks_off_is_asked_for_again(desk: rd.Desk, wire: str) -> None:
    faults = iter([Fault(), Fault(half=Reply(content="The sky " * 50))])
    ended, _ = research(desk, wire, lambda view: next(faults, None) or researcher(view))
    assert (ended.status, ended.stop_reason) == ("completed", None)
    assert_every_call_has_one_record(desk)


@pytest.mark.parametrize("finish", ["length", "content_filter"])
def test_an_answer_that_gemini_cut_off_or_held_back_is_taken_in_stride(desk: rd.Desk, finish: str) -> None:
    odd = iter([Reply(content="" if finish == "content_filter" else "Half a", finish=finish)])
    ended, _ = research(desk, "gemini", lambda view: next(odd, None) or researcher(view))
    assert (ended.status, ended.stop_reason) == ("completed", None)
    assert_every_call_has_one_record(desk)


def test_who_streams_messages_gets_geminis_words(desk: rd.Desk) -> None:
    def talking(view: View) -> Reply:
        reply = over_the_wire(researcher(view))
        return Reply(content="I look at the sky.", calls=reply.calls)

    with ChatServer(talking) as server:
        graph = create_research_graph(desk, model=server.gemini_model(), sources=sky(), scope="quick")
        thread: Any = {"configurable": {"thread_id": "s"}}
        options: Any = {"stream_mode": ["messages"], "subgraphs": True}
        words = [
            item[0].text
            for _, _, item in graph.stream({"objective": QUESTION}, thread, **options)
            if item[0].text
        ]
    assert "I look at the sky." in words
    assert_every_call_has_one_record(desk)


def test_geminis_client_does_not_complain_about_each_schema(
    desk: rd.Desk, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        research(desk, "gemini", researcher)
    assert [record.getMessage() for record in caplog.records if "schema" in record.getMessage()] == []
