"""What tests of chats share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import researchdesk as rd


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[rd.Desk]:
    """An empty desk."""
    with rd.open_desk(tmp_path / "home") as opened:
        yield opened


@pytest.fixture
def notes(desk: rd.Desk) -> rd.Desk:
    """A desk with two documents."""
    desk.files.put("a.md", "one\n", actor="human:ann")
    desk.files.put("b.md", "two\n", actor="human:ann")
    return desk
