"""What can be done with a frontier: add, select, resolve, retry, reopen, prune, and change priorities.

Every function is pure: it returns the frontier that follows and the transitions that led there. Code decides what
is asked next; wording, queries and answers come from the model.
"""

from dataclasses import dataclass, replace
from typing import Final

from researchdesk.state.errors import Refusal
from researchdesk.state.frontier import (
    ROOT,
    Frontier,
    Moved,
    born,
    log,
    place,
    question_of,
    reaches,
    settle,
    step,
)
from researchdesk.state.ids import numbered
from researchdesk.state.limits import QUESTION_CHARS, Limits
from researchdesk.state.questions import (
    DEFAULT_PRIORITY,
    SETTLED_QUESTION,
    TOP_PRIORITY,
    Attempt,
    Question,
)
from researchdesk.state.sameness import same_query, same_question
from researchdesk.state.vocabulary import Actor, AttemptKind, Cause, QuestionKind, QuestionStatus

DEPTH_CAP: Final = "pruned by depth cap; record it as an open gap in notes instead"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewQuestion:
    """A question as somebody asks it, before it has an id."""

    text: str
    kind: QuestionKind = "question"
    why: str = ""
    priority: int = DEFAULT_PRIORITY
    depends_on: tuple[str, ...] = ()
    blocks_parent: bool = False
    """The parent waits until this one is resolved."""


def add(
    frontier: Frontier, parent_id: str, new: NewQuestion, *, limits: Limits, actor: Actor = "agent"
) -> Moved:
    """A new question under a parent.

    Raises:
        Refusal: ``depth_cap``, ``too_many_questions``, ``duplicate_question``, ``unknown_question``,
            ``dependency_cycle``, ``wrong_status`` or ``invalid_arguments``.
    """
    parent = question_of(frontier, parent_id)
    _check_new(frontier, parent, new, limits)
    number = len(frontier.questions) + 1
    blocks = new.blocks_parent
    question = Question(
        id=numbered("q", number),
        parent_id=parent_id,
        depth=parent.depth + 1,
        kind=new.kind,
        text=" ".join(new.text.split()),
        why=new.why,
        status="pending",
        priority=max(new.priority, parent.priority) if blocks else new.priority,
        depends_on=tuple(dict.fromkeys(new.depends_on)),
        created_seq=number,
        trans_seq=1,
    )
    moved = Moved(
        frontier=place(frontier, question), transitions=(born(question, actor),), question_id=question.id
    )
    moved = settle(moved)
    if not blocks:
        return moved
    waiting = depend(moved.frontier, parent_id, question.id, actor=actor)
    return Moved(
        frontier=waiting.frontier,
        transitions=(*moved.transitions, *waiting.transitions),
        question_id=question.id,
    )


def _check_new(frontier: Frontier, parent: Question, new: NewQuestion, limits: Limits) -> None:
    text = " ".join(new.text.split())
    if not text or len(text) > QUESTION_CHARS:
        raise Refusal("invalid_arguments", f"text: a question has 1 to {QUESTION_CHARS:,} characters")
    if new.kind == "objective":
        raise Refusal("invalid_arguments", "kind: only the first question is the objective")
    _check_priority(new.priority)
    if parent.status == "pruned" or (new.blocks_parent and parent.status in SETTLED_QUESTION):
        raise Refusal("wrong_status", f"{parent.id} is {parent.status}; reopen it or choose another parent")
    if parent.depth + 1 > limits.max_depth:
        raise Refusal("depth_cap", DEPTH_CAP)
    twin = next((other for other in frontier if same_question(other.text, text)), None)
    if twin is not None:
        raise Refusal("duplicate_question", f'{twin.id} ({twin.status}) asks the same: "{twin.text}"')
    if len(frontier.questions) >= limits.max_questions:
        raise Refusal(
            "too_many_questions",
            f"the run has {len(frontier.questions)} questions, the limit is {limits.max_questions}; "
            "answer or prune what is there, and record the rest as open gaps in notes",
        )
    for key in new.depends_on:
        question_of(frontier, key)
    # What is new has nobody waiting for it, so only the edge from its parent can close a cycle.
    if new.blocks_parent and any(reaches(frontier, key, parent.id) for key in new.depends_on):
        raise Refusal(
            "dependency_cycle",
            f"{parent.id} would wait for this question, and this question depends on {parent.id}",
        )


def _check_priority(priority: int) -> None:
    if not 0 <= priority <= TOP_PRIORITY:
        raise Refusal("invalid_arguments", f"priority: it is {priority}; it has to be 0 to {TOP_PRIORITY}")


