"""The working copies of notes: names that cannot escape, and files that are whole at every moment."""

import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from researchdesk.state.notes import Notes
from researchdesk.state.notes_grammar import render
from researchdesk.stores.notes import NotesFiles

NOTES_ID = "0123456789abcdef0123456789abcdef"


@pytest.mark.parametrize(
    ("user", "shown"),
    [
        ("ann", "ann"),
        ("", "anon"),
        ("a/b\\c", "a_b_c"),
        ("..", ".."),
        ("../../etc/passwd", ".._.._etc_passwd"),
        ("Ann Lee", "Ann_Lee"),
        ("Zoë 李", "Zo___"),
        ("a\0b\nc", "a_b_c"),
        ("x" * 65, "x" * 64),
    ],
)
def test_a_user_becomes_a_part_of_a_file_name(user: str, shown: str) -> None:
    path = NotesFiles(Path("notes")).path(user, "r1", NOTES_ID)
    assert path == Path(f"notes/notes_{shown}_r1_{NOTES_ID}.md")


@given(user=st.text(max_size=200), run=st.text(max_size=300))
def test_no_user_and_no_run_leads_out_of_the_folder(user: str, run: str) -> None:
    path = NotesFiles(Path("/notes")).path(user, run, NOTES_ID)
    assert path.parent == Path("/notes") and len(os.fsencode(path.name)) <= 255
    assert re.fullmatch(r"notes_[A-Za-z0-9._-]+\.md", path.name)


def test_what_is_written_is_read_back_to_the_letter_and_a_missing_copy_is_empty_notes(tmp_path: Path) -> None:
    files = NotesFiles(tmp_path / "notes")
    path = files.path("ann", "r1", NOTES_ID)
    assert files.read(path) == render(Notes()) and not files.folder.exists()
    for text in ("one\r\ntwo\n", "Größe \u2028 李\n", ""):
        files.write(path, text)
        assert files.read(path) == text
    assert list(files.folder.iterdir()) == [path]


def test_only_a_copy_that_is_missing_or_differs_is_restored(tmp_path: Path) -> None:
    files = NotesFiles(tmp_path / "notes")
    path = files.path("ann", "r1", NOTES_ID)
    assert files.restore(path, "text\n")
    assert not files.restore(path, "text\n")
    path.write_text("other")
    assert files.restore(path, "text\n") and files.read(path) == "text\n"


def test_a_write_that_fails_leaves_the_old_copy_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = NotesFiles(tmp_path / "notes")
    path = files.path("ann", "r1", NOTES_ID)
    files.write(path, "old\n")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        files.write(path, "new\n")
    assert files.read(path) == "old\n" and list(files.folder.iterdir()) == [path]
