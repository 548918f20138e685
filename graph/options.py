"""What a run is started with: one value that the factory, the runner and the command line share."""

from dataclasses import dataclass

from researchdesk.state import events as ev
from researchdesk.state.vocabulary import ScopeLevel
from researchdesk.tools.sources.origins import OriginBy


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """Options of a run; 0 means that a budget is not limited beyond the scope's own caps.

    ``model`` is the name that is recorded; the model itself is given apart from it.
    """

    corpus: tuple[str, ...] = ()
    origin_by: OriginBy = "auto"
    model: str = "offline"
    scope: ScopeLevel = "standard"
    template: str = "implementation"
    max_steps: int = 0
    budget_tokens: int = 0
    wall_seconds: int = 0

    def recorded(self) -> ev.RunConfigured:
        """The event that lets a later resume find these options."""
        return ev.RunConfigured(
            corpus=self.corpus,
            origin_by=self.origin_by,
            model=self.model,
            max_steps=self.max_steps,
            budget_tokens=self.budget_tokens,
            wall_seconds=self.wall_seconds,
        )
