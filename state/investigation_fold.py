"""Folding the events of an investigation: what they may not say is refused, whoever wrote them."""

from dataclasses import replace
from typing import assert_never

from researchdesk.state import events as ev
from researchdesk.state.challenges import CONCLUSION, Challenge, put_challenge
from researchdesk.state.claims import Claim, Source
from researchdesk.state.frontier import ROOT, Frontier, log, place, reaches
from researchdesk.state.ids import numbered
from researchdesk.state.investigation import Investigation
from researchdesk.state.limits import SCRATCH_CHARS, Limits
from researchdesk.state.notes import Notes, Record, put
from researchdesk.state.questions import Attempt, Question, is_legal
from researchdesk.state.run import ResearchRun
from researchdesk.state.verification import lacks

# What of a record never changes once it is there.
_FIXED_QUESTION = ("parent_id", "depth", "kind", "text", "depends_on", "created_seq")
_FIXED_CHALLENGE = ("target_kind", "target_id", "strategy", "negation", "expected_if_false", "query")
_FIXED_ATTEMPT = ("question_id", "seq", "kind", "challenge_id", "under")


def known_source(event: ev.SourceRecorded) -> Source:
    """A recorded source as the notes know it."""
    receipt = event.receipt
    return Source(
        id=event.source_id,
        artifact_id=event.artifact_id,
        url=event.url,
        domain=event.domain,
        origin=event.origin,
        title=event.title or "",
        fetched=receipt is not None,
        readable=receipt is None or receipt.readable,
        near_duplicates=event.near_duplicates,
    )


def add_source(investigation: Investigation, event: ev.SourceRecorded) -> Investigation:
    """The investigation that knows one source more."""
    return replace(investigation, notes=put(investigation.notes, known_source(event)))


def evolve_investigation(
    before: Investigation | None, event: ev.InvestigationEvent, run: ResearchRun
) -> Investigation:
    """The investigation after one more event; the first one brings the objective.

    Raises:
        ValueError: the event cannot follow; the message says why.
    """
    if before is None:
        _require(isinstance(event, ev.QuestionRecorded), "the investigation has not begun")
        notes = Notes()
        for source in run.all_sources:
            notes = put(notes, known_source(source))
        before = Investigation(notes=notes)
    match event:
        case ev.QuestionRecorded():
            return replace(before, frontier=_question(before, event, run.limits))
        case ev.DependencyRecorded():
            return replace(before, frontier=_dependency(before.frontier, event))
        case ev.AttemptRecorded():
            return replace(before, frontier=_attempt(before, event.attempt))
        case ev.ChallengeRecorded():
            _check_challenge(before, event.challenge)
            return replace(before, challenges=put_challenge(before.challenges, event.challenge))
        case ev.NotesVersionRecorded():
            return before
        case _:
            return replace(before, notes=_note(before, event, run.limits))


def _require(condition: bool, problem: str) -> None:
    if not condition:
        raise ValueError(problem)


def _require_same(old: object, new: object, names: tuple[str, ...]) -> None:
    changed = [name for name in names if getattr(old, name) != getattr(new, name)]
    _require(not changed, f"{', '.join(changed)} cannot change")


def _require_next(key: str, prefix: str, count: int) -> None:
    expected = numbered(prefix, count + 1)
    _require(key == expected, f"id '{key}' is not the next one, {expected}")


def _question(now: Investigation, event: ev.QuestionRecorded, limits: Limits) -> Frontier:
    frontier, question, step = now.frontier, event.question, event.transition
    old = frontier.questions.get(question.id)
    _require(step.question_id == question.id, "the transition is of another question")
    _require(
        (step.seq, step.to_status, step.priority) == (question.trans_seq, question.status, question.priority),
        f"{question.id} is not what its transition says",
    )
    _require(
        step.seq == (old.trans_seq if old else 0) + 1, f"transition {step.seq} of {question.id} leaves a gap"
    )
    _require(
        step.from_status == (old.status if old else ""),
        f"{question.id} is {old.status if old else 'new'}, not {step.from_status}",
    )
    _require(
        is_legal(question.kind, step),
        f"{question.id} cannot go from {step.from_status!r} to {step.to_status} by {step.trigger}",
    )
    if old is None:
        _check_birth(frontier, question, limits)
    else:
        _require_same(old, question, _FIXED_QUESTION)
        _check_status(now, old, question)
    return place(frontier, question)


