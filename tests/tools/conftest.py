"""A desk in a folder of its own, and a research session with somebody who calls its tools."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from researchdesk.tools.workspace import Desk, open_desk

from ..desks import Caller


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with open_desk(tmp_path / "desk") as opened:
        yield opened


@pytest.fixture
def research(desk: Desk) -> Caller:
    return Caller(desk.session("s1"))
