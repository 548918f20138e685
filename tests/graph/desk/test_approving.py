"""Approving in a chat that waits: one question at a time, answers in any client's form, the ledger as the lock."""

import importlib
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from langchain.agents.middleware.human_in_the_loop import ActionRequest, ReviewConfig
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from pydantic import TypeAdapter, ValidationError

import researchdesk as rd
from researchdesk.graph.desk.chat import DeskGraph

from ..scripted_model import says
from .chats import ChatModel, Request, chat_on, delete, kinds, read, say, thread, update

UNKNOWN = "0" * 32


@pytest.fixture
def asked(notes: rd.Desk) -> tuple[DeskGraph, ChatModel, Any]:
    """A chat that waits for a change of one file, and the question."""
    graph, model = waiting(notes, update(notes, "a.md", content="ONE\n"))
    return graph, model, say(graph, "Shout.")["__interrupt__"][0]


def waiting(desk: rd.Desk, *calls: dict[str, Any], **options: Any) -> tuple[DeskGraph, ChatModel]:
    """A chat that waits for people, whose model makes these calls and then repeats what came of them."""

    def script(request: Request) -> AIMessage:
        return says(*calls) if request.said == 0 else says(text=" | ".join(request.results) or "Fine.")

    return chat_on(desk, script, approval="wait", **options)


def resume(graph: DeskGraph, answer: Any) -> dict[str, Any]:
    return graph.invoke(Command(resume=answer), thread(), durability="sync")


def questions(out: dict[str, Any]) -> list[Any]:
    return list(out.get("__interrupt__", ()))


def is_whole(messages: list[Any]) -> bool:
    """Whether every call has its one result."""
    wanted = [call["id"] for m in messages if isinstance(m, AIMessage) for call in m.tool_calls]
    return wanted == [m.tool_call_id for m in messages if isinstance(m, ToolMessage)]


def executed(desk: rd.Desk) -> int:
    return sum(made.status == "executed" for made in desk.proposals())


def test_each_proposal_is_asked_about_alone_and_what_was_decided_takes_the_place_of_the_result(
    notes: rd.Desk,
) -> None:
    graph, model = waiting(notes, update(notes, "a.md", content="ONE\n"), delete(notes, "b.md"), read("a.md"))
    out = say(graph, "Tidy up.")
    (first,) = questions(out)
    placeholder = next(m for m in out["messages"] if isinstance(m, ToolMessage))
    assert str(placeholder.content).startswith("requires_approval") and len(out["pending"]) == 2
    out = resume(graph, {first.id: {"approved": True}})
    (second,) = questions(out)
    assert (first.value["name"], second.value["name"]) == ("desk_update_file", "desk_delete_file")
    replaced = next(m for m in out["messages"] if isinstance(m, ToolMessage))
    assert replaced.id == placeholder.id
    assert str(replaced.content).startswith('Approved by human:me: "a.md" was changed.')
    out = resume(graph, {second.id: {"approved": False, "reason": "I need it"}})
    assert not questions(out) and out["pending"] == [] and is_whole(out["messages"])
    assert (
        "A person rejected proposal" in out["messages"][-1].content
        and "I need it" in out["messages"][-1].content
    )
    assert notes.files.read("a.md") == "ONE\n" and notes.files.read("b.md") == "two\n"
    assert len(model.asked) == 2, "the model is asked once all is decided"
    assert notes.verify().ok


def test_the_question_has_the_form_of_every_client(asked: Any) -> None:
    _, _, question = asked
    value = question.value
    for kind, found in ((ActionRequest, value["action_requests"]), (ReviewConfig, value["review_configs"])):
        (one,) = TypeAdapter(list[kind]).validate_python(found)  # type: ignore[valid-type]
        assert set(one) <= set(get_type_hints(kind))
    assert value["review_configs"][0]["allowed_decisions"] == ["approve", "edit", "reject"]
    inbox = {"action_request", "config", "description"}
    assert inbox <= set(value) and set(value["action_request"]) == {"action", "args"}
    assert set(value["config"]) == {"allow_accept", "allow_edit", "allow_respond", "allow_ignore"}
    assert (value["type"], value["reason"], value["tool_call_id"]) == ("tool_approval", "tool_call", "call_1")
    assert value["message"] == 'Change "a.md"?' and "```diff" in value["description"]
    assert value["response_schema"] == question.response_schema
    assert set(question.response_schema["properties"]) >= {
        "approved",
        "editedArgs",
        "proposalId",
        "proposalHash",
    }


