"""Defensive bounds of a run: the fixed ones, and those that grow with the scope level.

Characters are Unicode code points, tokens are those of `state.tokens`.
"""

from dataclasses import replace
from typing import Any

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from researchdesk.state.errors import UsageError
from researchdesk.state.vocabulary import ScopeLevel

OBJECTIVE_CHARS = 2_000
NAME_CHARS = 240
LOCATOR_CHARS = 4_096
CHECKPOINT_CHARS = 4_000
CHECKPOINT_ITEM_CHARS = 1_000
CHECKPOINT_ITEMS = 50
STEP_CHARS = 2_000
LIST_ITEMS = 50
REFERENCES = 100
BODY_CHARS = 512_000
ARCHIVED_CHARS = 5_000_000
READ_CHARS = 64_000
READ_CHARS_DEFAULT = 32_000
ARTIFACTS = 2_000
STEPS = 500
CHECKPOINTS = 500
CHECKLIST_ITEMS = 50
INSPECTED_REFS = 200
STATUS_ARTIFACTS = 100
CALLS_PER_TURN = 16
HANDOFF_PROMPT_CHARS = 12_000
QUERY_CHARS = 1_000
SEARCH_RESULTS = 50
SNIPPET_CHARS = 700
SCRATCH_CHARS = 8_000
QUESTION_CHARS = 1_000
NOTE_CHARS = 4_000
QUOTE_CHARS = 2_000
MIN_INDEPENDENT_SOURCES = 2
MIN_CHALLENGES = 1
RESULT_TOKENS = 500
"""What the result of a tool that works on the desk may cost a model at most."""


@dataclass(frozen=True, slots=True, kw_only=True, config=ConfigDict(extra="forbid"))
class Limits:
    """What one scope level allows; recorded when the run starts, so that a replay keeps it."""

    step_cap: int
    """Model answers in one run."""
    prompt_cap: int
    """Estimated tokens of one prompt."""
    min_sources: int
    """Fetched sources before the report may be written, where the corpus can give them."""
    target_sources: int
    """Fetched sources that the model is asked to reach."""
    writing_reserve: float = 0.25
    """Share of the step and token budgets that only the report may use."""
    no_progress_turns: int = 4
    """Answers in a row none of whose calls was new and worked, which end the run's stage."""
    stalled_turns: int = 8
    """Answers in a row that brought no source, claim, other note, settled question, challenge or artifact."""
    same_call_repeats: int = 3
    """How often the same call may come again before it counts as a loop."""
    max_depth: int = 3
    """Depth of the deepest question; the objective has depth 0."""
    max_attempts: int = 4
    """Searches for one question before it is given up."""
    max_questions: int = 40
    """Questions of one run, the objective and the pruned ones included."""
    min_domains: int = 3
    """Origins of fetched sources before the report may be written, where the corpus can give them."""
    max_challenges_per_target: int = 3
    max_reopens: int = 1
    """How often one question may be taken up again after it was settled."""
    notes_max_tokens: int = 6_000
    """Estimated tokens of the notes in a prompt."""
    extraction_threshold: int = 4
    """Fetches in a row without a note before only note tools are offered."""
    min_independent_sources: int = Field(default=MIN_INDEPENDENT_SOURCES, ge=MIN_INDEPENDENT_SOURCES)
    """Independent sources that a claim needs to be VERIFIED; a floor, no option lowers it."""
    min_challenges: int = Field(default=MIN_CHALLENGES, ge=MIN_CHALLENGES)
    """Challenges that a claim has to survive to be VERIFIED; a floor, no option lowers it."""


LIMITS: dict[ScopeLevel, Limits] = {
    "quick": Limits(
        step_cap=40,
        prompt_cap=16_000,
        min_sources=2,
        target_sources=10,
        max_depth=2,
        max_attempts=2,
        max_questions=12,
        min_domains=1,
        notes_max_tokens=3_000,
        extraction_threshold=3,
    ),
    "standard": Limits(step_cap=150, prompt_cap=24_000, min_sources=5, target_sources=15),
    "deep": Limits(
        step_cap=500,
        prompt_cap=32_000,
        min_sources=10,
        target_sources=25,
        max_depth=4,
        max_attempts=6,
        max_questions=100,
        min_domains=4,
        max_challenges_per_target=4,
        max_reopens=2,
        notes_max_tokens=9_000,
        extraction_threshold=5,
    ),
}


def override(limits: Limits, **changes: Any) -> Limits:
    """The limits with some of them changed for one run.

    Raises:
        UsageError: no such limit, a value of another kind, or one below a floor.
    """
    try:
        return replace(limits, **changes)
    except (TypeError, ValueError) as problem:
        floors = f"min_independent_sources >= {MIN_INDEPENDENT_SOURCES}, min_challenges >= {MIN_CHALLENGES}"
        detail = " ".join(str(problem).split())[:200]
        raise UsageError(f"these limits cannot be set ({detail}); floors: {floors}") from None
