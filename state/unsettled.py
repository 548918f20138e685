"""What of an investigation is not settled yet, in words that say what to do: its part of the gate to the report."""

from collections.abc import Iterable, Iterator

from researchdesk.state.challenges import answer_was_challenged, requires_answer_challenge
from researchdesk.state.frontier import ROOT
from researchdesk.state.investigation import Investigation
from researchdesk.state.questions import SETTLED_QUESTION, Question
from researchdesk.state.run import ResearchRun
from researchdesk.state.vocabulary import SETTLED

SHOWN = 8


def unsettled(investigation: Investigation, run: ResearchRun) -> tuple[str, ...]:
    """What stands against writing the report, one line for each kind."""
    return (*open_inquiry(investigation, run), *_open_checklist(investigation, run))


def open_inquiry(investigation: Investigation, run: ResearchRun) -> tuple[str, ...]:
    """What questions, challenges and answers lack; nothing in a run that was stopped, which tells it as gaps."""
    if run.stop_reason:
        return ()
    return (
        *_open_questions(investigation),
        *_open_challenges(investigation),
        *_unchallenged_answers(investigation),
        *_fallen_answers(investigation, run),
    )


def named(ids: Iterable[str]) -> str:
    """Some of the ids, and how many more there are."""
    keys = tuple(ids)
    hidden = len(keys) - SHOWN
    return ", ".join(keys[:SHOWN]) + (f" and {hidden} more" if hidden > 0 else "")


def _open_questions(investigation: Investigation) -> Iterator[str]:
    # The objective comes last: it is answered from the answers under it.
    keys = tuple(
        f"{q.id} ({q.status})"
        for q in (*(q for q in investigation.frontier if q.id != ROOT), investigation.frontier.root)
        if q.depth <= 1 and q.status not in SETTLED_QUESTION
    )
    if keys:
        yield (
            f"not settled: {named(keys)}; answer each with resolve_question, give it up with retry_question or drop it "
            f"with prune_branch, {ROOT} last"
        )


def _open_challenges(investigation: Investigation) -> Iterator[str]:
    keys = tuple(challenge.id for challenge in investigation.challenges.open)
    if keys:
        yield f"open challenges: {named(keys)}; search_sources with the query of each, then record_challenge_result"


def _unchallenged_answers(investigation: Investigation) -> Iterator[str]:
    keys = tuple(
        question.id
        for question in investigation.frontier
        if question.status == "resolved"
        and requires_answer_challenge(question)
        and not question.reason
        and not answer_was_challenged(investigation.challenges, question.id)
    )
    if keys:
        yield (
            f"answers that were not challenged: {named(keys)}; challenge each with target_kind question_answer"
        )


def _fallen_answers(investigation: Investigation, run: ResearchRun) -> Iterator[str]:
    answers = standing_on_refuted(investigation)
    # One that was reopened as often as may be is a gap of the report: nobody could do anything about it.
    told = tuple(f"{q.id} on {claim}" for q, claim in answers if q.reopens < run.limits.max_reopens)
    if told:
        yield f"answers that stand on REFUTED claims: {named(told)}; reopen_question, then answer anew"


def standing_on_refuted(investigation: Investigation) -> tuple[tuple[Question, str], ...]:
    """The resolved questions that name a REFUTED claim, each with the first such claim."""
    claims = investigation.notes.claims
    found = []
    for question in investigation.frontier:
        fallen = [key for key in question.claim_ids if claims[key].status == "REFUTED"]
        if question.status == "resolved" and fallen:
            found.append((question, fallen[0]))
    return tuple(found)


def _open_checklist(investigation: Investigation, run: ResearchRun) -> Iterator[str]:
    keys = tuple(item.item_id for item in run.checklist if item.status not in SETTLED)
    if not keys:
        return
    settled = investigation.frontier.root.status in SETTLED_QUESTION
    how = "call deep_research_update_checklist" if settled else f"resolving {ROOT} settles them"
    yield f"open checklist items: {named(keys)}; {how}"
