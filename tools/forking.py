"""A new session that holds the beginning of another and goes on from there by itself."""

from collections.abc import Iterator, Sequence

import orjson

from researchdesk.state import events as ev
from researchdesk.state.copying import changed
from researchdesk.state.errors import UsageError
from researchdesk.state.ids import session_stream
from researchdesk.state.names import clean_id
from researchdesk.state.workspace import Workspace
from researchdesk.stores.codec import Refs, StoredEvent
from researchdesk.stores.ledger import HeadMoved
from researchdesk.stores.replay import Extension, Projection, extend
from researchdesk.tools.door import Session
from researchdesk.tools.orphans import ended
from researchdesk.tools.purging import purged_events
from researchdesk.tools.records import Records
from researchdesk.tools.shown import first_events

RECORD = ev.EVENT_NAMES[ev.CallRecorded]
PURGED = "its text was removed in the session that this one was forked from"
WAITS_THERE = (
    "This call waits for a decision in the session that this one was forked from; it has not run here."
)


def fork(session: Session, seq: int, new_id: str) -> Session:
    """A new session with the first events of another, up to the end of the call of event ``seq``; see `Desk.fork`."""
    clean_id(new_id, "session id")
    stored = _whole_calls(session, seq)
    seq = len(stored)
    target = Session(
        id=new_id,
        records=session.records,
        specs=session.specs,
        sources=session.sources,
        policies=session.policies,
    )
    try:
        session.records.ledger.append(_forked(session, stored, new_id).append)
    except HeadMoved:
        opened = target.workspace.session
        if opened is None or (opened.forked_from, opened.forked_seq) != (session.id, seq):
            raise UsageError(
                f"this desk has a session '{new_id}' that is no fork of '{session.id}' at event {seq}; "
                "choose another name"
            ) from None
    return target


def _whole_calls(session: Session, seq: int) -> Sequence[StoredEvent]:
    """The first ``seq`` events, and those up to the end of a call that they end in: no session stood in one."""
    stored = list(first_events(session.records.ledger, session.id, seq))
    if not orjson.loads(stored[-1].refs)["call"] or stored[-1].type == RECORD:
        return stored
    following = session.events(after=seq)
    rest = next((n for n, item in enumerate(following, start=1) if item.type == RECORD), 0)
    return stored + following[:rest]


def _forked(session: Session, stored: Sequence[StoredEvent], new_id: str) -> Extension:
    """The new session's whole beginning."""
    stream = session_stream(new_id)
    projection, made = Projection(), []
    for item in stored:
        event = _as_own(item, session.id, len(stored), new_id)
        made.append(
            extend(projection, (event,), stream=stream, ts=item.ts, refs=_refs(item, session.id, new_id))
        )
        projection = made[-1].projection
    times = {item.seq: item.ts for item in stored}
    ends = tuple(_ends(projection.workspace, session.records, new_id, recorded_at=times))
    if ends:
        made.append(extend(projection, ends, stream=stream, ts=session.records.now(), refs=Refs()))
    return changed(
        made[0],
        events=tuple(event for one in made for event in one.events),
        rows=tuple(row for one in made for row in one.rows),
        projection=made[-1].projection,
    )


def _as_own(item: StoredEvent, old_id: str, seq: int, new_id: str) -> ev.AnyEvent:
    event = item.event()
    if isinstance(event, ev.SessionOpened):
        return changed(event, session_id=new_id, forked_from=old_id, forked_seq=seq)
    return event


def _refs(item: StoredEvent, old: str, new: str) -> Refs:
    refs = orjson.loads(item.refs)
    return Refs(run=new if refs["run"] == old else refs["run"], turn=refs["turn"], call=refs["call"])


def _ends(
    workspace: Workspace, records: Records, new_id: str, *, recorded_at: dict[int, str]
) -> Iterator[ev.Event]:
    """What the fork cannot share: texts that were removed since, and calls whose proposals belong to the other."""
    missing = {key for key in workspace.standing_bodies if records.ledger.body(key) is None}
    owners = {owner for key in missing for owner in workspace.bodies[key].owners}
    artifacts: Sequence[str] = [
        key for key in (workspace.run.artifacts if workspace.run else ()) if key in owners
    ]
    yield from purged_events(workspace, new_id, artifacts, actor="code", reason=PURGED)
    for pending in workspace.pending_calls.values():
        yield ended(pending, WAITS_THERE, recorded_at=recorded_at[pending.seq])
