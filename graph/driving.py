"""Driving a run from the command line: what is about to happen, how it goes, how it ended, where the report is."""

import shlex
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import typer
from langchain_core.language_models import BaseChatModel

from researchdesk.graph.console import note
from researchdesk.graph.costs import dollars, estimate, priced
from researchdesk.graph.driver import StreamEvent
from researchdesk.graph.exits import Exit, error_text, tell_error
from researchdesk.graph.models import resolve_model
from researchdesk.graph.options import RunOptions, check_sources, sources_of, whole_paths
from researchdesk.graph.output import Output
from researchdesk.graph.plain import one_line
from researchdesk.graph.progress import IndexProgress, RunProgress
from researchdesk.graph.rendering import keep_copy, render_report
from researchdesk.graph.report import read_report
from researchdesk.graph.runner import RunResult, begin_taken, drive_taken, new_session_id
from researchdesk.graph.stopping import stoppable
from researchdesk.graph.words import model_text, outcome, outcome_text, resume_advice
from researchdesk.state.errors import NotFound, UsageError
from researchdesk.state.limits import LIMITS
from researchdesk.state.names import clean_id
from researchdesk.state.prices import FREE_MODELS
from researchdesk.state.run import ResearchRun
from researchdesk.state.vocabulary import INVESTIGATION_LABELS
from researchdesk.tools.door import Session
from researchdesk.tools.sources.corpus import Corpus, CorpusReport
from researchdesk.tools.sources.gathering import Sources
from researchdesk.tools.sources.leaveout import REASONS
from researchdesk.tools.sources.ports import StoppedEarly
from researchdesk.tools.workspace import Desk


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """How a command drives a run: its list of prices, whether it asks before it spends, and how it writes.

    With ``queue`` the run is begun and left to whichever worker of the desk comes first.
    """

    prices: Path | None = None
    confirm: bool = False
    json: bool = False
    queue: bool = False


class Declined(Exception):
    """Somebody was asked whether to spend, and did not say yes."""


def drive(desk: Desk, session_id: str, options: RunOptions, *, objective: str, terms: Terms) -> Exit:
    """Begin or take up a run, show it, and print its report; an error is told and becomes the exit code.

    Without a session id a new run gets the next free one; a start that fails uses none up.
    """
    with stoppable() as control:
        out = Output(control=control, json=terms.json)
        code = _driven(desk, session_id, options, objective, terms, out)
        return Exit.FAILED if out.failed else code


@dataclass(frozen=True, slots=True, kw_only=True)
class _Start:
    """What a run is driven with, once all that a person can get wrong was looked at."""

    driven: Session
    """The session under its lease: from its first event to its end nobody else may take it."""
    objective: str
    model: BaseChatModel
    options: RunOptions
    index: IndexProgress
    is_completed: bool

    @property
    def session_id(self) -> str:
        """The session's id."""
        return self.driven.id


def _driven(
    desk: Desk, session_id: str, options: RunOptions, objective: str, terms: Terms, out: Output
) -> Exit:
    try:
        with ExitStack() as held:
            start = _begun(desk, session_id, options, objective, terms, out, held)
            session_id = start.session_id
            if terms.queue and not start.is_completed:
                return _queued(start, out)
            ended = _research(desk, start, terms, out)
    except Declined:
        note("nothing was asked and nothing is spent")
        out.line({"type": "result", "session_id": session_id, "status": "declined", "exit_code": 3})
        return Exit.UNFINISHED
    except StoppedEarly:
        note("stopped while the documents were read")
        note(f"resume  {_resume_command(desk, session_id)}")
        out.line({"type": "result", "session_id": session_id, "status": "stopped", "exit_code": 3})
        return Exit.UNFINISHED
    except Exception as problem:
        return _failed(desk, session_id, problem, out)
    return _finish(desk, ended, out)


