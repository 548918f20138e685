"""The checkpoint file: disposable, and a disk that is full is told as such."""

import re
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver

from researchdesk.graph.checkpoints import open_checkpointer
from researchdesk.graph.research import create_research_graph
from researchdesk.graph.runner import run_research
from researchdesk.state import events as ev
from researchdesk.state.errors import Unavailable
from researchdesk.tools.workspace import open_desk

WHOLE = re.compile(r"(.*)… \(whole in the ledger: call (\S+) of turn (\S+)\)", re.DOTALL)
QUESTION = "What rate limit does the gateway have for each client?"


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "limits.md").write_text("The gateway allows 100 requests per minute for each client.\n")
    return folder


@pytest.mark.parametrize("pages", [1, 5])
def test_a_full_disk_is_one_message_and_the_run_can_be_resumed(
    pages: int, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def on_a_full_disk(path: Path, **options: Any) -> sqlite3.Connection:
        connection = sqlite3.Connection(path, **options)
        connection.execute(f"PRAGMA max_page_count={pages}")
        return connection

    home = tmp_path / "home"
    with open_desk(home) as desk:
        monkeypatch.setattr("sqlite3.connect", on_a_full_disk)
        with pytest.raises(
            Unavailable, match=r"checkpoints.sqlite: database or disk is full. .* then resume"
        ):
            run_research(desk, QUESTION, corpus=[corpus], scope="quick")
        monkeypatch.undo()
        assert not list(home.glob("*.unreadable-*"))
        assert run_research(desk, QUESTION, corpus=[corpus], session_id="r1").session_id == "r1"
        assert desk.verify().ok


def test_long_texts_are_cut_in_the_messages_and_say_where_they_stand_whole(
    corpus: Path, tmp_path: Path
) -> None:
    (corpus / "limits.md").write_text("The gateway allows 100 requests per minute for each client.\n" * 200)
    saver, thread = InMemorySaver(), RunnableConfig(configurable={"thread_id": "s"})
    seen: list[AnyMessage] = []
    with open_desk(tmp_path / "home") as desk:
        graph = create_research_graph(
            desk, corpus=[corpus], scope="quick", template="general", checkpointer=saver
        )
        for state in graph.stream({"objective": QUESTION}, thread, stream_mode="values", subgraphs=True):
            seen += state[1].get("messages", [])
        session = desk.existing("s")
        pointed = set()
        for message in seen:
            texts = [str(message.content)]
            if isinstance(message, AIMessage):
                texts += [str(value) for one in message.tool_calls for value in one["args"].values()]
            assert max(map(len, texts)) < 500
            for found in filter(None, map(WHOLE.fullmatch, texts)):
                head, call, turn = found.groups()
                pointed.add((turn, call))
                if isinstance(message, ToolMessage):
                    whole = session.recorded_text(turn_id=turn, tool_call_id=call)
                    assert whole.startswith(head) and len(whole) > 400
        recorded = {
            (event.turn_id, event.tool_call_id)
            for event in (stored.event() for stored in session.events())
            if isinstance(event, ev.CallRecorded)
        }
    assert pointed and pointed <= recorded


def test_a_damaged_file_is_moved_aside(tmp_path: Path) -> None:
    path = tmp_path / "checkpoints.sqlite"
    path.write_bytes(b"no database at all " * 1_000)
    with open_checkpointer(path) as saver:
        assert saver.get_tuple({"configurable": {"thread_id": "s1"}}) is None
    assert len(list(tmp_path.glob("checkpoints.sqlite.unreadable-*"))) == 1
