"""Whole chats over a desk with a scripted model: what is recorded, asked, refused and shown."""

import re
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

import researchdesk as rd
from researchdesk.state.desk.context import context_from
from researchdesk.state.tokens import estimate_tokens

from ..scripted_model import says
from .chats import Request, chat_on, create, delete, kinds, listing, read, say, thread, update


def texts(out: dict[str, Any], kind: type[BaseMessage] = ToolMessage) -> list[str]:
    return [str(message.content) for message in out["messages"] if isinstance(message, kind)]


def rows(desk: rd.Desk, columns: str, session: str = "chat") -> list[tuple[Any, ...]]:
    found = desk.ledger.query(
        f"SELECT {columns} FROM io_log WHERE session_id = ? ORDER BY message_seq, tool_seq", (session,)
    )
    return [tuple(row.values()) for row in found]


def test_a_sheet_is_created_at_once_opened_and_marked(desk: rd.Desk) -> None:
    graph, _ = chat_on(
        desk, [says(create("scores.csv", "Name,Score\n", "spreadsheet")), says(text="It is there.")]
    )
    out = say(graph, "Make a sheet with the headers Name and Score.")
    assert texts(out, AIMessage)[-1] == "It is there."
    assert desk.files.read("scores.csv") == "Name,Score\n"
    assert desk.proposals() == [] and out["pending"] == []
    (panel,) = desk.panels("chat").panels
    assert (panel.title, panel.type, panel.indicator) == ("scores.csv", "spreadsheet", "ai-modified")
    turn = ["message_received", "model_called", "model_answered", "call_recorded"]
    assert kinds(desk) == [*turn, "model_called", "model_answered"]
    assert desk.verify().ok


def test_a_change_waits_and_the_model_is_told_so(notes: rd.Desk) -> None:
    graph, model = chat_on(notes, [says(update(notes, "a.md", content="ONE\n")), says(text="It waits.")])
    out = say(graph, "Shout.")
    file, (proposal,) = notes.files.get("a.md"), notes.proposals()
    assert (notes.files.read("a.md"), file.rev) == ("one\n", 1)
    assert (proposal.status, out["pending"]) == ("pending", [proposal.id])
    assert "-one\n+ONE\n" in proposal.diff
    (result,) = model.asked[1].results
    assert result.startswith("requires_approval") and estimate_tokens(result) <= 500
    assert "Waiting for a person, 1:" in model.asked[1].system and proposal.id in model.asked[1].system
    assert rows(notes, "name, status")[-2:] == [("desk_update_file", "pending"), (None, None)]


def test_a_rejection_is_told_in_the_next_turn_with_its_reason_and_cannot_be_taken_back(
    notes: rd.Desk,
) -> None:
    def script(request: Request) -> AIMessage:
        if "keep it small" in request.system:
            return says(text="I leave it.")
        return says(update(notes, "a.md", content="ONE\n")) if request.said == 0 else says(text="It waits.")

    graph, model = chat_on(notes, script)
    say(graph, "Shout.")
    (proposal,) = notes.proposals()
    shown = proposal.hash
    notes.decide(proposal.id, "reject", actor="human:ann", proposal_hash=shown, reason="keep it small")
    out = say(graph, "Well?")
    told = model.asked[2].system
    assert "Decided since your last turn, 1:" in told
    assert re.search(rf'{proposal.id} change "a.md" rejected by human:ann, reason "keep it small"', told)
    assert texts(out) == [
        f"A person rejected proposal {proposal.id}: keep it small. Do not retry unless asked."
    ]
    assert len(notes.proposals()) == 1
    with pytest.raises(rd.Refusal, match="already rejected") as refused:
        notes.decide(proposal.id, "approve", actor="human:ann", proposal_hash=shown)
    assert refused.value.code == "already_decided"
    say(graph, "And now?")
    assert "Decided since your last turn" not in model.asked[3].system