def _begun(
    desk: Desk,
    session_id: str,
    options: RunOptions,
    objective: str,
    terms: Terms,
    out: Output,
    held: ExitStack,
) -> _Start:
    """The run with its session; without an id it gets the next free one, once nothing can be wrong any more."""
    model = resolve_model(options.model)
    options = priced(replace(options, corpus=whole_paths(options.corpus)), model, terms.prices)
    index = IndexProgress(stop=lambda: out.control.drain_requested)
    run = _run_of(desk, session_id)
    is_completed = run is not None and run.stage == "completed"
    sources = Sources()
    if is_completed:
        note("this run is completed and takes nothing more; another `researchdesk run` can look further")
    else:
        sources = sources_of(desk, options, progress=index.update)
        if run is None:
            check_sources(sources)
        if terms.confirm and options.model not in FREE_MODELS:
            _confirm(options)
    session = desk.session(session_id or new_session_id(desk), labels=INVESTIGATION_LABELS, sources=sources)
    driven = held.enter_context(desk.driving(session))
    # From here on there is a run that can be resumed.
    begin_taken(driven, model, options, objective=objective)
    return _Start(
        driven=driven,
        objective=objective,
        model=model,
        options=options,
        index=index,
        is_completed=is_completed,
    )


def _queued(start: _Start, out: Output) -> Exit:
    """Leave a run that was begun to the desk's workers."""
    out.text(start.session_id)
    note(f"session {start.session_id} waits for a worker; `researchdesk work` on this desk takes it up")
    out.line(
        {
            "type": "result",
            "session_id": start.session_id,
            "status": "active",
            "outcome": "queued",
            "exit_code": int(Exit.COMPLETED),
        }
    )
    return Exit.COMPLETED


def _research(desk: Desk, start: _Start, terms: Terms, out: Output) -> RunResult:
    """Tell what will be done, and do it."""
    options = start.options
    out.text(start.session_id)
    report = _refreshed(start.driven.sources, start.index)
    _announce(desk, start.session_id, options, report)
    if not start.is_completed and options.model not in FREE_MODELS:
        _tell_cost(desk, start.session_id, options, told=terms.confirm)
    out.line(
        {
            "type": "run.started",
            "session_id": start.session_id,
            "home": desk.where,
            "objective": start.objective,
            "options": {**asdict(options), "budget_usd": float(options.budget_usd)},
            "estimate": _estimated(options),
            "index": asdict(report) if report else None,
        }
    )
    return _followed(desk, start, out)


def _followed(desk: Desk, start: _Start, out: Output) -> RunResult:
    """The run itself, shown while it goes on."""
    options = start.options
    progress = RunProgress(
        desk,
        start.session_id,
        max_steps=options.max_steps,
        budget_tokens=options.budget_tokens,
        budget_usd=options.budget_usd,
    )

    def on_event(event: StreamEvent) -> None:
        out.line(event)
        progress.on_event(event)

    with progress:
        return drive_taken(
            desk,
            start.driven,
            start.model,
            options,
            objective=start.objective,
            on_event=on_event,
            control=out.control,
        )


def _run_of(desk: Desk, session_id: str) -> ResearchRun | None:
    """The run of a session, None where there is none yet."""
    if not session_id:
        return None
    try:
        return desk.existing(clean_id(session_id, "session id")).run
    except NotFound:
        return None


def _refreshed(sources: Sources, index: IndexProgress) -> CorpusReport | None:
    """What the corpus holds, after reading what is new in it."""
    with index:
        report = next((c.refresh() for c in sources.providers if isinstance(c, Corpus)), None)
        index.check()
    return report


# -- what is said before and after ----------------------------------------------------------------------------


def _announce(desk: Desk, session_id: str, options: RunOptions, report: CorpusReport | None) -> None:
    note(f"session {session_id} in {desk.where}")
    note(f"model   {model_text(options.model)}")
    for path in options.corpus:
        note(f"corpus  {one_line(path)}")
    if options.web:
        note(f"web     {', '.join(options.web)}")
    if report:
        note(f"        {report.files:,} documents ({report.indexed:,} read anew, {report.seconds:.1f} s)")
        for reason, count in sorted(report.left_out.items()):
            names = ", ".join(one_line(name, limit=60) for name in report.examples.get(reason, ()))
            note(f"        left out: {count:,} ({REASONS.get(reason, reason)}), such as {names}")
        for prefix in report.idle_origins:
            note(f"        warning: no document stands under {one_line(prefix)!r}, which corpus.toml names")
        if not report.files:
            note("        nothing here can be read: without evidence the run will end blocked")
    limits = LIMITS[options.scope]
    steps = options.max_steps or limits.step_cap
    note(f"scope   {options.scope}, template {options.template}: at most {steps} model requests")


