"""The projection of a desk: its files, revisions, proposals and panels, folded from its events."""

from __future__ import annotations  # the persistent maps are generic for type checkers only

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import assert_never

from rpds import HashTrieMap

from researchdesk.state.bodies import Bodies, stand_on
from researchdesk.state.copying import changed
from researchdesk.state.desk import events as dv
from researchdesk.state.desk.files import DeskFile, Revision
from researchdesk.state.desk.layout import PanelLayout, apply
from researchdesk.state.desk.paths import parent_of, path_key
from researchdesk.state.desk.proposals import NEXT, Proposal, ProposalStatus

UNDECIDED: frozenset[ProposalStatus] = frozenset({"pending", "approved"})
OWNER = "desk"
"""The owner of every body: the desk itself keeps them, as each may come back by its revision."""


class IllegalDeskEvent(ValueError):
    """An event that the desk's rules do not allow at this point."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeskState:
    """A desk as it stands after ``seq`` events."""

    seq: int = 0
    files: HashTrieMap[str, DeskFile] = field(default_factory=HashTrieMap)
    """Every file by id, the deleted ones too."""
    by_path: HashTrieMap[str, str] = field(default_factory=HashTrieMap)
    """The ids of the files that are there, by the key of their path."""
    folders: HashTrieMap[str, int] = field(default_factory=HashTrieMap)
    """How many files that are there lie in a folder, at any depth, by the key of its path."""
    revisions: HashTrieMap[str, Revision] = field(default_factory=HashTrieMap)
    proposals: HashTrieMap[str, Proposal] = field(default_factory=HashTrieMap)
    undecided: tuple[str, ...] = ()
    """The proposals that wait, oldest first."""
    waiting: HashTrieMap[str, tuple[str, ...]] = field(default_factory=HashTrieMap)
    """The same by the file that they would change."""
    decided: tuple[str, ...] = ()
    """The last `DECIDED_KEPT` proposals that were decided, in the order of their decisions."""
    layouts: HashTrieMap[str, PanelLayout] = field(default_factory=HashTrieMap)
    """The panels of each session."""
    bodies: Bodies = field(default_factory=HashTrieMap)

    @property
    def live(self) -> Iterator[DeskFile]:
        """The files that are there, in no order."""
        return (self.files[key] for key in self.by_path.values())

    def at_path(self, path: str) -> DeskFile | None:
        """The file at a path, however its letters are written; None where there is none."""
        key = self.by_path.get(path_key(path))
        return self.files[key] if key else None

    def inside(self, folder: str) -> Iterator[DeskFile]:
        """The files that lie in a folder, at any depth, in no order."""
        key = path_key(folder)
        if key not in self.folders:
            return iter(())
        return (self.files[own] for path, own in self.by_path.items() if path.startswith(f"{key}/"))

    def layout(self, session_id: str) -> PanelLayout:
        """The panels of a session."""
        return self.layouts.get(session_id) or PanelLayout()

    def waiting_on(self, file_id: str) -> tuple[Proposal, ...]:
        """The undecided proposals on a file, oldest first."""
        return tuple(self.proposals[key] for key in self.waiting.get(file_id, ()))

    @property
    def standing_bodies(self) -> tuple[str, ...]:
        """The hashes of the bodies that have to be there, sorted."""
        return tuple(sorted(self.bodies))


DECIDED_KEPT = 100


def evolve_desk(desk: DeskState, event: dv.DeskEvent) -> DeskState:
    """The desk after one more event.

    Raises:
        IllegalDeskEvent: the event cannot follow; the message says why.
    """
    seq = desk.seq + 1
    match event:
        case dv.FileCreated():
            return _create(desk, event, seq=seq)
        case dv.FileChanged():
            return _change(desk, event, seq=seq)
        case dv.ProposalMade():
            return _propose(desk, event, seq=seq)
        case dv.EffectsDerived():
            return _show(desk, event, seq=seq)
        case _:
            return _decide(desk, event, seq=seq)


def _require(condition: bool, problem: str) -> None:
    if not condition:
        raise IllegalDeskEvent(problem)


def _create(desk: DeskState, event: dv.FileCreated, *, seq: int) -> DeskState:
    _require(event.file_id not in desk.files, f"file {event.file_id} is there already")
    _require(desk.at_path(event.path) is None, f"something stands at '{event.path}' already")
    file = DeskFile(
        id=event.file_id,
        path=event.path,
        kind=event.kind,
        content_hash=event.content_hash,
        chars=event.chars,
        rev=1,
        cause=event.cause,
        created_by=event.actor,
        created_at=event.at,
        updated_by=event.actor,
        updated_at=event.at,
        created_seq=seq,
        updated_seq=seq,
    )
    return changed(
        desk,
        seq=seq,
        files=desk.files.insert(file.id, file),
        by_path=desk.by_path.insert(path_key(file.path), file.id),
        folders=_counted(desk.folders, file.path, 1),
        bodies=stand_on(desk.bodies, (file.content_hash,), owner=OWNER, seq=seq),
    )


def _change(desk: DeskState, event: dv.FileChanged, *, seq: int) -> DeskState:
    old = desk.files.get(event.file_id)
    _require(old is not None, f"no file {event.file_id}")
    assert old is not None
    _require(not old.deleted or event.op == "restore", f"file {event.file_id} is deleted")
    _require(event.deleted == (event.op == "delete"), "only a deletion deletes, and it does nothing else")
    taken = desk.at_path(event.path)
    _require(taken is None or taken.id == old.id, f"another file stands at '{event.path}'")
    _require(event.revision_id not in desk.revisions, f"revision {event.revision_id} is there already")
    new = changed(
        old,
        path=event.path,
        content_hash=event.content_hash,
        chars=event.chars,
        rev=old.rev + 1,
        updated_by=event.actor,
        updated_at=event.at,
        updated_seq=seq,
        edited=event.op == "human_edit",
        deleted=event.deleted,
    )
    by_path, folders = desk.by_path, desk.folders
    if not old.deleted:
        by_path, folders = by_path.remove(path_key(old.path)), _counted(folders, old.path, -1)
    if not new.deleted:
        by_path, folders = by_path.insert(path_key(new.path), new.id), _counted(folders, new.path, 1)
    return changed(
        desk,
        seq=seq,
        files=desk.files.insert(new.id, new),
        by_path=by_path,
        folders=folders,
        revisions=_with_revision(desk, old, event, seq=seq),
        bodies=stand_on(desk.bodies, (new.content_hash,), owner=OWNER, seq=seq),
    )


def _counted(folders: HashTrieMap[str, int], path: str, change: int) -> HashTrieMap[str, int]:
    """The folders after a file at ``path`` came (1) or went (-1)."""
    key = path_key(path)
    while key := parent_of(key):
        count = folders.get(key, 0) + change
        folders = folders.insert(key, count) if count else folders.remove(key)
    return folders


def _with_revision(
    desk: DeskState, old: DeskFile, event: dv.FileChanged, *, seq: int
) -> HashTrieMap[str, Revision]:
    if not event.revision_id:
        return desk.revisions
    revision = Revision(
        id=event.revision_id,
        file_id=old.id,
        rev=old.rev,
        path=old.path,
        kind=old.kind,
        content_hash=old.content_hash,
        chars=old.chars,
        op=event.op,
        actor=event.actor,
        seq=seq,
        deleted=old.deleted,
    )
    return desk.revisions.insert(revision.id, revision)


def _propose(desk: DeskState, event: dv.ProposalMade, *, seq: int) -> DeskState:
    _require(event.proposal_id not in desk.proposals, f"proposal {event.proposal_id} is there already")
    file = desk.files.get(event.file_id)
    _require(file is not None and not file.deleted, f"no file {event.file_id}")
    assert file is not None
    _require(not event.depends_on or event.depends_on in desk.proposals, f"no proposal {event.depends_on}")
    proposal = Proposal(
        id=event.proposal_id,
        cause=event.cause,
        tool=event.tool,
        arguments=event.arguments,
        file_id=event.file_id,
        path=event.path,
        verb=event.verb,
        destructive=event.destructive,
        guard=event.guard,
        base_hash=event.base_hash,
        after_hash=event.after_hash,
        diff=event.diff,
        hash=event.proposal_hash,
        depends_on=event.depends_on,
        supersedes=event.supersedes,
        expires_at=event.expires_at,
        created_at=event.created_at,
        shadow=event.shadow,
        created_seq=seq,
        updated_seq=seq,
    )
    return changed(
        desk,
        seq=seq,
        proposals=desk.proposals.insert(proposal.id, proposal),
        undecided=(*desk.undecided, proposal.id),
        waiting=desk.waiting.insert(file.id, (*desk.waiting.get(file.id, ()), proposal.id)),
        bodies=stand_on(desk.bodies, dv.bodies_of(event), owner=OWNER, seq=seq),
    )


def _decide(
    desk: DeskState,
    event: dv.ProposalApproved
    | dv.ProposalRejected
    | dv.ProposalLapsed
    | dv.ProposalExecuted
    | dv.ProposalFailed,
    *,
    seq: int,
) -> DeskState:
    old = desk.proposals.get(event.proposal_id)
    _require(old is not None, f"no proposal {event.proposal_id}")
    assert old is not None
    new = _decided(old, event, seq=seq)
    _require(new.status in NEXT[old.status], f"proposal {old.id} is {old.status}, it cannot be {new.status}")
    over = new.status not in UNDECIDED
    return changed(
        desk,
        seq=seq,
        proposals=desk.proposals.insert(new.id, new),
        undecided=tuple(key for key in desk.undecided if key != new.id) if over else desk.undecided,
        waiting=_without(desk.waiting, new) if over else desk.waiting,
        decided=(*desk.decided, new.id)[-DECIDED_KEPT:] if over else desk.decided,
        bodies=stand_on(desk.bodies, dv.bodies_of(event), owner=OWNER, seq=seq),
    )


def _without(
    waiting: HashTrieMap[str, tuple[str, ...]], decided: Proposal
) -> HashTrieMap[str, tuple[str, ...]]:
    others = tuple(key for key in waiting[decided.file_id] if key != decided.id)
    return waiting.insert(decided.file_id, others) if others else waiting.remove(decided.file_id)


def _decided(
    old: Proposal,
    event: dv.ProposalApproved
    | dv.ProposalRejected
    | dv.ProposalLapsed
    | dv.ProposalExecuted
    | dv.ProposalFailed,
    *,
    seq: int,
) -> Proposal:
    match event:
        case dv.ProposalApproved():
            return changed(
                old,
                status="approved",
                decided_by=event.actor,
                decided_at=event.at,
                approved_arguments=event.edited_arguments,
                hash=event.edited_hash or old.hash,
                updated_seq=seq,
            )
        case dv.ProposalRejected():
            return changed(
                old,
                status="rejected",
                decided_by=event.actor,
                decided_at=event.at,
                reason=event.reason,
                updated_seq=seq,
            )
        case dv.ProposalLapsed():
            return changed(
                old,
                status=event.status,
                decided_by=event.actor,
                decided_at=event.at,
                reason=event.reason,
                updated_seq=seq,
            )
        case dv.ProposalExecuted():
            return changed(old, status="executed", executed_at=event.at, updated_seq=seq)
        case dv.ProposalFailed():
            return changed(old, status="failed", error=event.error, updated_seq=seq)
    assert_never(event)


def _show(desk: DeskState, event: dv.EffectsDerived, *, seq: int) -> DeskState:
    layout = desk.layout(event.session_id)
    for effect in event.effects:
        layout = apply(layout, effect, by_person=event.by_person)
    return changed(desk, seq=seq, layouts=desk.layouts.insert(event.session_id, layout))