def test_an_approval_between_two_turns_changes_the_file_and_the_result_of_the_call(notes: rd.Desk) -> None:
    graph, model = chat_on(
        notes,
        [says(update(notes, "a.md", content="ONE\n")), says(text="It waits."), says(text="Good.")],
    )
    say(graph, "Shout.")
    (proposal,) = notes.proposals()
    notes.decide(proposal.id, "approve", actor="human:ann", proposal_hash=proposal.hash)
    out = say(graph, "Done?")
    assert notes.files.read("a.md") == "ONE\n"
    assert f'{proposal.id} change "a.md" executed by human:ann' in model.asked[2].system
    (result,) = texts(out)
    assert result.startswith('Approved by human:ann: "a.md" was changed.')
    assert notes.verify().ok


def test_a_failed_call_warns_and_nothing_else(desk: rd.Desk) -> None:
    graph, model = chat_on(desk, [says(read("no.md")), says(text="There is none.")])
    parts = graph.stream({"messages": [("user", "Read it.")]}, thread(), stream_mode=["custom"], version="v2")
    effects = [part["data"] for part in parts if part["data"]["type"] == "desk.effect"]
    assert [(effect["action"], effect["level"]) for effect in effects] == [("notify", "warning")]
    assert model.asked[1].results == ['No file "no.md" on this desk. Use desk_list_files.']
    (message,) = [m for m in model.asked[1].messages if isinstance(m, ToolMessage)]
    assert message.status == "error"
    assert rows(desk, "status, code")[1] == ("error", "not_found")


def test_a_model_that_always_calls_tools_is_asked_once_more_without_any(desk: rd.Desk) -> None:
    graph, model = chat_on(desk, lambda request: says(listing(), text="Looking." if request.tools else ""))
    out = say(graph, "Look around.")
    assert [len(request.tools) for request in model.asked] == [8, 8, 8, 8, 8, 0]
    last = model.asked[5].messages
    assert not any(isinstance(m, ToolMessage) or getattr(m, "tool_calls", None) for m in last)
    assert last[-1].content == "Tool limit of 5 steps reached. Answer with what you have."
    assert kinds(desk).count("call_recorded") == 5
    final = out["messages"][-1]
    assert (final.type, final.content, final.tool_calls) == ("ai", "(The model gave no text.)", [])
    say(graph, "Once more.")
    assert len(model.asked) == 12, "the next turn has steps of its own"


def test_calls_beyond_the_eighth_of_an_answer_are_refused_and_each_has_its_result(desk: rd.Desk) -> None:
    many = [create(f"{n}.md", "") for n in range(10)]
    graph, model = chat_on(desk, [says(*many), says(text="Done.")])
    say(graph, "Make ten files.")
    assert [file.path for file in desk.files.listed()] == [f"{n}.md" for n in range(8)]
    assert len(model.asked[1].results) == 10
    assert all("At most 8 calls run in one answer" in result for result in model.asked[1].results[8:])


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (says({"name": "rm_rf", "args": {}}), "There is no tool 'rm_rf'"),
        (says({"name": "desk_read_file", "args": {"file": 7}}), "file: "),
        (
            says(
                {
                    "name": "deep_research_start",
                    "args": {"objective": "x", "scope_level": "quick", "template": ""},
                }
            ),
            "which profile 'desk' does not give",
        ),
        (
            AIMessage(
                "", invalid_tool_calls=[{"name": "desk_read_file", "args": "{no", "id": "x", "error": ""}]
            ),
            "JSON",
        ),
    ],
)
def test_hostile_calls_are_refused_one_by_one_and_the_turn_goes_on(
    desk: rd.Desk, answer: AIMessage, told: str
) -> None:
    graph, model = chat_on(desk, [answer, says(text="I see.")])
    out = say(graph, "Go.")
    assert texts(out, AIMessage)[-1] == "I see."
    assert told in model.asked[1].results[0]
    assert desk.verify().ok


def test_repeated_ids_in_one_answer_run_once_or_get_ids_of_their_own(desk: rd.Desk) -> None:
    same = {**create("a.md", ""), "id": "x"}
    graph, model = chat_on(desk, [says(same, same, {**create("b.md", ""), "id": "x"}), says(text="ok")])
    say(graph, "Go.")
    assert [file.path for file in desk.files.listed()] == ["a.md"]
    assert len(model.asked[1].results) == 2 and "used for another call" in model.asked[1].results[1]


