"""Running and resuming a research from start to end: the desk is opened, the graph driven, the stream handed on."""

import asyncio
import contextlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphDrained
from langgraph.runtime import RunControl

from researchdesk.graph.checkpoints import checkpointer_of
from researchdesk.graph.costs import Prices, money_text, priced, usd
from researchdesk.graph.driver import DRIVER_KEY, PARALLEL_CALLS, Driver, StreamEvent
from researchdesk.graph.invocation import blocking_on_errors, make_driver
from researchdesk.graph.models import model_name, resolve_model
from researchdesk.graph.nodes import begin_run, checked_objective
from researchdesk.graph.options import (
    RunOptions,
    check_sources,
    remembered_options,
    sources_of,
    whole_paths,
)
from researchdesk.graph.research import ResearchGraph, create_research_graph
from researchdesk.graph.words import STOP_WORDS
from researchdesk.state.desk.markup import card
from researchdesk.state.ids import session_stream
from researchdesk.state.vocabulary import INVESTIGATION_LABELS, ScopeLevel
from researchdesk.tools.door import Session
from researchdesk.tools.sources.gathering import Sources
from researchdesk.tools.sources.ingest import Progress
from researchdesk.tools.sources.origins import OriginBy
from researchdesk.tools.sources.roots import listed
from researchdesk.tools.workspace import Desk

