"""The checkpoint file: disposable, and a disk that is full is told as such."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from researchdesk.graph.checkpoints import open_checkpointer
from researchdesk.graph.runner import run_research
from researchdesk.state.errors import Unavailable
from researchdesk.tools.workspace import open_desk

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


def test_a_damaged_file_is_moved_aside(tmp_path: Path) -> None:
    path = tmp_path / "checkpoints.sqlite"
    path.write_bytes(b"no database at all " * 1_000)
    with open_checkpointer(path) as saver:
        assert saver.get_tuple({"configurable": {"thread_id": "s1"}}) is None
    assert len(list(tmp_path.glob("checkpoints.sqlite.unreadable-*"))) == 1
