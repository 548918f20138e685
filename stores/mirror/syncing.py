"""Bringing an open mirror to where its ledger stands, in one transaction of the mirror."""

import contextlib
import gc
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Final

import duckdb
from duckdb import DuckDBPyConnection

from researchdesk.state.row_changes import Row
from researchdesk.state.tables import TABLES, Table
from researchdesk.stores.codec import StoredEvent
from researchdesk.stores.ledger import Ledger
from researchdesk.stores.mirror.clusters import cluster_rows
from researchdesk.stores.mirror.loading import Loader
from researchdesk.stores.mirror.news import PAGE, Places, all_rows, event_pages, event_row, in_parts
from researchdesk.stores.mirror.schema import CLUSTERS, EVENTS, statements, version

FEW: Final = 2_000
"""Up to so many new events, their rows are read into memory before anything is written."""


_ENDS = "SELECT min_by(hash, global_seq), max(global_seq), max_by(hash, global_seq) FROM events"
_HELD = (
    "SELECT global_seq, hash FROM events WHERE global_seq IN (?, ?) "
    "OR global_seq = (SELECT max(global_seq) FROM events)"
)
Change = tuple[Table, Mapping[int, list[Row]], Iterable[Row]]
"""A table, the places there whose rows go, and the rows that come."""


class Unusable(Exception):
    """A file that cannot be brought up to date as the mirror of this ledger; says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """What a sync wrote."""

    events: int = 0
    rows: int = 0
    """Of events and of all tables."""


def make(connection: DuckDBPyConnection) -> None:
    """Make an empty mirror in an empty database."""
    for statement in statements():
        connection.execute(statement)
    connection.execute("INSERT INTO mirror_info VALUES (?)", [version()])


class LiveMirror:
    """A mirror that this process has open for writing.

    Raises:
        Unusable: another version made it.
    """

    def __init__(self, connection: DuckDBPyConnection) -> None:
        made_by = connection.execute("SELECT schema FROM mirror_info").fetchall()
        if made_by != [(version(),)]:
            raise Unusable("another version of researchdesk made it")
        self._connection = connection
        self._loader = Loader(connection)
        self.until: int = 0
        """The global sequence of the newest event here."""
        self._first = self._last = ""
        self._look()

    def sync(self, ledger: Ledger) -> Loaded:
        """Bring in what is new in the ledger, all or nothing.

        Raises:
            Unusable: it mirrors another ledger, or this one before it was put back to an older state.
        """
        if not self.until:
            with ledger.snapshot() as frozen:
                return self._write(event_pages(frozen, after=0), _everything(frozen))
        newest = self._check(ledger)
        if newest == self.until:
            return Loaded()
        if newest - self.until < FEW and (news := ledger.tail(after=self.until, limit=FEW)):
            changes = [(table, stale, list(rows)) for table, stale, rows in _changes(ledger, _places(news))]
            if not ledger.tail(after=news[-1].global_seq, limit=1):  # nobody wrote while this was read
                return self._write([news], changes)
        places = Places()
        with ledger.snapshot() as frozen:
            pages = _noted(event_pages(frozen, after=self.until), places)
            return self._write(pages, _changes(frozen, places))

    def _look(self) -> None:
        """Find the first and the last event here."""
        ((first, until, last),) = self._connection.execute(_ENDS).fetchall()
        if until is not None:
            self._first, self.until, self._last = first, until, last

    def _check(self, ledger: Ledger) -> int:
        """Hold the first and the last event against the ledger's; gives the global sequence of its newest."""
        found = {row["global_seq"]: row["hash"] for row in ledger.query(_HELD, (1, self.until))}
        if found.get(1) != self._first:
            raise Unusable("it mirrors another ledger")
        if found.get(self.until) != self._last:
            raise Unusable("the ledger was put back to an older state since")
        return max(int(str(seq)) for seq in found)

    def _write(self, pages: Iterable[list[StoredEvent]], changes: Iterable[Change]) -> Loaded:
        """Write events, then the rows that they changed; ``changes`` is not asked before all events were taken."""
        with _transaction(self._connection), _no_cycles():
            newest, events = None, 0
            for page in pages:
                self._loader.insert(EVENTS, [event_row(event) for event in page])
                newest, events = page[-1], events + len(page)
            rows = self._write_rows(changes)
        if not self.until:
            self._look()
        elif newest is not None:
            self.until, self._last = newest.global_seq, newest.hash
        return Loaded(events=events, rows=events + rows)

    def _write_rows(self, changes: Iterable[Change]) -> int:
        count = 0
        for table, stale, rows in changes:
            for places in stale.values():
                self._loader.delete(table, places)
            for part in in_parts(rows, PAGE):
                self._loader.insert(table, part)
                count += len(part)
        return count


@contextlib.contextmanager
def _transaction(connection: DuckDBPyConnection) -> Iterator[None]:
    connection.begin()
    try:
        yield
        connection.commit()
    except BaseException:
        with contextlib.suppress(duckdb.Error):  # after some faults it takes no further statement
            connection.rollback()
        raise


@contextlib.contextmanager
def _no_cycles() -> Iterator[None]:
    """Without the search for garbage in cycles: rows make none, and beside a large program it takes a quarter."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _places(events: Iterable[StoredEvent]) -> Places:
    places = Places()
    places.add(events)
    return places


def _noted(pages: Iterable[list[StoredEvent]], places: Places) -> Iterator[list[StoredEvent]]:
    for page in pages:
        places.add(page)
        yield page


def _changes(ledger: Ledger, places: Places) -> Iterator[Change]:
    places.complete(ledger)
    found = ((table, places.stale(table), places.rows(ledger, table)) for table in places.tables)
    yield from _clustered(ledger, found)


def _everything(ledger: Ledger) -> Iterator[Change]:
    rows = ((table, chain.from_iterable(all_rows(ledger, table))) for table in TABLES.values())
    return _clustered(ledger, ((table, {}, found) for table, found in rows))


def _clustered(ledger: Ledger, changes: Iterable[Change]) -> Iterator[Change]:
    """The changes, and those of the clusters of the claims that got links."""
    relinked: dict[Row, None] = {}
    older: list[Row] = []
    for table, stale, rows in changes:
        if table.name == "claim_sources":
            rows = list(rows)
            relinked = dict.fromkeys(row[:2] for row in rows)
            new = (
                set() if stale else {row[:2] for row in rows if row[2] == 0}
            )  # their first link is among these
            older = [claim for claim in relinked if claim not in new]
        yield table, stale, rows
    if relinked:
        yield CLUSTERS, {2: older} if older else {}, cluster_rows(ledger, relinked)