def depend(frontier: Frontier, question_id: str, on: str, *, actor: Actor = "agent") -> Moved:
    """Let a question wait for another one too; one in progress goes back, but for the objective.

    Raises:
        Refusal: ``unknown_question``, ``wrong_status`` (it is settled) or ``dependency_cycle``.
    """
    question, other = question_of(frontier, question_id), question_of(frontier, on)
    if question.status in SETTLED_QUESTION:
        raise Refusal("wrong_status", f"{question_id} is {question.status}; it waits for nothing any more")
    if reaches(frontier, on, question_id):
        raise Refusal(
            "dependency_cycle", f"{on} depends on {question_id}, so {question_id} cannot wait for it"
        )
    if on in question.depends_on:
        return Moved(frontier=frontier, question_id=question_id)
    changed = replace(question, depends_on=(*question.depends_on, on))
    moved = Moved(frontier=place(frontier, changed), question_id=question_id)
    if question.status == "in_progress" and question_id != ROOT and other.status != "resolved":
        moved = step(moved, question_id, "pending", "dependency_added", actor=actor, reason=f"waits for {on}")
    return settle(moved)


def select(frontier: Frontier, *, actor: Actor = "code") -> Moved:
    """Take up the next question: highest priority, then lower depth, then older.

    One that waits for a dependency gives way to it, and the dependency gets at least its priority. Where nothing can
    be taken up, the frontier stays and ``question_id`` is "".

    Raises:
        Refusal: ``question_in_progress`` while another question is in progress.
    """
    if frontier.current_id:
        raise Refusal(
            "question_in_progress",
            f"{frontier.current_id} is in progress; resolve it, retry it or add questions that block it first",
        )
    stuck: set[str] = set()
    for question in sorted((q for q in frontier if q.status == "pending"), key=_rank):
        chosen = _ready(frontier, question, stuck)
        if chosen is not None:
            moved = Moved(frontier=frontier, question_id=chosen.id)
            if chosen.priority < question.priority:
                moved = _reprioritize(
                    moved, chosen.id, question.priority, actor=actor, reason=f"{question.id} waits for it"
                )
            return step(moved, chosen.id, "in_progress", "selected", actor=actor)
    return Moved(frontier=frontier)


def _rank(question: Question) -> tuple[int, int, int]:
    return -question.priority, question.depth, question.created_seq


def _ready(frontier: Frontier, question: Question, stuck: set[str]) -> Question | None:
    """The question itself, or the best pending one that it waits for, however far; None when neither can run.

    ``stuck`` gathers the ids of those that cannot run: questions may wait for each other along very many paths.
    """
    waits_for = frontier.waits_for(question)
    if not waits_for:
        return question
    for other in sorted((q for q in waits_for if q.status == "pending"), key=_rank):
        found = None if other.id in stuck else _ready(frontier, other, stuck)
        if found is not None:
            return found
    stuck.add(question.id)
    return None


def resolve(
    frontier: Frontier,
    question_id: str,
    answer: str,
    claim_ids: tuple[str, ...] = (),
    *,
    reason: str = "",
    actor: Actor = "agent",
) -> Moved:
    """Answer the question in progress; what waits for it may go on.

    Raises:
        Refusal: ``unknown_question``, ``wrong_status`` or ``invalid_arguments`` (no answer).
    """
    question = _in_progress(frontier, question_id, "resolved")
    if not answer.strip():
        raise Refusal("invalid_arguments", "answer: it is empty; say what was found, or retry the question")
    claims = tuple(dict.fromkeys(claim_ids))
    changed = replace(question, answer=answer.strip(), claim_ids=claims, reason=reason.strip())
    moved = Moved(frontier=place(frontier, changed), question_id=question_id)
    return settle(step(moved, question_id, "resolved", "resolved", actor=actor, reason=reason))


def _in_progress(frontier: Frontier, question_id: str, verb: str) -> Question:
    question = question_of(frontier, question_id)
    if question.status != "in_progress":
        now = f"; {frontier.current_id} is in progress" if frontier.current_id else ""
        raise Refusal(
            "wrong_status",
            f"{question_id} is {question.status}; only a question in progress can be {verb}{now}",
        )
    return question


def retry(
    frontier: Frontier,
    question_id: str,
    new_query: str,
    why: str,
    *,
    limits: Limits,
    assumption: str = "",
    actor: Actor = "agent",
) -> Moved:
    """Announce another search for the question in progress, or give it up when its attempts are spent.

    Raises:
        Refusal: ``unknown_question``, ``wrong_status``, ``repeated_query``, ``invalid_arguments``, or
            ``assumption_required`` at the cap.
    """
    _in_progress(frontier, question_id, "retried")
    spent = frontier.searches(question_id)
    if spent >= limits.max_attempts:
        return _give_up(frontier, question_id, why, spent=spent, assumption=assumption, actor=actor)
    if not new_query.strip() or not why.strip():
        raise Refusal("invalid_arguments", "new_query and why: both are needed for another attempt")
    ran = (a for a in frontier.tried(question_id) if a.kind != "fetch" and a.cause != "infrastructure")
    earlier = next((a for a in ran if same_query(a.query, new_query)), None)
    if earlier is not None:
        raise Refusal(
            "repeated_query",
            f'"{new_query}" was searched for {question_id} already ({earlier.id}); change the query',
        )
    return attempt(frontier, question_id, kind="search", query=new_query.strip(), outcome=why, results=None)


