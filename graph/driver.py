"""Whoever drives a run right now: the session under its lease, the model, the budget, the stream."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable

from researchdesk.graph.budget import Budget
from researchdesk.graph.models import tool_schema
from researchdesk.graph.options import RunOptions
from researchdesk.state.run import ResearchRun
from researchdesk.state.tokens import estimate_tokens
from researchdesk.tools.door import Session
from researchdesk.tools.records import Records

DRIVER_KEY = "__desk_lease"
PARALLEL_CALLS = 16
StreamEvent = dict[str, Any]
NOT_OFFERED = frozenset({"deep_research_start"})


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
    _bound: Runnable[Any, Any] | None = None
    _schema_tokens: int = 0

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

    def bound_model(self) -> tuple[Runnable[Any, Any], int]:
        """The model with the session's tools bound, and the tools' size in estimated tokens."""
        if self._bound is None:
            schemas = [tool_schema(spec) for spec in self.session.tools() if spec.name not in NOT_OFFERED]
            self._schema_tokens = estimate_tokens(str(schemas))
            self._bound = self.model.bind_tools(schemas)
        return self._bound, self._schema_tokens

    def show_new_events(self) -> None:
        """Put what the ledger gained since the last time on the stream."""
        for event in self.session.events(after=self.shown_seq):
            self.shown_seq = event.seq
            if self.emit is not None:
                self.emit({"type": "ledger.event", "seq": event.seq, "kind": event.type})
