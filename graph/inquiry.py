"""The part of a prompt that shows the investigation: the question in progress, the notes, the open challenges.

Nothing grows with the run: each list is cut to its share of the room, and what is left out is reachable by id
through the tools.
"""

from collections.abc import Collection, Iterable
from typing import Any

from researchdesk.graph.fitting import cost, cut, fit, head, shares
from researchdesk.state.challenge_coverage import coverage, next_to_challenge
from researchdesk.state.challenges import Challenge
from researchdesk.state.claims import Claim
from researchdesk.state.frontier import Frontier
from researchdesk.state.frontier_summary import summary
from researchdesk.state.investigation import Investigation
from researchdesk.state.limits import Limits
from researchdesk.state.questions import Question
from researchdesk.state.verification import lacks

ATTEMPTS_SHOWN = 8
NEXT_CHALLENGES = 16
QUOTE_SHOWN = 600
"""Characters of a quote in a prompt; it stands whole in the notes."""
FRONTIER_SHARE, QUESTIONS_SHARE, CHALLENGES_SHARE, RECORDS_SHARE = 0.10, 0.08, 0.10, 0.24


def inquiry_view(investigation: Investigation, limits: Limits, *, room: int) -> dict[str, Any]:
    """The questions and challenges, within shares of ``room``."""
    frontier = investigation.frontier
    covered = coverage(investigation.challenges, investigation.notes)
    questions = (_question(question) for question in _most_wanted(frontier))
    open_challenges = (_challenge(frontier, challenge) for challenge in investigation.challenges.open)
    waiting = next_to_challenge(investigation.challenges, investigation.notes)
    text = summary(frontier, frontier.current_id, limits)
    return {
        "frontier": _lines(text, int(room * FRONTIER_SHARE)),
        "question": _working(frontier, limits, room=int(room * QUESTIONS_SHARE)),
        "questions": sorted(fit(questions, int(room * QUESTIONS_SHARE)), key=_by_number),
        "challenges": fit(open_challenges, int(room * CHALLENGES_SHARE)),
        "challenge_next": list(waiting[:NEXT_CHALLENGES]),
        "coverage": {
            "challenged": covered.challenged,
            "total": covered.total,
            "verified": sum(claim.status == "VERIFIED" for claim in investigation.notes.claims.values()),
        },
    }


def records_view(investigation: Investigation, *, room: int) -> dict[str, Any]:
    """The records beside the claims, together within their share of ``room``, of each kind the newest first to stay."""
    notes, most = investigation.notes, int(room * RECORDS_SHARE)
    contradictions = (
        {
            "id": one.id,
            "claim_id": one.claim_id,
            "other_id": one.other_id,
            "differs": head(one.differs),
            "status": one.status,
        }
        for one in _newest(notes.contradictions.values())
    )
    datapoints = (
        {
            "id": one.id,
            "label": head(one.label),
            "value": head(one.value),
            "unit": one.unit,
            "as_of": one.as_of,
            "about": one.about,
        }
        for one in _newest(notes.datapoints.values())
    )
    assumptions, gaps = (
        ({"id": one.id, "text": head(one.text), "question_id": one.question_id} for one in _newest(records))
        for records in (notes.assumptions.values(), notes.gaps.values())
    )
    found = {
        "contradictions": contradictions,
        "datapoints": datapoints,
        "assumptions": assumptions,
        "gaps": gaps,
    }
    kinds = {name: fit(records, most) for name, records in found.items()}
    wanted = [sum(map(cost, records)) for records in kinds.values()]
    *rooms, left = shares([*wanted, cost(notes.scratch)], room=most)
    view: dict[str, Any] = {
        name: sorted(fit(kinds[name], share), key=_by_number)
        for name, share in zip(kinds, rooms, strict=True)
    }
    view["scratch"] = cut(notes.scratch, left)
    return view


def claims_view(
    investigation: Investigation, limits: Limits, *, room: int, only: Collection[str] = ()
) -> dict[str, Any]:
    """The claims that fit, in the order of their ids: those of the question in progress before the newest others.

    Args:
        only: ids of the claims that are wanted; empty for all.
    """
    notes, working = investigation.notes, investigation.frontier.working_id
    wanted = [claim for claim in notes.all_claims if not only or claim.id in only]
    challenged = {c.target_id for c in investigation.challenges.open}
    wanted.reverse()
    wanted.sort(
        key=lambda claim: (
            claim.id not in challenged,
            claim.question_id != working,
            claim.kind != "figure",  # numbers are what is set side by side
            claim.status in ("REFUTED", "RETRACTED"),
        )
    )
    shown = fit((_claim(investigation, claim, limits) for claim in wanted), room)
    return {"claims": sorted(shown, key=_by_number), "claims_not_shown": len(notes.claims) - len(shown)}


