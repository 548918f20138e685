"""A desk with sessions of every kind, mirrored."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from researchdesk.tools.workspace import Desk, open_desk

from ..test_copying import fill


@pytest.fixture(scope="package")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """For reading only."""
    with open_desk(tmp_path_factory.mktemp("filled")) as opened:
        fill(opened)
        assert opened.sync_mirror().ok
        yield opened


@pytest.fixture
def desk(filled: Desk, tmp_path: Path) -> Iterator[Desk]:
    """A desk of a test's own, with the same sessions, mirrored."""
    with open_desk(tmp_path / "own") as own:
        filled.copy_to(own)
        assert own.sync_mirror().ok
        yield own
