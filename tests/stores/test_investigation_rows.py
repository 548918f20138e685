"""An investigation in its tables: in step with the events, proven by verify, and within its vocabularies."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from researchdesk.state import events as ev
from researchdesk.state.errors import IntegrityError
from researchdesk.state.ids import content_hash
from researchdesk.state.notes_grammar import parse
from researchdesk.state.rows import NO_ROWS, Stamp, row_digest, rows, shift_digest
from researchdesk.state.tables import TABLES, tables_of
from researchdesk.state.workspace import Workspace, evolve
from researchdesk.stores.codec import Refs
from researchdesk.stores.replay import Projection, extend, replay
from researchdesk.stores.sqlite.connection import connect, dbapi, transaction
from researchdesk.stores.sqlite.ledger import SqliteLedger
from researchdesk.stores.verify import rebuild, verify

from ..state.investigations import TEXTS, happened, opening

STREAM = "session:s1"
TS = "2026-01-01T00:00:00.000000+00:00"
FULL_SEED = 40


def stored(path: Path, events: list[ev.Event]) -> SqliteLedger:
    """A ledger that holds the events: the opening in one append, the others in one more."""
    ledger = SqliteLedger(path)
    projection = Projection()
    bodies = {content_hash(text.encode()): text.encode() for text in TEXTS.values()}
    cut = len(opening())
    for part in (events[:cut], events[cut:]):
        extension = extend(projection, part, stream=STREAM, ts=TS, refs=Refs())
        ledger.append(replace(extension.append, bodies=bodies))
        projection, bodies = extension.projection, {}
    return ledger


def test_each_change_of_a_row_names_the_row_that_stood_there() -> None:
    seen: set[str] = set()
    for seed in range(150):
        workspace, digest = Workspace(), NO_ROWS
        kept: dict[tuple[str, Any], Any] = {}
        for seq, event in enumerate(happened(seed, 60), start=1):
            after = evolve(workspace, event)
            changes = rows(event, workspace, after, Stamp(seq=seq, ts="t"))
            for change in changes:
                key = (change.table, change.key)
                assert kept.get(key) == change.old
                assert change.new is not None and len(change.new) == len(TABLES[change.table].columns)
                kept[key] = change.new
            digest, workspace = shift_digest(digest, changes), after
        assert (
            digest == f"{sum(row_digest(table, row) for (table, _), row in kept.items()) % (1 << 256):064x}"
        )
        seen |= {table for table, _ in kept}
    of_sessions = list(tables_of(STREAM))
    investigation = of_sessions[of_sessions.index("frontier_questions") :]
    assert set(investigation) <= seen, "every table is written"


@pytest.mark.parametrize("seed", [FULL_SEED, 3, 7])
def test_a_stored_investigation_verifies_is_rebuilt_and_is_read_back_from_its_rows(
    tmp_path: Path, seed: int
) -> None:
    events = happened(seed, 120)
    ledger = stored(tmp_path / "ledger.sqlite", events)
    assert verify(ledger).problems == ()
    now = replay(Projection(), ledger.read(STREAM)).workspace.investigation
    assert now is not None
    dicts: dict[str, list[dict[str, Any]]] = {
        table: [dict(zip(TABLES[table].columns, row, strict=True)) for row in ledger.rows(table, "s1")]
        for table in tables_of(STREAM)
    }
    assert {r["id"]: (r["status"], r["trans_seq"]) for r in dicts["frontier_questions"]} == {
        q.id: (q.status, q.trans_seq) for q in now.frontier
    }
    latest = {r["question_id"]: r["to_status"] for r in dicts["frontier_transitions"]}
    assert latest == {q.id: q.status for q in now.frontier}
    assert {r["id"]: r["status"] for r in dicts["claims"]} == {c.id: c.status for c in now.notes.all_claims}
    assert {r["id"]: r["outcome"] for r in dicts["challenges"]} == {
        c.id: c.outcome or None for c in now.challenges
    }
    last = dicts["notes_versions"][-1]
    assert parse(last["text"]) == now.notes
    assert last["text_hash"] == content_hash(last["text"].encode())
    assert [r["seq"] for r in dicts["notes_versions"]] == list(range(1, len(dicts["notes_versions"]) + 1))

    raw = connect(tmp_path / "ledger.sqlite")
    raw.execute("UPDATE claims SET note = 'forged'")
    raw.execute("DELETE FROM notes_versions WHERE seq = 1")
    assert len(verify(ledger).problems) >= 2
    rebuild(ledger, STREAM)
    assert verify(ledger).problems == ()
    raw.close()
    ledger.close()


@pytest.fixture
def full(tmp_path: Path) -> Path:
    path = tmp_path / "full.sqlite"
    stored(path, happened(FULL_SEED, 120)).close()
    return path


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE frontier_questions SET status = 'sleeping'",
        "UPDATE frontier_questions SET priority = 101",
        "UPDATE frontier_questions SET kind = 'objective' WHERE id <> 'q_001'",
        "UPDATE frontier_questions SET status = 'resolved', answer = ''",
        "UPDATE frontier_transitions SET to_status = 'unknown'",
        "UPDATE frontier_transitions SET trigger = 'guessed'",
        "UPDATE frontier_transitions SET actor = 'nobody'",
        "UPDATE frontier_transitions SET from_status = NULL WHERE seq > 1",
        "UPDATE frontier_deps SET depends_on = question_id",
        "UPDATE frontier_attempts SET kind = 'prayer'",
        "UPDATE frontier_attempts SET results = -1",
        "UPDATE claims SET status = 'TRUE'",
        "UPDATE claim_sources SET stance = 'likes'",
        "UPDATE claim_sources SET quote = '', stance = 'supports'",
        "UPDATE challenges SET strategy = 'luck'",
        "UPDATE challenges SET outcome = NULL WHERE status = 'closed'",
        "UPDATE challenges SET attempt_id = NULL WHERE outcome = 'survived'",
        "UPDATE notes_versions SET seq = 0",
        "UPDATE notes_versions SET reason = 'mood'",
        "UPDATE open_points SET kind = 'wish'",
        "UPDATE contradictions SET other_id = claim_id",
    ],
)
def test_a_row_that_says_what_may_not_be_said_is_refused(full: Path, sql: str) -> None:
    raw = connect(full)
    table = sql.split()[1]
    assert raw.execute(f"SELECT count(*) FROM {table}").fetchone()[0], "the table has rows to be refused"
    with pytest.raises(dbapi.IntegrityError):
        raw.execute(sql)
    raw.close()


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE frontier_questions SET parent_id = 'q_999' WHERE id <> 'q_001'",
        "UPDATE frontier_transitions SET question_id = 'q_999' WHERE question_id = 'q_001'",
        "UPDATE frontier_attempts SET question_id = 'q_999' WHERE id = 'at_001'",
        "UPDATE claims SET question_id = 'q_999'",
        "UPDATE claim_sources SET source_id = 's_999'",
        "UPDATE challenges SET result_claim_id = 'c_999'",
        "INSERT INTO challenge_sources SELECT session_id, id, 's_999', 9 FROM challenges",
        "UPDATE open_points SET question_id = 'q_999'",
    ],
)
def test_a_row_that_names_what_is_not_there_is_refused_at_commit(full: Path, sql: str) -> None:
    raw = connect(full)
    with pytest.raises(IntegrityError, match="FOREIGN KEY"), transaction(raw, full):
        assert raw.execute(sql).rowcount
    raw.close()
