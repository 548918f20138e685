"""Whoever drives a session right now: the session under its lease, the model, the stream; and for a run its budget."""

import contextlib
import functools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from langchain_core.callbacks import dispatch_custom_event
from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.config import get_stream_writer

from researchdesk.graph.budget import Budget
from researchdesk.graph.models import tool_schema
from researchdesk.graph.offering import offered
from researchdesk.graph.options import RunOptions
from researchdesk.state.errors import UsageError
from researchdesk.state.run import ResearchRun
from researchdesk.state.tokens import estimate_tokens
from researchdesk.state.vocabulary import Stage
from researchdesk.tools.door import Session
from researchdesk.tools.records import Records
from researchdesk.tools.spec import ToolSpec

DRIVER_KEY = "__desk_lease"
PARALLEL_CALLS = 16
StreamEvent = dict[str, Any]
AskedFor = Stage | Literal["chat"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """A model with the tools of a turn bound to it, and their size in estimated tokens."""

    model: Runnable[Any, Any]
    schema_tokens: int


@dataclass(slots=True, kw_only=True)
class Asker(ABC):
    """What the nodes of one invocation share; it lives in ``configurable`` and never in a checkpoint.

    ``emit`` is the stream writer of the outer graph: custom events that a subgraph's node writes would be lost.
    """

    session: Session
    model: BaseChatModel
    emit: Callable[[StreamEvent], None] | None = None
    shown_seq: int = 0
    _bound: dict[tuple[str, ...], Bound] = field(default_factory=dict)

    @property
    @abstractmethod
    def model_name(self) -> str:
        """The name under which the model's requests are recorded."""

    @property
    @abstractmethod
    def stage(self) -> AskedFor:
        """What the model is asked for."""

    @abstractmethod
    def bound_model(self) -> Bound:
        """The model with the tools that this turn offers."""

    def wait_left(self) -> float:
        """Seconds that may still be waited for a model that failed."""
        return math.inf

    @property
    def records(self) -> Records:
        """The ledger under the session."""
        return self.session.records

    def bound_to(self, specs: Sequence[ToolSpec]) -> Bound:
        """The model with these tools; each set is bound once, and without any the model stays as it is."""
        names = tuple(spec.name for spec in specs)
        if names not in self._bound:
            schemas = [tool_schema(spec) for spec in specs]
            model: Runnable[Any, Any] = self.model.bind_tools(schemas) if schemas else self.model
            tokens = estimate_tokens(str(schemas)) if schemas else 0
            self._bound[names] = Bound(model=model, schema_tokens=tokens)
        return self._bound[names]

    def show_new_events(self) -> None:
        """Put what the ledger gained since the last time on the stream."""
        for event in self.session.events(after=self.shown_seq):
            self.shown_seq = event.seq
            self.show({"type": "ledger.event", "seq": event.seq, "kind": event.type})

    def show(self, event: StreamEvent) -> None:
        """Put something on the stream."""
        if self.emit is not None:
            self.emit(event)

    @contextlib.contextmanager
    def showing(self, config: RunnableConfig) -> Iterator[None]:
        """Everything shown in the block is on both streams: LangGraph's custom stream and callback events (AG-UI).

        What the ledger gained is shown at the end. For the nodes that run alone; tasks beside each other use `tell`.
        """
        writer = self.emit = self.emit or get_stream_writer()
        self.emit = functools.partial(_on_both, writer, config)
        try:
            yield
            self.show_new_events()
        finally:
            self.emit = writer

    def tell(self, event: StreamEvent, config: RunnableConfig) -> None:
        """Put one event on both streams, from a task that runs beside others."""
        _on_both(self.emit or get_stream_writer(), config, event)


def _on_both(writer: Callable[[StreamEvent], None], config: RunnableConfig, event: StreamEvent) -> None:
    writer(event)
    with contextlib.suppress(RuntimeError):  # outside a traced run there is nobody to tell
        dispatch_custom_event(event["type"], event, config=config)


@dataclass(slots=True, kw_only=True)
class Driver(Asker):
    """The driver of a research run."""

    options: RunOptions
    budget: Budget

    @property
    def model_name(self) -> str:
        return self.options.model

    @property
    def stage(self) -> AskedFor:
        return self.run.stage

    def wait_left(self) -> float:
        return self.budget.wall_left()

    @property
    def run(self) -> ResearchRun:
        """The run as it stands now."""
        run = self.session.run
        assert run is not None
        return run

    def bound_model(self) -> Bound:
        """The model with the tools that this turn of the run's stage offers."""
        return self.bound_to(offered(self.session))


AnyAsker = TypeVar("AnyAsker", bound=Asker)


def driver_of(config: RunnableConfig, kind: type[AnyAsker]) -> AnyAsker:
    """The driver that the invocation put into the config.

    Raises:
        UsageError: a node runs outside of the graph's own entry points.
    """
    driver = config.get("configurable", {}).get(DRIVER_KEY)
    if not isinstance(driver, kind):
        raise UsageError("this graph runs only through its own invoke, stream, ainvoke and astream")
    return driver
