"""Copying all of one ledger into another: every event at its place, with its rows and bodies, batch by batch.

Events keep their bytes and the order in which the source took them. Each batch is one transaction, so that the
target is a whole ledger at any moment, whose streams end a little earlier than the source's: a copy that was
interrupted, or one of an older day, goes on where it ends.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Literal

from researchdesk.state.errors import IntegrityError, LedgerCorrupt, UsageError
from researchdesk.state.ids import CallId
from researchdesk.state.row_changes import RowChange
from researchdesk.state.tables import TABLES
from researchdesk.stores.codec import StoredEvent
from researchdesk.stores.histories import check_histories
from researchdesk.stores.ledger import Append, Head, HeadMoved, Ledger
from researchdesk.stores.replay import Projection, follow, nothing_yet, replay_with_rows
from researchdesk.stores.verify import verify

BATCH_EVENTS = 500
BATCH_BYTES = 8 * 2**20
"""A transaction ends after so many events or bytes of bodies, and after all that was written at the same moment."""
READ_EVENTS = 500
"""So many are read at a time; of events of one moment, no more are kept together."""
HELD = 32
"""Streams that are kept folded between batches; one that is further down is folded again when its turn comes."""
SHOWN = 10

CopyStage = Literal["checking", "copying", "verifying"]
OnCopy = Callable[["CopyProgress"], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyProgress:
    """How far a copy is: ``done`` of ``total`` events are checked or are in the target; no total, no count."""

    stage: CopyStage
    done: int = 0
    total: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Copied:
    """What a copy wrote, beside what had been in the target before it."""

    streams: int = 0
    """Streams of the source; all of them are in the target now."""
    events: int = 0
    rows: int = 0
    bodies: int = 0
    body_bytes: int = 0
    gathered: int = 0
    """Calls that have no record yet, with what they fetched."""
    events_before: int = 0
    """Events of these streams that had been there already."""
    checked: dict[str, int] = field(default_factory=dict)
    """What was verified in the target afterwards, by kind."""


def copy_ledger(source: Ledger, target: Ledger, *, on_progress: OnCopy | None = None) -> Copied:
    """Bring the target to where the source stands now; what others write there meanwhile is for the next copy.

    Leases are left behind: a copy has no driver. Whether the target is sound is for the caller to verify.

    Raises:
        UsageError: the target holds another history under a stream's name, or somebody writes to it; the
            message says which and where they part. Nothing was written in the first case.
        LedgerCorrupt: the source is not what was written; nothing was written.
    """
    tell = on_progress or (lambda progress: None)
    with source.snapshot() as frozen:
        ends = {stream: frozen.head(stream) for stream in frozen.streams()}
        there = {stream: target.head(stream) for stream in ends}
        check_histories(frozen, target, ends, there)
        wanted = {s: end for s, end in ends.items() if _end(there[s]) != _end(end) or not end.count}
        _check_source(frozen, wanted, tell)
        copy = _Copy(frozen, target, ends=wanted, there=there)
        copy.events(tell)
        copy.gathered()
        _check_ends(target, ends)
    before = sum(head.count for head in there.values())
    return replace(copy.copied, streams=len(ends), events_before=before)


def _end(head: Head) -> tuple[int, str]:
    """Where a history ends, whatever is said of its rows."""
    return head.count, head.hash


def _check_ends(target: Ledger, ends: Mapping[str, Head]) -> None:
    for stream, end in ends.items():
        found = target.head(stream)
        if _end(found) != _end(end):
            raise _meanwhile(stream)
        if found != end:
            raise IntegrityError(
                f"{stream}: source and target say different things about the rows of the same events. Run "
                "`researchdesk verify` on both and `researchdesk rebuild` where it finds something"
            )


def _meanwhile(stream: str) -> UsageError:
    return UsageError(
        f"{stream}: somebody wrote to it in the target while it was copied. Nothing of theirs was touched; stop "
        "them and copy again"
    )


def _check_source(source: Ledger, ends: Mapping[str, Head], tell: OnCopy) -> None:
    """Prove every stream that something is copied of; one that is damaged must not come to be in two places."""
    total, done = sum(end.count for end in ends.values()), 0
    for stream, end in ends.items():
        tell(CopyProgress(stage="checking", done=done, total=total))
        problems = verify(source, streams=[stream]).problems
        if problems:
            raise LedgerCorrupt(
                f"the source is damaged, nothing was copied: {'; '.join(problems[:SHOWN])}. `researchdesk rebuild` "
                "puts rows right; sessions that are sound can be exported and imported one by one"
            )
        done += end.count
    for call in _gathered_calls(source):
        _staged_bodies(source, call)
    tell(CopyProgress(stage="checking", done=done, total=total))


# -- copying --------------------------------------------------------------------------------------------------------


class _Folded:
    """Streams of the source folded up to some event; the newest are kept, others are folded again when asked for."""

    def __init__(self, source: Ledger) -> None:
        self._source = source
        self._kept: OrderedDict[str, Projection] = OrderedDict()

    def up_to(self, stream: str, head: Head) -> Projection:
        """The stream as it stood at ``head``."""
        kept = self._kept.pop(stream, None)
        if kept is not None or not head.count:
            return kept or nothing_yet(stream)
        before = [item for item in self._source.read(stream) if item.seq <= head.count]
        return replace(follow(nothing_yet(stream), before), head=head)

    def keep(self, stream: str, projection: Projection) -> None:
        """Have it at hand when the stream goes on."""
        self._kept[stream] = projection
        while len(self._kept) > HELD:
            self._kept.popitem(last=False)


@dataclass(slots=True, kw_only=True)
class _Piece:
    """Events in a row that are of one stream, and what is written with them."""

    stream: str
    head: Head
    projection: Projection
    events: list[StoredEvent] = field(default_factory=list)
    rows: list[RowChange] = field(default_factory=list)
    bodies: dict[str, bytes] = field(default_factory=dict)
    drops: list[str] = field(default_factory=list)
    settles: CallId | None = None

    @property
    def append(self) -> Append:
        """The piece as the port takes it."""
        return Append(
            stream=self.stream,
            head=self.head,
            events=tuple(self.events),
            rows=tuple(self.rows),
            rows_digest=self.projection.head.rows_digest,
            bodies=self.bodies,
            settles=self.settles,
            drops=tuple(self.drops),
        )


class _Copy:
    """A copy under way: how far each stream is in the target, and the transaction that is written next."""

    def __init__(
        self, source: Ledger, target: Ledger, *, ends: Mapping[str, Head], there: Mapping[str, Head]
    ) -> None:
        self.copied = Copied()
        self._source, self._target = source, target
        self._ends, self._heads = ends, {stream: there[stream] for stream in ends}
        self._folded = _Folded(source)
        self._staged = set(_gathered_calls(target))
        self._sent: set[str] = set()
        self._pieces: list[_Piece] = []
        self._events = self._bytes = 0  # what the pieces hold

    def events(self, tell: OnCopy) -> None:
        """Copy the events that the target lacks, in the order of the source, with their rows and bodies."""
        before = sum(head.count for head in self._heads.values())
        total = sum(end.count for end in self._ends.values())
        for together in self._lacking():
            for stream, items in groupby(together, key=lambda item: item.stream):
                self._take(stream, items)
            if self._events >= BATCH_EVENTS or self._bytes >= BATCH_BYTES:
                self._write()
                tell(CopyProgress(stage="copying", done=before + self.copied.events, total=total))
        self._write()
        tell(CopyProgress(stage="copying", done=before + self.copied.events, total=total))

    def gathered(self) -> None:
        """Copy what calls without a record have fetched, so that nothing is fetched again."""
        for call in _gathered_calls(self._source):
            staged = self._source.staged(call)
            if staged is None or staged == self._target.staged(call):
                continue
            bodies = _staged_bodies(self._source, call)
            self._target.stage(call, input_digest=staged.input_digest, receipt=staged.receipt, bodies=bodies)
            self.copied = replace(self.copied, gathered=self.copied.gathered + 1)

    def _lacking(self) -> Iterator[list[StoredEvent]]:
        """The events that are not in the target; those of one moment, which one append wrote, together."""
        after = min((self._next_place(stream) for stream in self._ends), default=1) - 1
        together: list[StoredEvent] = []
        while self._ends and (found := self._source.tail(after=after, limit=READ_EVENTS)):
            after = found[-1].global_seq
            for item in found:
                if item.stream not in self._ends or item.seq <= self._heads[item.stream].count:
                    continue
                if together and (together[-1].ts != item.ts or len(together) >= READ_EVENTS):
                    yield together
                    together = []
                together.append(item)
        if together:
            yield together

    def _next_place(self, stream: str) -> int:
        """Where in the whole source the first event of a stream stands that the target lacks."""
        found = self._source.query(
            "SELECT global_seq FROM events WHERE stream = ? AND seq = ?",
            (stream, self._heads[stream].count + 1),
        )
        return int(str(found[0]["global_seq"]))

    def _take(self, stream: str, items: Iterable[StoredEvent]) -> None:
        """Events of one stream into the pieces."""
        projection = self._folded.up_to(stream, self._heads[stream])
        piece = self._pieces[-1] if self._pieces and self._pieces[-1].stream == stream else None
        for item in items:
            after, changes = replay_with_rows(projection, item)
            settles = next((call for call in _recorded_calls(changes) if call in self._staged), None)
            if piece is None or (settles and piece.settles):
                piece = _Piece(stream=stream, head=projection.head, projection=after)
                self._pieces.append(piece)
            piece.events.append(item)
            piece.rows.extend(changes)
            piece.projection, piece.settles = after, settles or piece.settles
            self._take_bodies(piece, changes)
            self._events += 1
            projection = after
        self._heads[stream] = projection.head
        if projection.head.count < self._ends[stream].count:
            self._folded.keep(stream, projection)

    def _take_bodies(self, piece: _Piece, changes: Iterable[RowChange]) -> None:
        """The bodies that an event names first, and those that it lets go; one that went later is not here."""
        for key, let_go in _bodies(changes):
            if let_go:
                piece.drops.append(key)
                self._sent.discard(key)
            elif key not in self._sent and (body := self._source.body(key)) is not None:
                piece.bodies[key] = body
                self._sent.add(key)
                self._bytes += len(body)

    def _write(self) -> None:
        """The pieces in one transaction."""
        if not self._pieces:
            return
        try:
            self._target.append(*(piece.append for piece in self._pieces))
        except HeadMoved as moved:
            raise _meanwhile(str(moved)) from None
        bodies = [body for piece in self._pieces for body in piece.bodies.values()]
        self.copied = replace(
            self.copied,
            events=self.copied.events + self._events,
            rows=self.copied.rows + sum(row.old is None for piece in self._pieces for row in piece.rows),
            bodies=self.copied.bodies + len(bodies),
            body_bytes=self.copied.body_bytes + self._bytes,
        )
        self._pieces, self._events, self._bytes = [], 0, 0


def _bodies(changes: Iterable[RowChange]) -> Iterator[tuple[str, bool]]:
    """The bodies that rows speak of, and whether nothing of their stream stands on them any more."""
    for change in changes:
        if change.table.endswith("_bodies") and change.new is not None:
            row = dict(zip(TABLES[change.table].columns, change.new, strict=True))
            yield str(row["hash"]), bool(row.get("released_seq"))


def _recorded_calls(changes: Iterable[RowChange]) -> Iterator[CallId]:
    """The calls that come to have a record."""
    for change in changes:
        if change.table == "tool_calls" and change.old is None and change.new is not None:
            session, turn, call = map(str, change.new[:3])
            yield CallId(session=session, turn=turn, call=call)


def _gathered_calls(ledger: Ledger) -> list[CallId]:
    """The calls that something was fetched for and that have no record."""
    rows = ledger.query("SELECT session_id, turn_id, tool_call_id FROM gathered ORDER BY 1, 2, 3")
    return [
        CallId(session=str(row["session_id"]), turn=str(row["turn_id"]), call=str(row["tool_call_id"]))
        for row in rows
    ]


def _staged_bodies(ledger: Ledger, call: CallId) -> dict[str, bytes]:
    staged = ledger.staged(call)
    found = {key: ledger.staged_body(call, key) for key in (staged.hashes if staged else ())}
    return {key: body for key, body in found.items() if body is not None}
