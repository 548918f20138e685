"""Calls whose proposal is not on this desk: those of a session that was taken over while a person was asked."""

from researchdesk.state import events as ev
from researchdesk.state.desk.proposals import proposal_id
from researchdesk.state.ids import CallId
from researchdesk.state.workspace import PendingCall, Workspace
from researchdesk.tools.door import Session

WAITS_ELSEWHERE = (
    "This call waits for a decision on the desk that this session was brought from; it has not run here."
)


def settle_orphans(session: Session) -> None:
    """End the calls that nobody can decide about here, so that the session can go on."""

    def decide(workspace: Workspace) -> list[ev.Event]:
        # A proposal and the call that waits for it are of one transaction: what is missing now comes no more.
        known = session.records.desk().desk.proposals if workspace.pending_calls else {}
        return [
            ended(pending, WAITS_ELSEWHERE, recorded_at=_recorded_at(session, call))
            for pending in workspace.pending_calls.values()
            if proposal_id(call := call_of(session.id, pending)) not in known
        ]

    session.record_decided(decide)


def call_of(session_id: str, pending: PendingCall) -> CallId:
    """The identity of a call that waits."""
    return CallId(session=session_id, turn=pending.record.turn_id, call=pending.record.tool_call_id)


def ended(pending: PendingCall, why: str, *, recorded_at: str) -> ev.CallSettled:
    """The end of a call that was never decided."""
    return ev.CallSettled(
        turn_id=pending.record.turn_id,
        tool_call_id=pending.record.tool_call_id,
        status="error",
        code="stale",
        text=ev.Stowed(inline=why, chars=len(why)),
        data='{"code":"stale"}',
        recorded_at=recorded_at,
    )


def _recorded_at(session: Session, call: CallId) -> str:
    row = session.records.ledger.call_row(call)
    assert row is not None
    return str(row["created_at"])