@pytest.mark.parametrize(
    "answer",
    [
        {"approved": True},
        {"decisions": [{"type": "approve"}]},
        {"type": "approve"},
        [{"type": "accept", "args": None}],
        True,
    ],
)
def test_a_yes_of_every_client_is_a_yes(notes: rd.Desk, asked: Any, answer: Any) -> None:
    graph, _, question = asked
    assert not questions(resume(graph, {question.id: answer}))
    assert notes.files.read("a.md") == "ONE\n"
    (made,) = notes.proposals()
    assert (made.status, made.decided_by) == ("executed", "human:me")


@pytest.mark.parametrize(
    "answer",
    [
        {"approved": False, "reason": "no"},
        {"decisions": [{"type": "reject", "message": "no"}]},
        [{"type": "response", "args": "no"}],
        {"decision": "reject", "reason": "no"},
    ],
)
def test_a_no_of_every_client_is_a_no_with_its_reason(notes: rd.Desk, asked: Any, answer: Any) -> None:
    graph, _, question = asked
    out = resume(graph, {question.id: answer})
    assert "rejected" in out["messages"][-1].content and ": no. Do not retry" in out["messages"][-1].content
    assert notes.files.read("a.md") == "one\n"


def edited(notes: rd.Desk, content: str) -> dict[str, Any]:
    return {**update(notes, "a.md")["args"], "content": content}


@pytest.mark.parametrize(
    "shape",
    [
        lambda args: {"approved": True, "editedArgs": args},
        lambda args: {
            "decisions": [{"type": "edit", "edited_action": {"name": "desk_update_file", "args": args}}]
        },
        lambda args: [{"type": "edit", "args": {"action": "desk_update_file", "args": args}}],
    ],
)
def test_edited_arguments_run_instead_and_the_model_is_told(
    notes: rd.Desk, asked: Any, shape: Callable[[dict[str, Any]], Any]
) -> None:
    graph, _, question = asked
    out = resume(graph, {question.id: shape(edited(notes, "One!\n"))})
    assert notes.files.read("a.md") == "One!\n"
    assert "A person changed this call before it ran." in out["messages"][-1].content


def test_an_edit_of_another_tool_or_file_is_not_taken_and_asked_again(notes: rd.Desk, asked: Any) -> None:
    graph, _, question = asked
    other_file = {**edited(notes, "x"), "file": "b.md"}
    (again,) = questions(resume(graph, {question.id: {"approved": True, "editedArgs": other_file}}))
    assert again.value["message"].startswith("file: it has to stay")
    other = {"type": "edit", "edited_action": {"name": "desk_delete_file", "args": {}}}
    (again,) = questions(resume(graph, {again.id: other}))
    assert "another tool cannot be run instead" in again.value["message"]
    assert executed(notes) == 0 and notes.files.read("b.md") == "two\n"


def test_an_answer_of_no_known_form_is_refused_and_can_be_given_again(notes: rd.Desk, asked: Any) -> None:
    graph, _, question = asked
    edits_without_arguments: tuple[Any, ...] = (
        {"type": "edit"},
        {"type": "edit", "args": {"action": "desk_update_file", "args": None}},
        {"decisions": [{"type": "edit", "edited_action": {"name": "desk_update_file"}}]},
    )
    twice = {"decisions": [{"type": "approve"}, {"type": "approve"}]}
    for nonsense in ("yes please", {"x": 1}, twice, *edits_without_arguments):
        with pytest.raises(ValidationError):
            resume(graph, {question.id: nonsense})
    assert not questions(resume(graph, {question.id: {"approved": True}}))
    assert executed(notes) == 1


def test_an_approval_made_elsewhere_is_taken_over_when_the_chat_is_resumed_with_nothing(
    notes: rd.Desk, asked: Any
) -> None:
    graph, _, _ = asked
    (proposal,) = notes.proposals()
    with rd.open_desk(notes.home) as elsewhere:
        elsewhere.decide(proposal.id, "approve", actor="human:bob", proposal_hash=proposal.hash)
    out = resume(graph, {})
    assert not questions(out) and is_whole(out["messages"])
    (result,) = [m for m in out["messages"] if isinstance(m, ToolMessage)]
    assert (result.id, result.tool_call_id) == ("t_1:call_1", "call_1")
    assert str(result.content).startswith('Approved by human:bob: "a.md" was changed.')
    assert executed(notes) == 1


