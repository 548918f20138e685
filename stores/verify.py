"""Proving that a ledger is what was written: chain, head, state, rows and bodies, each computed anew."""

import contextlib
from collections import defaultdict
from dataclasses import dataclass, field

from researchdesk.state.desk.markup import card
from researchdesk.state.errors import IntegrityError, LedgerCorrupt, NotFound
from researchdesk.state.ids import stream_owner
from researchdesk.state.row_changes import Row, row_digest
from researchdesk.state.tables import TABLES, tables_of
from researchdesk.stores.codec import StoredEvent
from researchdesk.stores.ledger import HeadMoved, Ledger
from researchdesk.stores.replay import Projection, nothing_yet, replay_with_rows

SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyReport:
    """What a verification found; ``checked`` counts by kind, ``problems`` is empty when all is well."""

    checked: dict[str, int]
    problems: tuple[str, ...] = ()
    store: str = ""

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def _repr_html_(self) -> str:
        found = [f"problem {number}" for number in range(1, len(self.problems) + 1)]
        fields = {
            "checked": ", ".join(f"{count:,} {name}" for name, count in self.checked.items()),
            "store": self.store,
            **dict(zip(found[:SHOWN], self.problems, strict=False)),
            "more problems": f"{len(self.problems) - SHOWN:,}" if len(self.problems) > SHOWN else "",
        }
        return card(f"Verified: {'all is well' if self.ok else f'{len(self.problems):,} problems'}", fields)


@dataclass(slots=True)
class Derived:
    """What a stream's events imply: the projection, and the rows by table and key."""

    projection: Projection
    rows: dict[str, dict[Row, Row]] = field(default_factory=lambda: defaultdict(dict))

    def follow(self, item: StoredEvent) -> None:
        """Fold one more stored event.

        Raises:
            LedgerCorrupt: as `replay`.
        """
        self.projection, changes = replay_with_rows(self.projection, item)
        for change in changes:
            if change.new is None:
                del self.rows[change.table][change.key]
            else:
                self.rows[change.table][change.key] = change.new


def derive(ledger: Ledger, stream: str) -> Derived:
    """Everything that a stream implies, from its events alone.

    Raises:
        LedgerCorrupt: as `replay`, or the head record does not fit the events.
    """
    derived = Derived(projection=nothing_yet(stream))
    for item in ledger.read(stream):
        derived.follow(item)
    head, found = ledger.head(stream), derived.projection.head
    if (head.count, head.hash) != (found.count, found.hash):
        raise LedgerCorrupt(
            f"stream '{stream}' ends at event {found.count}, its head record says {head.count}: events were cut off "
            "or added"
        )
    return derived


def verify(ledger: Ledger, *, streams: list[str] | None = None) -> VerifyReport:
    """Check the named streams, or all of them, the store itself, and that nothing else is in the tables."""
    checked = dict.fromkeys(("streams", "events", "rows", "bodies"), 0)
    with ledger.snapshot() as frozen:
        problems: list[str] = []
        try:
            problems += frozen.faults() if streams is None else []
            for stream in streams if streams is not None else frozen.streams():
                problems += _stream_problems(frozen, stream, checked)
            if streams is None:
                problems += _stray_rows(frozen)
        except LedgerCorrupt as problem:
            problems.append(str(problem))
    return VerifyReport(checked=checked, problems=tuple(problems), store=ledger.describe())


def _stream_problems(ledger: Ledger, stream: str, checked: dict[str, int]) -> list[str]:
    """What is wrong with one stream; counts what was checked."""
    checked["streams"] += 1
    try:
        derived = derive(ledger, stream)
        checked["events"] += derived.projection.head.count
        problems = _row_problems(ledger, stream, derived, checked)
        return problems + _body_problems(ledger, stream, derived, checked)
    except LedgerCorrupt as problem:
        return [str(problem)]


def _row_problems(ledger: Ledger, stream: str, derived: Derived, checked: dict[str, int]) -> list[str]:
    problems = []
    owner = stream_owner(stream)
    total = 0
    for table, shape in tables_of(stream).items():
        expected = derived.rows.get(table, {})
        found = {tuple(row[: shape.key_size]): tuple(row) for row in ledger.rows(table, owner)}
        checked["rows"] += len(found)
        total += sum(row_digest(table, row) for row in expected.values())
        wrong = [key for key in expected if found.get(key) != expected[key]]
        problems += [f"table {table}, row {key}: it is not what the events say" for key in wrong[:SHOWN]]
        problems += [
            f"table {table}, row {key}: no event made it" for key in list(found.keys() - expected)[:SHOWN]
        ]
    digest = f"{total % (1 << 256):064x}"
    if not problems and ledger.head(stream).rows_digest != digest:
        problems.append(f"stream '{stream}': the digest over its rows in the head record is wrong")
    return problems


def _body_problems(ledger: Ledger, stream: str, derived: Derived, checked: dict[str, int]) -> list[str]:
    problems = []
    state = derived.projection.state
    for key in state.standing_bodies:
        checked["bodies"] += 1
        try:
            if ledger.body(key) is None:
                raise NotFound("it is missing")
        except (IntegrityError, NotFound) as problem:
            problems.append(f"stream '{stream}', event {state.bodies[key].named_seq}: body {key}: {problem}")
    return problems


def _stray_rows(ledger: Ledger) -> list[str]:
    """Rows of sessions and desks that no stream knows."""
    problems = []
    for name, table in TABLES.items():
        kind = table.owner.removesuffix("_id")
        known = f"SELECT 1 FROM heads WHERE stream = '{kind}:' || {table.owner}"
        found = ledger.query(f"SELECT count(*) AS n FROM {name} WHERE NOT EXISTS ({known})")[0]["n"]
        problems += [f"table {name}: {found} rows belong to no {kind} of this ledger"] if found else []
    return problems


def rebuild(ledger: Ledger, stream: str) -> int:
    """Write the rows of a stream anew from its events; returns how many there are.

    Raises:
        LedgerCorrupt: the events themselves are damaged; nothing was changed.
    """
    while True:
        with ledger.snapshot() as frozen:
            derived = derive(frozen, stream)
        rows = {table: list(derived.rows[table].values()) for table in TABLES if table in derived.rows}
        with contextlib.suppress(HeadMoved):  # then somebody appended meanwhile
            ledger.replace_rows(stream, head=derived.projection.head, rows=rows)
            return sum(len(found) for found in rows.values())
