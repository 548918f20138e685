"""From two states of an investigation to the events between them.

Handlers compute the state that should be; `diff` says what happened. Events come in an order in which each names only
what is there: what is new first (questions, claims, challenges), then what ties it together, then how it came out.
"""

from __future__ import annotations  # the persistent maps are generic for type checkers only

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain, takewhile
from typing import TypeVar

from rpds import HashTrieMap

from researchdesk.state import events as ev
from researchdesk.state.claims import Claim
from researchdesk.state.ids import content_hash, numbered
from researchdesk.state.investigation import Investigation
from researchdesk.state.notes import Notes
from researchdesk.state.notes_grammar import render
from researchdesk.state.questions import Question, Transition
from researchdesk.state.vocabulary import NotesReason

T = TypeVar("T")


def diff(
    before: Investigation,
    after: Investigation,
    transitions: Iterable[Transition],
    notes_reason: NotesReason | None = None,
) -> tuple[ev.InvestigationEvent, ...]:
    """The events that lead from one state to the other.

    Args:
        transitions: of all questions that changed, in the order in which they happened.
        notes_reason: why the notes changed; None lets the change speak for itself.
    """
    steps = tuple(transitions)
    claims = tuple(_changed(before.notes.claims, after.notes.claims, "c"))
    found: Iterable[ev.InvestigationEvent] = chain(
        _questions(after, steps, born=True),
        _dependencies(before, after),
        _new_claims(before.notes, claims),
        _new_challenges(before, after),
        (
            ev.AttemptRecorded(attempt=a)
            for a in _changed(before.frontier.attempts, after.frontier.attempts, "at")
        ),
        _links(before.notes, claims),
        _changed_challenges(before, after),
        _changed_claims(before.notes, claims),
        _questions(after, steps, born=False),
        _other_notes(before.notes, after.notes),
        _version(before.notes, after.notes, notes_reason),
    )
    return tuple(found)


def _changed(old: HashTrieMap[str, T], new: HashTrieMap[str, T], prefix: str) -> Iterator[T]:
    """The records that are new or not what they were, in the order of their ids."""
    if new is old:  # most operations leave most kinds alone, and a call may not cost more in a long run
        return
    for number in range(1, len(new) + 1):
        key = numbered(prefix, number)
        record, known = new[key], old.get(key)
        if known is not record and known != record:
            yield record


def _questions(
    after: Investigation, steps: tuple[Transition, ...], *, born: bool
) -> Iterator[ev.QuestionRecorded]:
    """One event for each transition: the births, or all the others, each with the question as it then was."""
    for step in steps:
        if (step.trigger == "created") == born:
            question = after.frontier.questions[step.question_id]
            question = replace(
                _unanswered(question) if born else question,
                status=step.to_status,
                trans_seq=step.seq,
                priority=step.priority,
            )
            yield ev.QuestionRecorded(question=question, transition=step)


def _unanswered(question: Question) -> Question:
    """A question as it came up, before anything was done with it."""
    return replace(
        question,
        depends_on=_edges_at_birth(question),
        answer="",
        claim_ids=(),
        assumption="",
        reopens=0,
        attempts_before=0,
        reason="",
    )


def _edges_at_birth(question: Question) -> tuple[str, ...]:
    """The first dependencies, as far as they are on questions older than itself; the others follow one by one."""
    return tuple(takewhile(lambda key: int(key[2:]) < question.created_seq, question.depends_on))


def _dependencies(before: Investigation, after: Investigation) -> Iterator[ev.DependencyRecorded]:
    for question in _changed(before.frontier.questions, after.frontier.questions, "q"):
        old = before.frontier.questions.get(question.id)
        known = old.depends_on if old else _edges_at_birth(question)
        for key in question.depends_on:
            if key not in known:
                yield ev.DependencyRecorded(question_id=question.id, depends_on=key)


def _new_claims(before: Notes, claims: tuple[Claim, ...]) -> Iterator[ev.ClaimRecorded]:
    for claim in claims:
        if claim.id not in before.claims:
            yield ev.ClaimRecorded(claim=replace(claim, status="UNVERIFIED", links=()))


def _changed_claims(before: Notes, claims: tuple[Claim, ...]) -> Iterator[ev.ClaimRecorded]:
    for claim in claims:
        bare = replace(claim, links=())
        if bare != _bare_before(before, claim):
            yield ev.ClaimRecorded(claim=bare)


def _bare_before(before: Notes, claim: Claim) -> Claim:
    old = before.claims.get(claim.id)
    return replace(old, links=()) if old else replace(claim, status="UNVERIFIED", links=())


def _links(before: Notes, claims: tuple[Claim, ...]) -> Iterator[ev.ClaimSourceRecorded]:
    for claim in claims:
        old = before.claims.get(claim.id)
        for link in claim.links[len(old.links) if old else 0 :]:
            yield ev.ClaimSourceRecorded(claim_id=claim.id, link=link)


def _new_challenges(before: Investigation, after: Investigation) -> Iterator[ev.ChallengeRecorded]:
    for challenge in _changed(before.challenges.by_id, after.challenges.by_id, "ch"):
        if challenge.id not in before.challenges.by_id:
            yield ev.ChallengeRecorded(
                challenge=replace(
                    challenge,
                    status="open",
                    outcome="",
                    evidence="",
                    source_ids=(),
                    result_claim_id="",
                    attempt_id="",
                    cause="",
                )
            )


def _changed_challenges(before: Investigation, after: Investigation) -> Iterator[ev.ChallengeRecorded]:
    for challenge in _changed(before.challenges.by_id, after.challenges.by_id, "ch"):
        if challenge.id in before.challenges.by_id or challenge.attempt_id or challenge.status == "closed":
            yield ev.ChallengeRecorded(challenge=challenge)


def _other_notes(before: Notes, after: Notes) -> Iterator[ev.InvestigationEvent]:
    for datapoint in _changed(before.datapoints, after.datapoints, "d"):
        yield ev.DatapointRecorded(datapoint=datapoint)
    for contradiction in _changed(before.contradictions, after.contradictions, "con"):
        yield ev.ContradictionRecorded(contradiction=contradiction)
    for assumption in _changed(before.assumptions, after.assumptions, "as"):
        yield ev.AssumptionRecorded(assumption=assumption)
    for gap in _changed(before.gaps, after.gaps, "gap"):
        yield ev.GapRecorded(gap=gap)
    for source in _changed(before.sources, after.sources, "s"):
        old = before.sources.get(source.id)
        if source.note != (old.note if old else ""):
            yield ev.SourceNoted(source_id=source.id, note=source.note)
    if before.scratch != after.scratch:
        yield ev.ScratchSet(text=after.scratch)


def _version(before: Notes, after: Notes, reason: NotesReason | None) -> Iterator[ev.NotesVersionRecorded]:
    if before != after:
        text = render(after)
        text_hash = content_hash(text.encode("utf-8", "surrogatepass"))
        yield ev.NotesVersionRecorded(reason=reason or _why(before, after), text_hash=text_hash)


def _why(before: Notes, after: Notes) -> NotesReason:
    if replace(before, scratch=after.scratch) == after:
        return "notes_scratch"
    grown = any(
        len(getattr(after, name)) > len(getattr(before, name))
        for name in ("claims", "datapoints", "contradictions", "assumptions", "gaps")
    )
    return "notes_append" if grown else "notes_update"
