"""The frontier: all questions of an investigation, which wait for which, and what was tried for each.

It is an immutable value; `state.frontier_moves` holds what can be done with it. A pruned question stays, and no id is
used twice.
"""

from __future__ import annotations  # the persistent maps are generic for type checkers only

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final

from rpds import HashTrieMap

from researchdesk.state.desk.markup import table
from researchdesk.state.errors import Refusal
from researchdesk.state.ids import numbered
from researchdesk.state.questions import (
    Attempt,
    Question,
    Transition,
    is_legal,
)
from researchdesk.state.vocabulary import Actor, QuestionStatus, Trigger

ROOT: Final = "q_001"


@dataclass(frozen=True, slots=True, kw_only=True)
class Frontier:
    """Questions and attempts by id; ``current_id`` is the one in progress beside the objective, "" for none."""

    questions: HashTrieMap[str, Question] = field(default_factory=HashTrieMap)
    children: HashTrieMap[str, tuple[str, ...]] = field(default_factory=HashTrieMap)
    attempts: HashTrieMap[str, Attempt] = field(default_factory=HashTrieMap)
    attempts_of: HashTrieMap[str, tuple[str, ...]] = field(default_factory=HashTrieMap)
    current_id: str = ""

    @property
    def root(self) -> Question:
        """The objective."""
        return self.questions[ROOT]

    @property
    def working_id(self) -> str:
        """The question that a search now would be for: the one in progress, else the objective."""
        return self.current_id or ROOT

    def __iter__(self) -> Iterator[Question]:
        """All questions, oldest first."""
        return (self.questions[numbered("q", n)] for n in range(1, len(self.questions) + 1))

    def tried(self, question_id: str) -> tuple[Attempt, ...]:
        """What was tried for a question, oldest first."""
        return tuple(self.attempts[key] for key in self.attempts_of.get(question_id) or ())

    def searches(self, question_id: str) -> int:
        """Searches of a question since it was last reopened; one that the infrastructure failed does not count."""
        tried = self.tried(question_id)
        spent = sum(attempt.kind == "search" and attempt.cause != "infrastructure" for attempt in tried)
        return spent - self.questions[question_id].attempts_before

    def waits_for(self, question: Question) -> tuple[Question, ...]:
        """The dependencies of a question that are not resolved."""
        found = (self.questions[key] for key in question.depends_on)
        return tuple(other for other in found if other.status != "resolved")

    def descendants(self, question_id: str) -> Iterator[Question]:
        """All questions under one, parents before children."""
        for key in self.children.get(question_id) or ():
            yield self.questions[key]
            yield from self.descendants(key)

    def _repr_html_(self) -> str:
        columns = ("question", "status", "priority", "searches", "waits for", "asked", "answered or assumed")
        tree = (self.root, *self.descendants(ROOT)) if self.questions else ()
        rows = (
            (
                *("· " * question.depth + question.id, question.status, str(question.priority)),
                *(str(self.searches(question.id)), ", ".join(q.id for q in self.waits_for(question))),
                *(question.text, question.answer or question.assumption),
            )
            for question in tree
        )
        return table(columns, rows, caption=f"Questions: {len(self.questions)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """A frontier after an operation, the transitions of it in order, and the question it was about ("" for none)."""

    frontier: Frontier
    transitions: tuple[Transition, ...] = ()
    question_id: str = ""


def question_of(frontier: Frontier, question_id: str) -> Question:
    """The question of that id.

    Raises:
        Refusal: ``unknown_question``, with the ids that exist.
    """
    found = frontier.questions.get(question_id)
    if found is None:
        last = numbered("q", len(frontier.questions))
        raise Refusal("unknown_question", f"no question '{question_id}' in this run; it has {ROOT}..{last}")
    return found


def start_frontier(objective: str) -> Moved:
    """A frontier that holds the objective alone, in progress as q_001."""
    root = Question(
        id=ROOT,
        parent_id="",
        depth=0,
        kind="objective",
        text=objective,
        status="in_progress",
        created_seq=1,
        trans_seq=1,
    )
    return Moved(frontier=place(Frontier(), root), transitions=(born(root, "code"),), question_id=ROOT)


def reaches(frontier: Frontier, start: str, goal: str) -> bool:
    """Whether ``goal`` is ``start`` or something it depends on, at any distance."""
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        key = waiting.pop()
        if key == goal:
            return True
        if key not in seen:
            seen.add(key)
            waiting += frontier.questions[key].depends_on
    return False


def settle(moved: Moved) -> Moved:
    """Block what waits for something given up; let go on what waits for nothing any more."""
    for question in moved.frontier:
        if question.status not in ("pending", "blocked"):
            continue
        waits_for = moved.frontier.waits_for(question)
        lost = [other for other in waits_for if other.status in ("pruned", "unresolvable")]
        if question.status == "pending" and lost:
            reason = f"{lost[0].id} is {lost[0].status}"
            moved = step(moved, question.id, "blocked", "dependency_blocked", actor="code", reason=reason)
        elif question.status == "blocked" and not waits_for:
            moved = step(moved, question.id, "pending", "dependency_unblocked", actor="code")
    return moved


def born(question: Question, actor: Actor) -> Transition:
    """The first transition of a question."""
    return Transition(
        question_id=question.id,
        seq=1,
        from_status="",
        to_status=question.status,
        trigger="created",
        actor=actor,
        reason=question.why,
        priority=question.priority,
    )


def step(
    moved: Moved,
    question_id: str,
    status: QuestionStatus,
    trigger: Trigger,
    *,
    actor: Actor,
    reason: str = "",
    **changes: Any,
) -> Moved:
    """One transition further: the only place where a status changes."""
    before = moved.frontier.questions[question_id]
    after = replace(before, status=status, trans_seq=before.trans_seq + 1, **changes)
    step = Transition(
        question_id=question_id,
        seq=after.trans_seq,
        from_status=before.status,
        to_status=status,
        trigger=trigger,
        actor=actor,
        reason=reason,
        priority=after.priority,
    )
    assert is_legal(before.kind, step), step
    return replace(moved, frontier=place(moved.frontier, after), transitions=(*moved.transitions, step))


def place(frontier: Frontier, question: Question) -> Frontier:
    """The frontier with a question put in, new or in place of what it was; nothing else is checked."""
    children, current = frontier.children, frontier.current_id
    if question.id not in frontier.questions and question.parent_id:
        siblings = children.get(question.parent_id) or ()
        children = children.insert(question.parent_id, (*siblings, question.id))
    if question.id != ROOT:
        if question.status == "in_progress":
            current = question.id
        elif current == question.id:
            current = ""
    questions = frontier.questions.insert(question.id, question)
    return replace(frontier, questions=questions, children=children, current_id=current)


def log(frontier: Frontier, entry: Attempt) -> Frontier:
    """The frontier with an attempt put in, new or in place of what it was; nothing else is checked."""
    order = frontier.attempts_of
    if entry.id not in frontier.attempts:
        order = order.insert(entry.question_id, (*(order.get(entry.question_id) or ()), entry.id))
    return replace(frontier, attempts=frontier.attempts.insert(entry.id, entry), attempts_of=order)
