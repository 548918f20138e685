"""What follows when something was shaken: the effects of a challenge's outcome and of a refuted claim.

A refuted claim gets a contradiction, a question about what holds instead, and the settled questions that cite it are
reopened. What the caps do not allow any more is recorded as a gap instead of being lost.
"""

from dataclasses import replace

from researchdesk.state.challenges import Challenge, Result, close_challenge
from researchdesk.state.claims import Claim, Contradiction, Gap, refute, weaken
from researchdesk.state.errors import Refusal
from researchdesk.state.frontier import ROOT, Moved
from researchdesk.state.frontier_moves import NewQuestion, add, reopen
from researchdesk.state.ids import numbered
from researchdesk.state.investigation import Changed, Investigation
from researchdesk.state.limits import QUESTION_CHARS, Limits
from researchdesk.state.notes import Notes, claim_of, put

URGENT = 90
SHOWN = QUESTION_CHARS - 100


def record_result(
    investigation: Investigation, challenge_id: str, result: Result, *, limits: Limits
) -> Changed:
    """The investigation after a challenge was closed, with all that its outcome brings.

    Raises:
        Refusal: as `challenges.close_challenge`.
    """
    closed = close_challenge(
        investigation.challenges,
        challenge_id,
        result,
        frontier=investigation.frontier,
        notes=investigation.notes,
    )
    changed = Changed(investigation=replace(investigation, challenges=closed.challenges))
    if closed.challenge.outcome not in ("weakened", "refuted"):
        return changed
    match closed.challenge.target_kind:
        case "claim":
            return _on_claim(changed, closed.challenge, limits=limits)
        case "question_answer":
            why = f"{challenge_id} {closed.challenge.outcome} its answer: {closed.challenge.evidence}"
            return _reopen(changed, closed.challenge.target_id, why, limits=limits)
        case "conclusion":
            text = f"What does this change about the conclusion: {closed.challenge.evidence}"
            return _queue(changed, ROOT, text, f"{challenge_id} {closed.challenge.outcome} it", limits=limits)


def _on_claim(changed: Changed, challenge: Challenge, *, limits: Limits) -> Changed:
    notes = changed.investigation.notes
    claim = notes.claims[challenge.target_id]
    if claim.status in ("REFUTED", "RETRACTED"):
        return changed
    if challenge.outcome == "weakened":
        weaker = put(notes, weaken(claim, challenge.evidence))
        return _tell(changed, f"{claim.id} is UNVERIFIED with a narrower scope", notes=weaker)
    by = challenge.result_claim_id or challenge.source_ids[0]
    return _fall(changed, claim, f"{challenge.id}: {challenge.evidence}", by=by, limits=limits)


def refute_claim(
    investigation: Investigation, claim_id: str, reason: str, *, by: str = "", limits: Limits
) -> Changed:
    """The investigation after a claim was refuted, ``by`` a source or another claim where one is named.

    Raises:
        Refusal: ``unknown_claim``, ``wrong_status`` or ``invalid_arguments``.
    """
    claim = claim_of(investigation.notes, claim_id)
    return _fall(Changed(investigation=investigation), claim, reason, by=by, limits=limits)


def _fall(changed: Changed, claim: Claim, reason: str, *, by: str, limits: Limits) -> Changed:
    notes = put(changed.investigation.notes, refute(claim, reason))
    if by and by != claim.id:
        key = numbered("con", len(notes.contradictions) + 1)
        notes = put(notes, Contradiction(id=key, claim_id=claim.id, other_id=by, differs=reason))
    changed = _tell(changed, f"{claim.id} is REFUTED", notes=notes)
    text = f"What holds instead of this: {claim.text}"
    changed = _queue(changed, claim.question_id or ROOT, text, f"{claim.id} was refuted", limits=limits)
    for question in changed.investigation.frontier:
        if claim.id in question.claim_ids and question.status == "resolved":
            why = f"it stands on {claim.id}, which is REFUTED"
            changed = _reopen(changed, question.id, why, limits=limits)
    return changed


def _queue(changed: Changed, parent_id: str, text: str, why: str, *, limits: Limits) -> Changed:
    """A question that has to be asked soon, beside its parent where the parent is as deep as can be."""
    frontier = changed.investigation.frontier
    parent = frontier.questions[parent_id]
    while parent.parent_id and (parent.depth >= limits.max_depth or parent.status == "pruned"):
        parent = frontier.questions[parent.parent_id]
    new = NewQuestion(text=text[:SHOWN], why=why, priority=URGENT)
    try:
        moved = add(frontier, parent.id, new, limits=limits, actor="code")
    except Refusal as refusal:
        return _gap(changed, f"{text[:SHOWN]} ({refusal.text})", parent.id)
    return _moved(changed, moved, f"{moved.question_id} asks: {text[:SHOWN]}")


def _reopen(changed: Changed, question_id: str, why: str, *, limits: Limits) -> Changed:
    question = changed.investigation.frontier.questions[question_id]
    if question.status != "resolved":
        return changed
    try:
        moved = reopen(changed.investigation.frontier, question_id, why, URGENT, limits=limits, actor="code")
    except Refusal as refusal:
        return _gap(changed, f"{why} ({refusal.text})", question_id)
    return _moved(changed, moved, f"{question_id} is open again: {why}")


def _moved(changed: Changed, moved: Moved, told: str) -> Changed:
    return Changed(
        investigation=replace(changed.investigation, frontier=moved.frontier),
        transitions=(*changed.transitions, *moved.transitions),
        told=(*changed.told, told),
    )


def _gap(changed: Changed, text: str, question_id: str) -> Changed:
    notes = changed.investigation.notes
    gap = Gap(id=numbered("gap", len(notes.gaps) + 1), text=text, question_id=question_id)
    return _tell(changed, f"recorded as {gap.id}: {text}", notes=put(notes, gap))


def _tell(changed: Changed, told: str, *, notes: Notes) -> Changed:
    return replace(
        changed,
        investigation=replace(changed.investigation, notes=notes),
        told=(*changed.told, told),
    )