def _tell_cost(desk: Desk, session_id: str, options: RunOptions, *, told: bool) -> None:
    """What the run may cost in all, unless that was told already, and what it has cost by now."""
    for line in () if told else estimate_lines(options):
        note(line)
    spent = desk.existing(session_id).workspace.spent
    if spent.calls:
        note(f"spent   {dollars(spent.cost)}, {spent.tokens:,} tokens by now")


def estimate_lines(options: RunOptions) -> Iterator[str]:
    """What a run may cost, and what the estimate assumes."""
    found = estimate(options, LIMITS[options.scope])
    money = "price not known (--prices FILE)"
    if found.low_usd is not None and found.high_usd is not None:
        money = f"{dollars(found.low_usd)} to {dollars(found.high_usd)}"
    yield f"cost    {money}, {found.low_tokens:,} to {found.high_tokens:,} tokens"
    yield f"        {found.assumes}"
    if price := options.price:
        named = " ".join(part for part in (price.source, price.date) if part) or "as given"
        yield f"        ${price.input} in and ${price.output} out for a million tokens ({one_line(named)})"
    if not (options.budget_usd or options.budget_tokens):
        yield f"        {'--budget-usd' if options.price else '--budget-tokens'} sets a limit"


def _estimated(options: RunOptions) -> dict[str, Any] | None:
    """The estimate for programs; None for a model that costs nothing."""
    if options.model in FREE_MODELS:
        return None
    found = estimate(options, LIMITS[options.scope])
    money = {"low_usd": found.low_usd, "high_usd": found.high_usd}
    return {
        **asdict(found),
        **{name: None if amount is None else float(round(amount, 6)) for name, amount in money.items()},
    }


def _confirm(options: RunOptions) -> None:
    """Ask whether to spend.

    Raises:
        UsageError: there is no terminal to ask on.
        Declined: the answer was not yes.
    """
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(
            "--confirm asks on a terminal, and there is none; leave it out, and limit the run with --budget-usd or "
            "--budget-tokens"
        )
    for line in estimate_lines(options):
        note(line)
    if not typer.confirm("Go on?", err=True):
        raise Declined


def _finish(desk: Desk, ended: RunResult, out: Output) -> Exit:
    run = desk.existing(ended.session_id).run
    assert run is not None
    found = "stopped" if ended.drained and run.status != "completed" else outcome(run)
    code = Exit.COMPLETED if found == "completed" else Exit.UNFINISHED
    path = _write_report(desk, ended.session_id, out) if ended.report_artifact_id else None
    said = "stopped as asked" if found == "stopped" else outcome_text(run)
    note(said if code is Exit.COMPLETED else f"the run is {said}" if found != "stopped" else said)
    spent = desk.existing(ended.session_id).workspace.spent
    if spent.cost != 0:
        note(f"cost    {dollars(spent.cost)}, {spent.calls} requests, {spent.tokens:,} tokens")
    if path:
        note(f"report  {path}")
    if run.status != "completed":
        note(f"resume  {_resume_command(desk, ended.session_id)}")
    if advice := resume_advice(run):
        note(f"        {advice}")
    out.line(
        {
            "type": "result",
            **asdict(ended),
            "outcome": found,
            "report_path": str(path) if path else None,
            "exit_code": int(code),
        }
    )
    return code


def _write_report(desk: Desk, session_id: str, out: Output) -> Path | None:
    """Print the report, and keep a copy in the home folder where that can be written."""
    text = render_report(read_report(desk, session_id))
    out.text("\n" + text)
    return keep_copy(desk, session_id, text)


def _failed(desk: Desk, session_id: str, problem: Exception, out: Output) -> Exit:
    code = tell_error(problem)
    try:
        started = _run_of(desk, session_id) is not None
    except Exception:  # the first error is the one to tell
        started = False
    if started:
        note(f"resume  {_resume_command(desk, session_id)}")
    out.line(
        {
            "type": "result",
            "session_id": session_id,
            "status": "failed",
            "error": {"type": type(problem).__name__, "message": error_text(problem)},
            "exit_code": int(code),
        }
    )
    return code


def _resume_command(desk: Desk, session_id: str) -> str:
    return shlex.join(["researchdesk", "resume", session_id, "--home", desk.where])
