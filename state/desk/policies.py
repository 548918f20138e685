"""What a person settled beforehand about the proposals of a session."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from researchdesk.state.desk.actors import clean_actor
from researchdesk.state.errors import UsageError

EXPIRES_DAYS = 7
MOST_DAYS = 36_500


@dataclass(frozen=True, slots=True, kw_only=True)
class Policies:
    """Which gated calls run without a person, and how long the others wait.

    Args:
        auto_approve: the name of the policy that approves a tool's calls, by the tool's name.
        allow_destructive: whether that may be a deletion.
        shadow: policies only watch: a proposal says which of them would have approved it, and waits.
        expires_days: after how many days a proposal lapses; None for never.

    Raises:
        UsageError: a name or a number of days that cannot be meant.
    """

    auto_approve: Mapping[str, str] = field(default_factory=dict)
    allow_destructive: bool = False
    shadow: bool = False
    expires_days: float | None = EXPIRES_DAYS

    def __post_init__(self) -> None:
        for name in self.auto_approve.values():
            clean_actor(f"policy:{name}")
        if self.expires_days is not None and not 0 < self.expires_days <= MOST_DAYS:
            raise UsageError(
                f"expires_days={self.expires_days}: it is over 0 to {MOST_DAYS:,}, or None for never"
            )

    def approver(self, tool: str, *, destructive: bool) -> str:
        """``policy:<name>`` that would approve a call of the tool, or empty."""
        name = self.auto_approve.get(tool, "")
        if not name or (destructive and not self.allow_destructive):
            return ""
        return f"policy:{name}"


NO_POLICIES = Policies()
