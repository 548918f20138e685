"""Verifying: whatever was changed in the file behind the ledger's back is found, and rows can be made again."""

import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from researchdesk.state.errors import LedgerCorrupt, ResearchdeskError
from researchdesk.state.tables import TABLES
from researchdesk.stores.ledger import Ledger
from researchdesk.stores.sqlite.connection import connect
from researchdesk.tools.sources.gathering import Sources
from researchdesk.tools.workspace import Desk, open_desk

from ..desks import SKY, STEP, Caller, scripted_source

LOOKED_AT = {"kind": "url", "locator": "x", "label": "l", "source_artifact_id": ""}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A desk with a row in most tables, closed, to be copied."""
    home = tmp_path_factory.mktemp("verify") / "desk"
    with open_desk(home) as desk:
        source = scripted_source()
        research = Caller(desk.session("s1", sources=Sources(providers=(source,), fetchers=(source,))))
        research.start()
        research.source(SKY + "More. " * 20)
        research.ok("search_sources", query="sky")
        research.ok("archive_source", locator="https://b.org/")
        done = {"status": "completed", "evidence_artifact_ids": ["s_001"], "inspected_refs": [LOOKED_AT]}
        research.ok("deep_research_record_step", **{**STEP, **done})
        gone = research.source("forget this")
        desk.purge("s1", [gone], actor="human:me", reason="asked")
        other = Caller(desk.session("s2"))
        report, handoff = other.finish()
        desk.handoff("s2")
        assert report != handoff
        assert desk.verify().problems == ()
    return home


@pytest.fixture
def home(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "desk"))


def behind_the_back(home: Path, *statements: str) -> None:
    """Change the file with no guard in the way."""
    raw = connect(home / "ledger.sqlite")
    raw.execute("PRAGMA foreign_keys=OFF")
    raw.execute("PRAGMA ignore_check_constraints=ON")
    triggers = raw.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
    guards = [sql for _, sql in triggers]
    for name, _ in triggers:
        raw.execute(f"DROP TRIGGER {name}")
    for sql in statements:
        assert raw.execute(sql).rowcount, sql
    for sql in guards:
        raw.execute(sql)
    raw.close()


def problems(home: Path) -> str:
    with open_desk(home) as desk:
        return "\n".join(desk.verify().problems)


def test_a_whole_desk_has_no_problem_and_says_what_was_checked(home: Path) -> None:
    with open_desk(home) as desk:
        report = desk.verify()
        assert (report.ok, report.problems, report.checked["streams"]) == (True, (), 3)
        assert min(report.checked.values()) > 0
        assert "SQLite" in report.store and "journal" in report.store
        assert desk.verify("s1").checked["streams"] == 1


LAST = "stream = 'session:s1' AND seq = (SELECT max(seq) FROM events WHERE stream = 'session:s1')"
COPIED = "type, schema_version, ts, refs, payload, prev_hash, hash"


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        (f"DELETE FROM events WHERE {LAST}", "cut off"),
        ("DELETE FROM events WHERE stream = 'session:s1' AND seq > 3", "cut off"),
        ("DELETE FROM events WHERE stream = 'session:s1' AND seq = 4", "gap"),
        ("DELETE FROM events WHERE stream = 'session:s1' AND seq = 1", "gap"),
        ("DELETE FROM events WHERE stream = 'session:s1'", "cut off"),
        ("DELETE FROM heads WHERE stream = 'session:s1'", "head record says 0"),
        ("UPDATE heads SET count = count - 1 WHERE stream = 'session:s1'", "head record"),
        ("UPDATE heads SET hash = substr(hash, 2) || substr(hash, 1, 1)", "head record"),
        ("UPDATE heads SET rows_digest = lower(hex(zeroblob(32))) WHERE stream = 'session:s2'", "digest"),
        ("UPDATE events SET payload = replace(payload, 'blue', 'grey') WHERE seq = 2", "recorded hash"),
        ("UPDATE events SET ts = '2020-01-01' WHERE seq = 3", "recorded hash"),
        ("UPDATE events SET refs = '{}' WHERE seq = 3", "recorded hash"),
        ("UPDATE events SET type = 'run_configured' WHERE seq = 3", "recorded hash"),
        ("UPDATE events SET prev_hash = hash WHERE seq = 3", "broken"),
        ("UPDATE events SET event_id = 'e_x' WHERE stream = 'session:s1' AND seq = 2", "recorded hash"),
        (f"UPDATE events SET seq = seq + 1 WHERE {LAST}", "gap"),
        ("UPDATE events SET stream = 'session:s9' WHERE stream = 'session:s1'", "session:s9"),
        (f"INSERT INTO events SELECT NULL, stream, seq + 1, 'e_y', {COPIED} FROM events WHERE {LAST}", "broken"),
        ("UPDATE blobs SET bytes = x'20'", "changed on disk"),
        ("DELETE FROM blobs WHERE hash IN (SELECT content_hash FROM artifacts)", "missing"),
        ("DELETE FROM blobs WHERE hash = (SELECT raw_hash FROM receipts)", "missing"),
        ("DELETE FROM sessions WHERE session_id = 's1'", "sessions"),
    ],
)  # fmt: skip
def test_a_change_of_the_ledger_is_found_and_named(home: Path, sql: str, told: str) -> None:
    behind_the_back(home, sql)
    assert told in problems(home)


EDITS = {
    "drafts": "prompt",
    "messages": "content",
    "artifacts": "name",
    "inspected_refs": "label",
    "report_sections": "title",
    "checklist_items": "title",
    "sources": "origin",
    "receipts": "note",
    "searches": "query",
    "purges": "reason",
    "session_bodies": "named_seq",
    "checkpoints": "summary",
    "research_steps": "summary",
    "tool_calls": "result",
    "sessions": "user",
    "research_runs": "objective",
    "artifact_quotes": "quote_end",
    "artifact_sources": "position",
}


@pytest.mark.parametrize(("table", "column"), EDITS.items())
def test_an_edited_a_missing_and_an_extra_row_are_found_and_rebuilding_mends_them(
    home: Path, table: str, column: str
) -> None:
    key = TABLES[table].key
    one = f"({', '.join(key)}) = (SELECT {', '.join(key)} FROM {table} LIMIT 1)"
    value = f"{column} + 1" if column in ("quote_end", "position", "named_seq") else f"{column} || 'x'"
    other = {key[-1]: "999" if key[-1] in ("seq", "step", "position") else "'stranger'"}
    if table == "sources":
        other["artifact_id"] = "'another'"
    extra = ", ".join(other.get(name, name) for name in TABLES[table].columns)
    changes = (
        f"UPDATE {table} SET {column} = {value} WHERE {one}",
        f"DELETE FROM {table} WHERE {one}",
        f"INSERT INTO {table} SELECT {extra} FROM {table} WHERE {one}",
    )
    for sql in changes:
        behind_the_back(home, sql)
        with open_desk(home) as desk:
            assert not desk.verify().ok, sql
            for session in ("s1", "s2", "s2-next"):
                assert desk.rebuild(session) > 0
            left = desk.verify().problems
            if "stranger" in sql and key == ("session_id",):
                assert "belong to no session" in "\n".join(left)
                behind_the_back(home, f"DELETE FROM {table} WHERE session_id = 'stranger'")
                left = desk.verify().problems
            assert left == (), sql


@pytest.mark.parametrize(
    "sql",
    [
        "DROP TRIGGER events_keep_update",
        "DROP VIEW io_log",
        "CREATE TRIGGER quiet BEFORE DELETE ON purges BEGIN SELECT RAISE(IGNORE); END",
        "ALTER TABLE sessions RENAME COLUMN user TO User",
        "CREATE TABLE mine (x INTEGER)",
    ],
)
def test_a_changed_schema_is_found(home: Path, sql: str) -> None:
    raw = connect(home / "ledger.sqlite")
    raw.execute(sql)
    raw.close()
    assert "schema" in problems(home)


def test_rows_of_a_session_that_was_never_there_are_found(home: Path) -> None:
    behind_the_back(home, "INSERT INTO sessions VALUES ('ghost', '[]', '', '', 'explore', '', 't')")
    assert "table sessions: 1 rows belong to no session" in problems(home)


def test_a_damaged_stream_is_refused_and_the_others_go_on(home: Path) -> None:
    behind_the_back(home, "DELETE FROM events WHERE stream = 'session:s1' AND seq > 5")
    with open_desk(home) as desk:
        broken = desk.existing("s1")
        for look in (
            lambda: broken.workspace,
            lambda: broken.call("deep_research_status", {}, tool_call_id="new"),
            lambda: desk.export("s1", home / "x.jsonl"),
            lambda: desk.rebuild("s1"),
        ):
            with pytest.raises(LedgerCorrupt, match="session:s1"):
                look()
        assert desk.existing("s2").run is not None
        assert desk.verify("s2").ok and not desk.verify("s1").ok


def test_an_event_behind_the_head_is_not_taken_for_part_of_the_session(home: Path) -> None:
    behind_the_back(
        home,
        "UPDATE heads SET count = count - 1, hash = (SELECT prev_hash FROM events e WHERE e.stream = heads.stream "
        "ORDER BY seq DESC LIMIT 1) WHERE stream = 'session:s1'",
    )
    with open_desk(home) as desk:
        with pytest.raises(LedgerCorrupt):
            _ = desk.existing("s1").workspace
        assert "added" in "\n".join(desk.verify().problems)


def contents(ledger: Ledger) -> dict[str, Any]:
    """All that a reader can get out of a ledger."""
    streams = ledger.streams()
    return {
        "events": [ledger.read(stream) for stream in streams],
        "heads": [ledger.head(stream) for stream in streams],
        "rows": {
            table: ledger.query(f"SELECT * FROM {table} ORDER BY {', '.join(shape.key)}")
            for table, shape in TABLES.items()
        },
        "bodies": {key: ledger.body(key) for key in ledger.body_hashes()},
    }


def test_a_flipped_bit_anywhere_in_the_file_is_found_or_changes_nothing(whole: Path, tmp_path: Path) -> None:
    file = (whole / "ledger.sqlite").read_bytes()
    with open_desk(shutil.copytree(whole, tmp_path / "clean")) as desk:
        clean = contents(desk.ledger)
    dice = random.Random(5)
    found = 0
    for n in range(120):
        at = dice.randrange(len(file))
        home = tmp_path / f"{n}"
        (home / "locks").mkdir(parents=True)
        damaged = file[:at] + bytes([file[at] ^ (1 << dice.randrange(8))]) + file[at + 1 :]
        (home / "ledger.sqlite").write_bytes(damaged)
        try:
            desk = open_desk(home)
        except ResearchdeskError:
            found += 1
            continue
        with desk:
            if not desk.verify().ok:
                found += 1
                continue
            now = contents(desk.ledger)
            assert {**now, "bodies": None} == {**clean, "bodies": None}, f"byte {at} was not noticed"
            assert now["bodies"].items() >= clean["bodies"].items(), f"byte {at} was not noticed"
    assert found > 20


def test_a_desk_knows_its_newest_session_and_lists_all(home: Path) -> None:
    with open_desk(home) as desk:
        assert isinstance(desk, Desk)
        assert {summary.session_id for summary in desk.sessions()} == {"s1", "s2", "s2-next"}
        assert desk.existing().id == "s2"
