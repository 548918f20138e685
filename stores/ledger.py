"""The ledger port: what every backend promises, and the values that go through it.

A ledger appends events together with the rows they imply and the bodies they name, all or nothing, and only
when the stream's head is the one the writer decided upon. It never interprets an event.
"""

from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol

from researchdesk.state.ids import CallId
from researchdesk.state.queries import Query
from researchdesk.state.row_changes import NO_ROWS, Row, RowChange
from researchdesk.stores.codec import GENESIS, StoredEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """Where a stream ends: its length, its last hash and the digest over its rows."""

    count: int = 0
    hash: str = GENESIS
    rows_digest: str = NO_ROWS


ENDED = 0
"""The epoch of a driver whose time is over; no lease ever has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The right to drive a session; ``epoch`` grows with each driver, so that an overtaken one is noticed."""

    session_id: str
    epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Append:
    """What one transaction writes to one stream: events, their rows, their bodies.

    ``settles`` names the call whose gathered row this append uses up; of its staged bodies those in ``adopts``
    become blobs and the others vanish.
    """

    stream: str
    head: Head
    events: tuple[StoredEvent, ...]
    rows: tuple[RowChange, ...]
    rows_digest: str
    bodies: Mapping[str, bytes] = field(default_factory=dict)
    settles: CallId | None = None
    adopts: tuple[str, ...] = ()
    drops: tuple[str, ...] = ()
    """Hashes of bodies that a purge in ``events`` let go: those go that no session stands on any more."""
    lease: Lease | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Staged:
    """What a call gathered before its decision: a receipt (JSON) and the hashes of its staged bodies."""

    input_digest: str
    receipt: str
    hashes: tuple[str, ...]


class HeadMoved(Exception):
    """Somebody else appended first; the caller folds the new events and decides again."""


class Ledger(Protocol):
    """Where events, rows and bodies rest.

    Every method raises `Unavailable` when the store cannot serve now (busy, disk full, no permission) and
    leaves nothing half-written.
    """

    def describe(self) -> str:
        """Which backend this is and how durably it writes, for `verify` and error texts."""

    def head(self, stream: str) -> Head:
        """The stream's end; the empty head when it has no event."""

    def streams(self) -> list[str]:
        """The names of all streams, oldest first."""

    def read(self, stream: str, *, after: int = 0) -> list[StoredEvent]:
        """The stream's events after a sequence, in order, as stored and unchecked."""

    def tail(self, *, after: int = 0, limit: int = 1000) -> list[StoredEvent]:
        """Events of all streams after a global sequence; one that is visible never appears late."""

    def append(self, *appends: Append) -> None:
        """Write one transaction, of one stream or of several; it is on disk when this returns.

        Raises:
            HeadMoved: a stream's head is not the one that its append names.
            LeaseLost: the lease of an append is no longer the newest of its session.
            IntegrityError: a body of ``append.adopts`` is neither staged nor stored, or a row cannot be.
        """

    def look_up(self, call: CallId) -> tuple[Head, dict[str, str] | None]:
        """The end of the session's stream and `call_row`, both of the same moment."""

    def call_row(self, call: CallId) -> dict[str, str] | None:
        """The recorded call of that identity, by column name, or None."""

    def body(self, content_hash: str) -> bytes | None:
        """The body of that hash, checked against it, or None when it is not here.

        Raises:
            IntegrityError: the bytes do not have the hash.
        """

    def stage(self, call: CallId, *, input_digest: str, receipt: str, bodies: Mapping[str, bytes]) -> None:
        """Keep what a call gathered.

        A second staging of the same input changes nothing; another input takes the place of what an earlier,
        unfinished call left under this identity.
        """

    def staged(self, call: CallId) -> Staged | None:
        """What the call gathered, if it has no record yet."""

    def staged_body(self, call: CallId, content_hash: str) -> bytes | None:
        """One staged body."""

    def take_lease(self, session_id: str, *, holder: str) -> Lease:
        """Begin a new epoch of drivers; the operating system's lock is the caller's business."""

    def lease_holder(self, session_id: str) -> str:
        """Who took the newest lease, or empty."""

    def rows(self, table: str, owner: str) -> list[Row]:
        """The rows of one session or desk in key order, columns as in `state.tables`."""

    def replace_rows(self, stream: str, *, head: Head, rows: Mapping[str, list[Row]]) -> None:
        """Put exactly these rows, and the digest of ``head``, in place of those of the stream, in one transaction.

        Raises:
            HeadMoved: the stream does not end at ``head``, whose events the rows were derived from.
        """

    def search_files(
        self, desk_id: str, query: Query, *, among: Collection[str] | None = None, limit: int
    ) -> list[list[str]]:
        """The ids of a desk's files that answer a query, best first: a list for each of the query's kinds of terms.

        The index is part of the store: what was appended is found from then on, and a deleted file is not.
        Content and path are searched; folders are not files.

        Args:
            desk_id: whose files.
            query: what is looked for.
            among: the ids of the files that count; all where it is None.
            limit: how many ids a list has at most.
        """

    def body_hashes(self) -> Iterator[str]:
        """The hashes of all stored bodies."""

    def faults(self) -> list[str]:
        """What is wrong with the store itself, its file and its schema; empty when nothing is."""

    def snapshot(self) -> AbstractContextManager["Ledger"]:
        """This ledger as it stands now, for reading only, whatever others write meanwhile."""

    def query(self, sql: str, parameters: tuple[object, ...] = ()) -> list[dict[str, object]]:
        """Rows of a read-only statement, by column name."""

    def close(self) -> None:
        """Release the store."""