def _check_birth(frontier: Frontier, question: Question, limits: Limits) -> None:
    _require_next(question.id, "q", len(frontier.questions))
    _require(
        (question.kind == "objective") == (question.id == ROOT), "the first question alone is the objective"
    )
    _require(question.created_seq == len(frontier.questions) + 1, f"{question.id} is out of order")
    done = (
        question.answer,
        question.claim_ids,
        question.assumption,
        question.reopens,
        question.attempts_before,
        question.reason,
    )
    _require(not any(done), f"{question.id} is new and cannot be settled yet")
    _require(
        question.created_seq <= limits.max_questions, f"the run has {limits.max_questions} questions already"
    )
    if question.id == ROOT:
        _require(question.parent_id == "" and question.depth == 0, "the objective has no parent")
        return
    parent = frontier.questions.get(question.parent_id)
    _require(parent is not None, f"no question '{question.parent_id}'")
    assert parent is not None
    _require(question.depth == parent.depth + 1 <= limits.max_depth, f"{question.id} has the wrong depth")
    for key in question.depends_on:
        _require(key in frontier.questions, f"no question '{key}'")


def _check_status(now: Investigation, old: Question, question: Question) -> None:
    frontier = now.frontier
    if question.status == "in_progress" and old.status == "pending":
        _require(not frontier.current_id, f"{frontier.current_id} is in progress already")
    _require(
        question.status != "resolved" or bool(question.answer), f"{question.id} is resolved without an answer"
    )
    _require(
        question.status != "unresolvable" or bool(question.assumption),
        f"{question.id} is given up without an assumption",
    )
    for key in question.claim_ids:
        _require(key in now.notes.claims, f"no claim '{key}'")


def _dependency(frontier: Frontier, event: ev.DependencyRecorded) -> Frontier:
    question = frontier.questions.get(event.question_id)
    _require(question is not None, f"no question '{event.question_id}'")
    _require(event.depends_on in frontier.questions, f"no question '{event.depends_on}'")
    assert question is not None
    _require(event.depends_on not in question.depends_on, "the dependency is recorded already")
    _require(not reaches(frontier, event.depends_on, question.id), "the dependency closes a cycle")
    return place(frontier, replace(question, depends_on=(*question.depends_on, event.depends_on)))


def _attempt(now: Investigation, attempt: Attempt) -> Frontier:
    frontier = now.frontier
    old = frontier.attempts.get(attempt.id)
    _require(attempt.question_id in frontier.questions, f"no question '{attempt.question_id}'")
    _require(
        (attempt.kind == "challenge") == bool(attempt.challenge_id), "only a challenge's search names one"
    )
    if attempt.challenge_id:
        _require(attempt.challenge_id in now.challenges.by_id, f"no challenge '{attempt.challenge_id}'")
    if attempt.under:
        _require(attempt.under in frontier.attempts, f"no attempt '{attempt.under}'")
    if old is None:
        _require_next(attempt.id, "at", len(frontier.attempts))
        expected = len(frontier.tried(attempt.question_id)) + 1
        _require(
            attempt.seq == expected, f"attempt {attempt.seq} of {attempt.question_id} is not the next one"
        )
    else:
        _require(old.results is None, f"attempt '{attempt.id}' ran already")
        _require_same(old, attempt, _FIXED_ATTEMPT)
    return log(frontier, attempt)


def _check_challenge(now: Investigation, challenge: Challenge) -> None:
    old = now.challenges.by_id.get(challenge.id)
    if old is None:
        _require_next(challenge.id, "ch", len(now.challenges.by_id))
        _require(challenge.status == "open", f"{challenge.id} begins closed")
        _check_target(now, challenge)
    else:
        _require(old.status == "open", f"{challenge.id} is closed already")
        _require_same(old, challenge, _FIXED_CHALLENGE)
    run = now.frontier.attempts.get(challenge.attempt_id)
    if challenge.attempt_id:
        _require(
            run is not None and run.challenge_id == challenge.id, f"{challenge.attempt_id} is not its search"
        )
    _require((challenge.status == "open") == (not challenge.outcome), "a challenge is closed by its outcome")
    if challenge.outcome == "survived":
        _require(
            run is not None and run.found, f"{challenge.id} survived without a search that found something"
        )
    if challenge.outcome in ("weakened", "refuted"):
        _require(bool(challenge.evidence and challenge.source_ids), f"{challenge.id} names no evidence")
    for key in challenge.source_ids:
        _require(key in now.notes.sources, f"no source '{key}'")
    if challenge.result_claim_id:
        _require(challenge.result_claim_id in now.notes.claims, f"no claim '{challenge.result_claim_id}'")


