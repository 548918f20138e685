"""What a decided proposal says to the model that asked for it, and to programs."""

from dataclasses import dataclass
from typing import Any, Literal

from researchdesk.state.desk.desk_state import DeskState
from researchdesk.state.desk.judging import short
from researchdesk.state.desk.proposals import Proposal
from researchdesk.state.texts import cut_line

ARGUMENTS_SHOWN = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """The result of the gated call, now that it was decided."""

    status: Literal["success", "error"]
    code: str
    text: str
    data: dict[str, Any]


def settlement_of(proposal: Proposal, desk: DeskState, *, refs: tuple[str, ...] = ()) -> Settlement:
    """The result of a call whose proposal was decided, on the desk as it stands after that."""
    data = {"proposal_id": proposal.id, "proposal_status": proposal.status, "decided_by": proposal.decided_by}
    if proposal.status == "executed":
        return Settlement(
            status="success",
            code="",
            text=_executed(proposal, desk),
            data={**data, **_made(proposal, desk, refs)},
        )
    return Settlement(
        status="error", code=proposal.status, text=_not_run(proposal), data={**data, "code": proposal.status}
    )


def _made(proposal: Proposal, desk: DeskState, refs: tuple[str, ...]) -> dict[str, Any]:
    file = desk.files[proposal.file_id]
    if file.deleted:
        return {"file_id": file.id, "path": file.path, "deleted": True}
    made = {
        "file_id": file.id,
        "path": file.path,
        "kind": file.kind,
        "hash": file.content_hash,
        "rev": file.rev,
    }
    return {**made, "refs": list(refs)} if refs else made


def _executed(proposal: Proposal, desk: DeskState) -> str:
    file = desk.files[proposal.file_id]
    if proposal.approved_arguments:
        arguments = cut_line(proposal.approved_arguments, ARGUMENTS_SHOWN)
        return (
            f"A person changed this call before it ran. Executed: {arguments}. Do not re-issue the original. "
            f'"{file.path}" has version {file.content_hash} now.'
        )
    what = {"change": "changed", "rename": "renamed", "delete": "deleted"}[proposal.verb]
    now = "" if file.deleted else f" Its version is {file.content_hash} now."
    moved = f' to "{file.path}"' if proposal.verb == "rename" else ""
    return f'Approved by {proposal.decided_by}: "{proposal.path}" was {what}{moved}.{now}'


def _not_run(proposal: Proposal) -> str:
    match proposal.status:
        case "rejected":
            why = proposal.reason or "no reason given"
            return f"A person rejected proposal {proposal.id}: {why}. Do not retry unless asked."
        case "expired":
            return f"Proposal {proposal.id} expired on {proposal.expires_at[:10]} and was not run."
        case "failed":
            return (
                f"Proposal {proposal.id} was approved by {proposal.decided_by} but failed: {proposal.error} "
                "Nothing was changed."
            )
        case _:
            return f'Proposal {proposal.id} was not run: "{proposal.path}" changed after it was proposed.'


__all__ = ["Settlement", "settlement_of", "short"]
