"""The SQLite ledger: the contract, and what only SQLite can get wrong."""

import contextlib
import re
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import get_args

import pytest

from researchdesk.state import vocabulary
from researchdesk.state.errors import IntegrityError, LedgerCorrupt, Unavailable
from researchdesk.state.ids import content_hash
from researchdesk.state.tables import TABLES
from researchdesk.stores.ledger import Ledger
from researchdesk.stores.postgres.migrations import steps as postgres_steps
from researchdesk.stores.sqlite.connection import connect, dbapi, journal_mode, transaction, wal_is_safe
from researchdesk.stores.sqlite.ledger import SqliteLedger
from researchdesk.stores.sqlite.migrations import APPLICATION_ID, migrate, steps
from researchdesk.stores.verify import verify

from .contract import LedgerContract, artifact
from .streams_contract import StreamsContract


class TestSqliteLedger(StreamsContract, LedgerContract):
    @pytest.fixture
    def reopen(self, tmp_path: Path) -> Callable[[], Ledger]:
        return lambda: SqliteLedger(tmp_path / "ledger.sqlite")

    @pytest.fixture
    def raw(self, tmp_path: Path) -> Callable[[str], None]:
        path = tmp_path / "ledger.sqlite"

        def run(sql: str) -> None:
            with contextlib.closing(connect(path)) as db, transaction(db, path):
                db.execute(sql)

        return run

    def test_a_row_that_is_kept_cannot_be_replaced(self, ledger: Ledger, raw: Callable[[str], None]) -> None:
        self.begin(ledger)
        self.write(ledger, artifact(1), bodies={content_hash(b"body"): b"body"})
        for table in ("events", "artifacts", "blobs"):
            with pytest.raises(IntegrityError, match="append-only"):
                raw(f"INSERT OR REPLACE INTO {table} SELECT * FROM {table}")
        assert verify(ledger).ok

    def test_the_pragmas_are_what_durability_asks_for(self, tmp_path: Path) -> None:
        raw = connect(tmp_path / "x.sqlite")
        found = {
            name: raw.execute(f"PRAGMA {name}").fetchone()[0]
            for name in (
                *("journal_mode", "synchronous", "foreign_keys", "trusted_schema", "busy_timeout"),
                *("fullfsync", "checkpoint_fullfsync"),
            )
        }
        raw.close()
        assert found == {
            "journal_mode": journal_mode(),
            "synchronous": 2,
            "foreign_keys": 1,
            "trusted_schema": 0,
            "busy_timeout": 30_000,
            "fullfsync": 1,
            "checkpoint_fullfsync": 1,
        }

    @pytest.mark.parametrize(
        ("version", "safe"),
        [
            ((3, 40, 1), False),
            ((3, 44, 5), False),
            ((3, 44, 6), True),
            ((3, 45, 0), False),
            ((3, 50, 6), False),
            ((3, 50, 7), True),
            ((3, 51, 2), False),
            ((3, 51, 3), True),
            ((3, 53, 0), True),
        ],
    )
    def test_a_library_with_the_wal_fault_is_not_trusted_with_a_wal(
        self, version: tuple[int, ...], safe: bool
    ) -> None:
        assert wal_is_safe(version) is safe

    def test_every_table_is_strict(self, ledger: Ledger) -> None:
        loose = ledger.query(
            "SELECT name FROM pragma_table_list WHERE type = 'table' AND strict = 0 AND name NOT LIKE 'sqlite_%'"
        )
        assert loose == []

    def test_a_ledger_of_a_newer_version_is_left_alone(self, ledger: Ledger, tmp_path: Path) -> None:
        path = tmp_path / "ledger.sqlite"
        raw = connect(path)
        raw.execute("PRAGMA user_version=999")
        raw.close()
        with pytest.raises(Unavailable, match=r"newer version.*999"):
            SqliteLedger(path)

    def test_a_database_of_another_program_is_left_alone(self, tmp_path: Path) -> None:
        path = tmp_path / "other.sqlite"
        raw = connect(path)
        raw.execute("CREATE TABLE mine (x INTEGER)")
        with pytest.raises(Unavailable, match="another program"):
            SqliteLedger(path)
        raw.execute("PRAGMA application_id=7")
        with pytest.raises(Unavailable, match="another program"):
            SqliteLedger(path)
        assert raw.execute("SELECT count(*) FROM sqlite_schema").fetchone() == (1,)
        raw.close()

    def test_a_file_that_is_no_database_is_left_alone(self, tmp_path: Path) -> None:
        path = tmp_path / "letter.sqlite"
        path.write_text("Dear Sir or Madam, " * 300)
        with pytest.raises(LedgerCorrupt, match="restore it from a backup"):
            SqliteLedger(path)
        assert path.read_text().startswith("Dear Sir")

    def test_migrating_twice_changes_nothing(self, ledger: Ledger, tmp_path: Path) -> None:
        path = tmp_path / "ledger.sqlite"
        self.begin(ledger)
        raw = connect(path)
        before = raw.execute("SELECT name, sql FROM sqlite_schema ORDER BY name").fetchall()
        version = raw.execute("PRAGMA schema_version").fetchone()
        assert migrate(raw, path) == steps()[-1][0]
        assert raw.execute("SELECT name, sql FROM sqlite_schema ORDER BY name").fetchall() == before
        assert raw.execute("PRAGMA schema_version").fetchone() == version
        assert raw.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
        raw.close()


