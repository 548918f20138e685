"""One question of the investigation, the attempts to answer it, and the transitions it went through.

Which status may follow which, and why, is the closed table `LEGAL`; nothing else can be represented.
"""

from typing import Literal, get_args

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from researchdesk.state.vocabulary import Actor, AttemptKind, Cause, QuestionKind, QuestionStatus, Trigger

_RECORD = ConfigDict(extra="forbid")
DEFAULT_PRIORITY = 50
TOP_PRIORITY = 100
SETTLED_QUESTION: frozenset[QuestionStatus] = frozenset({"resolved", "unresolvable", "pruned"})
STATUSES: tuple[QuestionStatus, ...] = get_args(QuestionStatus)


@dataclass(frozen=True, slots=True, kw_only=True, config=_RECORD)
class Question:
    """A question as it stands after its transition ``trans_seq``.

    ``created_seq`` counts the run's questions from 1. ``answer`` and ``claim_ids`` are those of the last time it was
    resolved; a reopened question keeps them for whoever takes it up. ``attempts_before`` is how many searches were
    spent when it was last reopened, so that it gets every try again.
    """

    id: str
    parent_id: str
    depth: int
    kind: QuestionKind
    text: str
    why: str = ""
    status: QuestionStatus
    priority: int = DEFAULT_PRIORITY
    depends_on: tuple[str, ...] = ()
    answer: str = ""
    claim_ids: tuple[str, ...] = ()
    assumption: str = ""
    reopens: int = 0
    attempts_before: int = 0
    created_seq: int
    trans_seq: int
    reason: str = ""
    """Why a search or a challenge that its answer needed was not made; "" where none was left out."""


@dataclass(frozen=True, slots=True, kw_only=True, config=_RECORD)
class Transition:
    """One change of a question's status or priority; ``seq`` counts the question's transitions from 1."""

    question_id: str
    seq: int
    from_status: QuestionStatus | Literal[""]
    to_status: QuestionStatus
    trigger: Trigger
    actor: Actor
    reason: str
    priority: int
    """The priority after it."""


@dataclass(frozen=True, slots=True, kw_only=True, config=_RECORD)
class Attempt:
    """Something that was tried for a question: a search, the search of a challenge, or a fetch.

    ``query`` is the query or, for a fetch, the locator. ``results`` is None while the attempt is only announced.
    ``under`` is the search that a fetch followed. ``cause`` says why nothing came: no evidence was there, or the
    infrastructure failed; it is empty where something came.
    """

    id: str
    question_id: str
    seq: int
    kind: AttemptKind
    query: str
    outcome: str
    results: int | None
    challenge_id: str = ""
    under: str = ""
    cause: Cause | Literal[""] = ""

    @property
    def found(self) -> bool:
        """It ran and something came of it."""
        return bool(self.results)


_SAME = tuple((status, status, "reprioritized") for status in STATUSES)
LEGAL: frozenset[tuple[str, str, str]] = frozenset(
    {
        ("", "pending", "created"),
        ("pending", "in_progress", "selected"),
        ("pending", "blocked", "dependency_blocked"),
        ("blocked", "pending", "dependency_unblocked"),
        ("in_progress", "pending", "dependency_added"),
        ("in_progress", "resolved", "resolved"),
        ("in_progress", "unresolvable", "attempts_exhausted"),
        ("resolved", "pending", "reopened"),
        ("unresolvable", "pending", "reopened"),
        ("pending", "pruned", "pruned"),
        ("blocked", "pruned", "pruned"),
        *_SAME,
    }
)
# The objective is always being worked on: it is never pending, so it is never selected either.
LEGAL_ROOT: frozenset[tuple[str, str, str]] = frozenset(
    {
        ("", "in_progress", "created"),
        ("in_progress", "resolved", "resolved"),
        ("in_progress", "unresolvable", "attempts_exhausted"),
        ("resolved", "in_progress", "reopened"),
        ("unresolvable", "in_progress", "reopened"),
        *(step for step in _SAME if step[0] in ("in_progress", "resolved", "unresolvable")),
    }
)


def is_legal(kind: QuestionKind, step: Transition) -> bool:
    """Whether a question of that kind may make the step."""
    table = LEGAL_ROOT if kind == "objective" else LEGAL
    return (step.from_status, step.to_status, step.trigger) in table
