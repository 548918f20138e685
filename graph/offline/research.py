"""What the offline model does next, decided from the view of the run alone."""

from collections.abc import Collection

from researchdesk.graph.offline.asking import asks_for_agreement
from researchdesk.graph.offline.calls import Call
from researchdesk.graph.offline.challenging import next_outcomes, some_hidden, verifiable
from researchdesk.graph.offline.gathering import (
    OBJECTIVE,
    lacking_archives,
    memory,
    next_archives,
    next_searches,
    read_for,
)
from researchdesk.graph.offline.noting import next_notes, next_reads, waiting_sources
from researchdesk.graph.offline.opening import opening
from researchdesk.graph.offline.question import Question
from researchdesk.graph.offline.reporting import writing
from researchdesk.graph.offline.settling import (
    end_of_gathering,
    next_question,
    nothing_found,
    settle,
    waiting_questions,
)
from researchdesk.graph.offline.view import TURN_TOKENS, View

HURRY = 6
"""With at most so many answers left for gathering, several things are done in one."""


def next_calls(view: View, *, offered: Collection[str]) -> tuple[list[Call], str]:
    """The calls of this turn, and a text for a reader when there are none.

    Args:
        offered: names of the tools that may be called; no other is.
    """
    steps = writing if view.stage == "report_writing" else gathering
    calls = [call for call in steps(view) if call.tool in offered]
    return calls[: max(1, view.limits.calls_per_turn)], "" if calls else closing_words(view)


def closing_words(view: View) -> str:
    problems = "; ".join(result.text.strip()[:300] for result in view.last if result.failed)
    return f"Nothing is left that rules could do. {problems}".strip()


def gathering(view: View) -> list[Call]:
    """Split the objective, then for each question: search, archive, read, note, challenge, answer."""
    room = view.limits.calls_per_turn
    question = read_for(view, view.working.id, view.working.text)
    turns = turns_left(view)
    noted = next_notes(view)
    if view.must_note:
        return [*noted, *reads(view, question, room - len(noted), turns)]
    if len(view.questions) <= 1 and (begun := opening(view)):
        return begun
    if not view.found and not view.sources:
        return next_searches(view, question) or nothing_found(view)
    calls = finding(view, question, room - len(noted), turns)
    if noted or calls:
        return [*noted, *calls]  # what is noted is known by its ids from the next turn on
    return answering(view, question, room, turns) or end_of_gathering(view)


def finding(view: View, question: Question, room: int, turns: int | None) -> list[Call]:
    """What is still to be searched, archived and read for the question in progress; its taking up, where none is."""
    at_root = view.working.id == OBJECTIVE
    if at_root and (waiting := waiting_questions(view)):
        return next_question(view, waiting)
    hurried = turns is not None and turns <= HURRY
    calls: list[Call] = []
    if not asks_for_agreement(view.working.text) and not (at_root and len(view.questions) > 1):
        searches = next_searches(view, question)
        if searches and view.found:
            searches += memory(view, question)
        if searches and not hurried:
            return searches  # what they find is to be chosen from, too
        calls = [*searches, *next_archives(view, question)]
    calls += lacking_archives(view)
    return [*calls, *reads(view, question, room - len(calls), turns)]


def answering(view: View, question: Question, room: int, turns: int | None) -> list[Call]:
    """Challenges, their outcomes, and the answer that they leave."""
    if view.working.id == OBJECTIVE and view.questions and view.questions[0].is_settled:
        return []
    checked = [*next_outcomes(view, question), *verifiable(view)]
    if checked and some_hidden(view):
        return checked
    return [*checked, *settle(view, question, room=room - len(checked), turns=turns)]


def reads(view: View, question: Question, room: int, turns: int | None) -> list[Call]:
    return next_reads(view, question, waiting=waiting_sources(view), room=room, turns=turns)


def turns_left(view: View) -> int | None:
    """Answers that are left for gathering, None where neither steps nor tokens are limited."""
    budget = view.budget
    left = []
    if budget.steps_left is not None:
        left.append(max(1, budget.steps_left - budget.writing_steps))
    if budget.tokens_left is not None:
        left.append(max(1, (budget.tokens_left - (budget.writing_reserve or 0)) // TURN_TOKENS))
    return min(left, default=None)
