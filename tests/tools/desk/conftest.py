"""A session whose model works on the desk, a clock that can be turned, and a person who decides."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from researchdesk.state.desk.policies import NO_POLICIES, Policies
from researchdesk.state.limits import RESULT_TOKENS
from researchdesk.state.tokens import estimate_tokens, room
from researchdesk.tools.deciding import Decided
from researchdesk.tools.door import ToolResult
from researchdesk.tools.workspace import Desk, open_desk

from ...desks import Caller

ANN, BOB = "human:ann", "human:bob"


class Clock:
    """Stands still until it is turned."""

    def __init__(self) -> None:
        self.now = datetime.fromisoformat("2026-05-01T09:00:00.000000+00:00")

    def __call__(self) -> str:
        return self.now.isoformat(timespec="microseconds")

    def forward(self, **time: float) -> None:
        self.now += timedelta(**time)


@dataclass
class Model(Caller):
    """Calls tools of the desk; every result of theirs has to keep its limit."""

    def __init__(self, desk: Desk, session_id: str = "s1", policies: Policies = NO_POLICIES) -> None:
        super().__init__(desk.session(session_id, labels=(), profile="desk", policies=policies))
        self.desk = desk

    def __call__(self, tool: str, /, **arguments: Any) -> ToolResult:
        result = super().__call__(tool, **arguments)
        assert estimate_tokens(result.text) <= room(RESULT_TOKENS)
        return result

    def create(self, path: str, content: str = "", kind: str = "") -> str:
        """A new file; gives its version."""
        kind = kind or ("spreadsheet" if path.endswith(".csv") else "markdown")
        return str(self.ok("desk_create_file", path=path, kind=kind, content=content).data["version"])

    def propose(self, tool: str, /, **arguments: Any) -> ToolResult:
        """A call that has to wait for a person."""
        result = self(tool, **arguments)
        assert (result.status, result.data.get("code")) == ("pending", "requires_approval"), result.text
        return result

    def version(self, file: str) -> str:
        """The version that reading the file gives."""
        return str(self.ok("desk_read_file", file=file).data["version"])

    def approve(self, waiting: ToolResult, *, actor: str = ANN, **more: Any) -> Decided:
        """A person says yes to what the result of a gated call showed."""
        shown = {"proposal_hash": waiting.data["proposal_hash"], **more}
        return self.desk.decide(waiting.data["proposal_id"], "approve", actor=actor, **shown)

    def reject(self, waiting: ToolResult, reason: str = "", *, actor: str = ANN) -> Decided:
        """A person says no."""
        hash_ = waiting.data["proposal_hash"]
        proposal_id = waiting.data["proposal_id"]
        return self.desk.decide(proposal_id, "reject", actor=actor, proposal_hash=hash_, reason=reason)

    def again(self, number: int, tool: str, /, **arguments: Any) -> ToolResult:
        """A call of before again, under its identity."""
        return self.session.call(tool, arguments, tool_call_id=f"c{number}")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def desk(tmp_path: Path, clock: Clock) -> Iterator[Desk]:
    with open_desk(tmp_path / "desk", clock=clock) as opened:
        yield opened
        assert opened.verify().problems == ()


@pytest.fixture
def model(desk: Desk) -> Model:
    return Model(desk)
