"""What is new in a ledger: the rows that its new events wrote, read from the ledger's own tables.

Reading them costs less than deriving them anew, above all in a process that has folded nothing yet, and gives what the
ledger holds: the mirror shall be equal to it.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from operator import attrgetter
from typing import Final, TypeVar

from researchdesk.state.ids import stream_owner
from researchdesk.state.row_changes import Row
from researchdesk.state.tables import TABLES, Table
from researchdesk.stores.codec import StoredEvent
from researchdesk.stores.ledger import Ledger
from researchdesk.stores.mirror.schema import EVENTS, quoted
from researchdesk.stores.mirror.touched import Place, Since, Turn, tables_touched, touched

T = TypeVar("T")
ASKED: Final = 500
"""Places that one query asks for."""
PAGE: Final = 5_000
"""Rows that are in memory at a time."""


def in_parts(items: Iterable[T], size: int) -> Iterator[tuple[T, ...]]:
    """The items in their order, ``size`` at a time."""
    left = iter(items)
    while part := tuple(islice(left, size)):
        yield part


@dataclass(slots=True)
class Places:
    """Where the rows that some events touched stand, by table."""

    by_values: dict[str, dict[Row, bool]] = field(default_factory=lambda: defaultdict(dict))
    """Whether what stands at these values of the first columns is new."""
    since: dict[tuple[str, str, str], int] = field(default_factory=dict)
    answered: list[Turn] = field(default_factory=list)
    _begun: dict[str, set[tuple[str, int]]] = field(default_factory=dict)
    """The streams that begin here, with the types and versions of their events."""

    def add(self, events: Iterable[StoredEvent]) -> None:
        """Take in what these events touched; they follow those that were taken in before."""
        for event in events:
            if event.seq == 1:
                self._begun[event.stream] = set()
            kinds = self._begun.get(event.stream)
            if kinds is None:
                self._add_places(event)
            elif (kind := (event.type, event.schema_version)) not in kinds:
                kinds.add(kind)
                self._add_tables(event)

    def _add_tables(self, event: StoredEvent) -> None:
        """All that its stream wrote to these tables is new, so nobody has to tell which rows an event touched."""
        owner = stream_owner(event.stream)
        for table in tables_touched(event):
            self.by_values[table][owner,] = True

    def _add_places(self, event: StoredEvent) -> None:
        for place in touched(event):
            if isinstance(place, Since):
                table, column, owner, seq = place
                self.since.setdefault((table, column, owner), seq)
            elif isinstance(place, Turn):
                self.answered.append(place)
            else:
                self._add_place(place)

    def _add_place(self, place: Place) -> None:
        table, values, is_new = place
        self.by_values[table].setdefault(values, is_new)  # what came first here knows what stood before

    def complete(self, ledger: Ledger) -> None:
        """Add the places that the events do not name, once all events were taken in."""
        self._look_for_requests(ledger)
        self._look_for_purges(ledger)

    def _look_for_requests(self, ledger: Ledger) -> None:
        for some in in_parts(self.answered, ASKED):
            asked = (
                "SELECT session_id, ordinal FROM model_calls WHERE (session_id, turn_id) IN "
                f"(VALUES {', '.join(['(?, ?)'] * len(some))})"
            )
            for row in ledger.query(asked, tuple(chain.from_iterable(some))):
                self._add_place(Place("model_calls", tuple(row.values())))  # type: ignore[arg-type]

    def _look_for_purges(self, ledger: Ledger) -> None:
        """Where bodies were let go, a row of an earlier event may have changed: such a body came back."""
        owners = {owner for table, _, owner in self.since if table == "session_bodies"}
        for some in in_parts(sorted(owners), ASKED):
            marks = ", ".join("?" * len(some))
            found = ledger.query(
                f"SELECT DISTINCT session_id FROM purges WHERE session_id IN ({marks})", some
            )
            self.by_values["session_bodies"].update({(str(row["session_id"]),): False for row in found})

    @property
    def tables(self) -> list[Table]:
        """The tables that were touched."""
        names = {*self.by_values, *(table for table, _, _ in self.since)}
        return [table for name, table in TABLES.items() if name in names]

    def stale(self, table: Table) -> dict[int, list[Row]]:
        """The places whose rows in a mirror have to go, by how many columns they name."""
        found: dict[int, list[Row]] = defaultdict(list)
        for values, is_new in self.by_values.get(table.name, {}).items():
            if not is_new:
                found[len(values)].append(values)
        return found

    def rows(self, ledger: Ledger, table: Table) -> Iterator[Row]:
        """The rows that stand there now, each once."""
        by_width: dict[int, list[Row]] = defaultdict(list)
        for values in self.by_values.get(table.name, ()):
            by_width[len(values)].append(values)
        since = [(*place, seq) for place, seq in self.since.items() if place[0] == table.name]
        whole = [str(owner) for (owner,) in by_width.pop(1, ())]
        parts = chain(
            (ledger.rows(table.name, owner) for owner in whole),
            (
                rows_at(ledger, table, some)
                for places in by_width.values()
                for some in in_parts(places, ASKED)
            ),
            (
                _rows(ledger, table, f"{table.owner} = ? AND {column} >= ?", (owner, seq))
                for _, column, owner, seq in since
            ),
        )
        found = chain.from_iterable(parts)
        return found if bool(whole) + len(by_width) + bool(since) < 2 else _once(found, table.key_size)


def _once(rows: Iterable[Row], key_size: int) -> Iterator[Row]:
    """Each row once, where several places name it."""
    seen: set[Row] = set()
    for row in rows:
        if row[:key_size] not in seen:
            seen.add(row[:key_size])
            yield row


def rows_at(ledger: Ledger, table: Table, places: Sequence[Row], *, columns: Sequence[str] = ()) -> list[Row]:
    """The rows whose first columns have one of these values, each of as many columns, in no order.

    Args:
        columns: those that are wanted; all of them otherwise.
    """
    width = len(places[0])
    named = ", ".join(map(quoted, table.columns[:width]))
    mark = f"({', '.join('?' * width)})"
    where = f"({named}) IN (VALUES {', '.join([mark] * len(places))})"
    return _rows(ledger, table, where, tuple(chain.from_iterable(places)), columns=columns)


def _rows(
    ledger: Ledger, table: Table, where: str, parameters: Row, *, columns: Sequence[str] = (), order: str = ""
) -> list[Row]:
    named = ", ".join(map(quoted, columns or table.columns))
    asked = f"SELECT {named} FROM {table.name}{f' WHERE {where}' if where else ''} {order}"
    return [tuple(row.values()) for row in ledger.query(asked, parameters)]  # type: ignore[arg-type]


def all_rows(ledger: Ledger, table: Table) -> Iterator[list[Row]]:
    """All rows of a table, page by page in the order of its key."""
    key = ", ".join(map(quoted, table.key))
    marks = ", ".join("?" * table.key_size)
    where = ""
    last: Row = ()
    while page := _rows(ledger, table, where, last, order=f"ORDER BY {key} LIMIT {PAGE}"):
        yield page
        where, last = f"({key}) > ({marks})", page[-1][: table.key_size]


def event_pages(ledger: Ledger, *, after: int) -> Iterator[list[StoredEvent]]:
    """The events after a global sequence, page by page."""
    while page := ledger.tail(after=after, limit=PAGE):
        yield page
        after = page[-1].global_seq


event_row: Callable[[StoredEvent], Row] = attrgetter(*EVENTS.columns)
"""An event as a row of its table."""
