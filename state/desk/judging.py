"""The rules by which a proposal is decided: what a yes or a no leads to, as things stand now."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from researchdesk.state.desk import events as dv
from researchdesk.state.desk.actors import deciding_actor
from researchdesk.state.desk.changes import Action, action_of, events_of, outcome_of, still_right
from researchdesk.state.desk.desk_state import UNDECIDED, DeskState, evolve_desk
from researchdesk.state.desk.files import DeskFile
from researchdesk.state.desk.proposals import Proposal
from researchdesk.state.errors import Refusal
from researchdesk.state.events import Stowed
from researchdesk.state.stowing import unstow_arguments

Choice = Literal["approve", "reject"]
REASON_CHARS = 500
Read = Callable[[str], str]
"""The text of a body, by its hash."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edited:
    """Other arguments that a person wants to run instead: as they are recorded, and the hash of their preview."""

    arguments: str
    hash: str
    bodies: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a decision leads to: events of the desk, and the bodies that they name.

    ``replayed``: the same decision was made before, nothing is to be written.
    """

    events: tuple[dv.DeskEvent, ...] = ()
    bodies: Mapping[str, bytes] = field(default_factory=dict)
    replayed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Somebody's answer to a proposal."""

    choice: Choice
    actor: str
    proposal_hash: str
    at: str
    reason: str = ""
    edited: Edited | None = None
    problem: Refusal | None = None
    """Why the other arguments that were given cannot run."""


def judge(desk: DeskState, proposal: Proposal, decision: Decision, read: Read) -> Verdict:
    """What follows from a decision on a proposal.

    Raises:
        Refusal: ``forbidden``, ``already_decided``, ``proposal_changed``, ``dependency_pending`` or
            ``invalid_arguments``; nothing is to be written then.
    """
    deciding_actor(decision.actor)
    if proposal.status != "pending":
        if _is_same(proposal, decision):
            return Verdict(replayed=True)
        raise Refusal("already_decided", already_decided(proposal))
    if _is_late(proposal, decision.at):
        return _lapse(desk, proposal, "expired", decision, f"it expired on {proposal.expires_at[:10]}")
    if decision.problem is not None:
        raise decision.problem
    shown = decision.edited.hash if decision.edited else proposal.hash
    if decision.proposal_hash != shown:
        raise Refusal(
            "proposal_changed", "The proposal differs from the one you were shown. Review it again."
        )
    if decision.choice == "reject":
        return _reject(desk, proposal, decision)
    return _approve(desk, proposal, decision, read)


def standing(desk: DeskState, file: DeskFile, read: Read, *, at: str) -> tuple[Proposal, ...]:
    """The proposals on a file that may still run, oldest first.

    The others wait only to be found expired or stale, with all that builds on them.
    """
    kept: dict[str, Proposal] = {}
    for proposal in desk.waiting_on(file.id):
        before = desk.proposals.get(proposal.depends_on)
        builds = before is not None and before.status in UNDECIDED
        stands = proposal.depends_on in kept if builds else _stands(proposal, file, read)
        if stands and not _is_late(proposal, at):
            kept[proposal.id] = proposal
    return tuple(kept.values())


def _stands(proposal: Proposal, file: DeskFile, read: Read) -> bool:
    """Whether what the proposal was shown on is there."""
    if file.deleted or file.path != proposal.path:
        return False
    if file.content_hash == proposal.base_hash:
        return True
    if proposal.guard == "file":
        return False
    action = proposed_action(proposal.tool, proposal.arguments, file.kind, read)
    return still_right(action, read(proposal.base_hash), read(file.content_hash))


def _is_late(proposal: Proposal, at: str) -> bool:
    return bool(proposal.expires_at) and at > proposal.expires_at


def already_decided(proposal: Proposal) -> str:
    """Who decided a proposal, when and how."""
    by = proposal.decided_by or "nobody"
    return f"Proposal {proposal.id} was already {proposal.status} by {by} at {proposal.decided_at}."


def _is_same(proposal: Proposal, decision: Decision) -> bool:
    """Whether this decision is the one that was made: same person, same answer, same arguments."""
    if decision.problem is not None:
        return False
    choice = "approve" if proposal.is_approved else "reject" if proposal.status == "rejected" else ""
    edited = decision.edited.arguments if decision.edited else ""
    return (proposal.decided_by, choice, proposal.approved_arguments, proposal.hash) == (
        decision.actor,
        decision.choice,
        edited,
        decision.proposal_hash,
    )


