"""Preparing an invocation: the desk, the sources, the session's lease and the driver that the nodes share."""

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphBubbleUp

from researchdesk.graph.budget import Budget
from researchdesk.graph.costs import Prices, priced
from researchdesk.graph.driver import Driver
from researchdesk.graph.leased import Invocation, LazyDesk, driven_by, is_driven, thread_of
from researchdesk.graph.models import max_output_of, resolve_model
from researchdesk.graph.options import RunOptions, sources_of, whole_paths
from researchdesk.state import events as ev
from researchdesk.state.cleaning import safe_error
from researchdesk.state.errors import LeaseLost, Refusal, ResearchdeskError, StoreAway, UsageError
from researchdesk.state.vocabulary import INVESTIGATION_LABELS
from researchdesk.tools.door import Session
from researchdesk.tools.sources.gathering import Sources
from researchdesk.tools.workspace import Desk


class Lead:
    """Prepares each invocation of one factory's graph: the desk, the sources, the lease, the driver."""

    def __init__(
        self,
        *,
        desk: Desk | str | Path | None,
        model: str | BaseChatModel,
        options: RunOptions,
        sources: Sources | None,
        prices: Prices,
    ) -> None:
        self._desk = LazyDesk(desk)
        self._model = model
        self._options = options
        self._sources = sources
        self._prices = prices

    @contextlib.contextmanager
    def prepare(self, input: Any, config: RunnableConfig | None) -> Iterator[Invocation]:
        """The invocation with its driver, under the session's lease."""
        if is_driven(config, Driver):
            yield Invocation(input=input, config=config or {})
            return
        model = resolve_model(self._model)
        options = priced(self._asked(input if isinstance(input, dict) else {}), model, self._prices)
        desk = self._desk.opened()
        session = desk.session(
            thread_of(config), labels=INVESTIGATION_LABELS, sources=self._opened_sources(desk, options)
        )
        with desk.driving(session) as driven_session:
            driver = make_driver(driven_session, model, options)
            with blocking_on_errors(driver):
                yield Invocation(input=input, config=driven_by(driver, config))

    def _asked(self, given: dict[str, Any]) -> RunOptions:
        """The factory's options with what the input says; it may name no other corpus than the factory's."""
        own = whole_paths(self._options.corpus)
        corpus = whole_paths(given.get("corpus") or own)
        foreign = [path for path in corpus if path not in own]
        if foreign:
            allowed = ", ".join(self._options.corpus) or "none"
            raise UsageError(f"corpus '{foreign[0]}' was not given to this graph; it has: {allowed}")
        return replace(
            self._options,
            corpus=corpus,
            scope=given.get("scope_level") or self._options.scope,
            template=given.get("template") or self._options.template,
        )

    def _opened_sources(self, desk: Desk, options: RunOptions) -> Sources:
        return self._sources or sources_of(desk, options)


def make_driver(session: Session, model: BaseChatModel, options: RunOptions) -> Driver:
    """A driver with a fresh budget clock."""
    budget = Budget(
        max_steps=options.max_steps,
        tokens=options.budget_tokens,
        usd=options.budget_usd,
        price=options.price,
        wall_seconds=options.wall_seconds,
        max_output=max_output_of(model),
    )
    shown = session.workspace.seq
    return Driver(session=session, model=model, options=options, budget=budget, shown_seq=shown)


@contextlib.contextmanager
def blocking_on_errors(driver: Driver) -> Iterator[None]:
    """An error that ends the invocation leaves the run blocked, with its reason, ready to be resumed.

    A server that is away is no fault of the run: that goes on by itself, with whoever drives it next.

    Raises:
        LeaseLost: also for whatever a driver meets that was overtaken without having noticed it.
    """
    try:
        yield
    except (GraphBubbleUp, LeaseLost, StoreAway, UsageError, Refusal):
        raise
    except Exception as problem:
        if _is_overtaken(driver):
            raise LeaseLost(
                f"session '{driver.session.id}' was taken over by another driver; this one stops, nothing was written"
            ) from problem
        with contextlib.suppress(ResearchdeskError):  # what cannot be written now is resumable all the same
            run = driver.session.run
            if run is not None and run.status == "active":
                driver.session.record([ev.ResearchBlocked(reason=safe_error(problem))])
        raise


def _is_overtaken(driver: Driver) -> bool:
    lease = driver.session.lease
    sql = "SELECT epoch FROM leases WHERE session_id = ?"
    with contextlib.suppress(ResearchdeskError):
        return lease is not None and driver.records.ledger.query(sql, (driver.session.id,)) != [
            {"epoch": lease.epoch}
        ]
    return False
