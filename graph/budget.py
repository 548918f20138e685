"""Budgets and breakers: what a run may still spend, and why it has to stop, checked before every request."""

import time
from dataclasses import dataclass, field

from researchdesk.state.run import ResearchRun
from researchdesk.state.vocabulary import StopReason
from researchdesk.state.workspace import Workspace

SILENT_ANSWERS = 3
FAILURES = 3
LOOP_WINDOW = 24
OUTPUT_TOKENS = 4_000
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

    ``wall_seconds`` counts from the moment this process took up the run.
    """

    max_steps: int = 0
    tokens: int = 0
    wall_seconds: int = 0
    started: float = field(default_factory=lambda: time.monotonic())

    def steps(self, run: ResearchRun) -> int:
        """Requests allowed in all."""
        return self.max_steps or run.limits.step_cap

    def left(self, workspace: Workspace) -> dict[str, int | None]:
        """What is left, for the prompt: steps, tokens, and the part of each that is kept for writing."""
        run = workspace.run
        assert run is not None
        steps = self.steps(run)
        return {
            "steps_left": max(0, steps - workspace.called),
            "writing_steps": steps - max(1, int(steps * (1 - run.limits.writing_reserve))),
            "tokens_left": max(0, self.tokens - workspace.tokens) if self.tokens else None,
            "writing_reserve": int(self.tokens * run.limits.writing_reserve) if self.tokens else None,
        }

    def prompt_cap(self, workspace: Workspace) -> int:
        """Tokens of the next prompt: the scope's cap, less where the token budget would not last for some turns."""
        run = workspace.run
        assert run is not None
        if not self.tokens:
            return run.limits.prompt_cap
        gathers = run.stage == "knowledge_base"
        share = 1 - run.limits.writing_reserve if gathers else 1
        left = int(self.tokens * share) - workspace.tokens
        ahead = left // (TURNS_AHEAD if gathers else 2)
        return min(run.limits.prompt_cap, max(SMALLEST_PROMPT, ahead))

    def stop(self, workspace: Workspace, *, next_tokens: int) -> Stop | None:
        """Why the next request must not be made in this stage, or None when it may.

        Args:
            next_tokens: estimated tokens of the request, without its answer.
        """
        run = workspace.run
        assert run is not None
        return _behaviour(workspace, run) or self._spending(workspace, run, next_tokens + OUTPUT_TOKENS)

    def _spending(self, workspace: Workspace, run: ResearchRun, next_tokens: int) -> Stop | None:
        share = 1 - run.limits.writing_reserve if run.stage == "knowledge_base" else 1
        steps = max(1, int(self.steps(run) * share))
        if workspace.called >= steps:
            kept = self.steps(run) - steps
            reserve = f", {kept} more are kept for writing" if kept else ""
            return Stop(
                reason="step_cap", detail=f"{workspace.called} of {steps} requests were made{reserve}"
            )
        if self.tokens and workspace.tokens + next_tokens > self.tokens * share:
            return Stop(
                reason="budget_tokens",
                detail=f"{workspace.tokens:,} of {int(self.tokens * share):,} tokens are spent, "
                f"the next request needs about {next_tokens:,}"
                + (f", {self.tokens - int(self.tokens * share):,} are kept for writing" if share < 1 else ""),
            )
        elapsed = time.monotonic() - self.started
        if self.wall_seconds and elapsed > self.wall_seconds * share:
            return Stop(
                reason="wall_time", detail=f"{elapsed:.0f} of {self.wall_seconds} seconds have passed"
            )
        return None


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
    turns = {call.turn_id for call in recent if call.input_digest == recent[-1].input_digest}
    if len(turns) >= repeats:
        return Stop(reason="loop", detail=f"the call {recent[-1].name} came in {repeats} answers")
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
