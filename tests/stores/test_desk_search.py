"""The search over the desk's files on both backends: the contract, and what only one of them can get wrong."""

import contextlib
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from researchdesk.state.ids import DESK_STREAM
from researchdesk.stores.ledger import Ledger
from researchdesk.stores.postgres import migrations as postgres_migrations
from researchdesk.stores.postgres.address import Address, parse_address
from researchdesk.stores.postgres.connection import connect as connect_server
from researchdesk.stores.postgres.connection import postgres_errors
from researchdesk.stores.postgres.ledger import PostgresLedger
from researchdesk.stores.sqlite import migrations as sqlite_migrations
from researchdesk.stores.sqlite.connection import connect, transaction
from researchdesk.stores.sqlite.ledger import SqliteLedger
from researchdesk.stores.verify import rebuild, verify

from .desk_search_contract import DeskSearchContract, changed, created, fill, found, write


class TestSqliteDeskSearch(DeskSearchContract):
    migrations = sqlite_migrations
    damages = (
        "INSERT INTO desk_words (desk_words, rowid, path, body) VALUES ('delete', 1, 'no', 'such words')",
        "INSERT INTO desk_trigrams (rowid, path, body) VALUES (99, 'a', 'a file that nobody has')",
        "INSERT INTO desk_words (desk_words) VALUES ('delete-all')",
        "DELETE FROM desk_texts WHERE number = 1",
    )

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

    def test_the_index_knows_its_files_after_a_vacuum(self, ledger: Ledger, tmp_path: Path) -> None:
        fill(ledger)
        write(ledger, [changed("policy", "gone.md", b"", "delete")], b"")
        with contextlib.closing(connect(tmp_path / "ledger.sqlite")) as db:
            db.execute("VACUUM")
        assert [found(ledger, word) for word in ("choosing", "auditor", "=SUM(")] == [
            [],
            ["audit"],
            ["sheet"],
        ]
        assert verify(ledger).problems == ()

    def test_looking_for_faults_waits_for_nobody_in_a_snapshot_that_is_behind(self, ledger: Ledger) -> None:
        fill(ledger)
        with ledger.snapshot() as frozen:
            write(ledger, [created("new", "new.md", b"later")], b"later")
            assert frozen.faults() == []
            write(ledger, [changed("new", "new.md", b"later", "delete")])
        assert verify(ledger).problems == ()


class TestPostgresDeskSearch(DeskSearchContract):
    migrations = postgres_migrations
    damages = (
        "UPDATE desk_texts SET folded = 'what nobody wrote' WHERE file_id = 'f_policy'",
        "UPDATE desk_texts SET path = 'elsewhere.md' WHERE file_id = 'f_policy'",
        "DELETE FROM desk_texts WHERE file_id = 'f_policy'",
        "INSERT INTO desk_texts SELECT desk_id, 'f_none', path, content_hash, folded, words, trigrams FROM desk_texts "
        "WHERE file_id = 'f_study'",
    )

    @pytest.fixture
    def address(self, postgres: str) -> Address:
        return parse_address(postgres)

    @pytest.fixture
    def reopen(self, address: Address) -> Callable[[], Ledger]:
        return lambda: PostgresLedger.open(address)

    @pytest.fixture
    def raw(self, address: Address) -> Callable[[str], None]:
        def run(sql: str) -> None:
            with postgres_errors(address), connect_server(address) as db:
                db.execute(sql)

        return run

    @pytest.mark.parametrize(
        ("change", "name"),
        [
            ("ALTER TEXT SEARCH CONFIGURATION desk_words DROP MAPPING FOR word", "desk_words"),
            ("ALTER TEXT SEARCH DICTIONARY desk_stems (StopWords = english)", "desk_stems"),
            ("ALTER TABLE desk_files DISABLE TRIGGER desk_files_are_indexed", "desk_files_are_indexed"),
        ],
    )
    def test_a_search_that_was_set_otherwise_is_a_fault(
        self, ledger: Ledger, raw: Callable[[str], None], change: str, name: str
    ) -> None:
        raw(change)
        (fault,) = ledger.faults()
        assert "is not what it was made as" in fault and name in fault

    def test_a_user_with_nothing_but_the_schema_searches_beside_other_desks(
        self, ledger: Ledger, address: Address
    ) -> None:
        """Neither an extension nor a right on the database is asked for, and no desk depends on another's schema."""
        fill(ledger)
        with connect_server(address) as db:
            role, other = f"{address.schema}_user", f"{address.schema}_other"
            db.execute(f"CREATE ROLE {role} LOGIN")
            try:
                db.execute(f"CREATE SCHEMA {other} AUTHORIZATION {role}")
                db.execute(f"SET ROLE {role}")
                db.execute(f"SET search_path = {other}")
                for _, sql in postgres_migrations.steps():
                    db.execute(sql)
                db.execute("RESET ROLE")
                db.execute(f"SET search_path = {address.schema}")
                db.execute(f"DROP SCHEMA {other} CASCADE")
            finally:
                with contextlib.suppress(psycopg.Error):
                    db.execute("RESET ROLE")
                db.execute(f"DROP OWNED BY {role}")
                db.execute(f"DROP ROLE {role}")
        assert found(ledger, "choosing") == ["policy"]
        assert verify(ledger).problems == ()

    def test_an_index_lost_to_a_disabled_trigger_comes_back_by_a_rebuild(
        self, ledger: Ledger, raw: Callable[[str], None]
    ) -> None:
        raw("ALTER TABLE desk_files DISABLE TRIGGER desk_files_are_indexed")
        fill(ledger)
        assert found(ledger, "choosing") == []
        raw("ALTER TABLE desk_files ENABLE TRIGGER desk_files_are_indexed")
        assert [fault.count("cannot be found") for fault in ledger.faults()] == [1] * 4
        rebuild(ledger, DESK_STREAM)
        assert found(ledger, "choosing") == ["policy"]
        assert verify(ledger).problems == ()
