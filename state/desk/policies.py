"""What a person settled beforehand about the proposals of a session."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from researchdesk.state.desk.actors import clean_actor

EXPIRES_DAYS = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Policies:
    """Which gated calls run without a person, and how long the others wait.

    Args:
        auto_approve: the name of the policy that approves a tool's calls, by the tool's name.
        allow_destructive: whether that may be a deletion.
        shadow: policies only watch: a proposal says which of them would have approved it, and waits.
        expires_days: after how many days a proposal lapses; None for never.
    """

    auto_approve: Mapping[str, str] = field(default_factory=dict)
    allow_destructive: bool = False
    shadow: bool = False
    expires_days: float | None = EXPIRES_DAYS

    def approver(self, tool: str, *, destructive: bool) -> str:
        """``policy:<name>`` that would approve a call of the tool, or empty."""
        name = self.auto_approve.get(tool, "")
        if not name or (destructive and not self.allow_destructive):
            return ""
        return clean_actor(f"policy:{name}")


NO_POLICIES = Policies()