def _by_number(record: dict[str, Any]) -> tuple[int, str]:
    return len(record["id"]), record["id"]


def _newest(records: Iterable[Any]) -> list[Any]:
    return sorted(records, key=lambda record: (len(record.id), record.id), reverse=True)


def _lines(text: str, room: int) -> str:
    """The first lines of a text, as many as fit."""
    return "\n".join(fit(text.splitlines(), room))


def _most_wanted(frontier: Frontier) -> list[Question]:
    """The objective and the question in progress, then what is not settled, then what is, the newest first."""
    first = ("in_progress", "pending", "blocked")
    return sorted(
        frontier,
        key=lambda q: (q.depth > 0, q.id != frontier.current_id, q.status not in first, -q.created_seq),
    )


def _question(question: Question) -> dict[str, Any]:
    return {
        "id": question.id,
        "parent_id": question.parent_id,
        "text": head(question.text),
        "kind": question.kind,
        "status": question.status,
        "depth": question.depth,
        "depends_on": list(question.depends_on),
        "answer": head(question.answer or question.assumption),
        "claim_ids": list(question.claim_ids),
    }


def _working(frontier: Frontier, limits: Limits, *, room: int) -> dict[str, Any] | None:
    """The question that a search now would be for, whole, with what was tried for it last."""
    question = frontier.questions[frontier.working_id]
    if question.status != "in_progress":
        return None
    tried = [attempt for attempt in frontier.tried(question.id) if attempt.kind != "fetch"]
    attempts = (
        {"kind": a.kind, "query": head(a.query), "results": a.results, "cause": a.cause}
        for a in reversed(tried[-ATTEMPTS_SHOWN:])
    )
    return {
        "id": question.id,
        "text": question.text
        if question.depth
        else head(question.text),  # the view holds the objective whole
        "kind": question.kind,
        "depth": question.depth,
        "why": head(question.why),
        "answer": head(question.answer),
        "searches_left": max(0, limits.max_attempts - frontier.searches(question.id)),
        "attempts": fit(attempts, room)[::-1],
    }


def _challenge(frontier: Frontier, challenge: Challenge) -> dict[str, Any]:
    run = frontier.attempts.get(challenge.attempt_id)
    return {
        "id": challenge.id,
        "target_kind": challenge.target_kind,
        "target_id": challenge.target_id,
        "strategy": challenge.strategy,
        "negation": head(challenge.negation),
        "expected_if_false": head(challenge.expected_if_false),
        "query": head(challenge.query),
        "search": search_state(frontier, challenge),
        "results": (run.results if run else None) or 0,
    }


def search_state(frontier: Frontier, challenge: Challenge) -> str:
    """How a challenge's search stands: ``waiting``, ``found``, ``nothing`` or ``failed``."""
    run = frontier.attempts.get(challenge.attempt_id)
    if run is None or (run.results is None and not run.cause):
        return "waiting"
    if run.cause == "infrastructure":
        return "failed"
    return "found" if run.results else "nothing"


def _claim(investigation: Investigation, claim: Claim, limits: Limits) -> dict[str, Any]:
    notes, challenges = investigation.notes, investigation.challenges
    missing = lacks(claim, notes.sources, challenges, limits) if claim.status == "UNVERIFIED" else ()
    ran = [c for c in challenges.of(claim.id) if c.status == "closed" and not c.failed]
    shown = {
        "id": claim.id,
        "text": claim.text if len(claim.text) <= QUOTE_SHOWN else head(claim.text),
        "kind": claim.kind,
        "value": claim.value,
        "unit": claim.unit,
        "status": claim.status,
        "question_id": claim.question_id,
        "scope": head(claim.scope),
        "challenged": bool(ran),
        "verifiable": claim.status == "UNVERIFIED" and not missing,
        "lacks": head("; ".join(missing)),
        "links": [
            {
                "source_id": link.source_id,
                "stance": link.stance,
                "quote": link.quote[:QUOTE_SHOWN],
                "start": link.quote_start,
            }
            for link in claim.links
        ],
    }
    return {
        name: value for name, value in shown.items() if value
    }  # dozens of claims: what is empty costs room