def _check_target(now: Investigation, challenge: Challenge) -> None:
    match challenge.target_kind:
        case "claim":
            known = challenge.target_id in now.notes.claims
        case "question_answer":
            known = challenge.target_id in now.frontier.questions
        case "conclusion":
            known = challenge.target_id == CONCLUSION
    _require(known, f"no target '{challenge.target_id}'")


NoteEvent = (
    ev.ClaimRecorded
    | ev.ClaimSourceRecorded
    | ev.DatapointRecorded
    | ev.ContradictionRecorded
    | ev.AssumptionRecorded
    | ev.GapRecorded
    | ev.SourceNoted
    | ev.ScratchSet
)


def _note(now: Investigation, event: NoteEvent, limits: Limits) -> Notes:
    notes = now.notes
    match event:
        case ev.ClaimRecorded():
            return put(notes, _claim(now, event.claim, limits))
        case ev.ClaimSourceRecorded():
            return put(notes, _linked(notes, event))
        case ev.DatapointRecorded():
            if event.datapoint.about:
                _require_record(notes, event.datapoint.about)
            return _put_numbered(notes, event.datapoint, "d", len(notes.datapoints))
        case ev.ContradictionRecorded():
            _require(
                event.contradiction.claim_id in notes.claims, f"no claim '{event.contradiction.claim_id}'"
            )
            _require_record(notes, event.contradiction.other_id)
            return _put_numbered(notes, event.contradiction, "con", len(notes.contradictions))
        case ev.AssumptionRecorded():
            _require_question(now, event.assumption.question_id)
            return _put_numbered(notes, event.assumption, "as", len(notes.assumptions))
        case ev.GapRecorded():
            _require_question(now, event.gap.question_id)
            return _put_numbered(notes, event.gap, "gap", len(notes.gaps))
        case ev.SourceNoted():
            source = notes.sources.get(event.source_id)
            _require(source is not None, f"no source '{event.source_id}'")
            assert source is not None
            return put(notes, replace(source, note=event.note))
        case ev.ScratchSet():
            _require(len(event.text) <= SCRATCH_CHARS, "the scratch text is too long")
            return replace(notes, scratch=event.text)
    assert_never(event)


def _require_question(now: Investigation, key: str) -> None:
    _require(not key or key in now.frontier.questions, f"no question '{key}'")


def _require_record(notes: Notes, key: str) -> None:
    _require(key in notes.claims or key in notes.sources, f"no claim or source '{key}'")


def _put_numbered(notes: Notes, record: Record, prefix: str, count: int) -> Notes:
    """The notes with a record that is there already or has the next id."""
    after = put(notes, record)
    if _count(after) != _count(notes):
        _require_next(record.id, prefix, count)
    return after


def _count(notes: Notes) -> int:
    return len(notes.datapoints) + len(notes.contradictions) + len(notes.assumptions) + len(notes.gaps)


def _claim(now: Investigation, claim: Claim, limits: Limits) -> Claim:
    old = now.notes.claims.get(claim.id)
    _require(not claim.links, "links have events of their own")
    _require_question(now, claim.question_id)
    if old is None:
        _require_next(claim.id, "c", len(now.notes.claims))
        _require(claim.status == "UNVERIFIED", f"{claim.id} begins as {claim.status}")
        return claim
    _require(old.status != "RETRACTED", f"{claim.id} is RETRACTED and stays so")
    _require(
        old.status != "REFUTED" or claim.status in ("REFUTED", "RETRACTED"),
        f"{claim.id} is REFUTED and stays so",
    )
    claim = replace(claim, links=old.links)
    if claim.status == "VERIFIED":
        missing = lacks(claim, now.notes.sources, now.challenges, limits)
        _require(not missing, f"{claim.id} cannot be VERIFIED: {'; '.join(missing)}")
    return claim


def _linked(notes: Notes, event: ev.ClaimSourceRecorded) -> Claim:
    claim, link = notes.claims.get(event.claim_id), event.link
    _require(claim is not None, f"no claim '{event.claim_id}'")
    assert claim is not None
    source = notes.sources.get(link.source_id)
    _require(source is not None and source.artifact_id == link.artifact_id, f"no source '{link.source_id}'")
    _require(link not in claim.links, "the link is recorded already")
    _require(
        link.quote_end - link.quote_start == len(link.quote) and link.quote_start >= 0,
        "the quote is not as long as its place",
    )
    _require(bool(link.quote) or link.stance == "mentions", "only a mention stands without a quote")
    return replace(claim, links=(*claim.links, link))
