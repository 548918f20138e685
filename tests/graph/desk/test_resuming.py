"""Chats that were killed: whatever was recorded stays, and nothing is done or asked twice."""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

import researchdesk as rd
from researchdesk.graph.checkpoints import checkpointer_of

from ..scripted_model import says
from .chats import Request, chat_on, create, kinds, say, thread, update
from .killed_chats import chat, send

ROOT = Path(__file__).resolve().parents[3]
WHOLE = [
    *("message_received", "model_called", "model_answered"),
    *("call_recorded", "call_recorded", "call_recorded"),
    *("model_called", "model_answered"),
]


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The homes of chats that were killed after their first, second … write; the last one came to its end."""
    folder = tmp_path_factory.mktemp("killed")
    command = [sys.executable, "-m", "tests.graph.desk.killed_chats", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return [folder / str(writes) for writes in range(1, int(done.stdout) + 1)]


def ended(desk: rd.Desk, out: dict[str, Any]) -> None:
    """The chat came to the end that it has without any kill."""
    assert [file.path for file in desk.files.listed()] == ["a.md", "notes/plan.md", "table.csv"]
    (proposal,) = desk.proposals()
    assert out["pending"] == [proposal.id] and out["messages"][-1].content == "Done: 3."
    results = [m.tool_call_id for m in out["messages"] if isinstance(m, ToolMessage)]
    assert results == ["call_1", "call_2", "call_3"]
    found = kinds(desk)
    lost = found.count("model_called") - 2
    assert lost in (0, 1), "one answer was lost with the process at most"
    assert [kind for kind in found if kind != "model_called"] == [k for k in WHOLE if k != "model_called"]
    assert [panel.title for panel in desk.panels("chat").panels] == ["plan.md", "table.csv"]
    assert desk.verify().ok


def test_a_chat_killed_after_any_write_goes_on_from_the_ledger_alone(
    killed: list[Path], tmp_path: Path
) -> None:
    assert len(killed) == len(WHOLE) + 3, "session, options and one more that is not killed"
    for dead in killed:
        home = tmp_path / dead.name
        shutil.copytree(dead, home)
        with rd.open_desk(home) as desk:
            graph, model = chat(desk, InMemorySaver())
            answered = kinds(desk).count("model_answered") if len(desk.existing("chat").events()) > 2 else 0
            ended(desk, send(graph))
            assert len(model.asked) == 2 - answered, "no recorded answer is asked for again"


def test_a_chat_killed_after_any_write_goes_on_from_its_checkpoint_with_the_same_results(
    killed: list[Path], tmp_path: Path
) -> None:
    for dead in killed:
        home = tmp_path / dead.name
        shutil.copytree(dead, home)
        with rd.open_desk(home) as desk, checkpointer_of(desk) as checkpointer:
            graph, _ = chat(desk, checkpointer)
            stands = graph.get_state(thread()).next
            out = graph.invoke(None, thread(), durability="sync") if stands else send(graph)
            ended(desk, out)


def test_a_step_that_is_run_again_shows_the_same_effects_under_the_same_ids(desk: rd.Desk) -> None:
    graph, _ = chat_on(desk, [says(create()), says(text="Done.")])

    def effects(given: Any, config: Any) -> list[dict[str, Any]]:
        parts = graph.stream(given, config, stream_mode=["custom"], version="v2")
        return [part["data"] for part in parts if part["data"]["type"] == "desk.effect"]

    first = effects({"messages": [("user", "Plan.")]}, thread())
    before = next(s for s in graph.get_state_history(thread()) if s.next == ("observe",))
    again = effects(None, before.config)
    assert again == first and len(first) == 3
    assert kinds(desk).count("call_recorded") == 1 and len(desk.files.listed()) == 1


def test_a_chat_on_a_server_waits_is_answered_by_another_process_and_goes_on(postgres: str) -> None:
    with rd.open_desk(postgres) as desk, checkpointer_of(desk) as checkpointer:
        desk.files.put("a.md", "one\n", actor="human:ann")
        answers = [says(create(), update(desk, "a.md", content="ONE\n")), says(text="Done.")]
        graph, _ = chat_on(desk, answers, approval="wait", checkpointer=checkpointer)
        (question,) = say(graph, "Shout.")["__interrupt__"]
        with rd.open_desk(postgres) as elsewhere, checkpointer_of(elsewhere) as other:
            second, _ = chat_on(elsewhere, answers, approval="wait", checkpointer=other)
            out = second.invoke(Command(resume={question.id: {"approved": True}}), thread())
            assert out["messages"][-1].content == "Done." and elsewhere.files.read("a.md") == "ONE\n"
        assert graph.invoke({}, thread())["pending"] == []
        assert [made.status for made in desk.proposals()] == ["executed"]
        assert desk.verify().ok


@pytest.mark.parametrize("approval", ["wait", "detached"])
def test_a_chat_brought_to_another_desk_goes_on_without_the_change_that_waits_where_it_came_from(
    notes: rd.Desk, tmp_path: Path, approval: str
) -> None:
    def script(request: Request) -> AIMessage:
        if request.said == 0:
            return says(update(notes, "a.md", content="ONE\n"))
        return says(text=" | ".join(request.results) or "Fine.")

    graph, _ = chat_on(notes, script, approval=approval)
    say(graph, "Shout.")
    notes.export("chat", tmp_path / "chat.zip")
    with rd.open_desk(tmp_path / "other") as other:
        other.import_session(tmp_path / "chat.zip")
        assert other.verify().ok and other.rebuild("chat") and other.verify().ok
        graph, model = chat_on(other, script, approval=approval)
        out = say(graph, "Well?")
        assert not out.get("__interrupt__") and out["pending"] == []
        (result,) = (m for m in model.asked[0].messages if isinstance(m, ToolMessage))
        assert "it has not run here" in str(result.content)
        rows = other.ledger.query("SELECT status, code FROM tool_calls")
        assert [(row["status"], row["code"]) for row in rows] == [("error", "stale")]
        assert other.verify().ok
    assert [made.status for made in notes.proposals()] == ["pending"]
