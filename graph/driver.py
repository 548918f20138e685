"""Whoever drives a run right now: the session under its lease, the model, the budget, the stream."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable

from researchdesk.graph.budget import Budget
from researchdesk.graph.models import tool_schema
from researchdesk.graph.offering import offered
from researchdesk.graph.options import RunOptions
from researchdesk.state.run import ResearchRun
from researchdesk.state.tokens import estimate_tokens
from researchdesk.tools.door import Session
from researchdesk.tools.records import Records

DRIVER_KEY = "__desk_lease"
PARALLEL_CALLS = 16
StreamEvent = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """A model with the tools of a turn bound to it, and their size in estimated tokens."""

    model: Runnable[Any, Any]
    schema_tokens: int


@dataclass(slots=True)
class Driver:
    """What the nodes of one invocation share; it lives in ``configurable`` and never in a checkpoint.

    ``emit`` is the stream writer of the outer graph: custom events that a subgraph's node writes would be lost.
    """

    session: Session
    model: BaseChatModel
    options: RunOptions
    budget: Budget
    emit: Callable[[StreamEvent], None] | None = None
    shown_seq: int = 0
    _bound: dict[tuple[str, ...], Bound] = field(default_factory=dict)

    @property
    def records(self) -> Records:
        """The ledger under the session."""
        return self.session.records

    @property
    def run(self) -> ResearchRun:
        """The run as it stands now."""
        run = self.session.run
        assert run is not None
        return run

    def bound_model(self) -> Bound:
        """The model with the tools that this turn offers; each set is bound once."""
        specs = offered(self.session)
        names = tuple(spec.name for spec in specs)
        if names not in self._bound:
            schemas = [tool_schema(spec) for spec in specs]
            tokens = estimate_tokens(str(schemas))
            self._bound[names] = Bound(model=self.model.bind_tools(schemas), schema_tokens=tokens)
        return self._bound[names]

    def show_new_events(self) -> None:
        """Put what the ledger gained since the last time on the stream."""
        for event in self.session.events(after=self.shown_seq):
            self.shown_seq = event.seq
            if self.emit is not None:
                self.emit({"type": "ledger.event", "seq": event.seq, "kind": event.type})
