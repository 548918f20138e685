"""The relational rows that an event of a desk writes."""

from researchdesk.state.desk import events as dv
from researchdesk.state.desk.desk_state import DeskState
from researchdesk.state.desk.files import Cause, DeskFile
from researchdesk.state.desk.proposals import Proposal
from researchdesk.state.row_changes import Row, RowChange, Stamp, changes_between, insert, json_text


def desk_rows(
    event: dv.DeskEvent, before: DeskState, after: DeskState, stamp: Stamp, *, desk_id: str
) -> tuple[RowChange, ...]:
    """The row changes of one event; arguments as `state.rows.rows`."""
    return (*_own_rows(event, before, after, stamp, desk_id), *_body_rows(event, before, after, desk_id))


def _own_rows(
    event: dv.DeskEvent, before: DeskState, after: DeskState, stamp: Stamp, desk_id: str
) -> tuple[RowChange, ...]:
    match event:
        case dv.FileCreated():
            return (RowChange(table="desk_files", new=_file_row(after.files[event.file_id], desk_id)),)
        case dv.FileChanged():
            old, new = (_file_row(desk.files[event.file_id], desk_id) for desk in (before, after))
            file = RowChange(table="desk_files", new=new, old=old)
            return (*_revision_rows(event, after, stamp, desk_id), file)
        case dv.EffectsDerived():
            panels = (_panel_rows(desk, event.session_id, desk_id) for desk in (before, after))
            return tuple(changes_between("panels", *panels))
        case _:
            known = before.proposals.get(event.proposal_id)
            old_row = _proposal_row(known, desk_id) if known else None
            new_row = _proposal_row(after.proposals[event.proposal_id], desk_id)
            return (RowChange(table="proposals", new=new_row, old=old_row),)


def _body_rows(
    event: dv.DeskEvent, before: DeskState, after: DeskState, desk_id: str
) -> tuple[RowChange, ...]:
    new = (key for key in dv.bodies_of(event) if key not in before.bodies)
    return tuple(insert("desk_bodies", desk_id, key, after.bodies[key].named_seq) for key in new)


def _file_row(file: DeskFile, desk_id: str) -> Row:
    return (
        desk_id,
        file.id,
        file.path,
        file.kind,
        file.content_hash,
        file.chars,
        file.rev,
        int(file.deleted),
        *_cause_columns(file.cause),
        file.created_by,
        file.created_at,
        file.created_seq,
        file.updated_by,
        file.updated_at,
        file.updated_seq,
    )


def _cause_columns(cause: Cause) -> Row:
    return (cause.session_id, cause.turn_id, cause.tool_call_id)


def _revision_rows(
    event: dv.FileChanged, after: DeskState, stamp: Stamp, desk_id: str
) -> tuple[RowChange, ...]:
    if not event.revision_id:
        return ()
    kept = after.revisions[event.revision_id]
    row = (
        *(desk_id, kept.id, kept.file_id, kept.rev, kept.path, kept.kind, kept.content_hash, kept.chars),
        *(int(kept.deleted), kept.op, kept.actor, event.proposal_id, kept.seq, stamp.ts),
    )
    return (insert("file_revisions", *row),)


def _proposal_row(proposal: Proposal, desk_id: str) -> Row:
    yes = proposal.is_approved
    return (
        *(desk_id, proposal.id, *_cause_columns(proposal.cause), proposal.tool),
        *(proposal.arguments, proposal.approved_arguments, proposal.file_id, proposal.path, proposal.verb),
        *(int(proposal.destructive), proposal.guard, proposal.base_hash, proposal.after_hash, proposal.diff),
        *(proposal.hash, proposal.depends_on, proposal.supersedes, proposal.shadow, proposal.status),
        *(proposal.decided_by, proposal.decided_at, proposal.reason),
        *(proposal.decided_by if yes else None, proposal.decided_at if yes else None),
        *(proposal.executed_at, proposal.error, proposal.expires_at, proposal.created_at),
        *(proposal.created_seq, proposal.updated_seq),
    )


def _panel_rows(desk: DeskState, session_id: str, desk_id: str) -> tuple[Row, ...]:
    layout = desk.layout(session_id)
    return tuple(
        (
            *(desk_id, session_id, panel.id, position, panel.type, panel.title, panel.file_id),
            *(int(panel.id == layout.focused), panel.indicator, json_text(panel.meta)),
        )
        for position, panel in enumerate(layout.panels)
    )
