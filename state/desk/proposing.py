"""Making a proposal of a gated call: what it stands on, what it would lead to, and whether a policy approves it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from researchdesk.state.copying import changed
from researchdesk.state.desk import events as dv
from researchdesk.state.desk.changes import (
    Action,
    Rename,
    action_of,
    after_hash_of,
    guard_for,
    outcome_of,
    verb_of,
)
from researchdesk.state.desk.desk_state import DeskState, evolve_desk
from researchdesk.state.desk.diffs import diff_of
from researchdesk.state.desk.files import Cause, DeskFile, FileKind
from researchdesk.state.desk.judging import Decision, Read, after, judge, proposed_action, short, standing
from researchdesk.state.desk.naming import is_version, named_file, shown
from researchdesk.state.desk.policies import Policies
from researchdesk.state.desk.proposals import Proposal, proposal_hash, proposal_id
from researchdesk.state.errors import Refusal
from researchdesk.state.ids import CallId
from researchdesk.state.redaction import redact
from researchdesk.state.stowing import Stow

LISTED_DIFF: Final = 2_000
"""Characters of a diff that a proposal holds; the whole of it is made anew from the two versions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A gated call: its tool, whether that destroys, and the arguments it came with."""

    call: CallId
    tool: str
    destructive: bool
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed:
    """What a gated call leads to: the desk's events, the bodies they name, the desk and the proposal after them."""

    events: tuple[dv.DeskEvent, ...]
    bodies: Mapping[str, bytes]
    desk: DeskState
    proposal: Proposal


@dataclass(frozen=True, slots=True, kw_only=True)
class _Base:
    """A file as it will be when all that waits on it was done; ``depends_on`` is the last of that."""

    file: DeskFile
    content_hash: str
    versions: tuple[str, ...] = field(default=())
    depends_on: str = ""


def propose(desk: DeskState, request: Request, read: Read, *, at: str, policies: Policies) -> Proposed:
    """Make a proposal of a call, and approve it where a policy does.

    A proposal on a file that others wait for builds on the last of them that can still run: on its content and path
    after that.

    Raises:
        Refusal: ``not_found``, ``read_first``, ``stale_base``, ``dependency_pending`` behind a deletion that waits,
            ``no_change``, or what is wrong with the change itself; nothing is to be written then.
    """
    base = _base(desk, named_file(desk, request.arguments["file"]), read, at=at)
    _check_version(base, request.arguments["base_version"])
    text = read(base.content_hash)
    action = action_of(request.tool, request.arguments, kind=base.file.kind)
    outcome = outcome_of(action, base.file, text, desk)
    if outcome.text == text:
        done = f" once proposal {base.depends_on} has run" if base.depends_on else ""
        raise Refusal(
            "no_change", f"{shown(base.file.path)} would stay as it is{done}. There is nothing to approve."
        )
    stow = Stow()
    arguments = stow.arguments(request.arguments).inline
    approver = policies.approver(request.tool, destructive=request.destructive)
    after_hash = after_hash_of(outcome, base.content_hash)
    made = dv.ProposalMade(
        proposal_id=proposal_id(request.call),
        cause=Cause.of(request.call),
        tool=request.tool,
        arguments=arguments,
        file_id=base.file.id,
        path=base.file.path,
        verb=verb_of(action),
        destructive=request.destructive,
        guard=guard_for(action),
        base_hash=base.content_hash,
        after_hash=after_hash,
        diff=redact(change_shown(action, base.file, text, outcome.text or "", limit=LISTED_DIFF)).text,
        proposal_hash=proposal_hash(
            tool=request.tool,
            arguments=arguments,
            file_id=base.file.id,
            base_hash=base.content_hash,
            after_hash=after_hash,
        ),
        created_at=at,
        depends_on=base.depends_on,
        expires_at=_expiry(at, policies.expires_days),
        shadow=approver if policies.shadow else "",
    )
    bodies = stow.bodies if outcome.text is None else {**stow.bodies, after_hash: outcome.text.encode()}
    waiting = _waiting(desk, made, bodies)
    return _approved(waiting, approver, read, at=at) if approver and not policies.shadow else waiting


def change_shown(action: Action, file: DeskFile, before: str, after: str, *, limit: int) -> str:
    """What an action does to a file, for whoever decides about it; ``after`` is empty where the file goes."""
    if isinstance(action, Rename):
        return f"{file.path} -> {action.new_path}\n"
    return diff_of(before, after, file.path, kind=file.kind, limit=limit)


def _base(desk: DeskState, file: DeskFile, read: Read, *, at: str) -> _Base:
    waiting = standing(desk, file, read, at=at)
    if not waiting:
        return _Base(file=file, content_hash=file.content_hash, versions=(file.content_hash,))
    last = waiting[-1]
    if last.verb == "delete":
        raise Refusal(
            "dependency_pending",
            f"Proposal {last.id} to delete {shown(last.path)} waits for a decision; nothing can follow it.",
        )
    return _Base(
        file=changed(file, path=_path_after(last, file.kind, read)),
        content_hash=last.after_hash,
        versions=(file.content_hash, last.after_hash),
        depends_on=last.id,
    )


def _path_after(proposal: Proposal, kind: FileKind, read: Read) -> str:
    """Where the file will be."""
    if proposal.verb != "rename":
        return proposal.path
    action = proposed_action(proposal.tool, proposal.arguments, kind, read)
    assert isinstance(action, Rename)
    return action.new_path


def _check_version(base: _Base, given: str) -> None:
    path = shown(base.file.path)
    if not given.strip():
        raise Refusal("read_first", f"Read {path} before changing it, then pass its version.")
    if any(is_version(given, known) for known in base.versions):
        return
    had = given.strip().removeprefix("sha256:")[:8]
    raise Refusal(
        "stale_base",
        f"{path} changed since you read it (now {short(base.versions[0])}, you had {had}). Read it again.",
    )


def _expiry(at: str, days: float | None) -> str:
    if days is None:
        return ""
    return (datetime.fromisoformat(at) + timedelta(days=days)).isoformat(timespec="microseconds")


def _waiting(desk: DeskState, made: dv.ProposalMade, bodies: Mapping[str, bytes]) -> Proposed:
    then = evolve_desk(desk, made)
    return Proposed(events=(made,), bodies=bodies, desk=then, proposal=then.proposals[made.proposal_id])


def _approved(proposed: Proposed, approver: str, read: Read, *, at: str) -> Proposed:
    """The proposal as a policy decided it; it still waits where one before it does."""

    def text(key: str) -> str:
        return proposed.bodies[key].decode() if key in proposed.bodies else read(key)

    decision = Decision(
        choice="approve", actor=approver, proposal_hash=proposed.proposal.hash, at=at, reason=""
    )
    if proposed.proposal.depends_on:
        return proposed
    verdict = judge(proposed.desk, proposed.proposal, decision, text)
    then = after(proposed.desk, verdict.events)
    return Proposed(
        events=(*proposed.events, *verdict.events),
        bodies={**proposed.bodies, **verdict.bodies},
        desk=then,
        proposal=then.proposals[proposed.proposal.id],
    )
