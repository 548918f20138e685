"""Copies of a mirror: one that many may read while syncs go on, and Parquet files."""

import shutil
from pathlib import Path

import duckdb
import pytest

from researchdesk.state.errors import Unavailable, UsageError
from researchdesk.stores.mirror.schema import ALL, VIEWS
from researchdesk.tools.workspace import Desk

from .test_syncing import line, process, something


def test_a_snapshot_is_read_by_several_processes_while_the_mirror_goes_on(desk: Desk, tmp_path: Path) -> None:
    target = tmp_path / "a folder" / "it's a snapshot.duckdb"
    desk.mirror.snapshot(target)
    with process("hold", target, "yes") as first, process("hold", target, "yes") as second:
        assert (line(first), line(second)) == ("open", "open")
        something(desk, "meanwhile")
        assert desk.sync_mirror().events == 1
        with duckdb.connect(str(target), read_only=True) as mine:
            for name in (*ALL, *VIEWS):
                rows = mine.execute(f"SELECT count(*) FROM {name}").fetchall()
                if name not in ("events", "tool_calls", "messages", "io_log", "tool_health", "runs"):
                    assert rows == desk.sql(f"SELECT count(*) FROM {name}", sync=False).fetchall(), name
        desk.mirror.snapshot(target)  # whoever has the old one open keeps it
    with duckdb.connect(str(target), read_only=True) as mine:
        newest = mine.execute("SELECT max(global_seq) FROM events").fetchall()
    assert newest == [(desk.ledger.query("SELECT max(global_seq) AS n FROM events")[0]["n"],)]
    assert sorted(path.name for path in target.parent.iterdir()) == [target.name]


def test_a_snapshot_replaces_nothing_but_a_snapshot(desk: Desk, tmp_path: Path) -> None:
    mine = tmp_path / "mine.txt"
    mine.write_text("not a database")
    for target in (mine, tmp_path, desk.home / "ledger.sqlite", desk.mirror.path):
        with pytest.raises((UsageError, Unavailable)):
            desk.mirror.snapshot(target)
    assert mine.read_text() == "not a database"
    assert desk.verify().ok and desk.sync_mirror().ok
    with pytest.raises(Unavailable, match="cannot write"):
        desk.mirror.snapshot(mine / "below a file")


def test_every_table_and_view_is_exported_to_parquet_and_read_back(desk: Desk, tmp_path: Path) -> None:
    folder = tmp_path / "export"
    files = desk.mirror.export(folder)
    assert sorted(folder.iterdir()) == sorted(files)
    assert {path.stem for path in files} == {*ALL, *VIEWS}
    reader = duckdb.connect()
    reader.execute("SET TimeZone = 'UTC'").fetchall()
    for path in files:
        read = reader.read_parquet(str(path))
        there = desk.sql(f"FROM {path.stem}", sync=False)
        assert (read.columns, read.types) == (there.columns, there.types), path.stem
        assert sorted(map(repr, read.fetchall())) == sorted(map(repr, there.fetchall())), path.stem
    with pytest.raises(UsageError, match="not empty"):
        desk.mirror.export(folder)
    shutil.rmtree(folder)
    folder.mkdir()
    assert len(desk.mirror.export(folder)) == len(files)
