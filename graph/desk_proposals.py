"""Proposals as commands show them, and what comes of deciding about one: what happened, and what to do then."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from researchdesk.graph.cli_options import again

if TYPE_CHECKING:
    from rich.console import RenderableType

    from researchdesk.state.desk.proposals import Proposal
    from researchdesk.state.errors import Refusal
    from researchdesk.tools.deciding import Decided, Preview
    from researchdesk.tools.workspace import Desk

StatusName = Literal["pending", "approved", "rejected", "expired", "stale", "executed", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of one decision; ``code`` says why it is not what was wanted, ``next`` what to do then."""

    proposal_id: str
    status: str
    ok: bool
    text: str
    code: str = ""
    next: str = ""
    replayed: bool = False

    def as_json(self) -> dict[str, Any]:
        """The outcome as a program reads it."""
        return asdict(self)


def as_json(proposal: "Proposal") -> dict[str, Any]:
    """A proposal as commands write it; its ``hash`` names what was shown, ``diff`` may be cut."""
    return {
        "id": proposal.id,
        "status": proposal.status,
        "session_id": proposal.cause.session_id,
        "turn_id": proposal.cause.turn_id,
        "tool_call_id": proposal.cause.tool_call_id,
        "tool": proposal.tool,
        "verb": proposal.verb,
        "destructive": proposal.destructive,
        "file_id": proposal.file_id,
        "path": proposal.path,
        "guard": proposal.guard,
        "base_hash": proposal.base_hash,
        "after_hash": proposal.after_hash,
        "hash": proposal.hash,
        "depends_on": proposal.depends_on,
        "supersedes": proposal.supersedes,
        "created_at": proposal.created_at,
        "expires_at": proposal.expires_at,
        "decided_by": proposal.decided_by,
        "decided_at": proposal.decided_at,
        "approved_by": proposal.decided_by if proposal.is_approved else None,
        "approved_at": proposal.decided_at if proposal.is_approved else None,
        "executed_at": proposal.executed_at,
        "reason": proposal.reason,
        "error": proposal.error,
        "shadow": proposal.shadow,
        "diff": proposal.diff,
    }


def state(proposal: "Proposal", now: str) -> str:
    """How a proposal stands at a moment: one that nobody decided in time can only be found expired."""
    late = proposal.status == "pending" and proposal.expires_at and now > proposal.expires_at
    return "pending (too late)" if late else proposal.status


def arguments(desk: "Desk", proposal: "Proposal") -> dict[str, Any]:
    """The arguments of the call, with the long texts among them."""
    from researchdesk.state.events import Stowed
    from researchdesk.state.stowing import unstow_arguments

    return dict(unstow_arguments(Stowed(inline=proposal.final_arguments), desk.records.text))


def edited(desk: "Desk", proposal: "Proposal", given: str) -> Mapping[str, Any] | None:
    """The proposed arguments with those of a JSON text in their places; None where none were given.

    Raises:
        UsageError: it is no JSON object.
    """
    import orjson

    from researchdesk.state.errors import UsageError

    if not given:
        return None
    try:
        changes = orjson.loads(given)
    except orjson.JSONDecodeError as problem:
        raise UsageError(f"--args is no JSON: {problem}") from None
    if not isinstance(changes, dict):
        raise UsageError('--args has to be a JSON object, like {"content": "…"}')
    return {**arguments(desk, proposal), **changes}


def view(proposal: "Proposal", seen: "Preview", *, state: str) -> "RenderableType":
    """A proposal with its whole diff, as a person is shown it."""
    from rich.console import Group

    from researchdesk.graph.diff_view import diff_text, fields_text

    fields = {
        "proposal": f"{proposal.id}, {state}",
        "wants to": f"{proposal.verb} {proposal.path} ({proposal.file_id})",
        "asked by": f"{proposal.asked_by} with {proposal.tool} at {proposal.created_at[:19]}",
        "expires": proposal.expires_at[:19] or "never",
        "builds on": proposal.depends_on,
        "supersedes": proposal.supersedes,
        "policy": f"{proposal.shadow} would have approved it" if proposal.shadow else "",
        "decided": f"by {proposal.decided_by} at {proposal.decided_at[:19]}" if proposal.decided_by else "",
        "reason": proposal.reason,
        "error": proposal.error,
        "hash": seen.proposal_hash,
    }
    return Group(fields_text(fields), diff_text(seen.diff))


def left(proposal: "Proposal") -> Outcome:
    """A person was shown the proposal and did not say yes."""
    return Outcome(
        proposal_id=proposal.id,
        status=proposal.status,
        ok=False,
        text="Nothing was decided.",
        code="not_approved",
    )


def came_of(decided: "Decided", decision: str, *, home: str) -> Outcome:
    """The outcome of a decision that was taken."""
    proposal = decided.proposal
    ok = proposal.status == ("executed" if decision == "approve" else "rejected")
    why = f"Proposal {proposal.id} was not run: {proposal.reason}."
    before = "you decided so before; nothing was done again" if decided.replayed else ""
    return Outcome(
        proposal_id=proposal.id,
        status=proposal.status,
        ok=ok,
        text=why if proposal.status == "stale" else decided.text,
        code="" if ok else proposal.status,
        next=before if ok else _next(proposal, proposal.status, home),
        replayed=decided.replayed,
    )


def refused(proposal: "Proposal", refusal: "Refusal", *, home: str) -> Outcome:
    """The outcome of a decision that was not taken; nothing was written."""
    return Outcome(
        proposal_id=proposal.id,
        status=proposal.status,
        ok=False,
        text=refusal.text,
        code=refusal.code,
        next=_next(proposal, refusal.code, home),
    )


def _next(proposal: "Proposal", code: str, home: str) -> str:
    show = again(home, "proposals", "show", proposal.id)
    match code:
        case "stale" | "expired" | "failed":
            read = again(home, "desk", "cat", proposal.file_id)
            whom = proposal.cause.session_id
            return f"look at the file as it is now with `{read}`; session {whom} may propose the change anew"
        case "already_decided":
            return f"`{show}` shows what was decided"
        case "proposal_changed":
            return f"`{show}` shows it with its hash; approve that one"
        case "dependency_pending":
            return f"first `{again(home, 'proposals', 'show', proposal.depends_on)}`"
        case _:
            return ""
