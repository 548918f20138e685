"""Taking up and settling questions with everything that notes and challenges have to say about it."""

from dataclasses import replace

from researchdesk.state.challenges import answer_was_challenged, requires_answer_challenge
from researchdesk.state.claims import Assumption
from researchdesk.state.errors import Refusal
from researchdesk.state.frontier import ROOT, Moved, question_of
from researchdesk.state.frontier_moves import resolve, retry, select
from researchdesk.state.ids import numbered
from researchdesk.state.investigation import Changed, Investigation
from researchdesk.state.limits import Limits
from researchdesk.state.notes import claim_of, put, set_scratch
from researchdesk.state.questions import Question
from researchdesk.state.vocabulary import Actor

ATOMIC = "Atomic objective: "


def next_question(
    investigation: Investigation, *, atomic_reason: str = "", actor: Actor = "agent"
) -> Changed:
    """Take up the next question; an objective without any other question has to be said to be atomic.

    Raises:
        Refusal: ``not_split`` or ``question_in_progress``.
    """
    alone = len(investigation.frontier.questions) == 1
    notes = investigation.notes
    if alone and atomic_reason.strip() and ATOMIC not in notes.scratch:
        line = f"{ATOMIC}{' '.join(atomic_reason.split())}"
        notes = set_scratch(notes, "\n".join(part for part in (notes.scratch, line) if part))
    if alone and ATOMIC not in notes.scratch:
        raise Refusal(
            "not_split",
            f"{ROOT} has no questions under it; add at least one, or give atomic_reason: why it needs none",
        )
    moved = select(investigation.frontier, actor=actor)
    working = alone and moved.frontier.root.status == "in_progress"
    taken = moved.question_id or (ROOT if working else "")
    return Changed(
        investigation=replace(investigation, frontier=moved.frontier, notes=notes),
        transitions=moved.transitions,
        told=(f"{taken} is in progress" if taken else "no question can be taken up",),
    )


def resolve_question(
    investigation: Investigation,
    question_id: str,
    answer: str,
    claim_ids: tuple[str, ...] = (),
    *,
    reason: str = "",
    actor: Actor = "agent",
) -> Changed:
    """Answer the question in progress. ``reason`` stands for a search or a challenge that was not made.

    Raises:
        Refusal: as `frontier_moves.resolve`, and ``unknown_claim``, ``claim_fallen``, ``search_required`` or
            ``challenge_required``.
    """
    question = question_of(investigation.frontier, question_id)
    moved = resolve(investigation.frontier, question_id, answer, claim_ids, reason=reason, actor=actor)
    for key in claim_ids:
        claim = claim_of(investigation.notes, key)
        if claim.status in ("REFUTED", "RETRACTED"):
            raise Refusal("claim_fallen", f"{key} is {claim.status}; no answer can stand on it")
    if not reason.strip():
        _check_hypothesis(investigation, question)
        if requires_answer_challenge(question) and not answer_was_challenged(
            investigation.challenges, question_id
        ):
            raise Refusal(
                "challenge_required",
                f"the answer of {question_id} (depth {question.depth}) has not been challenged; challenge it with "
                "target_kind question_answer, or give the reason why not",
            )
    return _changed(investigation, moved, f"{question_id} is resolved")


def _check_hypothesis(investigation: Investigation, question: Question) -> None:
    if question.kind != "hypothesis":
        return
    ran = [a for a in investigation.frontier.tried(question.id) if a.results is not None]
    missing = [
        word
        for word, kind in (("confirming", "search"), ("refuting", "challenge"))
        if not any(attempt.kind == kind for attempt in ran)
    ]
    if missing:
        raise Refusal(
            "search_required",
            f"{question.id} is a hypothesis and lacks a {' and a '.join(missing)} search; make it, or give the reason",
        )


def retry_question(
    investigation: Investigation,
    question_id: str,
    new_query: str,
    why: str,
    *,
    limits: Limits,
    assumption: str = "",
    actor: Actor = "agent",
) -> Changed:
    """Announce another search, or give the question up with an assumption, which the notes then hold.

    Raises:
        Refusal: as `frontier_moves.retry`.
    """
    moved = retry(
        investigation.frontier, question_id, new_query, why, limits=limits, assumption=assumption, actor=actor
    )
    changed = _changed(investigation, moved, f"another search for {question_id} is due")
    if not moved.transitions:
        return changed
    notes = investigation.notes
    key = numbered("as", len(notes.assumptions) + 1)
    notes = put(notes, Assumption(id=key, text=assumption.strip(), question_id=question_id))
    return replace(
        changed,
        investigation=replace(changed.investigation, notes=notes),
        told=(f"{question_id} is unresolvable; its assumption is {key}",),
    )


def _changed(investigation: Investigation, moved: Moved, told: str) -> Changed:
    unblocked = [
        f"{t.question_id} is {t.to_status}" for t in moved.transitions if t.question_id != moved.question_id
    ]
    return Changed(
        investigation=replace(investigation, frontier=moved.frontier),
        transitions=moved.transitions,
        told=(told, *unblocked),
    )
