"""Changing, renaming and deleting files of the desk: such a call makes a proposal, to be decided."""

from collections.abc import Callable
from typing import Any

from researchdesk.state.desk.naming import shown, version
from researchdesk.state.desk.proposals import Proposal
from researchdesk.state.desk.proposing import Proposed, Request, propose
from researchdesk.state.desk.settling import settlement_of
from researchdesk.state.ids import CallId
from researchdesk.state.workspace import Workspace
from researchdesk.tools.spec import Arguments, Decision, Gathered

Decide = Callable[[Workspace, Any, Gathered, CallId], Decision]


def proposing(tool: str, *, destructive: bool = False) -> Decide:
    """The decision on calls of a gated tool, by its name."""

    def decide(workspace: Workspace, arguments: Arguments, gathered: Gathered, call: CallId) -> Decision:
        assert gathered.desk is not None
        request = Request(
            call=call, tool=tool, destructive=destructive, arguments=arguments.model_dump(mode="json")
        )
        view = gathered.desk
        made = propose(view.state, request, view.read, at=view.now, policies=view.policies)
        return _waiting(made) if made.proposal.status == "pending" else _decided(made)

    return decide


def _waiting(made: Proposed) -> Decision:
    proposal = made.proposal
    return Decision(
        text=_waiting_text(proposal),
        status="pending",
        desk_events=made.events,
        data={
            "code": "requires_approval",
            "proposal_id": proposal.id,
            "proposal_hash": proposal.hash,
            "verb": proposal.verb,
            "file_id": proposal.file_id,
            "path": proposal.path,
            "base_version": proposal.base_hash,
            "after_version": proposal.after_hash,
            "depends_on": proposal.depends_on,
            "expires_at": proposal.expires_at,
        },
        bodies=made.bodies,
        entity_type="desk.file",
        entity_id=proposal.file_id,
    )


def _waiting_text(proposal: Proposal) -> str:
    text = (
        f"requires_approval Waiting for approval: proposal {proposal.id} to {proposal.verb} {shown(proposal.path)}. "
        "Do not repeat this call; it has not run."
    )
    builds = f" It builds on proposal {proposal.depends_on}." if proposal.depends_on else ""
    follow = (
        ""
        if proposal.verb == "delete"
        else f" A further change may build on version {version(proposal.after_hash)}."
    )
    return text + builds + follow


def _decided(made: Proposed) -> Decision:
    """A policy decided: the call has its outcome at once."""
    proposal = made.proposal
    end = settlement_of(proposal, made.desk)
    return Decision(
        text=end.text,
        status=end.status,
        code=end.code,
        desk_events=made.events,
        data=end.data,
        bodies=made.bodies,
        entity_type="desk.file",
        entity_id=proposal.file_id,
    )
