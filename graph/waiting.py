"""Sessions that wait for a driver: how research is put into a desk, found there, and taken up by whoever is free.

A session waits when its run has begun with recorded options, is neither completed nor blocked, and nobody holds its
lock: it was queued, or its driver stopped or died. The ledger and the locks say so; there is no queue beside them.
"""

from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path

from langgraph.runtime import RunControl

from researchdesk.graph.costs import Prices, priced, usd
from researchdesk.graph.models import resolve_model
from researchdesk.graph.nodes import checked_objective
from researchdesk.graph.options import (
    RunOptions,
    check_sources,
    remembered_options,
    sources_of,
    whole_paths,
)
from researchdesk.graph.runner import RunResult, begin_taken, drive_taken, new_session_id
from researchdesk.state.vocabulary import INVESTIGATION_LABELS, ScopeLevel
from researchdesk.tools.door import Session
from researchdesk.tools.sources.corpus import Corpus
from researchdesk.tools.sources.gathering import Sources
from researchdesk.tools.sources.origins import OriginBy
from researchdesk.tools.sources.ports import StoppedEarly
from researchdesk.tools.sources.roots import listed
from researchdesk.tools.workspace import Desk

OFTEN = 3
"""A session that lost more drivers than this lets the others go first: it may be what ends them."""
_ACTIVE = (
    "SELECT s.session_id, s.created_at, coalesce(l.epoch, 0) AS drivers FROM research_runs r "
    "JOIN sessions s USING (session_id) LEFT JOIN leases l USING (session_id) "
    "WHERE r.status = 'active' AND r.model <> ''"
)


def queue_research(
    desk: Desk,
    objective: str,
    *,
    corpus: str | Path | Sequence[str | Path] = (),
    web: str | Sequence[str] = (),
    dense: bool = False,
    desk_files: bool = False,
    model: str = "offline",
    session_id: str = "",
    scope: ScopeLevel = "standard",
    template: str = "implementation",
    origin_by: OriginBy = "auto",
    max_steps: int = 0,
    budget_tokens: int = 0,
    budget_usd: float | str | Decimal = 0,
    wall_seconds: int = 0,
    prices: Prices = None,
) -> str:
    """Put a question into the desk for its workers, and return the session's id; nothing is driven here.

    The arguments are those of `run_research`, and checked as there: a worker has to find the same corpus under the
    same path, and to have what the model needs. For a session that is there its options are recorded anew, and a
    blocked one waits again.

    Raises:
        UsageError: a missing corpus, an objective that cannot be taken, a session with another question.
        SessionBusy: another process drives the session.
        Unavailable: the model or the store cannot be had.
    """
    options = RunOptions(
        corpus=whole_paths(corpus),
        web=listed(web),
        dense=dense,
        desk=desk_files,
        origin_by=origin_by,
        model=model or "offline",
        scope=scope,
        template=template,
        max_steps=max_steps,
        budget_tokens=budget_tokens,
        budget_usd=usd(budget_usd),
        wall_seconds=wall_seconds,
    )
    chosen = resolve_model(options.model)
    options = priced(options, chosen, prices)
    sources = sources_of(desk, options)
    try:
        check_sources(sources)
        checked_objective(objective)
    finally:
        close_sources(sources)
    session = desk.session(session_id or new_session_id(desk), labels=INVESTIGATION_LABELS)
    with desk.driving(session) as driven:
        begin_taken(driven, chosen, options, objective=objective)
    return session.id


def waiting(desk: Desk) -> list[str]:
    """The sessions that wait for a driver, oldest first; those that lost driver after driver come last."""
    rows = desk.ledger.query(_ACTIVE)
    held = desk.locks.held([str(row["session_id"]) for row in rows])
    free = [
        (max(0, int(str(row["drivers"])) - OFTEN), str(row["created_at"]), str(row["session_id"]))
        for row in rows
        if row["session_id"] not in held
    ]
    return [session_id for _, _, session_id in sorted(free)]


def take_up(
    desk: Desk, session_id: str, *, control: RunControl, on_taken: Callable[[Session], None]
) -> RunResult | None:
    """Drive a waiting session to its end with its recorded options; None where it waits no more.

    Args:
        control: lets a signal ask for a clean stop, also while documents are read.
        on_taken: called once the session is this process's, before its driving begins.

    Raises:
        SessionBusy: another process was first.
        LeaseLost: another process took the session over.
        StoppedEarly: the stop was asked for while documents were read.
        UsageError, Unavailable: its corpus or model cannot be had here.
    """
    with desk.driving(desk.existing(session_id)) as driven:
        # Whoever drove it a moment ago may have ended it.
        if driven.run is None or driven.run.status != "active":
            return None
        on_taken(driven)
        options = remembered_options(driven)
        model = resolve_model(options.model)
        options = priced(options, model)

        def stop_early(done: int, total: int, name: str) -> None:
            if control.drain_requested:
                raise StoppedEarly

        driven.sources = sources_of(desk, options, progress=stop_early)
        try:
            for corpus in (one for one in driven.sources.providers if isinstance(one, Corpus)):
                corpus.refresh()
            return drive_taken(desk, driven, model, options, control=control)
        finally:
            close_sources(driven.sources)


def close_sources(sources: Sources) -> None:
    """Let go of files and connections: a process that drives many sessions opens them for each."""
    for one in {id(one): one for one in (*sources.providers, *sources.fetchers)}.values():
        close = getattr(one, "close", None)
        if callable(close):
            close()
