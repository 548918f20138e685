"""The ledger as sessions see it: folded once, then only by what is new."""

import contextlib
import os
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from researchdesk.state.desk.events import DeskEvent
from researchdesk.state.errors import LedgerCorrupt, NotFound
from researchdesk.state.ids import DESK_STREAM, CallId, session_stream
from researchdesk.state.notes_grammar import render
from researchdesk.stores.codec import Refs
from researchdesk.stores.ledger import Append, Head, Ledger
from researchdesk.stores.notes import NotesFiles
from researchdesk.stores.replay import Projection, extend, follow, nothing_yet

CACHED_SESSIONS = 32
KNOWN_INPUTS = 1_024


def utc_now() -> str:
    """The time as the ledger writes it: ISO 8601, UTC, microseconds."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


_OPEN: "weakref.WeakSet[Records]" = weakref.WeakSet()


def _free_in_child() -> None:
    """A forked child has none of the threads that may hold these locks."""
    for records in list(_OPEN):
        records._lock = threading.Lock()
        records._gathering = {}


os.register_at_fork(after_in_child=_free_in_child)


@dataclass(slots=True)
class _Turn:
    """The lock of one call that is being gathered for, and how many threads want it."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    users: int = 0


class Records:
    """A ledger with a cache of folded sessions, and the working copies of their notes; safe for several threads.

    Appending folds only the new events, and what other processes appended in the meantime.
    """

    def __init__(
        self, ledger: Ledger, *, notes: NotesFiles | None = None, clock: Callable[[], str] = utc_now
    ) -> None:
        self.ledger = ledger
        self.notes = notes
        self.now = clock
        self._cache: OrderedDict[str, Projection] = OrderedDict()
        self._gathering: dict[CallId, _Turn] = {}
        self._inputs: OrderedDict[CallId, tuple[str, str]] = OrderedDict()
        self._lock = threading.Lock()
        _OPEN.add(self)

    def projection(self, session_id: str, *, head: Head | None = None) -> Projection:
        """The session as it stands in the ledger now, or a moment ago when its stream ended at ``head``.

        Raises:
            NotFound: there is no such session.
            LedgerCorrupt: its stream is not what was written.
        """
        stream = session_stream(session_id)
        known = self._projection(stream, head)
        if known.head.count == 0 and not self.ledger.read(stream):
            raise NotFound(f"no session '{session_id}' on this desk")
        return known

    def desk(self) -> Projection:
        """The desk's files, proposals and panels as they stand in the ledger now.

        Raises:
            LedgerCorrupt: its stream is not what was written.
        """
        return self._projection(DESK_STREAM, None)

    def _projection(self, stream: str, head: Head | None) -> Projection:
        with self._lock:
            cached = self._cache.get(stream)
            if cached is not None:
                self._cache.move_to_end(stream)
        if head is None or (cached is not None and head.count < cached.head.count):
            head = self.ledger.head(stream)
        # A cache that is ahead was folded from a ledger that went back since, as after a restored backup.
        known = cached if cached is not None and cached.head.count <= head.count else nothing_yet(stream)
        while (known.head.count, known.head.hash) != (head.count, head.hash):
            news = self.ledger.read(stream, after=known.head.count)
            if not news or known.head.count >= head.count:
                raise LedgerCorrupt(
                    f"stream '{stream}' does not end as its head record says (event {head.count}): events were "
                    "cut off, added or replaced"
                )
            known = follow(known, news)
            head = self.ledger.head(stream)  # others may have appended while this was folded
        if known is not cached:
            # Whether the rows are those of the events is `verify`'s to find; their digest is only carried on here.
            known = replace(known, head=head)
            self.remember(stream, known)
        return known

    def append(
        self, append: Append, desk: Projection | None, events: Sequence[DeskEvent], *, refs: Refs
    ) -> None:
        """Write what happened to a session, and with it what happened to the desk as ``desk`` stands.

        Raises:
            HeadMoved: somebody wrote to one of the two meanwhile; nothing was written.
        """
        if desk is None or not events:
            self.ledger.append(append)
            return
        extension = extend(desk, events, stream=DESK_STREAM, ts=append.events[-1].ts, refs=refs)
        self.ledger.append(append, extension.append)
        self.remember(DESK_STREAM, extension.projection)

    def remember(self, stream: str, projection: Projection) -> None:
        """Keep a projection whose events are in the ledger."""
        with self._lock:
            known = self._cache.get(stream)
            if known is None or known.head.count <= projection.head.count:
                self._cache[stream] = projection
            self._cache.move_to_end(stream)
            while len(self._cache) > CACHED_SESSIONS:
                self._cache.popitem(last=False)

    def known_input(self, call: CallId, raw: str) -> str:
        """The input digest of a call of this process that came as ``raw``, or empty."""
        with self._lock:
            known, digest = self._inputs.get(call, ("", ""))
        return digest if raw and known == raw else ""

    def know_input(self, call: CallId, raw: str, digest: str) -> None:
        """Keep what cleaning and redacting made of a call that came as ``raw``; both are hashes."""
        with self._lock:
            self._inputs[call] = (raw, digest)
            if len(self._inputs) > KNOWN_INPUTS:
                self._inputs.popitem(last=False)

    @contextlib.contextmanager
    def alone(self, call: CallId) -> Iterator[None]:
        """Only one thread of this process at a time gathers for a call; others wait for it."""
        with self._lock:
            turn = self._gathering.setdefault(call, _Turn())
            turn.users += 1
        try:
            with turn.lock:
                yield
        finally:
            with self._lock:
                turn.users -= 1
                if not turn.users:
                    self._gathering.pop(call, None)

    def forget(self, session_id: str) -> None:
        """Drop a cached projection, so that the next one is folded from the ledger."""
        with self._lock:
            self._cache.pop(session_stream(session_id), None)

    def text(self, content_hash: str) -> str:
        """The text of a body.

        Raises:
            NotFound: it is not in the ledger (any more).
            IntegrityError: its bytes do not have that hash.
        """
        body = self.ledger.body(content_hash)
        if body is None:
            raise NotFound(f"the body {content_hash} is not in the ledger")
        return body.decode()

    def keep_notes(self, session_id: str) -> Path | None:
        """Bring the working copy of a session's notes to their latest version; None where it has none.

        A copy that cannot be written stays behind until the next time: the ledger holds the notes.
        """
        workspace = self.projection(session_id).workspace
        run, session, investigation = workspace.run, workspace.session, workspace.investigation
        if self.notes is None or not (run and session and investigation and run.notes_id):
            return None
        path = self.notes.path(session.user, session_id, run.notes_id)
        with contextlib.suppress(OSError):
            self.notes.restore(path, render(investigation.notes))
        return path