def test_an_answer_to_what_was_decided_elsewhere_changes_nothing(notes: rd.Desk, asked: Any) -> None:
    graph, _, question = asked
    (proposal,) = notes.proposals()
    notes.decide(proposal.id, "reject", actor="human:bob", proposal_hash=proposal.hash, reason="no")
    out = resume(graph, {question.id: {"approved": True}})
    assert "rejected" in out["messages"][-1].content and notes.files.read("a.md") == "one\n"


def test_nothing_and_unknown_ids_leave_the_question_as_it_is(notes: rd.Desk, asked: Any) -> None:
    graph, model, question = asked
    for answer in ({}, {UNKNOWN: {"approved": True}}):
        assert [one.id for one in questions(resume(graph, answer))] == [question.id]
    assert executed(notes) == 0 and len(model.asked) == 1
    assert not questions(resume(graph, {question.id: {"approved": True}}))
    ended = resume(graph, {UNKNOWN: {"approved": True}})
    assert is_whole(ended["messages"]) and executed(notes) == 1 and len(model.asked) == 2


def test_the_same_answer_twice_at_once_executes_once(notes: rd.Desk) -> None:
    graph, _ = waiting(notes, update(notes, "a.md", content="ONE\n"), delete(notes, "b.md"))
    (question,) = questions(say(graph, "Tidy up."))
    start = threading.Barrier(2)
    ended: list[Any] = []

    def answer() -> None:
        start.wait()
        try:
            ended.append(resume(graph, {question.id: {"approved": True}}))
        except rd.SessionBusy as busy:
            ended.append(busy)

    threads = [threading.Thread(target=answer) for _ in range(2)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert executed(notes) == 1 and notes.files.read("b.md") == "two\n"
    assert notes.files.get("a.md").rev == 2 and len(notes.files.revisions("a.md")) == 1
    state = graph.get_state(thread())
    assert is_whole(state.values["messages"])
    (left,) = state.interrupts
    assert left.value["name"] == "desk_delete_file"
    assert any(isinstance(one, dict) for one in ended)


def test_an_answer_without_id_and_name_is_not_taken_unless_it_was_asked_for(notes: rd.Desk) -> None:
    graph, _ = waiting(notes, update(notes, "a.md", content="ONE\n"))
    say(graph, "Shout.")
    (again,) = questions(resume(graph, {"approved": True}))
    assert executed(notes) == 0 and "was not taken" in again.value["message"]
    named = {key: again.value[key] for key in ("proposal_id", "proposal_hash")}
    assert not questions(resume(graph, {"approved": True, **named}))
    assert executed(notes) == 1


def test_a_client_that_never_names_what_it_answers_can_be_allowed(notes: rd.Desk) -> None:
    graph, _ = waiting(notes, update(notes, "a.md", content="ONE\n"), answers="any")
    say(graph, "Shout.")
    assert not questions(resume(graph, {"decisions": [{"type": "approve"}]}))
    assert executed(notes) == 1


def test_an_answer_that_names_another_proposal_or_hash_is_not_taken(notes: rd.Desk, asked: Any) -> None:
    graph, _, question = asked
    for wrong in ({"proposalId": "p_other"}, {"proposalHash": "sha256:00"}):
        (question,) = questions(resume(graph, {question.id: {"approved": True, **wrong}}))
        assert executed(notes) == 0
    assert "differs from the one you were shown" in question.value["message"]


def test_a_change_that_a_person_overtook_is_stale_and_the_text_of_the_person_stays(
    notes: rd.Desk, asked: Any
) -> None:
    graph, _, question = asked
    before = notes.files.get("a.md")
    notes.files.save("a.md", "mine\n", actor="human:ann", if_match=before.content_hash)
    out = resume(graph, {question.id: {"approved": True}})
    assert "was not run" in out["messages"][-1].content and notes.files.read("a.md") == "mine\n"
    assert [made.status for made in notes.proposals()] == ["stale"]


def test_a_deletion_is_rejected_only_with_a_reason(notes: rd.Desk) -> None:
    graph, _ = waiting(notes, delete(notes, "b.md"))
    (question,) = questions(say(graph, "Delete b."))
    (again,) = questions(resume(graph, {question.id: {"approved": False}}))
    assert "needs one" in again.value["message"]
    assert not questions(resume(graph, {again.id: {"approved": False, "reason": "I need it"}}))


def test_a_long_call_is_shown_by_its_beginning_and_cannot_be_edited_here(notes: rd.Desk) -> None:
    graph, _ = waiting(notes, update(notes, "a.md", content="word " * 20_000))
    (question,) = questions(say(graph, "Write much."))
    assert question.value["config"]["allow_edit"] is False
    assert "edit" not in question.value["review_configs"][0]["allowed_decisions"]
    assert len(str(question.value)) < 30_000
    assert not questions(resume(graph, {question.id: {"approved": True}}))
    assert notes.files.read("a.md") == "word " * 20_000


def test_whoever_writes_again_instead_of_answering_leaves_the_proposal_waiting(
    notes: rd.Desk, asked: Any
) -> None:
    graph, model, _ = asked
    out = say(graph, "Never mind, what is in b?")
    assert not questions(out) and len(out["pending"]) == 1 and is_whole(out["messages"])
    assert model.asked[1].messages[-1] == HumanMessage(
        "Never mind, what is in b?", id=model.asked[1].messages[-1].id
    )
    (proposal,) = notes.proposals()
    notes.decide(proposal.id, "approve", actor="human:me", proposal_hash=proposal.hash)
    assert notes.files.read("a.md") == "ONE\n"


def test_a_chat_without_its_checkpoints_asks_again_what_it_waits_for(notes: rd.Desk, asked: Any) -> None:
    _, model, question = asked
    fresh, again = chat_on(notes, model.script, approval="wait")
    (same,) = questions(fresh.invoke({}, thread()))
    assert same.value["proposal_id"] == question.value["proposal_id"] and not again.asked
    assert not questions(resume(fresh, {same.id: {"approved": True}}))
    assert executed(notes) == 1 and kinds(notes).count("model_called") == 2


def test_the_effects_of_an_approved_change_are_shown_when_it_is_approved(notes: rd.Desk, asked: Any) -> None:
    graph, _, question = asked
    parts = graph.stream(
        Command(resume={question.id: {"approved": True}}), thread(), stream_mode=["custom"], version="v2"
    )
    effects = [part["data"] for part in parts if part["data"]["type"] == "desk.effect"]
    assert [effect["action"] for effect in effects] == ["updateContent", "notify"]
    assert effects[0]["payload"]["fileId"] == notes.files.get("a.md").id


def test_the_chat_that_a_server_serves_takes_answers_without_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RESEARCHDESK_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("RESEARCHDESK_ACTOR", "human:ann")
    monkeypatch.delitem(sys.modules, "researchdesk.graph.app", raising=False)
    served = importlib.import_module("researchdesk.graph.app").desk_graph
    sys.modules.pop("researchdesk.graph.app")
    assert served.checkpointer is None and not (tmp_path / "home").exists()
    with rd.open_desk(tmp_path / "home") as desk:
        desk.files.put("a.md", "one\n", actor="human:ann")
        model = ChatModel(
            script=lambda request: (
                says(update(desk, "a.md", content="ONE\n")) if request.said == 0 else says(text="Done.")
            ),
            asked=[],
        )
        monkeypatch.setattr("researchdesk.graph.desk.chat.resolve_model", lambda name: model)
        graph = served.copy(update={"checkpointer": InMemorySaver()})
        (question,) = questions(say(graph, "Shout."))
        assert question.value["proposal_id"]
        assert not questions(resume(graph, {"decisions": [{"type": "approve"}]}))
        assert [made.decided_by for made in desk.proposals()] == ["human:ann"]


def test_the_graphs_tell_servers_what_they_take_and_give(desk: rd.Desk) -> None:
    chat, research = rd.create_desk_graph(desk), rd.create_research_graph(desk)
    for graph, given, gives in (
        (chat, {"messages", "selection"}, {"messages", "session_id", "pending"}),
        (
            research,
            {"objective", "scope_level", "template", "corpus"},
            {"session_id", "status", "stop_reason", "report_artifact_id"},
        ),
    ):
        assert set(graph.get_input_jsonschema()["properties"]) == given
        assert set(graph.get_output_jsonschema()["properties"]) == gives
