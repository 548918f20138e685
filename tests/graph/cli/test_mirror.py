"""The commands of the mirror: what they print, how they end, and what a query cannot do."""

import csv
import io
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from tests.graph.cli.test_cli import COMMAND, call
from tests.mounts import read_only

from researchdesk.tools.workspace import Desk, open_desk


@pytest.fixture
def home(desk: Desk, tmp_path: Path) -> Iterator[Path]:
    """The home folder of a desk of this test's own."""
    with open_desk(tmp_path / "own") as own:
        desk.copy_to(own)
    yield tmp_path / "own"


def test_sync_tells_what_it_wrote_and_can_prove_it(home: Path) -> None:
    first = call("mirror", "sync", "--home", home, "--check")
    assert first.exit_code == 0, first.stderr
    assert first.stdout.startswith("synced: ") and first.stdout.endswith(" rows\n")
    assert first.stderr == "the mirror equals the ledger, row for row\n"
    again = json.loads(call("mirror", "sync", "--home", home, "--check", "--json").stdout)
    assert again == {
        "outcome": "synced", "events": 0, "rows": 0, "note": "", "ok": True, "differences": [],
    }  # fmt: skip
    with duckdb.connect(str(home / "mirror.duckdb")) as other:
        other.execute("DELETE FROM sources")
    found = call("mirror", "sync", "--home", home, "--check")
    assert found.exit_code == 1 and "table sources, row 1" in found.stdout and found.stderr == ""
    assert call("mirror", "sync", "--home", home, "--rebuild", "--check").exit_code == 0


