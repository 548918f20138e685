"""The desk and its research in agents of LangChain and deepagents."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest
from deepagents import create_deep_agent
from langchain.agents import create_agent
from langchain.agents.middleware import wrap_tool_call
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

import researchdesk as rd

from ..scripted_model import QUESTION, call, says, sky
from .chats import ChatModel, Request, Script, create, delete, listing, read, thread, update

MAKERS = [create_agent, create_deep_agent]
DESK_TOOLS = 8


def agent_of(
    make: Callable[..., Any], script: Script, *middleware: Any, saver: Any = None, **options: Any
) -> tuple[Any, ChatModel]:
    model = ChatModel(script=script, asked=[])
    agent = make(
        model=model,
        middleware=list(middleware),
        checkpointer=saver or InMemorySaver(),
        **{"tools": [], **options},
    )
    return agent, model


def run(agent: Any, given: Any, name: str = "mine") -> dict[str, Any]:
    if isinstance(given, str):
        given = {"messages": [HumanMessage(given)]}
    return agent.invoke(given, thread(name), durability="sync")  # type: ignore[no-any-return]


def results(out: dict[str, Any]) -> list[str]:
    return [str(message.content) for message in out["messages"] if isinstance(message, ToolMessage)]


def recorded(desk: rd.Desk, name: str = "mine") -> list[str]:
    return [event.type for event in desk.existing(name).events()]


def repeating(*calls: dict[str, Any]) -> Script:
    """Makes the calls, then repeats what came of them."""
    return lambda request: (
        says(text=" | ".join(request.results)) if request.results else says(*calls, id="m1")
    )


@pytest.mark.parametrize("make", MAKERS)
def test_an_agent_gets_the_tools_and_is_told_how_the_desk_stands(
    notes: rd.Desk, make: Callable[..., Any]
) -> None:
    agent, model = agent_of(
        make, repeating(create(), read("a.md")), rd.DeskMiddleware(notes), system_prompt="Be kind."
    )
    out = run(agent, "Plan.")
    assert notes.files.read("notes/plan.md").startswith("# Plan")
    first, second = model.asked
    assert sum(name.startswith("desk_") for name in first.tools) == DESK_TOOLS
    assert "Be kind." in first.system and 'md "a.md" r1 4' in first.system
    assert "plan.md" not in first.system and "Open panels, 1" in second.system
    assert "Created markdown" in out["messages"][-1].content
    assert recorded(notes) == ["session_opened", "message_received", "call_recorded", "call_recorded"]
    assert notes.verify().ok


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("runs", ["sync", "async"])
def test_an_agent_that_waits_asks_for_each_change_and_takes_the_answers(
    notes: rd.Desk, make: Callable[..., Any], runs: str
) -> None:
    middleware = rd.DeskMiddleware(notes, approval="wait", approver="human:ann")
    script = repeating(update(notes, "a.md", content="ONE\n"), delete(notes, "b.md"), create())
    agent, _ = agent_of(make, script, middleware)

    def go(given: Any) -> dict[str, Any]:
        if runs == "sync":
            return run(agent, given)
        out: dict[str, Any] = asyncio.run(agent.ainvoke(given, thread("mine")))
        return out

    asked = go({"messages": [HumanMessage("Tidy up.")]})["__interrupt__"]
    by_tool = {one.value["name"]: one for one in asked}
    assert set(by_tool) == {"desk_update_file", "desk_delete_file"}
    assert by_tool["desk_update_file"].value["tool_call_id"] == "call_1"
    assert notes.files.read("a.md") == "one\n"
    answers = {
        by_tool["desk_update_file"].id: {"type": "approve"},
        by_tool["desk_delete_file"].id: {"type": "reject", "message": "I need it"},
    }
    out = go(Command(resume=answers))
    assert notes.files.read("a.md") == "ONE\n" and notes.files.read("b.md") == "two\n"
    changed, kept, made = results(out)
    assert changed.startswith("Approved by human:ann") and "I need it" in kept and "Created" in made
    assert recorded(notes).count("call_recorded") == 3 and notes.verify().ok


def test_an_approval_elsewhere_is_honoured_when_the_agent_is_resumed_with_nothing(notes: rd.Desk) -> None:
    agent, _ = agent_of(
        create_agent,
        repeating(update(notes, "a.md", content="ONE\n")),
        rd.DeskMiddleware(notes, approval="wait"),
    )
    (question,) = run(agent, "Shout.")["__interrupt__"]
    (again,) = run(agent, Command(resume={question.id: {}}))["__interrupt__"]
    assert again.value["proposal_id"] == question.value["proposal_id"]
    (proposal,) = notes.proposals()
    notes.decide(proposal.id, "approve", actor="human:bob", proposal_hash=proposal.hash)
    out = run(agent, Command(resume={}))
    assert results(out)[0].startswith("Approved by human:bob")
    assert sum(made.status == "executed" for made in notes.proposals()) == 1


def test_what_was_decided_between_two_turns_is_told_once(notes: rd.Desk) -> None:
    def script(request: Request) -> AIMessage:
        return says(update(notes, "a.md", content="ONE\n")) if request.said == 0 else says(text="I see.")

    agent, model = agent_of(create_agent, script, rd.DeskMiddleware(notes))
    run(agent, "Shout.")
    assert "Waiting for a person, 1:" in model.asked[1].system
    (proposal,) = notes.proposals()
    notes.decide(proposal.id, "reject", actor="human:ann", proposal_hash=proposal.hash, reason="too loud")
    run(agent, "Well?")
    assert 'rejected by human:ann, reason "too loud"' in model.asked[2].system
    run(agent, "And now?")
    assert "too loud" not in model.asked[3].system


@tool
def weather(place: str) -> str:
    """The weather."""
    return f"Sunny in {place}."


@pytest.mark.parametrize("others", [False, True])
def test_a_turn_ends_its_desk_calls_after_five_steps_and_keeps_the_tools_of_others(
    desk: rd.Desk, others: bool
) -> None:
    def script(request: Request) -> AIMessage:
        return says(listing(), text="Looking." if "desk_list_files" in request.tools else "")

    tools = [weather] if others else []
    agent, model = agent_of(create_agent, script, rd.DeskMiddleware(desk), tools=tools)
    out = run(agent, "Look around.")
    left = ["weather"] if others else []
    assert all(len(request.tools) == DESK_TOOLS + len(left) for request in model.asked[:5])
    assert len(model.asked) == 6 and list(model.asked[5].tools) == left
    assert "Tool limit of 5 steps reached" in str(model.asked[5].messages[-1].content)
    assert out["messages"][-1].content == "(The model gave no text.)"
    assert recorded(desk).count("call_recorded") == 5
    if not others:
        assert not any(isinstance(m, ToolMessage) for m in model.asked[5].messages)


def test_calls_beyond_the_eighth_are_refused_with_a_result_each(desk: rd.Desk) -> None:
    agent, _ = agent_of(
        create_agent, repeating(*(create(f"{n}.md", "") for n in range(10))), rd.DeskMiddleware(desk)
    )
    found = results(run(agent, "Make ten."))
    assert len(found) == 10 and sum("At most 8 calls" in text for text in found) == 2
    assert len(desk.files.listed()) == 8


def test_effects_follow_the_order_of_the_calls_whatever_ends_first(desk: rd.Desk) -> None:
    second_is_done = threading.Event()

    @wrap_tool_call
    def slowly(request: Any, handler: Any) -> Any:
        if request.tool_call["id"] == "call_1":
            assert second_is_done.wait(timeout=20)
            return handler(request)
        response = handler(request)
        second_is_done.set()
        return response

    script = repeating(create("a.md"), create("b.md"))
    agent, _ = agent_of(create_agent, script, rd.DeskMiddleware(desk), slowly)
    given = {"messages": [HumanMessage("Two files.")]}
    parts = agent.stream(given, thread("mine"), stream_mode=["custom"], version="v2")
    effects = [part["data"] for part in parts if part["data"]["type"] == "desk.effect"]
    assert desk.files.get("b.md").created_seq < desk.files.get("a.md").created_seq
    assert [effect.get("title") for effect in effects[:2]] == ["a.md", "b.md"]
    assert [effect["action"] for effect in effects] == [
        *("openPanel", "openPanel"),
        *("updateContent", "notify", "updateContent", "notify"),
    ]


def test_a_tool_step_that_is_run_again_has_no_second_effect(desk: rd.Desk) -> None:
    agent, _ = agent_of(create_agent, repeating(create()), rd.DeskMiddleware(desk))
    run(agent, "Plan.")
    before = next(s for s in agent.get_state_history(thread("mine")) if s.next == ("tools",))
    again = agent.invoke(None, before.config)
    assert "Created markdown" in results(again)[0]
    assert recorded(desk).count("call_recorded") == 1 and len(desk.files.listed()) == 1


def test_messages_that_cannot_be_recorded_do_not_stop_an_agent(desk: rd.Desk) -> None:
    agent, _ = agent_of(create_agent, lambda request: says(text="Fine."), rd.DeskMiddleware(desk))
    picture: Any = [{"type": "image", "url": "https://a.org/x.png"}]
    for message in (HumanMessage(picture), HumanMessage("x" * 100_000, id="m")):
        run(agent, {"messages": [message]})
    other, _ = agent_of(create_agent, lambda request: says(text="Fine."), rd.DeskMiddleware(desk))
    run(other, {"messages": [HumanMessage("Another text under this id.", id="m")]})
    assert recorded(desk) == ["session_opened", "message_received", "message_received"]


def test_a_system_message_of_blocks_keeps_them(desk: rd.Desk) -> None:
    blocks = SystemMessage([{"type": "text", "text": "Be kind.", "cache_control": {"type": "ephemeral"}}])
    agent, model = agent_of(
        create_agent, lambda request: says(text="Fine."), rd.DeskMiddleware(desk), system_prompt=blocks
    )
    run(agent, "Hello.")
    first, added = model.asked[0].messages[0].content
    assert first["cache_control"] and "desk-data" in added["text"]


START = call("deep_research_start", objective=QUESTION, scope_level="quick", template="general")


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("investigation", [False, True])
def test_an_agent_researches_on_the_record_and_is_told_how_it_stands(
    desk: rd.Desk, make: Callable[..., Any], investigation: bool
) -> None:
    answers = [
        says(START, id="m1"),
        says(call("search_sources", query="sky", limit=0), id="m2"),
        says(call("archive_source", locator="https://sky.org/blue"), id="m3"),
        says(text="Scattering."),
    ]
    middleware = rd.ResearchMiddleware(desk, sources=sky(), investigation=investigation)
    agent, model = agent_of(make, answers, middleware)
    out = run(agent, QUESTION)
    assert out["messages"][-1].content == "Scattering."
    assert "No research is begun" in model.asked[0].system
    assert QUESTION in model.asked[1].system and "research_workspace" in model.asked[1].system
    session = desk.existing("mine")
    assert session.run is not None and len(session.run.sources) == 1
    assert ("add_question" in model.asked[0].tools) is investigation
    if investigation:
        assert "https://sky.org/blue" in model.asked[2].system, "what was found is shown"
    assert desk.verify().ok


def test_a_research_has_a_ceiling_of_steps_too(desk: rd.Desk) -> None:
    def script(request: Request) -> AIMessage:
        if not request.tools:
            return says(text="Enough.")
        return says(START) if request.said == 0 else says(call("deep_research_status"))

    agent, model = agent_of(create_agent, script, rd.ResearchMiddleware(desk, max_steps=3))
    assert run(agent, QUESTION)["messages"][-1].content == "Enough."
    assert len(model.asked) == 4


def test_desk_and_research_serve_one_agent_in_two_sessions(notes: rd.Desk) -> None:
    agent, model = agent_of(
        create_agent,
        repeating(create(), START),
        rd.DeskMiddleware(notes),
        rd.ResearchMiddleware(notes, session_id="{thread}.research", sources=sky()),
    )
    out = run(agent, "Plan and research.")
    assert all(m.status != "error" for m in out["messages"] if isinstance(m, ToolMessage))
    assert {summary.session_id for summary in notes.sessions()} == {"mine", "mine.research"}
    assert "desk-data" in model.asked[1].system and "research_workspace" in model.asked[1].system
    assert notes.verify().ok


def test_a_no_stands_although_a_yes_before_it_could_not_be_taken(notes: rd.Desk) -> None:
    """Two changes build on each other: a yes to the second waits for the first, and may be taken back."""
    calls = [update(notes, "a.md", mode="append", content=text) for text in ("more\n", "more\n")]
    agent, _ = agent_of(create_agent, repeating(*calls), rd.DeskMiddleware(notes, approval="wait"))
    asked = {one.value["proposal_id"]: one.id for one in run(agent, "Count.")["__interrupt__"]}
    first, second = notes.proposals()
    assert second.depends_on == first.id
    again = run(agent, Command(resume={asked[second.id]: {"approved": True}}))["__interrupt__"]
    asked = {one.value["proposal_id"]: one.id for one in again}
    assert any(one.value["message"].startswith("Decide proposal") for one in again)
    answers = {asked[first.id]: {"approved": True}, asked[second.id]: {"approved": False, "reason": "enough"}}
    run(agent, Command(resume={asked[first.id]: answers[asked[first.id]]}))
    out = run(agent, Command(resume={asked[second.id]: answers[asked[second.id]]}))
    assert [made.status for made in notes.proposals()] == ["executed", "rejected"]
    assert notes.files.read("a.md") == "one\nmore\n"
    assert sorted(result[:8] for result in results(out)) == ["A person", "Approved"]
