"""The conversation of a session: turns, steps, and what is news to the next turn."""

import pytest

from researchdesk.state import events as ev
from researchdesk.state.chat import ENTRIES_KEPT, SETTLED_KEPT
from researchdesk.state.workspace import IllegalTransition, Workspace, evolve, fold

OPENED = ev.SessionOpened(session_id="s", profile="desk")


def heard(name: str, text: str = "Hello.") -> ev.MessageReceived:
    return ev.MessageReceived(message_id=name, text=ev.Stowed(inline=text, chars=len(text)))


def asked(ordinal: int, stage: str = "chat") -> ev.ModelCalled:
    return ev.ModelCalled(ordinal=ordinal, model="m", stage=stage, request_digest="", input_tokens=1)  # type: ignore[arg-type]


def answered(ordinal: int, *calls: str) -> ev.ModelAnswered:
    return ev.ModelAnswered(
        ordinal=ordinal,
        turn_id=f"t_{ordinal}",
        message_id=f"t_{ordinal}",
        text=ev.Stowed(),
        calls=tuple(
            ev.AskedCall(id=call, name="desk_delete_file", arguments=ev.Stowed(inline="{}")) for call in calls
        ),
        request_digest="",
        input_tokens=1,
        output_tokens=1,
        usage_reported=True,
    )


def recorded(turn: int, call: str) -> ev.CallRecorded:
    return ev.CallRecorded(
        turn_id=f"t_{turn}",
        tool_call_id=call,
        name="desk_delete_file",
        input_digest="",
        arguments=ev.Stowed(inline="{}"),
        status="pending",
        code="",
        text=ev.Stowed(),
        data="{}",
    )


def settled(turn: int, call: str) -> ev.CallSettled:
    return ev.CallSettled(
        turn_id=f"t_{turn}",
        tool_call_id=call,
        status="success",
        code="",
        text=ev.Stowed(),
        data="{}",
        recorded_at="",
    )


def after(*events: ev.Event) -> Workspace:
    return fold((OPENED, *events))


def test_a_turn_waits_from_a_message_to_an_answer_without_calls() -> None:
    workspace = after(heard("m1"))
    assert workspace.chat.waits
    workspace = fold((asked(1), answered(1, "a"), recorded(1, "a")), workspace)
    assert (workspace.chat.waits, workspace.chat.steps) == (True, 1)
    workspace = fold((asked(2), answered(2)), workspace)
    assert (workspace.chat.waits, workspace.chat.steps) == (False, 1)
    workspace = fold((heard("m2"),), workspace)
    assert (workspace.chat.waits, workspace.chat.steps) == (True, 0)
    assert [type(entry) for entry in workspace.chat.entries] == [
        ev.MessageReceived,
        ev.ModelAnswered,
        ev.ModelAnswered,
        ev.MessageReceived,
    ]


def test_a_message_has_one_id() -> None:
    with pytest.raises(IllegalTransition, match="was received before"):
        evolve(after(heard("m1")), heard("m1", "Something else."))


def test_what_was_settled_since_the_last_answer_is_news_to_the_whole_next_turn() -> None:
    before = after(heard("m1"), asked(1), answered(1, "a", "b"), recorded(1, "a"), recorded(1, "b"))
    before = fold((asked(2), answered(2)), before)
    workspace = fold((settled(1, "a"), heard("m2")), before)
    assert [call.tool_call_id for call in workspace.chat.news] == ["a"]
    workspace = fold((asked(3), answered(3, "c"), recorded(3, "c"), settled(1, "b")), workspace)
    assert [call.tool_call_id for call in workspace.chat.news] == ["b", "a"]
    workspace = fold((asked(4), answered(4), heard("m3")), workspace)
    assert workspace.chat.news == ()


def test_the_answers_of_a_research_run_are_no_conversation() -> None:
    assert after(asked(1, "knowledge_base"), answered(1)).chat.entries == ()


def test_what_is_kept_is_bounded_and_what_is_not_is_counted() -> None:
    many = after(*(heard(f"m{n}") for n in range(ENTRIES_KEPT + 10)))
    assert (len(many.chat.entries), many.chat.left_out) == (ENTRIES_KEPT, 10)
    assert len(many.chat.heard) == ENTRIES_KEPT + 10
    workspace = after(heard("m"))
    for n in range(1, SETTLED_KEPT + 6):
        workspace = fold((asked(n), answered(n, "a"), recorded(n, "a"), settled(n, "a")), workspace)
    assert len(workspace.chat.settled) == SETTLED_KEPT