def _give_up(
    frontier: Frontier, question_id: str, why: str, *, spent: int, assumption: str, actor: Actor
) -> Moved:
    if not assumption.strip():
        raise Refusal(
            "assumption_required",
            f"{question_id} has {spent} searches, no more are allowed; state the assumption to go on with",
        )
    changed = replace(frontier.questions[question_id], assumption=assumption.strip())
    moved = Moved(frontier=place(frontier, changed), question_id=question_id)
    return settle(step(moved, question_id, "unresolvable", "attempts_exhausted", actor=actor, reason=why))


def attempt(
    frontier: Frontier,
    question_id: str,
    *,
    kind: AttemptKind,
    query: str,
    outcome: str,
    results: int | None,
    challenge_id: str = "",
    cause: Cause | None = None,
) -> Moved:
    """Log something that was tried; an announced search of the same query is filled in instead of logged twice."""
    question_of(frontier, question_id)
    earlier = frontier.tried(question_id)
    announced = next(
        (
            a
            for a in earlier
            if a.kind == kind == "search" and a.results is None and same_query(a.query, query)
        ),
        None,
    )
    searches = [a.id for a in earlier if a.kind != "fetch"]
    entry = Attempt(
        id=announced.id if announced else numbered("at", len(frontier.attempts) + 1),
        question_id=question_id,
        seq=announced.seq if announced else len(earlier) + 1,
        kind=kind,
        query=query,
        outcome="; ".join(part for part in (announced.outcome if announced else "", outcome) if part),
        results=results,
        challenge_id=challenge_id,
        under=searches[-1] if kind == "fetch" and searches else "",
        cause=cause or "",
    )
    return Moved(frontier=log(frontier, entry), question_id=question_id)


def reopen(
    frontier: Frontier,
    question_id: str,
    why: str,
    priority: int = DEFAULT_PRIORITY,
    *,
    limits: Limits,
    actor: Actor = "agent",
) -> Moved:
    """Take up a settled question again, with every attempt anew.

    Raises:
        Refusal: ``unknown_question``, ``wrong_status``, ``reopen_cap`` or ``invalid_arguments``.
    """
    question = question_of(frontier, question_id)
    _check_priority(priority)
    if question.status not in ("resolved", "unresolvable"):
        raise Refusal(
            "wrong_status", f"{question_id} is {question.status}; only a settled question is reopened"
        )
    if not why.strip():
        raise Refusal("invalid_arguments", "why: say what is new, or the question stays settled")
    if question.reopens >= limits.max_reopens:
        raise Refusal(
            "reopen_cap",
            f"{question_id} was reopened {question.reopens} times, no more are allowed; record what is open as a gap",
        )
    changed = replace(
        question,
        reopens=question.reopens + 1,
        attempts_before=question.attempts_before + frontier.searches(question_id),
        priority=priority,
    )
    moved = Moved(frontier=place(frontier, changed), question_id=question_id)
    status: QuestionStatus = "in_progress" if question_id == ROOT else "pending"
    return settle(step(moved, question_id, status, "reopened", actor=actor, reason=why))


def set_priority(
    frontier: Frontier, question_id: str, priority: int, why: str, *, actor: Actor = "agent"
) -> Moved:
    """Change what is asked first.

    Raises:
        Refusal: ``unknown_question``, ``wrong_status`` (pruned) or ``invalid_arguments``.
    """
    question = question_of(frontier, question_id)
    _check_priority(priority)
    if question.status == "pruned":
        raise Refusal("wrong_status", f"{question_id} is pruned")
    moved = Moved(frontier=frontier, question_id=question_id)
    if priority == question.priority:
        return moved
    return _reprioritize(moved, question_id, priority, actor=actor, reason=why)


def prune_branch(frontier: Frontier, question_id: str, reason: str, *, actor: Actor = "agent") -> Moved:
    """Drop a question and all under it that are pending or blocked; what is in progress or settled stays.

    Raises:
        Refusal: ``unknown_question``, ``wrong_status`` (the objective, or nothing to drop) or ``invalid_arguments``.
    """
    question = question_of(frontier, question_id)
    if question_id == ROOT:
        raise Refusal("wrong_status", "the objective cannot be pruned")
    if not reason.strip():
        raise Refusal("invalid_arguments", "reason: say why the branch is dropped")
    branch = [question, *frontier.descendants(question_id)]
    dropped = [q for q in branch if q.status in ("pending", "blocked")]
    if not dropped:
        raise Refusal(
            "wrong_status", f"{question_id} is {question.status} and nothing under it is pending or blocked"
        )
    moved = Moved(frontier=frontier, question_id=question_id)
    for item in dropped:
        moved = step(moved, item.id, "pruned", "pruned", actor=actor, reason=reason)
    return settle(moved)


def _reprioritize(moved: Moved, question_id: str, priority: int, *, actor: Actor, reason: str) -> Moved:
    status = moved.frontier.questions[question_id].status
    return step(moved, question_id, status, "reprioritized", actor=actor, reason=reason, priority=priority)


def reblock(frontier: Frontier) -> Moved:
    """Block what waits for something given up; let go on what waits for nothing any more."""
    return settle(Moved(frontier=frontier))
