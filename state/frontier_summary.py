"""The frontier in a few lines, for a prompt: what is asked now, what comes next, what is settled."""

from researchdesk.state.frontier import ROOT, Frontier
from researchdesk.state.limits import Limits
from researchdesk.state.questions import SETTLED_QUESTION, STATUSES, Question
from researchdesk.state.texts import cut_line

NEXT_SHOWN = 8
SETTLED_SHOWN = 8
TEXT_SHOWN = 160
ATTEMPTS_SHOWN = 6


def summary(frontier: Frontier, current_id: str, limits: Limits) -> str:
    """Counts, the current question with its attempts, the next ones and the newest settled ones; bounded."""
    counts = {status: sum(q.status == status for q in frontier) for status in STATUSES}
    told = ", ".join(f"{count} {status}" for status, count in counts.items() if count)
    lines = [
        f"Questions: {told}; {len(frontier.questions)} of at most {limits.max_questions}, "
        f"depth at most {limits.max_depth}.",
        f"Objective {ROOT} ({frontier.root.status}): {_cut(frontier.root.text)}",
    ]
    if current_id and current_id != ROOT:
        lines += _current(frontier, frontier.questions[current_id], limits)
    waiting = [q for q in frontier if q.status in ("pending", "blocked")]
    lines += _listed("Next", sorted(waiting, key=lambda q: (-q.priority, q.depth, q.created_seq)), NEXT_SHOWN)
    settled = [q for q in frontier if q.status in SETTLED_QUESTION and q.id != ROOT]
    lines += _listed("Settled", settled[::-1], SETTLED_SHOWN)
    return "\n".join(lines)


def _current(frontier: Frontier, question: Question, limits: Limits) -> list[str]:
    spent = frontier.searches(question.id)
    lines = [
        f"Now {question.id} (depth {question.depth}, priority {question.priority}, {question.kind}, "
        f"{spent} of {limits.max_attempts} searches): {_cut(question.text)}"
    ]
    tried = [a for a in frontier.tried(question.id) if a.kind != "fetch"]
    hidden = len(tried) - ATTEMPTS_SHOWN
    lines += [f"  ({hidden} earlier attempts)"] if hidden > 0 else []
    for attempt in tried[-ATTEMPTS_SHOWN:]:
        found = "not run yet" if attempt.results is None else f"{attempt.results} results"
        lines.append(f'  tried "{_cut(attempt.query)}": {attempt.cause or found}')
    return lines


def _listed(title: str, questions: list[Question], shown: int) -> list[str]:
    lines = [f"{title}:"] if questions else []
    lines += [f"  {_one_line(question)}" for question in questions[:shown]]
    hidden = len(questions) - shown
    return [*lines, f"  and {hidden} more"] if hidden > 0 else lines


def _one_line(question: Question) -> str:
    waits = f", waits for {', '.join(question.depends_on)}" if question.depends_on else ""
    state = f"{question.status}, " if question.status != "pending" else ""
    told = question.answer if question.status == "resolved" else question.assumption
    ending = f" -> {_cut(told)}" if told and question.status in SETTLED_QUESTION else ""
    return f"{question.id} ({state}priority {question.priority}{waits}): {_cut(question.text)}{ending}"


def _cut(text: str) -> str:
    return cut_line(text, TEXT_SHOWN)
