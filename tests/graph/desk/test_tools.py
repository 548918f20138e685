"""The desk tools in a user's own graph, and the reading ones in a research."""

from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode

import researchdesk as rd
from researchdesk.tools.registry import REGISTRY

from ..scripted_model import ScriptedModel, says, sky
from .chats import create, listing, read, thread, update


def node_graph(desk: rd.Desk, **options: Any) -> Any:
    builder = StateGraph(MessagesState)
    builder.add_node("tools", ToolNode(rd.create_desk_tools(desk, **options)))
    builder.add_edge(START, "tools")
    builder.add_edge("tools", END)
    return builder.compile(checkpointer=InMemorySaver())


def ran(graph: Any, *calls: dict[str, Any], id: str = "m1", name: str = "mine") -> list[ToolMessage]:
    state = graph.invoke({"messages": [says(*calls, id=id)]}, thread(name))
    last = max(place for place, m in enumerate(state["messages"]) if isinstance(m, AIMessage))
    return [m for m in state["messages"][last:] if isinstance(m, ToolMessage)]


def test_a_tool_node_works_on_the_desk_in_the_session_of_its_thread(notes: rd.Desk) -> None:
    made, waits = ran(node_graph(notes), create(), update(notes, "a.md", content="ONE\n"))
    assert notes.files.read("notes/plan.md").startswith("# Plan")
    assert made.artifact["status"] == "success"
    assert [e["action"] for e in made.artifact["effects"]] == ["openPanel", "updateContent", "notify"]
    assert (waits.status, waits.artifact["status"]) == ("success", "pending")
    (proposal,) = notes.proposals()
    assert waits.artifact["data"]["proposal_hash"] == proposal.hash
    assert proposal.cause.session_id == "mine" and notes.verify().ok


def test_a_call_that_is_run_again_does_nothing_new_and_says_the_same(desk: rd.Desk) -> None:
    (first,) = ran(node_graph(desk), create())
    (again,) = ran(node_graph(desk), create())
    assert (again.content, again.artifact) == (first.content, first.artifact)
    (other,) = ran(node_graph(desk), create(), id="m2")
    assert other.status == "error" and "already exists" in str(other.content)
    assert len(desk.files.listed()) == 1


def test_a_session_can_be_named_after_the_thread(desk: rd.Desk) -> None:
    ran(node_graph(desk, session_id="{thread}.desk"), listing())
    assert [summary.session_id for summary in desk.sessions()] == ["mine.desk"]
    with pytest.raises(rd.UsageError, match="no session"):
        rd.create_desk_tools(desk)[0].invoke(listing()["args"])


def test_a_direct_call_gives_the_text(notes: rd.Desk) -> None:
    tools = {tool.name: tool for tool in rd.create_desk_tools(notes, "note", style="typed")}
    assert set(tools) == set(REGISTRY.desk_set("typed")) and "desk_update_cells" in tools
    assert "one\n" in tools["desk_read_file"].invoke(read("a.md")["args"])


def test_a_research_reads_the_desk_where_it_was_started_so_and_only_reads(tmp_path: Path) -> None:
    with rd.open_desk(tmp_path / "home") as desk:
        desk.files.put("a.md", "one\n", actor="human:ann")
        given = {"objective": "Why is the sky blue?", "scope_level": "quick", "template": "general"}
        offered: dict[str, list[str]] = {}
        for name in ("plain", "with"):
            seen: list[Any] = []

            class Watching(ScriptedModel):
                def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
                    seen.extend(tool["function"]["name"] for tool in tools)  # noqa: B023
                    return super().bind_tools(tools, **kwargs)

            model = Watching(script=[says(listing()), *[says(text="no") for _ in range(40)]], steps=3)
            graph = rd.create_research_graph(
                desk, model=model, sources=sky(), max_steps=3, desk_tools=name == "with"
            )
            graph.invoke(given, thread(name))
            offered[name] = [tool for tool in dict.fromkeys(seen) if tool.startswith("desk_")]
        assert offered["plain"] == []
        assert offered["with"] == [
            "desk_list_files",
            "desk_read_file",
            "desk_read_context",
            "desk_search_content",
        ]
        listed = desk.existing("with").recorded(turn_id="t_1", tool_call_id="call_1")
        assert listed is not None and listed.status == "success" and '"a.md"' in listed.text
        config = desk.existing("with").workspace.config
        assert config is not None and config.desk_tools