def test_a_mirror_in_use_is_told_and_ends_with_1(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from researchdesk.stores.mirror import mirror

    monkeypatch.setattr(mirror, "SYNC_PATIENCE", 0.1)
    monkeypatch.setattr(mirror, "READ_PATIENCE", 0.1)
    assert call("mirror", "sync", "--home", home).exit_code == 0
    code = (
        f"import duckdb; c = duckdb.connect({str(home / 'mirror.duckdb')!r}); print(1, flush=True); input()"
    )
    with subprocess.Popen(
        [COMMAND[0], "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None and other.stdout.readline()
        skipped = call("mirror", "sync", "--home", home)
        assert (skipped.exit_code, skipped.stdout) == (1, "skipped: 0 new events, 0 rows\n")
        assert skipped.stderr == f"the mirror is in use: process {other.pid} has it open\n"
        refused = call("mirror", "sql", "SELECT 1", "--home", home)
        assert refused.exit_code == 1 and "snapshot" in refused.stderr
        other.communicate("")


COLUMNS = ["id", "title", "seq", "created_at", "readable", "sections", "price", "nothing", "n", "n"]


def test_the_same_rows_as_a_table_as_csv_and_as_json(home: Path) -> None:
    asked = (
        "SELECT id, sources.title, seq, created_at, readable, sections, 1.50::DECIMAL(9, 2) AS price, "
        "NULL AS nothing, 2 AS n, 3 AS n FROM sources JOIN receipts USING (session_id) WHERE source_id = id "
        "ORDER BY id LIMIT 2"
    )
    table = call("mirror", "sql", asked, "--home", home)
    assert table.exit_code == 0, table.stderr
    head, first, _ = table.stdout.splitlines()
    assert head.split() == COLUMNS
    assert first.startswith("s_001") and "1.5" in first
    written = call("mirror", "sql", asked, "--home", home, "--format", "csv").stdout
    rows = list(csv.reader(io.StringIO(written)))
    assert rows[0] == COLUMNS
    assert [row[0] for row in rows[1:]] == ["s_001", "s_002"]
    parsed = json.loads(call("mirror", "sql", asked, "--home", home, "--format", "json").stdout)
    assert list(parsed[0]) == [*COLUMNS[:-1], "n_1"]
    assert parsed[0]["readable"] is True and parsed[0]["sections"][0][0] == "Rate limits"
    assert (parsed[0]["price"], parsed[0]["nothing"], parsed[0]["n_1"]) == (1.5, None, 3)
    one = dict(zip(COLUMNS, rows[1], strict=True))
    assert (one["created_at"], one["readable"]) == (parsed[0]["created_at"], "true")
    assert (json.loads(one["sections"]), one["price"]) == (parsed[0]["sections"], "1.5")


def test_as_json_no_column_takes_the_name_of_another(home: Path) -> None:
    asked = "SELECT 1 AS a, 2 AS a_2, 3 AS a, 4 AS a, 5 AS a_1"
    shown = call("mirror", "sql", asked, "--home", home, "--format", "json")
    assert json.loads(shown.stdout) == [{"a": 1, "a_2": 2, "a_3": 3, "a_4": 4, "a_1": 5}]


def test_a_json_value_that_cannot_be_written_again_stands_as_its_text(home: Path) -> None:
    deep = "'{}{}'".format("[" * 300, "]" * 300)
    asked = f"SELECT '1e999'::JSON AS large, {deep}::JSON AS deep, '[1]'::JSON AS plain"
    shown = call("mirror", "sql", asked, "--home", home, "--format", "json")
    assert json.loads(shown.stdout) == [{"large": "1e999", "deep": deep.strip("'"), "plain": [1]}]


def test_a_query_comes_from_stdin_and_takes_what_is_new_first(home: Path) -> None:
    asked = "SELECT count(*) AS n\nFROM messages -- all\n"
    before = int(call("mirror", "sql", "-", "--home", home, stdin=asked).stdout.split()[-1])
    with open_desk(home) as desk:
        desk.existing("r1").call("deep_research_status", {}, tool_call_id="later")
    stale = call("mirror", "sql", "-", "--home", home, "--no-sync", stdin=asked)
    assert int(stale.stdout.split()[-1]) == before
    assert int(call("mirror", "sql", "-", "--home", home, stdin=asked).stdout.split()[-1]) == before + 1


def test_a_table_has_a_limit_and_says_so(home: Path) -> None:
    many = call("mirror", "sql", "FROM range(5000)", "--home", home)
    assert len(many.stdout.splitlines()) == 1_001
    assert many.stderr == "only the first 1,000 rows are shown; --limit N shows others, 0 all\n"
    few = call("mirror", "sql", "FROM range(5000)", "--home", home, "--limit", "2")
    assert few.stdout.split() == ["range", "0", "1"]
    for form in ("csv", "json"):
        whole = call("mirror", "sql", "FROM range(5000)", "--home", home, "--format", form)
        assert "4999" in whole.stdout and whole.stderr == ""


def test_what_a_page_or_a_model_wrote_does_not_act_in_a_terminal(home: Path) -> None:
    asked = "SELECT chr(27) || '[31mred' || chr(10) || 'next' AS x, 'tab' || chr(9) || 'bed' AS y"
    for form in ("table", "csv", "json"):
        shown = call("mirror", "sql", asked, "--home", home, "--format", form)
        assert shown.exit_code == 0 and "\x1b" not in shown.stdout


@pytest.mark.parametrize(
    "query",
    [
        "COPY claims TO 'out.csv'",
        "ATTACH 'other.duckdb'",
        "SELECT * FROM read_text('/etc/passwd')",
        "INSTALL httpfs",
        "SELECT 1; SELECT 2",
        "COPY (PIVOT claims ON status) TO 'out.csv'",
        "SELECT nonsense",
        "this is no SQL",
        "",
    ],
)
def test_a_query_that_is_none_is_a_mistake_of_its_writer(
    home: Path, query: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    refused = call("mirror", "sql", query, "--home", home)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert refused.stderr.startswith("researchdesk: ") and "Traceback" not in refused.stderr
    assert sorted(tmp_path.iterdir()) == before


def asked_apart(home: Path, query: str, *options: str) -> "subprocess.CompletedProcess[str]":
    """A query in a process of its own, whose memory is limited."""
    command = [*COMMAND, "mirror", "sql", query, "--home", str(home), *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=os.environ)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT repeat('a', 3000000000)",
        "SELECT range(1000000000)",
        "SELECT count(*) FROM range(100000000000) a, range(1000) b",
    ],
)
def test_a_query_takes_neither_all_memory_nor_all_time(home: Path, query: str) -> None:
    limited = asked_apart(home, query, "--timeout", "3")
    assert (limited.returncode, limited.stdout) == (2, "")
    assert "Out of Memory" in limited.stderr or "longer than 3 seconds" in limited.stderr


def test_an_answer_that_takes_all_memory_is_told_as_one(home: Path) -> None:
    query = "SELECT a.range, repeat('x', 2000) AS x FROM range(100000000) a"
    limited = asked_apart(home, query, "--format", "csv")
    assert (limited.returncode, limited.stdout) == (2, "")
    # Whoever comes first to the limit, Python with the rows or DuckDB.
    assert "the answer takes more memory than there is" in limited.stderr or "Out of Memory" in limited.stderr


def test_a_snapshot_and_an_export_are_written_for_others(home: Path, tmp_path: Path) -> None:
    target, folder = tmp_path / "copy.duckdb", tmp_path / "parquet"
    assert call("mirror", "snapshot", target, "--home", home).stdout == f"{target}\n"
    with duckdb.connect(str(target), read_only=True) as copied:
        assert copied.execute("SELECT session_id, status FROM runs").fetchall() == [("r1", "completed")]
    done = call("mirror", "export", folder, "--home", home)
    assert str(folder / "claims.parquet") in done.stdout.splitlines()
    assert duckdb.read_parquet(str(folder / "sources.parquet")).shape == (4, 12)
    again = call("mirror", "export", folder, "--home", home)
    assert again.exit_code == 2 and "not empty" in again.stderr
    refused = call("mirror", "snapshot", home / "ledger.sqlite", "--home", home)
    assert refused.exit_code == 2 and "no DuckDB file" in refused.stderr


def test_where_nothing_may_be_written_the_mirror_answers_as_it_was_synced_last(
    home: Path, tmp_path: Path
) -> None:
    command = (*COMMAND, "mirror")
    refused = read_only(home, [*command, "sql", "SELECT 1", "--home", home])
    assert refused.returncode == 1 and f"the desk in {home} may not be written here" in refused.stderr
    assert call("mirror", "sync", "--home", home).exit_code == 0
    asked = "SELECT session_id FROM runs"
    late = "the desk cannot be opened here, so this is its mirror as it was synced last\n"
    for options, said in (([], late), (["--no-sync"], "")):
        done = read_only(home, [*command, "sql", asked, "--format", "csv", *options, "--home", home])
        assert (done.returncode, done.stdout.split(), done.stderr) == (0, ["session_id", "r1"], said)
    copy, folder = tmp_path / "copy.duckdb", tmp_path / "parquet"
    copied = read_only(home, [*command, "snapshot", copy, "--home", home])
    assert (copied.returncode, copied.stdout, copied.stderr) == (0, f"{copy}\n", late)
    assert read_only(home, [*command, "export", folder, "--home", home]).returncode == 0
    assert duckdb.read_parquet(str(folder / "sources.parquet")).shape[0] == 4
    synced = read_only(home, [*command, "sync", "--home", home])
    assert synced.returncode == 1 and "may not be written here" in synced.stderr


def test_a_pipe_in_the_place_of_a_mirror_is_no_wait(home: Path) -> None:
    os.mkfifo(home / "mirror.duckdb")
    refused = call("mirror", "sql", "SELECT 1", "--no-sync", "--home", home)
    assert refused.exit_code == 1 and "mirror.duckdb is no file but a named pipe" in refused.stderr
    done = call("mirror", "sync", "--home", home)
    assert done.exit_code == 0 and done.stdout.startswith("rebuilt: ") and "mirror.duckdb.old" in done.stderr


def test_looking_at_nothing_makes_nothing(tmp_path: Path) -> None:
    for command in (("sync",), ("sql", "SELECT 1"), ("snapshot", "x"), ("export", "y")):
        missing = call("mirror", *command, "--home", tmp_path / "nowhere")
        assert missing.exit_code == 1 and "no desk in" in missing.stderr
    assert list(tmp_path.iterdir()) == []
