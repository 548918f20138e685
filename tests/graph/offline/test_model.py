"""The chat model itself: what it answers to one view, without a run around it."""

import json
from typing import Any

import pytest
from langchain_core.messages import AIMessageChunk, HumanMessage, SystemMessage

from researchdesk.graph.offline.model import NO_WORKSPACE, OfflineChatModel
from researchdesk.state.envelopes import seal

QUESTION = "How many days must backups be kept?"


def tool(name: str) -> dict[str, Any]:
    parameters = {"type": "object", "properties": {}}
    return {"type": "function", "function": {"name": name, "description": name, "parameters": parameters}}


def asked(view: dict[str, Any], *tools: str) -> Any:
    model = OfflineChatModel().bind_tools([tool(name) for name in tools])
    content = seal(json.dumps(view), tag="research_workspace", boundary="boundary1")
    return model.invoke([SystemMessage("rules"), HumanMessage(content)])


def test_a_tool_that_is_not_offered_is_never_called() -> None:
    assert asked({"objective": QUESTION}, "archive_source").tool_calls == []


def test_without_a_workspace_the_model_says_what_it_is() -> None:
    assert OfflineChatModel().invoke("hello").text == NO_WORKSPACE


def test_the_first_answer_searches_splits_the_objective_and_takes_up_the_first_question() -> None:
    offered = ("search_sources", "add_question", "frontier_next")
    answer = asked({"objective": f"{QUESTION} Do the sources agree?"}, *offered)
    assert [(call["name"], call["args"].get("text")) for call in answer.tool_calls] == [
        ("search_sources", None),
        ("add_question", QUESTION),
        ("add_question", f"Do the publishers agree on this: {QUESTION}"),
        ("frontier_next", None),
        ("search_sources", None),
    ]
    assert answer.tool_calls[2]["args"]["depends_on"] == ["q_002"]


def test_an_answer_holds_no_more_calls_than_the_view_allows() -> None:
    view = {"objective": QUESTION, "limits": {"calls_per_turn": 2}}
    assert len(asked(view, "search_sources", "add_question", "frontier_next").tool_calls) == 2


def test_streaming_brings_the_same_calls_and_a_token_estimate() -> None:
    model = OfflineChatModel().bind_tools([tool("search_sources")])
    content = seal(json.dumps({"objective": QUESTION}), tag="research_workspace", boundary="boundary1")
    messages = [SystemMessage("rules"), HumanMessage(content)]
    whole = model.invoke(messages)
    chunk = next(iter(model.stream(messages)))
    assert isinstance(chunk, AIMessageChunk)
    assert chunk.tool_calls == whole.tool_calls
    assert [call["id"] for call in whole.tool_calls] == ["call_1"]
    assert whole.usage_metadata is not None
    assert whole.usage_metadata["input_tokens"] > 10


@pytest.mark.parametrize("text", ["", "{", "[]"])
def test_a_view_that_cannot_be_read_is_no_view(text: str) -> None:
    content = seal(text, tag="research_workspace", boundary="boundary1")
    assert OfflineChatModel().invoke([HumanMessage(content)]).text == NO_WORKSPACE
