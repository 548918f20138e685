"""How a run is followed on stderr: a live view on a terminal, a line for each milestone anywhere else."""

import sys
import time
from collections.abc import Callable, Iterator
from decimal import Decimal
from types import TracebackType
from typing import Self

from rich.console import Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn
from rich.text import Text

from researchdesk.graph.console import note, progress_console
from researchdesk.graph.costs import dollars
from researchdesk.graph.driver import StreamEvent
from researchdesk.graph.plain import one_line
from researchdesk.graph.words import QUESTION_WORDS, STAGE_WORDS, describe
from researchdesk.state import events as ev
from researchdesk.state.investigation import Investigation
from researchdesk.state.questions import SETTLED_QUESTION, Transition
from researchdesk.state.workspace import Workspace
from researchdesk.tools.door import Session
from researchdesk.tools.sources.index import MEANING
from researchdesk.tools.sources.ports import StoppedEarly
from researchdesk.tools.workspace import Desk

FILES_A_LINE = 500


class IndexProgress:
    """Shows how far the documents are read; a context manager whose `update` is a corpus's ``progress``.

    Args:
        stop: whether the reading has to end; `update` and `check` then raise `StoppedEarly`.
    """

    def __init__(self, *, stop: Callable[[], bool]) -> None:
        self._stop = stop
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._done = 0

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
            self._bar = Progress(*columns, console=progress_console(), transient=True)
            self._bar.start()
            self._task = self._bar.add_task("reading documents", total=None)
        return self

    def update(self, done: int, total: int, name: str) -> None:
        """``done`` of ``total`` new or changed documents are read, or of their passages have their vectors."""
        self.check()
        embeds = name.startswith(MEANING)
        if self._bar is not None and self._task is not None:
            what = "embedding passages" if embeds else "reading documents"
            self._bar.update(self._task, description=what, completed=done, total=total)
        elif done // FILES_A_LINE > self._done // FILES_A_LINE:
            note(
                f"  embedded {done:,} of {total:,} passages"
                if embeds
                else f"  read {done:,} of {total:,} documents"
            )
        self._done = done

    def check(self) -> None:
        """Raise `StoppedEarly` when the reading has to end."""
        if self._stop():
            raise StoppedEarly

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()


class RunProgress:
    """Follows a session while it is driven; a context manager that takes the run's stream events.

    Args:
        desk: where the session is; it need not be opened yet.
        session_id: the session that is followed.
        max_steps: requests that the options allow; 0 leaves the scope's cap.
        budget_tokens: tokens that the options allow; 0 for no limit.
        budget_usd: US dollars that the options allow; 0 for no limit.
    """

    def __init__(
        self,
        desk: Desk,
        session_id: str,
        *,
        max_steps: int = 0,
        budget_tokens: int = 0,
        budget_usd: Decimal = Decimal(0),
    ) -> None:
        self._desk = desk
        self._session_id = session_id
        self._session: Session | None = None
        self._max_steps = max_steps
        self._budget_tokens = budget_tokens
        self._budget_usd = budget_usd
        self._seen = 0
        self._started = time.monotonic()
        self._facts = "opening"
        self._question = ""
        self._spending = ""
        self._last = ""
        self._live: Live | None = None

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            self._live = Live(
                console=progress_console(), get_renderable=self._view, refresh_per_second=8, transient=True
            )
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def on_event(self, event: StreamEvent) -> None:
        """Take in what the ledger gained; events that came together are read once."""
        if self._session is None:
            self._session = self._desk.existing(self._session_id)
            self._seen = event["seq"] - 1
        if event["seq"] <= self._seen:
            return
        workspace = self._session.workspace
        for stored in self._session.events(after=self._seen):
            self._seen = stored.seq
            happened = stored.event()
            self._last = f"{stored.type.replace('_', ' ')}: {describe(happened)}"
            milestone = milestone_text(happened, workspace)
            if milestone and self._live is None:
                note(milestone)
        self._facts = facts_text(workspace)
        self._question = question_text(workspace)
        self._spending = spending_text(
            workspace,
            max_steps=self._max_steps,
            budget_tokens=self._budget_tokens,
            budget_usd=self._budget_usd,
        )

    def _view(self) -> Group:
        head = f"{self._session_id} · {time.monotonic() - self._started:.0f} s · {self._spending}"
        lines = (head, self._facts, self._question, self._last)
        return Group(*(Text(one_line(line), overflow="ellipsis", no_wrap=True) for line in lines if line))


