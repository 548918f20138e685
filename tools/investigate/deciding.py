"""What every investigative handler does: look up the investigation, and turn a changed one into a decision."""

from collections.abc import Iterable, Mapping
from typing import Any

from researchdesk.state.errors import Refusal
from researchdesk.state.investigation import Changed, Investigation
from researchdesk.state.investigation_diff import diff
from researchdesk.state.limits import Limits
from researchdesk.state.vocabulary import NotesReason
from researchdesk.state.workspace import Workspace
from researchdesk.tools.running import open_run, started_run
from researchdesk.tools.spec import Decision

TOLD = 40


def seen(workspace: Workspace) -> tuple[Investigation, Limits]:
    """The session's investigation for whoever only looks at it, and the run's limits.

    Raises:
        Refusal: ``not_started``.
    """
    run = started_run(workspace)
    if workspace.investigation is None:
        raise Refusal("not_started", "This run keeps no questions: its investigation has not begun.")
    return workspace.investigation, run.limits


def opened(workspace: Workspace) -> tuple[Investigation, Limits]:
    """The session's investigation while it takes changes, and the run's limits.

    Raises:
        Refusal: ``not_started``, or ``completed`` when the run is sealed.
    """
    open_run(workspace)
    return seen(workspace)


def decided(
    before: Investigation,
    changed: Changed,
    *,
    kind: str,
    key: str,
    told: Iterable[str] = (),
    data: Mapping[str, Any] | None = None,
    reason: NotesReason | None = None,
) -> Decision:
    """The decision that leads to a changed investigation: its events, and what changed in a few lines.

    Args:
        kind, key: what the call was about.
        told: lines before those of the change itself.
        reason: why the notes changed, where they did.
    """
    lines = [_sentence(line) for line in (*told, *changed.told)]
    hidden = len(lines) - TOLD
    shown = lines[:TOLD] + ([f"And {hidden} more changes."] if hidden > 0 else [])
    moved = list(dict.fromkeys(step.question_id for step in changed.transitions))
    return Decision(
        text="\n".join(shown),
        events=diff(before, changed.investigation, changed.transitions, reason),
        data={"id": key, "questions": moved, **(data or {})},
        entity_type=kind,
        entity_id=key,
    )


def _sentence(line: str) -> str:
    return line if line.endswith((".", "?", "!", ":")) else f"{line}."
