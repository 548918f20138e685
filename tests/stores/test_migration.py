"""A ledger that an earlier version made is brought up in place and keeps all that it holds."""

import hashlib
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

import orjson
import pytest

from researchdesk.state import events as ev
from researchdesk.state.ids import content_hash
from researchdesk.state.investigation import Investigation
from researchdesk.state.investigation_diff import diff
from researchdesk.state.rows import RowChange
from researchdesk.state.tables import TABLES
from researchdesk.stores.codec import Refs
from researchdesk.stores.replay import Extension, Projection, extend, replay
from researchdesk.stores.sqlite.connection import Connection, connect
from researchdesk.stores.sqlite.ledger import SqliteLedger
from researchdesk.stores.sqlite.migrations import APPLICATION_ID, steps
from researchdesk.stores.verify import rebuild, verify

from ..state.investigations import TEXTS, begin, opening

OLD_DDL = Path(__file__).with_name("ledger_of_schema_1.sql")
STREAM = "session:s1"
TS = "2026-01-01T00:00:00.000000+00:00"
ADDED = {"research_runs": {"notes_id": ""}, "sources": {"signature": "", "near_duplicates": "[]"}}


def extension_of(events: Iterable[ev.Event], projection: Projection | None = None) -> Extension:
    return extend(projection or Projection(), events, stream=STREAM, ts=TS, refs=Refs())


def old_row(change: RowChange) -> tuple[object, ...]:
    """A row without the columns that schema 1 did not know."""
    assert change.new is not None
    return change.new[: len(change.new) - len(ADDED.get(change.table, {}))]


@pytest.fixture
def old_ledger(tmp_path: Path) -> Path:
    """A ledger file with one session, made by the DDL of schema 1 and by its way of hashing rows."""
    path = tmp_path / "ledger.sqlite"
    raw = connect(path)
    raw.executescript(OLD_DDL.read_text(encoding="utf-8"))
    raw.execute(f"PRAGMA application_id={APPLICATION_ID}")
    raw.execute("PRAGMA user_version=1")
    extension = extension_of(opening())
    raw.execute("BEGIN")
    for item in extension.events:
        event = {name: value for name, value in asdict(item).items() if name != "global_seq"}
        marks = ", ".join("?" for _ in event)
        raw.execute(f"INSERT INTO events ({', '.join(event)}) VALUES ({marks})", tuple(event.values()))
    for body in TEXTS.values():
        raw.execute("INSERT INTO blobs VALUES (?, ?)", (content_hash(body.encode()), body.encode()))
    total = 0
    for change in extension.rows:
        row = old_row(change)
        raw.execute(f"INSERT INTO {change.table} VALUES ({', '.join('?' * len(row))})", row)
        total += int.from_bytes(hashlib.sha256(orjson.dumps([change.table, *row])).digest(), "big")
    last = extension.events[-1]
    raw.execute(
        "INSERT INTO heads VALUES (?, ?, ?, ?)", (STREAM, last.seq, last.hash, f"{total % (1 << 256):064x}")
    )
    raw.execute("COMMIT")
    raw.close()
    return path


def everything(db: Connection, table: str) -> list[tuple[object, ...]]:
    return db.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall()


def test_rows_of_an_old_ledger_stay_and_get_the_defaults_of_new_columns(old_ledger: Path) -> None:
    raw = connect(old_ledger)
    tables = [row[0] for row in raw.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    before = {table: everything(raw, table) for table in tables}
    raw.close()
    SqliteLedger(old_ledger).close()
    raw = connect(old_ledger)
    for table in tables:
        more = tuple(ADDED.get(table, {}).values())
        assert everything(raw, table) == [(*row, *more) for row in before[table]], table
    assert raw.execute("PRAGMA user_version").fetchone() == (steps()[-1][0],)
    made = {row[0] for row in raw.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    assert set(TABLES) <= made
    raw.close()


def test_an_old_ledger_verifies_after_it_was_brought_up_and_takes_an_investigation(old_ledger: Path) -> None:
    ledger = SqliteLedger(old_ledger)
    assert verify(ledger).problems == ()
    projection = replay(Projection(), ledger.read(STREAM))
    assert projection.workspace.investigation is None
    begun = begin()
    nothing = Investigation(notes=begun.investigation.notes)
    extension = extension_of(diff(nothing, begun.investigation, begun.transitions), projection)
    ledger.append(extension.append)
    assert [row[1] for row in ledger.rows("frontier_questions", "s1")] == ["q_001"]
    assert verify(ledger).problems == ()
    rebuild(ledger, STREAM)
    assert verify(ledger).problems == ()
    ledger.close()


def test_opening_an_old_ledger_twice_changes_nothing_the_second_time(old_ledger: Path) -> None:
    SqliteLedger(old_ledger).close()
    raw = connect(old_ledger)
    marks = ("schema_version", "user_version", "data_version")
    before = [raw.execute(f"PRAGMA {mark}").fetchone() for mark in marks]
    SqliteLedger(old_ledger).close()
    assert [raw.execute(f"PRAGMA {mark}").fetchone() for mark in marks] == before
    raw.close()


def test_a_fresh_ledger_has_the_same_schema_as_one_that_was_brought_up(
    old_ledger: Path, tmp_path: Path
) -> None:
    fresh = tmp_path / "fresh.sqlite"
    for path in (old_ledger, fresh):
        SqliteLedger(path).close()
    schema = "SELECT name, sql FROM sqlite_schema ORDER BY name"
    databases = [connect(path) for path in (old_ledger, fresh)]
    assert databases[0].execute(schema).fetchall() == databases[1].execute(schema).fetchall()
    for database in databases:
        database.close()


def test_the_first_schema_step_is_never_edited() -> None:
    assert steps()[0][1] == OLD_DDL.read_text(encoding="utf-8"), "write a new step instead"