def facts_text(workspace: Workspace) -> str:
    """Stage and counts of a run, on one line."""
    run = workspace.run
    if run is None:
        return "opening"
    done = sum(section.status == "completed" for section in run.sections)
    facts = [
        STAGE_WORDS[run.stage],
        f"sources {len(run.sources)}",
        *_investigated(workspace.investigation),
        f"sections {done}/{len(run.sections)}",
    ]
    return " · ".join(facts)


def _investigated(investigation: Investigation | None) -> Iterator[str]:
    if investigation is None:
        return
    settled = sum(question.status in SETTLED_QUESTION for question in investigation.frontier)
    verified = sum(claim.status == "VERIFIED" for claim in investigation.notes.all_claims)
    waiting = len(investigation.challenges.open)
    yield f"questions {settled}/{len(investigation.frontier.questions)} settled"
    yield f"claims {len(investigation.notes.claims)}, {verified} verified"
    yield f"challenges {len(investigation.challenges.by_id)}{f', {waiting} open' if waiting else ''}"


def question_text(workspace: Workspace) -> str:
    """The question in progress, on one line; empty where none is."""
    frontier = workspace.investigation.frontier if workspace.investigation else None
    current = frontier.questions.get(frontier.working_id) if frontier else None
    return f"{current.id} {current.text}" if current and current.status == "in_progress" else ""


def spending_text(
    workspace: Workspace, *, max_steps: int = 0, budget_tokens: int = 0, budget_usd: Decimal = Decimal(0)
) -> str:
    """Requests, tokens and money spent, against what may be spent; no money where nobody is paid."""
    cap = workspace.run.limits.step_cap if workspace.run else max_steps
    tokens = f"{workspace.tokens:,} of {budget_tokens:,}" if budget_tokens else f"{workspace.tokens:,}"
    cost = workspace.cost
    money = f" · cost {dollars(cost)}" if cost is None or cost else ""
    limit = f" of {dollars(budget_usd)}" if budget_usd and money else ""
    return f"requests {workspace.called} of {min(max_steps or cap, cap)} · tokens {tokens}{money}{limit}"


def milestone_text(event: ev.AnyEvent, workspace: Workspace) -> str:
    """What a log of a run should say about an event; empty for most of them."""
    match event:
        case ev.CheckpointRecorded():
            counts = f"{len(workspace.run.sources)} sources" if workspace.run else ""
            return f"round {event.round}, {STAGE_WORDS[event.stage]} ({counts}): {one_line(event.summary, limit=160)}"
        case ev.ArtifactRecorded(role="report_section", report_section_status="completed"):
            return f"section written: {one_line(event.name)}"
        case ev.QuestionRecorded(question=question, transition=step) if _settles(step):
            told = question.answer if question.status == "resolved" else step.reason
            text = f"{question.id} {QUESTION_WORDS[question.status]}: {question.text}"
            return one_line(f"{text} -> {told}" if told else text, limit=300)
        case ev.ResearchStopped():
            return f"stopped early: {describe(event, limit=300)}"
        case ev.ModelFailed():
            return f"the model failed: {describe(event, limit=300)}"
        case _:
            return ""


def _settles(step: Transition) -> bool:
    return step.to_status in SETTLED_QUESTION and step.from_status != step.to_status
