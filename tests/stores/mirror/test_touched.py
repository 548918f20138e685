"""Where a sync looks for the rows of an event: no row that an event writes stands anywhere else."""

from collections.abc import Iterator
from pathlib import Path

from researchdesk.state.ids import stream_owner
from researchdesk.state.row_changes import RowChange
from researchdesk.state.tables import TABLES, tables_of
from researchdesk.stores.codec import StoredEvent
from researchdesk.stores.ledger import Ledger
from researchdesk.stores.mirror.touched import _TOUCHED, Place, Since, Turn, tables_touched, touched
from researchdesk.stores.replay import nothing_yet, replay_with_rows
from researchdesk.tools.workspace import open_desk

from .histories import Play


def changes(ledger: Ledger) -> Iterator[tuple[StoredEvent, tuple[RowChange, ...]]]:
    """All events of a ledger, each with the rows that it wrote."""
    for stream in ledger.streams():
        projection = nothing_yet(stream)
        for item in ledger.read(stream):
            projection, rows = replay_with_rows(projection, item)
            yield item, rows


def covers(place: Place | Since | Turn, change: RowChange, *, purged: bool) -> bool:
    """Whether a sync that looks there finds the change, and takes it for what it is: new or not."""
    row = change.new or change.old
    assert row is not None
    if isinstance(place, Turn):
        turn_id = TABLES["model_calls"].columns.index("turn_id")
        return change.table == "model_calls" and (row[0], row[turn_id]) == place
    if place.table != change.table:
        return False
    if isinstance(place, Place):
        here = row[: len(place.values)] == place.values
        return here and not (place.is_new and change.old is not None)
    if change.old is not None:
        return purged and place.table == "session_bodies"  # a body came back: `Places.complete`
    at = TABLES[place.table].columns.index(place.column)
    return row[0] == place.owner and row[at] == place.seq


def test_every_row_that_an_event_writes_stands_where_a_sync_looks(tmp_path: Path) -> None:
    seen: set[str] = set()
    for seed in range(40):
        with open_desk(tmp_path / str(seed)) as desk:
            play = Play(desk, seed)
            for _ in range(70):
                play.step()
            purged = {str(row["session_id"]) for row in desk.ledger.query("SELECT session_id FROM purges")}
            for item, rows in changes(desk.ledger):
                places = list(touched(item))
                is_purged = stream_owner(item.stream) in purged
                assert {change.table for change in rows} <= set(tables_touched(item)), item.type
                for change in rows:
                    assert any(covers(place, change, purged=is_purged) for place in places), (
                        item.type,
                        change,
                    )
                seen.add(item.type)
    known = set(_TOUCHED)
    assert known - seen <= {
        *("search_recorded", "research_stopped", "research_blocked", "research_resumed"),
        *("proposal_lapsed", "proposal_failed"),
    }, "of these no history of the play has one"


def test_of_an_event_that_is_not_known_every_row_of_its_owner_is_looked_at() -> None:
    event = StoredEvent(
        stream="session:s", seq=1, event_id="e", type="new_kind", schema_version=1, ts="", refs="{}",
        payload="{}", prev_hash="", hash="",
    )  # fmt: skip
    assert list(touched(event)) == [Place(table, ("s",)) for table in tables_of("session:s")]
    assert set(tables_touched(event)) == set(tables_of("session:s"))