def _reject(desk: DeskState, proposal: Proposal, decision: Decision) -> Verdict:
    reason = " ".join(decision.reason.split())
    if proposal.destructive and not reason:
        raise Refusal(
            "invalid_arguments",
            "reason: it is empty. A refused deletion needs one, so that nobody asks again.",
        )
    if len(reason) > REASON_CHARS:
        raise Refusal(
            "invalid_arguments", f"reason: it has {len(reason):,} characters, the limit is {REASON_CHARS}."
        )
    no = dv.ProposalRejected(proposal_id=proposal.id, actor=decision.actor, at=decision.at, reason=reason)
    return Verdict(events=(no, *_fallen(desk, proposal, decision)))


def _lapse(
    desk: DeskState, proposal: Proposal, status: Literal["expired", "stale"], decision: Decision, why: str
) -> Verdict:
    return Verdict(events=(_lapsed(proposal, status, decision, why), *_fallen(desk, proposal, decision)))


def _lapsed(
    proposal: Proposal, status: Literal["expired", "stale"], decision: Decision, why: str
) -> dv.ProposalLapsed:
    return dv.ProposalLapsed(
        proposal_id=proposal.id, status=status, actor=decision.actor, at=decision.at, reason=why
    )


def _fallen(desk: DeskState, proposal: Proposal, decision: Decision) -> tuple[dv.ProposalLapsed, ...]:
    """The proposals that stood on one which will not run: they go stale with it."""
    fallen = {proposal.id}
    events = []
    for other in desk.waiting_on(
        proposal.file_id
    ):  # in the order in which they were made: each stands on earlier ones
        if other.depends_on in fallen and other.status == "pending":
            fallen.add(other.id)
            events.append(
                _lapsed(other, "stale", decision, f"it builds on {other.depends_on}, which will not run")
            )
    return tuple(events)


def _approve(desk: DeskState, proposal: Proposal, decision: Decision, read: Read) -> Verdict:
    before = desk.proposals.get(proposal.depends_on) if proposal.depends_on else None
    if before is not None and before.status in UNDECIDED:
        raise Refusal("dependency_pending", f"Decide proposal {before.id} first; this one builds on it.")
    if before is not None and before.status != "executed":
        return _lapse(
            desk, proposal, "stale", decision, f"it builds on {before.id}, which was {before.status}"
        )
    file = desk.files[proposal.file_id]
    if file.deleted or file.path != proposal.path:
        now = "was deleted" if file.deleted else f'is at "{file.path}" now'
        return _lapse(desk, proposal, "stale", decision, f'"{proposal.path}" {now}')
    yes = dv.ProposalApproved(
        proposal_id=proposal.id,
        actor=decision.actor,
        at=decision.at,
        edited_arguments=decision.edited.arguments if decision.edited else "",
        edited_hash=decision.edited.hash if decision.edited else "",
    )
    bodies = dict(decision.edited.bodies) if decision.edited else {}

    def text(key: str) -> str:
        return bodies[key].decode() if key in bodies else read(key)

    try:
        action = proposed_action(proposal.tool, yes.edited_arguments or proposal.arguments, file.kind, text)
        current = read(file.content_hash)
        if file.content_hash != proposal.base_hash and not still_right(
            action, read(proposal.base_hash), current
        ):
            versions = f"{short(proposal.base_hash)} is {short(file.content_hash)} now"
            why = f'"{proposal.path}" changed after it was proposed: {versions}'
            return _lapse(desk, proposal, "stale", decision, why)
        outcome = outcome_of(action, file, current, desk)
    except Refusal as problem:
        failed = dv.ProposalFailed(proposal_id=proposal.id, error=problem.text)
        return Verdict(events=(yes, failed, *_fallen(desk, proposal, decision)), bodies=bodies)
    made, content = events_of(
        outcome, file, desk, actor=decision.actor, at=decision.at, proposal_id=proposal.id
    )
    done = dv.ProposalExecuted(proposal_id=proposal.id, at=decision.at)
    return Verdict(events=(yes, *made, done), bodies={**bodies, **content})


def proposed_action(tool: str, arguments: str, kind: Any, read: Read) -> Action:
    """The action of a proposal's recorded arguments.

    Raises:
        Refusal: as `action_of`.
    """
    return action_of(tool, unstow_arguments(Stowed(inline=arguments), read), kind=kind)


def short(content_hash: str) -> str:
    """The first eight digits of a hash, as people are shown it."""
    return content_hash.partition(":")[2][:8]


def after(desk: DeskState, events: tuple[dv.DeskEvent, ...]) -> DeskState:
    """The desk after some events."""
    for event in events:
        desk = evolve_desk(desk, event)
    return desk
