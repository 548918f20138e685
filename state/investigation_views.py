"""What an investigation looks like from outside: counts for the status, its questions and its claims one by one."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

from researchdesk.state.challenge_coverage import coverage
from researchdesk.state.challenges import Challenge
from researchdesk.state.claims import Claim
from researchdesk.state.frontier import ROOT
from researchdesk.state.investigation import Investigation
from researchdesk.state.limits import Limits
from researchdesk.state.questions import Attempt, Question
from researchdesk.state.verification import clusters, lacks, supporting

QUESTIONS_COVERED = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """Of ``total`` claims so many were challenged, and so many are VERIFIED; retracted claims are no part of it."""

    challenged: int
    total: int
    verified: int


def checked(investigation: Investigation) -> Checked:
    """How far the claims were checked."""
    covered = coverage(investigation.challenges, investigation.notes)
    verified = sum(claim.status == "VERIFIED" for claim in investigation.notes.all_claims)
    return Checked(challenged=covered.challenged, total=covered.total, verified=verified)


def checked_by_question(investigation: Investigation) -> dict[str, Checked]:
    """How far the claims of each question were checked, for those that have any, in the order of the ids."""
    verified = Counter(
        claim.question_id or ROOT for claim in investigation.notes.all_claims if claim.status == "VERIFIED"
    )
    rows = coverage(investigation.challenges, investigation.notes).by_question
    return {key: Checked(challenged=done, total=total, verified=verified[key]) for key, done, total in rows}


def checked_with_parts(investigation: Investigation) -> dict[str, Checked]:
    """How far the claims of each question and of all questions under it were checked; the objective has them all."""
    own, frontier = checked_by_question(investigation), investigation.frontier
    return {
        question.id: _sum(
            own[key.id] for key in (question, *frontier.descendants(question.id)) if key.id in own
        )
        for question in frontier
    }


def _sum(parts: Iterable[Checked]) -> Checked:
    found = list(parts)
    return Checked(
        challenged=sum(part.challenged for part in found),
        total=sum(part.total for part in found),
        verified=sum(part.verified for part in found),
    )


def unchecked(investigation: Investigation) -> dict[str, int]:
    """Why claims count as not checked, retracted ones aside.

    Keys: ``search_failed``, ``open`` (a challenge has no outcome yet), ``not_challenged``.
    """
    found = {"search_failed": 0, "open": 0, "not_challenged": 0}
    for claim in investigation.notes.all_claims:
        challenges = investigation.challenges.of(claim.id)
        if claim.status != "RETRACTED" and not any(challenge.ran for challenge in challenges):
            still_open = any(challenge.status == "open" for challenge in challenges)
            found["open" if still_open else "search_failed" if challenges else "not_challenged"] += 1
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Lacking:
    """Of ``total`` UNVERIFIED claims so many need an independent source, so many a survived challenge; some both."""

    total: int
    sources: int
    challenges: int


def lacking(investigation: Investigation, limits: Limits) -> Lacking:
    """What the claims that are not VERIFIED lack, as a whole; those that fell lack nothing any more."""
    notes, challenges = investigation.notes, investigation.challenges
    waiting = [claim for claim in notes.all_claims if claim.status == "UNVERIFIED"]
    return Lacking(
        total=len(waiting),
        sources=sum(len(clusters(c, notes.sources)) < limits.min_independent_sources for c in waiting),
        challenges=sum(challenges.survived(c.id) < limits.min_challenges for c in waiting),
    )


def outcomes(challenges: Iterable[Challenge]) -> dict[str, int]:
    """How many challenges came out how.

    Keys: the outcomes that occur; ``infrastructure`` for those whose search failed, which say nothing; ``open``.
    """
    found = Counter("infrastructure" if c.failed else c.outcome or "open" for c in challenges)
    return {"open": found.pop("open", 0), **dict(sorted(found.items()))}


def counts(investigation: Investigation | None) -> dict[str, Any]:
    """The part of the status that tells of an investigation; all of it is empty where there is none.

    Keys: ``questions`` and ``claims`` by status; ``question_in_progress`` (``id``, ``text``), the objective where no
    other is, or null; ``challenges`` as in `outcomes`; ``coverage`` with ``challenged``, ``total``,
    ``verified`` and, for the first `QUESTIONS_COVERED` questions, ``by_question``.
    """
    held = investigation or Investigation()
    frontier = held.frontier
    current = frontier.questions.get(frontier.working_id)
    working = current is not None and current.status == "in_progress"
    return {
        "questions": dict(sorted(Counter(question.status for question in frontier).items())),
        "question_in_progress": {"id": current.id, "text": current.text} if current and working else None,
        "claims": dict(sorted(Counter(claim.status for claim in held.notes.all_claims).items())),
        "challenges": outcomes(held.challenges),
        "coverage": {**asdict(checked(held)), "by_question": coverage_view(held)},
    }


def coverage_view(investigation: Investigation) -> list[dict[str, Any]]:
    """How far the claims of each question were checked, for the first `QUESTIONS_COVERED` that have any.

    Shape: ``question_id, challenged, total, verified``.
    """
    found = checked_by_question(investigation).items()
    return [{"question_id": key, **asdict(of)} for key, of in islice(found, QUESTIONS_COVERED)]


def questions_view(investigation: Investigation) -> list[dict[str, Any]]:
    """Every question with its attempts, each parent before its children, siblings by their age.

    Shape: the fields of `Question`; ``waits_for`` are the ids it still waits for, ``attempts`` the fields of `Attempt`
    with ``challenge`` (``outcome``, ``evidence``), how the challenge came out that it was made for, or null.
    """
    frontier = investigation.frontier
    if ROOT not in frontier.questions:
        return []
    return [_question(investigation, q) for q in (frontier.root, *frontier.descendants(ROOT))]


def _question(investigation: Investigation, question: Question) -> dict[str, Any]:
    frontier = investigation.frontier
    return {
        **asdict(question),
        "waits_for": [other.id for other in frontier.waits_for(question)],
        "attempts": [_attempt(investigation, attempt) for attempt in frontier.tried(question.id)],
    }


def _attempt(investigation: Investigation, attempt: Attempt) -> dict[str, Any]:
    made = investigation.challenges.by_id.get(attempt.challenge_id)
    told = {"outcome": outcome(made), "evidence": made.evidence} if made else None
    return {**asdict(attempt), "challenge": told}


def claims_view(investigation: Investigation, limits: Limits) -> list[dict[str, Any]]:
    """Every claim with what it stands on, in the order of the ids.

    Shape: the fields of `Claim`; ``supporting`` are the sources whose support counts, ``independent`` the clusters
    that they form (``source_ids``, ``reasons``), ``lacks`` what it needs to be VERIFIED, ``challenges`` the fields of
    `Challenge`.
    """
    return [claim_view(investigation, claim, limits) for claim in investigation.notes.all_claims]


def claim_view(investigation: Investigation, claim: Claim, limits: Limits) -> dict[str, Any]:
    """One claim as in `claims_view`."""
    sources, challenges = investigation.notes.sources, investigation.challenges
    missing = lacks(claim, sources, challenges, limits) if claim.status == "UNVERIFIED" else ()
    return {
        **asdict(claim),
        "supporting": [source.id for source in supporting(claim, sources)],
        "independent": [asdict(cluster) for cluster in clusters(claim, sources)],
        "lacks": list(missing),
        "challenges": [asdict(challenge) for challenge in challenges.of(claim.id)],
    }


def outcome(challenge: Challenge) -> str:
    """How a challenge stands, in one word, with the cause of an inconclusive one."""
    if challenge.status == "open":
        return "open"
    return f"{challenge.outcome}/{challenge.cause}" if challenge.cause else challenge.outcome
