"""What a session's model is shown of a desk, from the desk as it stands."""

from collections.abc import Iterable

from researchdesk.state.desk.desk_state import DeskState
from researchdesk.state.desk.files import DeskFile
from researchdesk.state.desk.prompt import DecisionShown, DeskView, Focus, PendingShown
from researchdesk.state.desk.proposals import Proposal
from researchdesk.state.desk.tree import ListedFile


def view_of(
    desk: DeskState, session_id: str, *, focus: Focus | None = None, selection: str = "", since: int = 0
) -> DeskView:
    """The desk for a session's model: its files, the session's panels, what waits, what was decided.

    Args:
        focus: what is in focus; by default the ``selection`` alone.
        since: only decisions after this sequence of the desk, such as that of the model's last turn.
    """
    decided = (desk.proposals[key] for key in reversed(desk.decided))
    waiting = (desk.proposals[key] for key in reversed(desk.undecided))
    return DeskView(
        files=tuple(_listed(desk.live)),
        panels=desk.layout(session_id),
        focus=focus or Focus(selection=selection),
        decisions=tuple(
            _decision(made)
            for made in decided
            if made.cause.session_id == session_id and made.updated_seq > since
        ),
        pending=tuple(_pending(made, session_id) for made in waiting),
    )


def _listed(files: Iterable[DeskFile]) -> Iterable[ListedFile]:
    for file in files:
        yield ListedFile(id=file.id, kind=file.kind, path=file.path, rev=file.rev, size=file.chars)


def _decision(made: Proposal) -> DecisionShown:
    edited = " as a person changed it" if made.approved_arguments and made.status == "executed" else ""
    return DecisionShown(
        proposal_id=made.id,
        verb=made.verb,
        path=made.path,
        status=f"{made.status}{edited}",
        actor=made.decided_by,
        reason=made.reason or made.error,
    )


def _pending(made: Proposal, session_id: str) -> PendingShown:
    """A proposal that waits; whose it is stands there only where it is not the session's own."""
    other = "" if made.cause.session_id == session_id else made.cause.session_id
    return PendingShown(proposal_id=made.id, verb=made.verb, path=made.path, session_id=other)
