"""What a decided proposal says to the model that asked for it, and to programs."""

from dataclasses import dataclass
from typing import Any, Final, Literal

import orjson

from researchdesk.state.desk.a1 import parse_ref
from researchdesk.state.desk.desk_state import DeskState
from researchdesk.state.desk.judging import REASON_CHARS
from researchdesk.state.desk.naming import fitted_label, shown
from researchdesk.state.desk.proposals import Proposal

ARGUMENTS_SHOWN: Final = 600
SHARE_TOKENS: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """The result of the gated call, now that it was decided."""

    status: Literal["success", "error"]
    code: str
    text: str
    data: dict[str, Any]


def settlement_of(proposal: Proposal, desk: DeskState) -> Settlement:
    """The result of a call whose proposal was decided, on the desk as it stands after that."""
    data = {"proposal_id": proposal.id, "proposal_status": proposal.status, "decided_by": proposal.decided_by}
    if proposal.status == "executed":
        return Settlement(
            status="success",
            code="",
            text=_executed(proposal, desk),
            data={**data, **_made(proposal, desk)},
        )
    return Settlement(
        status="error", code=proposal.status, text=_not_run(proposal), data={**data, "code": proposal.status}
    )


def _made(proposal: Proposal, desk: DeskState) -> dict[str, Any]:
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
    refs = _refs(proposal)
    return {**made, "refs": refs} if refs else made


def _refs(proposal: Proposal) -> list[str]:
    """The cells that were set, where the change was of that kind; their names are short and so stand inline."""
    cells = orjson.loads(proposal.final_arguments).get("cells") or ()
    return [str(parse_ref(cell["ref"])) for cell in cells]


def _executed(proposal: Proposal, desk: DeskState) -> str:
    file = desk.files[proposal.file_id]
    if proposal.approved_arguments:
        arguments = fitted_label(proposal.approved_arguments, ARGUMENTS_SHOWN, tokens=SHARE_TOKENS)
        now = "is gone" if file.deleted else f"has version {file.content_hash}"
        return (
            f"A person changed this call before it ran. Executed: {arguments}. Do not re-issue the original. "
            f"{shown(file.path)} {now} now."
        )
    what = {"change": "changed", "rename": "renamed", "delete": "deleted"}[proposal.verb]
    now = "" if file.deleted else f" Its version is {file.content_hash} now."
    moved = f" to {shown(file.path)}" if proposal.verb == "rename" else ""
    return f"Approved by {fitted_label(proposal.decided_by)}: {shown(proposal.path)} was {what}{moved}.{now}"


def _not_run(proposal: Proposal) -> str:
    match proposal.status:
        case "rejected":
            why = _brief(proposal.reason.rstrip(".")) or "no reason given"
            return f"A person rejected proposal {proposal.id}: {why}. Do not retry unless asked."
        case "expired":
            return f"Proposal {proposal.id} expired on {proposal.expires_at[:10]} and was not run."
        case "failed":
            return (
                f"Proposal {proposal.id} was approved by {fitted_label(proposal.decided_by)} but failed: "
                f"{_brief(proposal.error)} Nothing was changed."
            )
        case _:
            return f"Proposal {proposal.id} was not run: {_why_stale(proposal)}."


def _why_stale(proposal: Proposal) -> str:
    if proposal.reason.startswith("it builds on"):
        return proposal.reason
    return f"{shown(proposal.path)} changed after it was proposed"


def _brief(text: str) -> str:
    """A sentence of somebody else's, within its share of what a result may cost."""
    return fitted_label(text, REASON_CHARS, tokens=SHARE_TOKENS)