DDL = "".join(sql for _, sql in steps())
POSTGRES_DDL = "".join(sql for _, sql in postgres_steps())


def test_the_tables_of_the_schema_are_those_of_the_state() -> None:
    raw = dbapi.connect(":memory:")
    raw.executescript(DDL)
    for table in TABLES.values():
        info = raw.execute(f"PRAGMA table_info({table.name})").fetchall()
        assert tuple(row[1] for row in info) == table.columns
        key = sorted((row[5], row[1]) for row in info if row[5])
        assert tuple(name for _, name in key) == table.key
    own = {"events", "heads", "blobs", "leases", "gathered", "gathered_bodies", "desk_texts", "sqlite_schema"}
    names = {
        row[0]
        for row in raw.execute("SELECT name FROM pragma_table_list WHERE type = 'table' AND schema = 'main'")
    }
    assert names == own | TABLES.keys()
    raw.close()


@pytest.mark.parametrize(
    ("table", "column", "words"),
    [
        ("sessions", "profile", vocabulary.Profile),
        ("research_runs", "scope_level", vocabulary.ScopeLevel),
        ("research_runs", "stage", vocabulary.Stage),
        ("research_runs", "status", vocabulary.RunStatus),
        ("research_runs", "stop_reason", vocabulary.StopReason),
        ("tool_calls", "status", vocabulary.CallStatus),
        ("artifacts", "role", vocabulary.ArtifactRole),
        ("artifacts", "provenance", vocabulary.Provenance),
        ("checklist_items", "status", vocabulary.ChecklistStatus),
        ("research_steps", "kind", vocabulary.StepKind),
        ("research_steps", "status", vocabulary.StepStatus),
        ("inspected_refs", "kind", vocabulary.RefKind),
        ("report_sections", "status", vocabulary.SectionStatus),
        ("model_calls", "stage", vocabulary.Stage),
        ("frontier_questions", "kind", vocabulary.QuestionKind),
        ("frontier_questions", "status", vocabulary.QuestionStatus),
        ("frontier_transitions", "from_status", vocabulary.QuestionStatus),
        ("frontier_transitions", "to_status", vocabulary.QuestionStatus),
        ("frontier_transitions", "trigger", vocabulary.Trigger),
        ("frontier_transitions", "actor", vocabulary.Actor),
        ("frontier_attempts", "kind", vocabulary.AttemptKind),
        ("frontier_attempts", "cause", vocabulary.Cause),
        ("claims", "kind", vocabulary.ClaimKind),
        ("claims", "status", vocabulary.ClaimStatus),
        ("claim_sources", "stance", vocabulary.Stance),
        ("challenges", "target_kind", vocabulary.TargetKind),
        ("challenges", "strategy", vocabulary.Strategy),
        ("challenges", "status", vocabulary.ChallengeStatus),
        ("challenges", "outcome", vocabulary.Outcome),
        ("challenges", "cause", vocabulary.Cause),
        ("contradictions", "status", vocabulary.ContradictionStatus),
        ("notes_versions", "reason", vocabulary.NotesReason),
    ],
)
@pytest.mark.parametrize("ddl", [DDL, POSTGRES_DDL], ids=["sqlite", "postgres"])
def test_the_checks_of_the_schema_use_the_words_of_the_vocabulary(
    ddl: str, table: str, column: str, words: object
) -> None:
    body = re.search(rf"CREATE TABLE {table} \((.*?)\n\)", ddl, re.DOTALL)
    assert body is not None
    check = re.search(rf"\b{column}\s+TEXT.*?CHECK \({column} IN \((.*?)\)\)", body[1], re.DOTALL)
    assert check is not None
    assert tuple(re.findall(r"'([^']*)'", check[1])) == get_args(words)


def test_the_schema_steps_are_numbered_without_a_gap() -> None:
    assert [number for number, _ in steps()] == list(range(1, len(steps()) + 1))
    assert (files("researchdesk.stores.sqlite") / "schema").is_dir()
