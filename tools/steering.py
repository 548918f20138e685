"""What a person does to the questions of a run; everything stands in the ledger as theirs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from researchdesk.state import events as ev
from researchdesk.state.cleaning import clean_text
from researchdesk.state.errors import Refusal
from researchdesk.state.frontier import ROOT, Frontier, Moved
from researchdesk.state.frontier_moves import NewQuestion, add, prune_branch, set_priority
from researchdesk.state.investigation_diff import diff
from researchdesk.state.limits import Limits
from researchdesk.state.questions import DEFAULT_PRIORITY, Question, Transition
from researchdesk.state.redaction import redact
from researchdesk.state.vocabulary import QuestionKind
from researchdesk.state.workspace import Workspace
from researchdesk.tools.running import open_run

Record = Callable[[Callable[[Workspace], Sequence[ev.Event]]], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Steered:
    """A question after a person changed it, and every transition that this brought."""

    question: Question
    transitions: tuple[Transition, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Steering:
    """A person's hand on the questions of one session; it works beside a driver and needs no lease.

    Every method raises `Refusal` as the rules of the frontier do, and ``not_started`` or ``completed``.
    """

    record: Record

    def add(
        self,
        text: str,
        *,
        parent_id: str = ROOT,
        kind: QuestionKind = "question",
        why: str = "",
        priority: int = DEFAULT_PRIORITY,
        depends_on: Sequence[str] = (),
        blocks_parent: bool = False,
    ) -> Steered:
        """Ask a further question."""
        new = NewQuestion(
            text=_plain(text),
            kind=kind,
            why=_plain(why),
            priority=priority,
            depends_on=tuple(depends_on),
            blocks_parent=blocks_parent,
        )
        return self._move(lambda frontier, limits: add(frontier, parent_id, new, limits=limits, actor="user"))

    def prune(self, question_id: str, reason: str) -> Steered:
        """Drop a question and what is under it."""
        told = _plain(reason)
        return self._move(lambda frontier, _: prune_branch(frontier, question_id, told, actor="user"))

    def set_priority(self, question_id: str, priority: int, why: str = "") -> Steered:
        """Change how soon a question is taken up."""
        told = _plain(why)
        return self._move(
            lambda frontier, _: set_priority(frontier, question_id, priority, told, actor="user")
        )

    def _move(self, operation: Callable[[Frontier, Limits], Moved]) -> Steered:
        done: list[Moved] = []

        def decide(workspace: Workspace) -> Sequence[ev.Event]:
            run, now = open_run(workspace), workspace.investigation
            if now is None:
                raise Refusal("not_started", "This run keeps no questions: its investigation has not begun.")
            moved = operation(now.frontier, run.limits)
            done.append(moved)
            return diff(now, replace(now, frontier=moved.frontier), moved.transitions)

        self.record(decide)
        moved = done[-1]
        return Steered(question=moved.frontier.questions[moved.question_id], transitions=moved.transitions)


def _plain(text: str) -> str:
    return redact(clean_text(text).text).text