def test_a_failing_model_is_asked_again_and_then_gives_a_readable_message(
    desk: rd.Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("researchdesk.graph.turns.BACKOFF_SECONDS", 0.0)
    healthy = False

    def script(request: Request) -> AIMessage | BaseException:
        return says(text="Here I am.") if healthy else ConnectionError("the line is dead")

    graph, model = chat_on(desk, script)
    out = say(graph, "Hello?")
    assert len(model.asked) == 6
    last = out["messages"][-1]
    assert last.type == "ai" and "The model could not be asked: " in last.content
    assert "the line is dead" in last.content and "Traceback" not in last.content
    assert kinds(desk) == ["message_received", *["model_called", "model_failed"] * 6]
    healthy = True
    again = graph.invoke({}, thread())
    assert texts(again, AIMessage) == ["Here I am."]
    assert kinds(desk).count("message_received") == 1


def test_a_refusal_of_the_provider_is_told_at_once(desk: rd.Desk) -> None:
    class Unauthorized(Exception):
        status_code = 401

    graph, model = chat_on(desk, lambda request: Unauthorized("no such key"))
    assert "no such key" in say(graph, "Hello?")["messages"][-1].content
    assert len(model.asked) == 1


def test_a_message_is_one_event_however_often_it_comes(desk: rd.Desk) -> None:
    graph, model = chat_on(desk, [says(text="Hi."), says(text="Again?")])
    say(graph, "Hello.", id="m1")
    say(graph, "Hello.", id="m1")
    whole = [HumanMessage("Hello.", id="m1"), AIMessage("Hi."), HumanMessage("More.", id="m2")]
    graph.invoke({"messages": whole}, thread())
    assert kinds(desk).count("message_received") == 2 and len(model.asked) == 2
    with pytest.raises(rd.Conflict, match="another text"):
        say(graph, "Something else.", id="m1")
    with pytest.raises(rd.UsageError, match="has to hold text"):
        say(graph, "  ")
    with pytest.raises(rd.UsageError, match="as a file"):
        say(graph, "x" * 64_001)


def test_ids_of_answers_cannot_be_taken_by_messages(desk: rd.Desk) -> None:
    graph, _ = chat_on(desk, lambda request: says(text="Hi."))
    for name in ("t_1", "t_2", "call:x", "no good id", "x" * 300):
        say(graph, "Hello.", id=name)
    assert kinds(desk).count("message_received") == 5
    assert desk.verify().ok


def test_a_message_keeps_what_stood_on_the_desk_and_what_was_selected(notes: rd.Desk) -> None:
    graph, model = chat_on(notes, lambda request: says(create()) if request.said == 0 else says(text="Done."))
    say(graph, "Plan.")
    graph.invoke({"messages": [("user", "This?")], "selection": "First."}, thread())
    stored = notes.ledger.query("SELECT context FROM messages WHERE role = 'user' ORDER BY seq")
    contexts = [context_from(str(row["context"])) for row in stored]
    assert [context.focused for context in contexts] == ["", contexts[1].panels[0].id]
    assert (contexts[1].panels[0].title, contexts[1].selection) == ("plan.md", "First.")
    assert 'selection "First."' in model.asked[-1].system and 'title "# Plan"' in model.asked[-1].system


def test_a_secret_in_a_message_is_taken_out_before_it_is_stored(desk: rd.Desk) -> None:
    graph, model = chat_on(desk, lambda request: says(text="Fine."))
    say(graph, "Use the key sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH.")
    assert "abcdefghijkl" not in str(model.asked[0].messages)
    assert "abcdefghijkl" not in str(desk.existing("chat").events())


def test_the_log_is_the_messages_with_their_calls_in_order(notes: rd.Desk) -> None:
    graph, _ = chat_on(
        notes,
        [says(create(), delete(notes, "b.md")), says(listing()), says(text="Done."), says(text="Bye.")],
    )
    say(graph, "Tidy up.")
    say(graph, "Thanks.")
    assert rows(notes, "role, name, status") == [
        ("user", None, None),
        ("assistant", "desk_create_file", "success"),
        ("assistant", "desk_delete_file", "pending"),
        ("assistant", "desk_list_files", "success"),
        ("assistant", None, None),
        ("user", None, None),
        ("assistant", None, None),
    ]
    tables = {
        str(row["name"]) for row in notes.ledger.query("SELECT name FROM sqlite_master WHERE type='table'")
    }
    assert "io_log" not in tables


def test_a_session_that_researches_is_not_chatted_in(desk: rd.Desk) -> None:
    session = desk.session("r1")
    session.call(
        "deep_research_start",
        {"objective": "Why?", "scope_level": "quick", "template": "general"},
        tool_call_id="c1",
    )
    graph, _ = chat_on(desk, [])
    with pytest.raises(rd.UsageError, match="a session of its own"):
        say(graph, "Hello.", session="r1")


def test_a_chat_continues_what_a_research_handed_off(desk: rd.Desk) -> None:
    graph, model = chat_on(desk, lambda request: says(text="Yes."))
    say(graph, "One.")
    say(graph, "Two.")
    assert [m.content for m in model.asked[1].messages[1:]] == ["One.", "Yes.", "Two."]


def test_a_reading_may_give_the_model_more_than_the_log_keeps(desk: rd.Desk) -> None:
    lines = [f"Line {n} of a long document that nobody wants to read.\n" for n in range(300)]
    desk.files.put("long.md", "".join(lines), actor="human:ann")
    graph, model = chat_on(desk, [says(read("long.md")), says(text="Long.")], read_page_tokens=2_000)
    out = say(graph, "Read it.")
    (shown,) = model.asked[1].results
    stored = desk.existing("chat").recorded(turn_id="t_1", tool_call_id="call_1")
    assert stored is not None and estimate_tokens(stored.text) <= 500
    assert 1_200 < estimate_tokens(shown) <= 2_000
    assert shown.count("\nLine ") > 2 * stored.text.count("\nLine ")
    assert out["messages"][-1].content == "Long."
    with pytest.raises(rd.UsageError, match="500 to 4,000"):
        rd.create_desk_graph(desk, read_page_tokens=5_000)


def test_narrow_tools_are_offered_instead_of_the_wide_ones(desk: rd.Desk) -> None:
    made = {"name": "desk_create_markdown", "args": {"path": "x.md", "content": "X\n"}}
    graph, model = chat_on(desk, [says(made), says(text="Made.")], style="typed")
    say(graph, "Make x.")
    offered = set(model.asked[0].tools)
    assert {"desk_create_spreadsheet", "desk_update_cells", "desk_rename_file"} <= offered
    assert not {"desk_create_file", "desk_update_file"} & offered
    assert desk.files.read("x.md") == "X\n"
    assert [row[0] for row in rows(desk, "name")][1] == "desk_create_markdown"


def test_a_policy_approves_at_once_and_says_so(notes: rd.Desk) -> None:
    from researchdesk.state.desk.policies import Policies

    graph, model = chat_on(
        notes,
        [says(update(notes, "a.md", content="ONE\n")), says(text="Done.")],
        policies=Policies(auto_approve={"desk_update_file": "small"}),
        approval="wait",
    )
    out = say(graph, "Shout.")
    assert "__interrupt__" not in out and notes.files.read("a.md") == "ONE\n"
    assert "policy:small" in model.asked[1].results[0]


def test_an_unknown_option_is_named_with_what_there_is(desk: rd.Desk) -> None:
    with pytest.raises(rd.UsageError, match="'detached', 'wait'"):
        rd.create_desk_graph(desk, approval="never")  # type: ignore[arg-type]
    with pytest.raises(rd.UsageError, match="'detached', 'wait'"):
        rd.DeskMiddleware(desk, approval="never")  # type: ignore[arg-type]
    for make in (rd.create_desk_graph, rd.create_desk_tools, rd.DeskMiddleware):
        with pytest.raises(rd.UsageError, match="style='narrow': there are 'general', 'typed'"):
            make(desk, style="narrow")  # type: ignore[arg-type]
        with pytest.raises(rd.UsageError, match="read_page_tokens=10: it is 500 to 4,000"):
            make(desk, read_page_tokens=10)
    with pytest.raises(rd.Refusal, match="may not approve"):
        rd.create_desk_graph(desk, approver="agent:x")
