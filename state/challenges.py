"""Challenges: attempts to break a claim, an answer or the conclusion, and how each came out.

A challenge is opened before its search runs and closed once. A search that failed proves nothing: its challenge can
only close as inconclusive by infrastructure, and then neither its strategy nor its query counts as used.
"""

from __future__ import annotations  # the persistent maps are generic for type checkers only

from collections.abc import Iterator
from dataclasses import dataclass as plain_dataclass
from dataclasses import field, replace
from typing import Literal, get_args

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass
from rpds import HashTrieMap

from researchdesk.state.desk.markup import table
from researchdesk.state.errors import Refusal
from researchdesk.state.frontier import ROOT, Frontier
from researchdesk.state.ids import numbered
from researchdesk.state.notes import Notes, claim_of
from researchdesk.state.questions import Attempt, Question
from researchdesk.state.vocabulary import Cause, ChallengeStatus, Outcome, Strategy, TargetKind

CONCLUSION = "conclusion"
STRATEGIES: tuple[str, ...] = get_args(Strategy)


@dataclass(frozen=True, slots=True, kw_only=True, config=ConfigDict(extra="forbid"))
class Challenge:
    """One challenge; ``target_id`` is a claim, a question, or the word conclusion."""

    id: str
    target_kind: TargetKind
    target_id: str
    strategy: Strategy
    negation: str
    expected_if_false: str
    query: str
    status: ChallengeStatus = "open"
    outcome: Outcome | Literal[""] = ""
    evidence: str = ""
    source_ids: tuple[str, ...] = ()
    result_claim_id: str = ""
    attempt_id: str = ""
    cause: Cause | Literal[""] = ""

    @property
    def failed(self) -> bool:
        """Its search never ran, so that it says nothing and does not count."""
        return self.cause == "infrastructure"

    @property
    def ran(self) -> bool:
        """It was brought to an end that says something about its target."""
        return self.status == "closed" and not self.failed


@plain_dataclass(frozen=True, slots=True, kw_only=True)
class Challenges:
    """All challenges by id, and the ids of each target in order."""

    by_id: HashTrieMap[str, Challenge] = field(default_factory=HashTrieMap)
    by_target: HashTrieMap[str, tuple[str, ...]] = field(default_factory=HashTrieMap)

    def __iter__(self) -> Iterator[Challenge]:
        """All challenges, oldest first."""
        return (self.by_id[numbered("ch", n)] for n in range(1, len(self.by_id) + 1))

    def of(self, target_id: str) -> tuple[Challenge, ...]:
        """The challenges of a claim, of a question's answer, or of the conclusion."""
        return tuple(self.by_id[key] for key in self.by_target.get(target_id) or ())

    def survived(self, target_id: str) -> int:
        """How many challenges the target survived."""
        return sum(challenge.outcome == "survived" for challenge in self.of(target_id))

    @property
    def open(self) -> tuple[Challenge, ...]:
        """The challenges that have no outcome yet."""
        return tuple(challenge for challenge in self if challenge.status == "open")

    def _repr_html_(self) -> str:
        columns = ("challenge", "of", "strategy", "outcome", "searched for", "found")
        rows = (
            (
                *(made.id, made.target_id, made.strategy),
                *(
                    "/".join(filter(None, (made.outcome or made.status, made.cause))),
                    made.query,
                    made.evidence,
                ),
            )
            for made in self
        )
        return table(columns, rows, caption=f"Challenges: {len(self.by_id)}")


@plain_dataclass(frozen=True, slots=True, kw_only=True)
class Challenged:
    """The challenges after an operation, and the one that it was about."""

    challenges: Challenges
    challenge: Challenge


def question_of_challenge(challenge: Challenge, notes: Notes) -> str:
    """The question whose attempts hold the challenge's search."""
    match challenge.target_kind:
        case "claim":
            return notes.claims[challenge.target_id].question_id or ROOT
        case "question_answer":
            return challenge.target_id
        case "conclusion":
            return ROOT


def link_attempt(challenges: Challenges, challenge_id: str, attempt: Attempt) -> Challenged:
    """The challenge with the search that was run for it; a later search takes the place of a failed one.

    Raises:
        Refusal: ``unknown_challenge`` or ``wrong_status``.
    """
    challenge = challenge_of(challenges, challenge_id)
    if challenge.status == "closed":
        raise Refusal("wrong_status", f"{challenge_id} is closed")
    changed = replace(challenge, attempt_id=attempt.id)
    return Challenged(challenges=put_challenge(challenges, changed), challenge=changed)


