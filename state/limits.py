"""Defensive bounds of a run: the fixed ones, and those that grow with the scope level.

Characters are Unicode code points, tokens are those of `state.tokens`.
"""

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

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
    same_call_repeats: int = 3
    """How often the same call may come again before it counts as a loop."""


LIMITS: dict[ScopeLevel, Limits] = {
    "quick": Limits(step_cap=40, prompt_cap=16_000, min_sources=2, target_sources=10),
    "standard": Limits(step_cap=150, prompt_cap=24_000, min_sources=5, target_sources=15),
    "deep": Limits(step_cap=500, prompt_cap=32_000, min_sources=10, target_sources=25),
}
