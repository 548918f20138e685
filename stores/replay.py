"""Folding stored events: the chain is checked link by link, the state and the rows come out.

Reading a session, verifying it, rebuilding its rows and importing it are all this one walk.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from researchdesk.state import events as ev
from researchdesk.state.desk.desk_state import DeskState
from researchdesk.state.errors import LedgerCorrupt
from researchdesk.state.row_changes import RowChange, Stamp, shift_digest
from researchdesk.state.streams import IllegalEvent, State, evolve, initial, rows
from researchdesk.state.workspace import Workspace
from researchdesk.stores.codec import Refs, StoredEvent, check_link, link
from researchdesk.stores.ledger import Append, Head

STRETCH = 64
"""Events that are checked, then decoded, then folded together: the same work in a row takes a fifth less time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Projection:
    """The state of a session or a desk, and the head of the stream that it was folded from."""

    state: State = field(default_factory=Workspace)
    head: Head = field(default_factory=Head)
    last_ts: str = ""

    @property
    def workspace(self) -> Workspace:
        """The state of a session's stream."""
        assert isinstance(self.state, Workspace)
        return self.state

    @property
    def desk(self) -> DeskState:
        """The state of a desk's stream."""
        assert isinstance(self.state, DeskState)
        return self.state


def nothing_yet(stream: str) -> Projection:
    """The projection of a stream of that name before its first event."""
    return Projection(state=initial(stream))


def replay(projection: Projection, stored: Iterable[StoredEvent]) -> Projection:
    """The projection after the stored events.

    Raises:
        LedgerCorrupt: a gap, a broken chain, an unknown shape or an illegal transition; nothing partial returns.
    """
    for item in stored:
        projection, _ = replay_with_rows(projection, item)
    return projection


def follow(projection: Projection, stored: Sequence[StoredEvent]) -> Projection:
    """As `replay`, without deriving rows: the digest over them is left empty and has to come from the head record."""
    for start in range(0, len(stored), STRETCH):
        projection = _follow_stretch(projection, stored[start : start + STRETCH])
    return replace(projection, head=replace(projection.head, rows_digest=""))


def _follow_stretch(projection: Projection, stored: Sequence[StoredEvent]) -> Projection:
    """Check some events, then decode, then fold them; the first of them that is wrong is the one that is named."""
    events, fault = _sound(projection.head, stored)
    state = projection.state
    for item, event in zip(stored, events, strict=False):
        try:
            state = evolve(state, event)
        except IllegalEvent as problem:
            raise item.corrupt(f"'{item.type}' cannot follow: {problem}") from None
    if fault is not None:
        raise fault
    last = stored[-1]
    return Projection(state=state, head=Head(count=last.seq, hash=last.hash), last_ts=last.ts)


def _sound(head: Head, stored: Sequence[StoredEvent]) -> tuple[list[ev.AnyEvent], LedgerCorrupt | None]:
    """The events up to the first that does not follow ``head`` or has not its shape, and what is wrong with that."""
    events: list[ev.AnyEvent] = []
    fault: LedgerCorrupt | None = None
    count, last_hash, linked = head.count, head.hash, 0
    try:
        for item in stored:
            check_link(item, after_seq=count, after_hash=last_hash)
            count, last_hash, linked = item.seq, item.hash, linked + 1
    except LedgerCorrupt as problem:
        fault = problem
    try:
        events.extend(item.event() for item in stored[:linked])
    except LedgerCorrupt as problem:
        fault = problem
    return events, fault


def replay_with_rows(projection: Projection, item: StoredEvent) -> tuple[Projection, tuple[RowChange, ...]]:
    """One stored event further, with the rows that it implies; errors as `replay`."""
    check_link(item, after_seq=projection.head.count, after_hash=projection.head.hash)
    try:
        return advance(projection, item, item.event())
    except IllegalEvent as problem:
        raise item.corrupt(f"'{item.type}' cannot follow: {problem}") from None


def advance(
    projection: Projection, item: StoredEvent, event: ev.AnyEvent
) -> tuple[Projection, tuple[RowChange, ...]]:
    """The projection after an event that is known to stand at its place, and its rows."""
    after = evolve(projection.state, event)
    changes = rows(event, projection.state, after, Stamp(seq=item.seq, ts=item.ts), stream=item.stream)
    head = Head(
        count=item.seq, hash=item.hash, rows_digest=shift_digest(projection.head.rows_digest, changes)
    )
    return Projection(state=after, head=head, last_ts=item.ts), changes


@dataclass(frozen=True, slots=True, kw_only=True)
class Extension:
    """New events of a stream, ready to be appended to ``head``, and the projection that follows them."""

    stream: str
    head: Head
    events: tuple[StoredEvent, ...]
    rows: tuple[RowChange, ...]
    projection: Projection

    @property
    def append(self) -> Append:
        """The transaction that writes the events and their rows; bodies and a lease are the writer's to add."""
        return Append(
            stream=self.stream,
            head=self.head,
            events=self.events,
            rows=self.rows,
            rows_digest=self.projection.head.rows_digest,
        )


def extend(
    projection: Projection, events: Iterable[ev.AnyEvent], *, stream: str, ts: str, refs: Refs
) -> Extension:
    """Fold new events and derive their rows, without writing anything.

    Raises:
        IllegalEvent: an event that the rules do not allow.
    """
    events = tuple(events)
    head = projection.head
    linked = tuple(
        link(events, stream=stream, after_seq=head.count, after_hash=head.hash, ts=ts, refs=refs.encode())
    )
    changes: list[RowChange] = []
    for item, event in zip(linked, events, strict=True):
        projection, own = advance(projection, item, event)
        changes.extend(own)
    return Extension(stream=stream, head=head, events=linked, rows=tuple(changes), projection=projection)
