"""What an investigation looks like from outside: counts for the status, its questions and its claims one by one."""

from collections import Counter
from dataclasses import asdict
from typing import Any

from researchdesk.state.challenge_coverage import coverage
from researchdesk.state.challenges import Challenge
from researchdesk.state.claims import Claim
from researchdesk.state.frontier import ROOT
from researchdesk.state.investigation import Investigation
from researchdesk.state.limits import Limits
from researchdesk.state.questions import Question
from researchdesk.state.verification import clusters, lacks, supporting

NO_COUNTS: dict[str, dict[str, int]] = {
    "questions": {},
    "claims": {},
    "challenges": {"open": 0},
    "coverage": {"challenged": 0, "total": 0},
}


def counts(investigation: Investigation | None) -> dict[str, dict[str, int]]:
    """Questions and claims by status, challenges by outcome, and how many of the claims were challenged."""
    if investigation is None:
        return {name: dict(nothing) for name, nothing in NO_COUNTS.items()}
    covered = coverage(investigation.challenges, investigation.notes)
    outcomes = Counter(c.outcome for c in investigation.challenges if c.outcome)
    return {
        "questions": _sorted(Counter(question.status for question in investigation.frontier)),
        "claims": _sorted(Counter(claim.status for claim in investigation.notes.all_claims)),
        "challenges": {"open": len(investigation.challenges.open), **_sorted(outcomes)},
        "coverage": {"challenged": covered.challenged, "total": covered.total},
    }


def _sorted(counted: Counter[Any]) -> dict[str, int]:
    return dict(sorted(counted.items()))


def questions_view(investigation: Investigation) -> list[dict[str, Any]]:
    """Every question with its attempts, each parent before its children, siblings by their age.

    Shape: the fields of `Question`; ``waits_for`` are the ids it still waits for, ``attempts`` the fields of `Attempt`.
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
        "attempts": [asdict(attempt) for attempt in frontier.tried(question.id)],
    }


def claims_view(investigation: Investigation, limits: Limits) -> list[dict[str, Any]]:
    """Every claim with what it stands on, in the order of the ids.

    Shape: the fields of `Claim`; ``supporting`` are the sources whose support counts, ``independent`` the clusters
    that they form (``source_ids``, ``reasons``), ``lacks`` what it needs to be VERIFIED, ``challenges`` the fields of
    `Challenge`.
    """
    return [_claim(investigation, claim, limits) for claim in investigation.notes.all_claims]


def _claim(investigation: Investigation, claim: Claim, limits: Limits) -> dict[str, Any]:
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
