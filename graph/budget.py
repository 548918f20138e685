"""Budgets and breakers: what a run may still spend, and why it has to stop, checked before every request."""

import math
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal

from researchdesk.state.prices import Price, cost
from researchdesk.state.run import ResearchRun
from researchdesk.state.vocabulary import StopReason
from researchdesk.state.workspace import Workspace

SILENT_ANSWERS = 3
FAILURES = 6
"""Tries of one request: with the waits between them they outlast a short outage."""
LOOP_WINDOW = 24
OUTPUT_TOKENS = 4_000
LONG_OUTPUT_TOKENS = 16_000
"""What is reckoned with where a model's own limit is higher: few answers come near a limit of 128,000."""
TURNS_AHEAD = 4
"""Turns that a token budget is to last for, so that a small one makes small prompts and not one big one."""
SMALLEST_PROMPT = 11_000
"""A prompt with less room shows too little of what was read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """Why no further request is made."""

    reason: StopReason
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """The caps of one run; the writing reserve is a share that only the report may use.

    ``wall_seconds`` counts from the moment this process took up the run. ``usd`` needs a ``price``. ``max_output`` is
    what the model itself limits its answers to, 0 where it does not.
    """

    max_steps: int = 0
    tokens: int = 0
    usd: Decimal = Decimal(0)
    price: Price | None = None
    wall_seconds: int = 0
    max_output: int = 0
    started: float = field(default_factory=lambda: time.monotonic())

    def steps(self, run: ResearchRun) -> int:
        """Requests allowed in all."""
        return self.max_steps or run.limits.step_cap

    def left(self, workspace: Workspace) -> dict[str, int | float | None]:
        """What is left, for the prompt: steps, tokens, money, and the part of each that is kept for writing."""
        run = workspace.run
        assert run is not None
        steps = self.steps(run)
        left: dict[str, int | float | None] = {
            "steps_left": max(0, steps - workspace.called),
            "writing_steps": steps - max(1, int(steps * (1 - run.limits.writing_reserve))),
            "tokens_left": max(0, self.tokens - workspace.tokens) if self.tokens else None,
            "writing_reserve": int(self.tokens * run.limits.writing_reserve) if self.tokens else None,
        }
        if self.usd and workspace.cost is not None:
            left["usd_left"] = float(round(max(Decimal(0), self.usd - workspace.cost), 4))
        return left

    def wall_left(self) -> float:
        """Seconds until the time is over; infinite where it is not limited."""
        return (
            max(0.0, self.started + self.wall_seconds - time.monotonic()) if self.wall_seconds else math.inf
        )

    def prompt_cap(self, workspace: Workspace) -> int:
        """Tokens of the next prompt: the scope's cap, less where a budget would not last for some turns."""
        run = workspace.run
        assert run is not None
        turns = TURNS_AHEAD if run.stage == "knowledge_base" else 2
        caps = [run.limits.prompt_cap]
        if self.tokens:
            caps.append((int(self.tokens * _share(run)) - workspace.tokens) // turns)
        if self.usd and self.price and workspace.cost is not None:
            caps += self._affordable(self.price, (self._usd(run) - workspace.cost) / turns, workspace)
        return min(run.limits.prompt_cap, max(SMALLEST_PROMPT, min(caps)))

    def _affordable(self, price: Price, money: Decimal, workspace: Workspace) -> Iterator[int]:
        """Tokens of a prompt that can be paid for, with an answer of the length that is reckoned with."""
        answer = cost(price, input_tokens=0, output_tokens=self.answer_tokens(workspace))
        if each := cost(price, input_tokens=1):
            yield int((money - answer) / each)

    def answer_tokens(self, workspace: Workspace) -> int:
        """Tokens that the next answer is reckoned with.

        The model's own limit where it is low, else a usual length or that of the longest answer so far: an answer that
        is longer than every one before it is the only thing that can go beyond a budget.
        """
        usual = min(self.max_output or OUTPUT_TOKENS, LONG_OUTPUT_TOKENS)
        longest = max(usual, workspace.spending.largest_output)
        return min(longest, self.max_output) if self.max_output else longest

    def stop(self, workspace: Workspace, *, next_tokens: int) -> Stop | None:
        """Why the next request must not be made in this stage, or None when it may.

        Args:
            next_tokens: estimated tokens of the request, without its answer.
        """
        run = workspace.run
        assert run is not None
        return (
            _behaviour(workspace, run)
            or self._steps_spent(workspace, run)
            or self._tokens_spent(workspace, run, next_tokens)
            or self._money_spent(workspace, run, next_tokens)
            or self._time_spent(run)
        )

    def _steps_spent(self, workspace: Workspace, run: ResearchRun) -> Stop | None:
        steps = max(1, int(self.steps(run) * _share(run)))
        if workspace.called < steps:
            return None
        kept = self.steps(run) - steps
        reserve = f", {kept} more are kept for writing" if kept else ""
        return Stop(reason="step_cap", detail=f"{workspace.called} of {steps} requests were made{reserve}")

    def _tokens_spent(self, workspace: Workspace, run: ResearchRun, next_tokens: int) -> Stop | None:
        allowed = int(self.tokens * _share(run))
        needed = next_tokens + self.answer_tokens(workspace)
        if not self.tokens or workspace.tokens + needed <= allowed:
            return None
        kept = self.tokens - allowed
        reserve = f", {kept:,} are kept for writing" if kept else ""
        return Stop(
            reason="budget_tokens",
            detail=f"{workspace.tokens:,} of {allowed:,} tokens are spent, "
            f"the next request needs about {needed:,}{reserve}",
        )

    def _money_spent(self, workspace: Workspace, run: ResearchRun, next_tokens: int) -> Stop | None:
        spent, allowed = workspace.cost, self._usd(run)
        if not self.usd or self.price is None or spent is None:
            return None
        needed = cost(self.price, input_tokens=next_tokens, output_tokens=self.answer_tokens(workspace))
        if spent + needed <= allowed:
            return None
        kept = self.usd - allowed
        reserve = f", ${kept:.4f} are kept for writing" if kept else ""
        return Stop(
            reason="budget_usd",
            detail=f"${spent:.4f} of ${allowed:.4f} are spent, the next request needs about ${needed:.4f}{reserve}",
        )

    def _usd(self, run: ResearchRun) -> Decimal:
        return self.usd * Decimal(str(_share(run)))

    def _time_spent(self, run: ResearchRun) -> Stop | None:
        elapsed = time.monotonic() - self.started
        if not self.wall_seconds or elapsed <= self.wall_seconds * _share(run):
            return None
        return Stop(reason="wall_time", detail=f"{elapsed:.0f} of {self.wall_seconds} seconds have passed")


def _share(run: ResearchRun) -> float:
    """The share of a budget that a run's stage may use."""
    return 1 - run.limits.writing_reserve if run.stage == "knowledge_base" else 1


def _behaviour(workspace: Workspace, run: ResearchRun) -> Stop | None:
    """A model that is gone, silent, circling or idle."""
    failure = workspace.last_failure
    if failure and (
        workspace.failures_in_row >= FAILURES or (workspace.failures_in_row and not _passing(failure.code))
    ):
        return Stop(reason="model_unavailable", detail=failure.detail)
    if workspace.silent_answers >= SILENT_ANSWERS:
        return Stop(
            reason="no_progress", detail=f"the model gave {SILENT_ANSWERS} answers without a tool call"
        )
    # Looking at the same thing again is no loop while something comes of the answers between.
    since = max(workspace.resumed_after, workspace.gained_turn)
    recent = [
        call
        for call in workspace.recent_calls[-LOOP_WINDOW:]
        if call.turn_id and int(call.turn_id.removeprefix("t_")) > since
    ]
    repeats = run.limits.same_call_repeats
    # One answer that holds a call several times is clumsy, not a loop.
    turns = Counter(digest for _, digest in {(call.turn_id, call.input_digest) for call in recent})
    again = next((call for call in recent if turns[call.input_digest] >= repeats), None)
    if again is not None:
        return Stop(reason="loop", detail=f"the call {again.name} came in {repeats} answers")
    idle = workspace.answered - workspace.progress_turn
    if idle >= run.limits.no_progress_turns:
        return Stop(reason="no_progress", detail=f"{idle} answers in a row brought nothing new")
    barren = workspace.answered - workspace.gained_turn
    if barren >= run.limits.stalled_turns:
        return Stop(
            reason="no_progress", detail=f"{barren} answers in a row brought no source, no note, no status"
        )
    return None


def _passing(code: str) -> bool:
    """Whether a failure may be gone at the next try."""
    return code == "transient"
