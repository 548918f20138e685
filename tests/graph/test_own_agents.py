"""The tools in a user's own agent: one effect for each call of each message, refusals as texts."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode

import researchdesk as rd

from .scripted_model import QUESTION, call, says, sky

START_CALL = call("deep_research_start", objective=QUESTION, scope_level="quick", template="general")


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[rd.Desk]:
    with rd.open_desk(tmp_path / "home") as opened:
        yield opened


def thread(name: str = "mine") -> Any:
    return {"configurable": {"thread_id": name}}


def node_graph(desk: rd.Desk) -> Any:
    builder = StateGraph(MessagesState)
    builder.add_node("tools", ToolNode(rd.create_research_tools(desk, sources=sky())))
    builder.add_edge(START, "tools")
    builder.add_edge("tools", END)
    return builder.compile(checkpointer=InMemorySaver())


def results(state: dict[str, Any]) -> list[str]:
    return [str(message.content) for message in state["messages"] if isinstance(message, ToolMessage)]


def recorded(desk: rd.Desk, session_id: str = "mine") -> list[str]:
    return [event.type for event in desk.existing(session_id).events()]


def test_a_tool_node_writes_to_the_session_of_its_thread(desk: rd.Desk) -> None:
    graph = node_graph(desk)
    graph.invoke({"messages": [says(START_CALL, id="m1")]}, thread())
    state = graph.invoke(
        {"messages": [says(call("search_sources", query="sky", limit=0), id="m2")]}, thread()
    )
    assert "https://sky.org/blue" in results(state)[-1]
    assert recorded(desk) == [
        "session_opened",
        "research_started",
        "call_recorded",
        "search_recorded",
        "call_recorded",
    ]


def test_the_same_call_id_in_two_messages_is_two_calls_and_in_one_is_one(desk: rd.Desk) -> None:
    graph = node_graph(desk)
    graph.invoke({"messages": [says(START_CALL, id="m1")]}, thread())
    looks = call("deep_research_status")
    graph.invoke({"messages": [says(looks, id="m2")]}, thread())
    graph.invoke({"messages": [says(looks, id="m3")]}, thread())
    assert recorded(desk).count("call_recorded") == 3
    node_graph(desk).invoke({"messages": [says(looks, id="m3")]}, thread())
    assert recorded(desk).count("call_recorded") == 3


def test_a_refusal_is_a_text_for_the_model_and_no_exception(desk: rd.Desk) -> None:
    graph = node_graph(desk)
    state = graph.invoke(
        {"messages": [says(call("search_sources", query="sky", limit=0), id="m1")]}, thread()
    )
    (message,) = [m for m in state["messages"] if isinstance(m, ToolMessage)]
    assert message.status == "error"
    assert "No research is started" in str(message.content)


def test_parallel_calls_of_one_message_each_have_their_effect_once(desk: rd.Desk) -> None:
    graph = node_graph(desk)
    graph.invoke({"messages": [says(START_CALL, id="m1")]}, thread())
    archive = [
        call("archive_source", locator=url) for url in ("https://sky.org/blue", "https://air.net/light")
    ]
    state = graph.invoke({"messages": [says(*archive, id="m2")]}, thread())
    run = desk.existing("mine").run
    assert run is not None
    assert {source.url for source in run.all_sources} == {"https://sky.org/blue", "https://air.net/light"}
    assert len(results(state)) == 3
    assert desk.verify().ok


def test_an_agent_of_langchain_works_with_the_tools(desk: rd.Desk) -> None:
    agents = pytest.importorskip("langchain.agents")
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel

    class Scripted(GenericFakeChatModel):
        def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
            return self

    answers: list[AIMessage] = [
        says(START_CALL),
        says(call("search_sources", query="sky", limit=0)),
        says(call("archive_source", locator="https://sky.org/blue")),
        says(text="It is scattering."),
    ]
    agent = agents.create_agent(
        Scripted(messages=iter(answers)),
        rd.create_research_tools(desk, sources=sky()),
        checkpointer=InMemorySaver(),
    )
    state = agent.invoke({"messages": [HumanMessage(QUESTION)]}, thread("agent"))
    assert state["messages"][-1].content == "It is scattering."
    assert recorded(desk, "agent").count("source_recorded") == 1
    assert desk.verify().ok


def test_wrong_arguments_are_named_to_the_model_and_recorded_as_a_refused_call(desk: rd.Desk) -> None:
    wrong = call("search_sources", query=["sky"], force=True)
    state = node_graph(desk).invoke({"messages": [says(wrong, id="m1")]}, thread())
    assert results(state) == [
        "query: Input should be a valid string, given ['sky'].\nforce: there is no such argument."
    ]
    assert recorded(desk) == ["session_opened", "call_recorded"]