def challenge_of(challenges: Challenges, challenge_id: str) -> Challenge:
    """The challenge of that id.

    Raises:
        Refusal: ``unknown_challenge``, with the ids that exist.
    """
    found = challenges.by_id.get(challenge_id)
    if found is None:
        many = len(challenges.by_id)
        have = f"it has ch_001..{numbered('ch', many)}" if many else "it has none"
        raise Refusal("unknown_challenge", f"no challenge '{challenge_id}' in this run; {have}")
    return found


@plain_dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """How a challenge came out, as somebody reports it."""

    outcome: str
    evidence: str = ""
    source_ids: tuple[str, ...] = ()
    result_claim_id: str = ""


def close_challenge(
    challenges: Challenges, challenge_id: str, result: Result, *, frontier: Frontier, notes: Notes
) -> Challenged:
    """The challenge with its outcome; the outcome's effect on its target is `state.outcomes`' part.

    Raises:
        Refusal: ``unknown_challenge``, ``wrong_status`` (closed already), ``unknown_outcome``, ``evidence_required``,
            ``unknown_source``, ``unknown_claim``, ``search_required`` or ``search_failed``.
    """
    challenge = challenge_of(challenges, challenge_id)
    if challenge.status == "closed":
        raise Refusal("wrong_status", f"{challenge_id} is closed already ({challenge.outcome})")
    if result.outcome not in get_args(Outcome):
        raise Refusal(
            "unknown_outcome", f"no outcome '{result.outcome}'; there are {', '.join(get_args(Outcome))}"
        )
    _check_result(challenge, result, notes)
    run = frontier.attempts.get(challenge.attempt_id)
    changed = replace(
        challenge,
        status="closed",
        outcome=result.outcome,  # type: ignore[arg-type]
        evidence=result.evidence.strip(),
        source_ids=tuple(dict.fromkeys(result.source_ids)),
        result_claim_id=result.result_claim_id,
        cause=_cause(challenge, result.outcome, run),
    )
    return Challenged(challenges=put_challenge(challenges, changed), challenge=changed)


def _check_result(challenge: Challenge, result: Result, notes: Notes) -> None:
    breaks = result.outcome in ("weakened", "refuted")
    if breaks and (not result.source_ids or not result.evidence.strip()):
        raise Refusal(
            "evidence_required",
            f"{challenge.id}: {result.outcome} needs at least one source id and the evidence in words",
        )
    for key in result.source_ids:
        if key not in notes.sources:
            raise Refusal("unknown_source", f"no source '{key}' in this run; archive it first")
    if result.result_claim_id:
        claim_of(notes, result.result_claim_id)


def _cause(challenge: Challenge, outcome: str, run: Attempt | None) -> Cause | Literal[""]:
    """Why an inconclusive challenge is so; refuses what its search cannot bear."""
    unran = run is None or run.results is None or run.cause == "infrastructure"
    if outcome == "inconclusive":
        return "infrastructure" if unran else "evidence"
    if run is not None and run.cause == "infrastructure":
        raise Refusal(
            "search_failed",
            f"the search of {challenge.id} failed ({run.outcome}); retry it, or close it as inconclusive",
        )
    if outcome == "survived" and unran:
        raise Refusal(
            "search_required", f"{challenge.id} has not been searched; survived needs a search that ran"
        )
    if run is not None and run.results == 0:
        raise Refusal(
            "search_required",
            f"the search of {challenge.id} found nothing, which proves nothing; close it as inconclusive",
        )
    return ""


def put_challenge(challenges: Challenges, challenge: Challenge) -> Challenges:
    """The challenges with one put in, new or in place of what it was; nothing else is checked."""
    order = challenges.by_target
    if challenge.id not in challenges.by_id:
        order = order.insert(challenge.target_id, (*(order.get(challenge.target_id) or ()), challenge.id))
    return Challenges(by_id=challenges.by_id.insert(challenge.id, challenge), by_target=order)


def requires_answer_challenge(question: Question) -> bool:
    """The objective's answer and those right under it are challenged before they stand."""
    return question.depth <= 1


def answer_was_challenged(challenges: Challenges, question_id: str) -> bool:
    """A challenge of the question's answer ran and is closed."""
    return any(challenge.ran for challenge in challenges.of(question_id))