OnEvent = Callable[[StreamEvent], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """How a run ended: ``drained`` when it was asked to stop and can be resumed.

    ``status`` is ``completed``, ``blocked`` or, for one that was drained, ``active``. A run can be completed and still
    be partial: ``stop_reason`` is None where the research came to its own end; else a budget or a model that came no
    further ended the gathering (``budget_tokens``, ``budget_usd``, ``wall_time``, ``step_cap``, ``no_progress``,
    ``loop``, ``model_unavailable``), and the report says that it is partial and lists what stayed open.
    """

    session_id: str
    status: str
    stage: str
    stop_reason: str | None
    blocked_reason: str
    report_artifact_id: str
    drained: bool = False
    cost_usd: float | None = 0.0
    """What the run has cost in all; None where a price is not known."""

    def _repr_html_(self) -> str:
        fields = {
            "status": f"{self.status}, stage {self.stage}" + (", told to stop" if self.drained else ""),
            "stopped early": STOP_WORDS.get(self.stop_reason or "", self.stop_reason or ""),
            "blocked by": self.blocked_reason,
            "report": self.report_artifact_id,
            "cost": money_text(self.cost_usd),
        }
        return card(f"Run {self.session_id}", fields)


def run_research(
    desk: Desk,
    objective: str,
    *,
    corpus: str | Path | Sequence[str | Path] = (),
    web: str | Sequence[str] = (),
    dense: bool = False,
    desk_files: bool = False,
    model: str | BaseChatModel = "offline",
    session_id: str = "",
    scope: ScopeLevel = "standard",
    template: str = "implementation",
    origin_by: OriginBy = "auto",
    max_steps: int = 0,
    budget_tokens: int = 0,
    budget_usd: float | str | Decimal = 0,
    wall_seconds: int = 0,
    prices: Prices = None,
    sources: Sources | None = None,
    on_event: OnEvent | None = None,
    on_index: Progress | None = None,
    control: RunControl | None = None,
) -> RunResult:
    """Research a question to its end, and return how it ended.

    ``corpus`` is a path or several: folders and files that may be searched and read.
    Called again with the same session it takes the run up. ``on_event`` gets ``{"type": "ledger.event", "seq",
    "kind"}`` for each new event, ``on_index`` the progress of indexing (done, total, name); ``control`` lets another
    thread ask for a clean stop. ``web`` names search providers (`make_providers`); without one nothing of the web
    is read. ``dense`` searches the corpus by meaning too, ``desk_files`` the files that a person wrote on the desk.
    ``sources`` are used instead of all of them. ``prices`` is a file with prices that come before the built-in ones,
    or the price of the model itself; ``budget_usd`` needs one.

    Raises:
        UsageError: a missing corpus, an objective that cannot be taken, a session with another question, a budget in
            money for a model whose price is not known.
        SessionBusy: another process drives the session.
        Unavailable: the model or the store cannot be had.
    """
    options = RunOptions(
        corpus=whole_paths(corpus),
        web=listed(web),
        dense=dense,
        desk=desk_files,
        origin_by=origin_by,
        model=model_name(model),
        scope=scope,
        template=template,
        max_steps=max_steps,
        budget_tokens=budget_tokens,
        budget_usd=usd(budget_usd),
        wall_seconds=wall_seconds,
    )
    chosen = resolve_model(model)
    options = priced(options, chosen, prices)
    found = sources or sources_of(desk, options, progress=on_index)
    # Whatever a person can get wrong is told before there is a session.
    if not session_id or desk.ledger.head(session_stream(session_id)).count == 0:
        checked_objective(objective)
        check_sources(found)
    session = desk.session(session_id or new_session_id(desk), labels=INVESTIGATION_LABELS, sources=found)
    return _drive(desk, session, chosen, options, objective=objective, on_event=on_event, control=control)


def resume_research(
    desk: Desk,
    session_id: str = "",
    *,
    corpus: str | Path | Sequence[str | Path] | None = None,
    web: str | Sequence[str] | None = None,
    model: str | BaseChatModel | None = None,
    origin_by: OriginBy | None = None,
    max_steps: int | None = None,
    budget_tokens: int | None = None,
    budget_usd: float | str | Decimal | None = None,
    wall_seconds: int | None = None,
    prices: Prices = None,
    sources: Sources | None = None,
    on_event: OnEvent | None = None,
    on_index: Progress | None = None,
    control: RunControl | None = None,
) -> RunResult:
    """Take up a run where the ledger left it; corpus, web, model, price and budgets are remembered unless given anew.

    Raises:
        NotFound: no such session.
        UsageError: it holds no research, or its model was an object and has to be given again.
    """
    session = desk.existing(session_id)
    options = remembered_options(
        session,
        corpus=None if corpus is None else whole_paths(corpus),
        web=None if web is None else listed(web),
        model=None if model is None else model_name(model),
        origin_by=origin_by,
        max_steps=max_steps,
        budget_tokens=budget_tokens,
        budget_usd=None if budget_usd is None else usd(budget_usd),
        wall_seconds=wall_seconds,
    )
    if session.run is not None and session.run.stage == "completed":
        return _result(session)
    chosen = resolve_model(options.model if model is None else model)
    options = priced(options, chosen, prices)
    session.sources = sources or sources_of(desk, options, progress=on_index)
    return _drive(desk, session, chosen, options, objective="", on_event=on_event, control=control)


async def arun_research(desk: Desk, objective: str, **options: Any) -> RunResult:
    """`run_research` without blocking the event loop; same arguments."""
    return await asyncio.to_thread(lambda: run_research(desk, objective, **options))


async def aresume_research(desk: Desk, session_id: str = "", **options: Any) -> RunResult:
    """`resume_research` without blocking the event loop; same arguments."""
    return await asyncio.to_thread(lambda: resume_research(desk, session_id, **options))


def new_session_id(desk: Desk) -> str:
    """A short id that is free on this desk, ``r1``, ``r2`` …; no other caller gets the same one."""
    taken = {summary.session_id for summary in desk.sessions()}
    free = (f"r{n}" for n in itertools.count(1) if f"r{n}" not in taken)
    return next(session_id for session_id in free if desk.locks.claim(session_id))


def _drive(
    desk: Desk,
    session: Session,
    model: BaseChatModel,
    options: RunOptions,
    *,
    objective: str,
    on_event: OnEvent | None,
    control: RunControl | None,
) -> RunResult:
    with desk.driving(session) as driven:
        return drive_taken(
            desk, driven, model, options, objective=objective, on_event=on_event, control=control
        )


def begin_taken(driven: Session, model: BaseChatModel, options: RunOptions, *, objective: str) -> None:
    """Record that a run begins (or is taken up) and with which options, under a lease that the caller holds.

    From here on it can be resumed, and a worker of the desk takes it where nobody drives it.

    Raises:
        UsageError: an objective that cannot be taken, or a session with another question.
    """
    begin_run(make_driver(driven, model, options), objective)


def drive_taken(
    desk: Desk,
    driven: Session,
    model: BaseChatModel,
    options: RunOptions,
    *,
    objective: str = "",
    on_event: OnEvent | None = None,
    control: RunControl | None = None,
) -> RunResult:
    """Drive a session to its end whose lease the caller holds (`Desk.driving`); it begins where it has not begun.

    Raises:
        UsageError: an objective that cannot be taken, or a session with another question.
        LeaseLost: the lease was taken over; nothing was written since.
    """
    with checkpointer_of(desk) as checkpointer:
        # The ledger is what a run goes on from; an old checkpoint could only be behind it.
        checkpointer.delete_thread(driven.id)
        graph = create_research_graph(desk, corpus=options.corpus, checkpointer=checkpointer)
        driver = make_driver(driven, model, options)
        begin_run(driver, objective)
        drained = False
        with blocking_on_errors(driver):
            try:
                for event in _stream(graph, driver, objective, control):
                    if on_event is not None:
                        on_event(event)
            except GraphDrained:
                drained = True
        if driven.run is not None and driven.run.stage == "completed":
            checkpointer.delete_thread(driven.id)
        return _result(driven, drained=drained)


def _stream(
    graph: ResearchGraph, driver: Driver, objective: str, control: RunControl | None
) -> Iterator[StreamEvent]:
    config: RunnableConfig = {
        "configurable": {"thread_id": driver.session.id, DRIVER_KEY: driver},
        "max_concurrency": PARALLEL_CALLS,
    }
    stream = graph.stream(
        {"objective": objective},
        config,
        stream_mode="custom",
        durability="exit",
        control=control,
    )
    with contextlib.closing(stream):  # type: ignore[type-var]
        yield from stream


def _result(session: Session, *, drained: bool = False) -> RunResult:
    run, cost = session.run, session.workspace.cost
    if run is None:  # it was asked to stop before it began
        return RunResult(
            session_id=session.id,
            status="active",
            stage="knowledge_base",
            stop_reason=None,
            blocked_reason="",
            report_artifact_id="",
            drained=drained,
        )
    return RunResult(
        session_id=session.id,
        status=run.status,
        stage=run.stage,
        stop_reason=run.stop_reason,
        blocked_reason=run.blocked_reason,
        report_artifact_id=run.report_artifact_id,
        drained=drained,
        cost_usd=None if cost is None else float(round(cost, 6)),
    )
