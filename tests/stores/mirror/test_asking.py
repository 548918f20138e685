"""What is asked of a mirror: answers in every form, and nothing that a query could do beside answering."""

import subprocess
import threading
from pathlib import Path

import duckdb
import pytest

from researchdesk.state.errors import ResearchdeskError, UsageError
from researchdesk.tools.workspace import Desk

from ...mounts import python

BREAK_OUTS = [
    # files
    "COPY claims TO '{out}'",
    "COPY (SELECT 1) TO '{out}' (FORMAT parquet)",
    "EXPORT DATABASE '{out}'",
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM read_blob('/etc/*')",
    "SELECT * FROM read_json('/etc/passwd')",
    "SELECT * FROM read_parquet('{out}')",
    "SELECT * FROM glob('/*')",
    "SELECT * FROM '/etc/passwd'",
    "FROM '{ledger}'",
    "SELECT * FROM query('COPY (SELECT 1) TO ''{out}''')",
    "SELECT * FROM query_table('/etc/passwd')",
    "WITH x AS (FROM read_csv('/etc/passwd')) SELECT * FROM x",
    "SELECT (SELECT content FROM read_text('/etc/passwd'))",
    "SELECT * FROM sniff_csv('/etc/passwd')",
    "SELECT * FROM parquet_metadata('{out}')",
    # other databases
    "ATTACH '{out}'",
    "ATTACH '{ledger}' AS ledger (TYPE sqlite)",
    "DETACH mirror",
    "USE memory",
    # extensions and the network
    "INSTALL httpfs",
    "LOAD httpfs",
    "LOAD '{out}'",
    "SELECT * FROM read_csv('https://127.0.0.1:1/x.csv')",
    "SELECT * FROM sqlite_scan('{ledger}', 'events')",
    # settings
    "SET enable_external_access = true",
    "SET lock_configuration = false",
    "RESET enable_external_access",
    "PRAGMA enable_external_access = true",
    "PRAGMA database_list",
    "PRAGMA enable_profiling",
    "CALL enable_logging()",
    "SET GLOBAL memory_limit = '100GB'",
    "SELECT getenv('HOME')",
    "SELECT set_config('memory_limit', '100GB', false)",
    # changes
    "DELETE FROM claims",
    "UPDATE mirror.claims SET status = 'VERIFIED'",
    "INSERT INTO mirror.mirror_info VALUES ('x')",
    "WITH gone AS (DELETE FROM mirror.claims RETURNING *) SELECT * FROM gone",
    "WITH more AS (INSERT INTO mirror.mirror_info VALUES ('x') RETURNING *) SELECT * FROM more",
    "DROP TABLE claims",
    "CREATE TABLE mirror.mine AS SELECT 1",
    "CREATE OR REPLACE VIEW mirror.claims AS SELECT 1",
    "TRUNCATE claims",
    "VACUUM",
    "CHECKPOINT",
    "BEGIN",
    # several statements, and half ones
    "SELECT 1; COPY claims TO '{out}'",
    "SELECT 1; SELECT 2",
    "SELECT 1); COPY (SELECT 1) TO '{out}' --",
    "SELECT 1) UNION ALL (SELECT 2",
    "PREPARE x AS SELECT 1",
    "EXECUTE x",
    "EXPLAIN ANALYZE COPY claims TO '{out}'",
    "",
    ";",
    "-- nothing",
    "SELECT 1; -- one\n; COPY claims TO '{out}'",
    "SELECT '\udcff'",
    # what looks for the columns of a PIVOT first
    "COPY (PIVOT claims ON status) TO '{out}'",
    "CREATE TABLE memory.mine AS PIVOT claims ON status",
    "CREATE VIEW mirror.mine AS FROM (PIVOT claims ON status)",
    "INSERT INTO mirror.mirror_info SELECT 'x' FROM (PIVOT claims ON status)",
    "DELETE FROM claims WHERE id IN (SELECT id FROM (PIVOT claims ON status))",
    "WITH x AS (DELETE FROM mirror.claims WHERE id IN (SELECT id FROM (PIVOT claims ON status)) RETURNING *) FROM x",
    "PIVOT (FROM read_csv('/etc/passwd')) ON column0",
    "PIVOT (FROM claims) ON (SELECT content FROM read_text('/etc/passwd'))",
    "PIVOT claims ON status; COPY claims TO '{out}'",
    "PIVOT claims ON status) UNION ALL (PIVOT claims ON kind",
    "PIVOT claims ON status); COPY claims TO '{out}' --",
    "EXPLAIN ANALYZE COPY (PIVOT claims ON status) TO '{out}'",
    "PREPARE x AS PIVOT claims ON status",
    "CREATE TYPE mine AS ENUM (SELECT 'a')",
    "UPDATE EXTENSIONS",
]


@pytest.mark.parametrize("query", BREAK_OUTS)
def test_a_query_that_is_no_plain_question_is_refused_and_leaves_no_trace(
    filled: Desk, tmp_path: Path, query: str
) -> None:
    out = tmp_path / "out"
    asked = query.format(out=out, ledger=filled.home / "ledger.sqlite")
    before = filled.mirror.path.read_bytes()
    for ask in (
        lambda: filled.sql(asked, sync=False),
        lambda: filled.mirror.answer(asked, limit=5, seconds=10),
    ):
        with pytest.raises(UsageError) as refused:
            ask()
        assert "root:" not in str(refused.value)
    assert list(tmp_path.iterdir()) == []
    assert filled.mirror.path.read_bytes() == before


def test_no_secret_of_this_account_is_there(filled: Desk) -> None:
    assert filled.sql("FROM duckdb_secrets()", sync=False).fetchall() == []


def test_variables_of_the_program_are_no_tables(filled: Desk) -> None:
    secrets = [("key", 1)]  # noqa: F841 - DuckDB looks for such names in the frames above
    with pytest.raises(UsageError, match="secrets does not exist"):
        filled.sql("SELECT * FROM secrets", sync=False)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT count(*) FROM range(100000000000) a, range(1000) b",
        "SELECT max(i) FROM (WITH RECURSIVE t(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM t) SELECT * FROM t)",
    ],
)
def test_a_query_that_takes_too_long_is_stopped_and_the_mirror_let_go(filled: Desk, query: str) -> None:
    for ask in (
        lambda: filled.mirror.answer(query, limit=10, seconds=0.5),
        lambda: filled.sql(query, sync=False, seconds=0.5),
    ):
        with pytest.raises(UsageError, match=r"longer than 0\.5 seconds and was stopped"):
            ask()
        with duckdb.connect(str(filled.mirror.path)) as other:  # to be written: nobody else has it open
            assert other.execute("SELECT count(*) FROM claims").fetchall() == [(1,)]
    assert filled.mirror.answer("SELECT 1", limit=0, seconds=None).rows == [(1,)]
    assert filled.sql("SELECT 1", sync=False, seconds=None).fetchall() == [(1,)]


@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
def test_no_time_at_all_is_no_limit(filled: Desk, seconds: float) -> None:
    with pytest.raises(UsageError, match="more than 0 seconds, or None for any time"):
        filled.sql("SELECT 1", sync=False, seconds=seconds)
    assert filled.sql("SELECT 1", sync=False, seconds=float("inf")).fetchall() == [(1,)]


INTERRUPTED = """
import _thread, signal, sys, threading
from researchdesk.tools.workspace import open_desk
signal.signal(signal.SIGINT, signal.default_int_handler)
with open_desk(sys.argv[1]) as desk:
    threading.Timer(0.5, _thread.interrupt_main).start()
    try:
        desk.sql("SELECT count(*) FROM range(100000000000) a, range(1000) b", sync=False, seconds=None)
    except KeyboardInterrupt:
        print("stopped", desk.sync_mirror().outcome, desk.sql("SELECT 42", sync=False).fetchall())
"""


def test_an_interrupt_from_the_keyboard_stops_a_query_and_the_program_goes_on(filled: Desk) -> None:
    done = subprocess.run(python(INTERRUPTED, filled.home), capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("stopped synced [(42,)]\n", "")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT list(range) FROM range(1000000000)",
        "SELECT a.range, repeat('x', 1000) AS x FROM range(100000000) a ORDER BY hash(a.range)",
    ],
)
def test_a_query_that_takes_too_much_memory_is_refused(filled: Desk, query: str) -> None:
    with pytest.raises(UsageError):
        filled.mirror.answer(query, limit=1, seconds=60)


def test_of_a_huge_result_only_what_is_asked_for_is_taken(filled: Desk) -> None:
    found = filled.mirror.answer("FROM range(10000000000)", limit=3, seconds=60)
    assert (found.columns, found.types, list(found.rows)) == (("range",), ("BIGINT",), [(0,), (1,), (2,)])
    assert found.more
    assert not filled.mirror.answer("FROM range(3)", limit=3, seconds=60).more
    assert len(filled.mirror.answer("FROM range(3)", limit=10**30, seconds=60).rows) == 3


def test_questions_may_be_asked_in_every_form_of_a_select(filled: Desk) -> None:
    for query in (
        "FROM claims",
        "SELECT 1 AS a, 2 AS a -- and so on",
        "WITH x AS (SELECT 1 AS n) SELECT * FROM x;",
        "SELECT 'ä;語𝔘' AS n ; -- that is all;",
        "SELECT 1;;",
        "DESCRIBE claims",
        "SHOW TABLES",
        "SUMMARIZE claims",
        "VALUES (1)",
        "(SELECT 1) UNION ALL (SELECT 2)",
        "SELECT unnest(from_json(near_duplicates, '[\"VARCHAR\"]')) FROM sources",
        "PIVOT (SELECT status, kind FROM claims) ON kind IN ('figure', 'quote') USING count(*) GROUP BY status",
        "PIVOT (SELECT status, kind FROM claims) ON kind USING count(*) GROUP BY status; -- all kinds",
        "PIVOT claims ON status, kind USING count(*) -- of all",
        "WITH p AS (PIVOT claims ON status) SELECT count(*) FROM p",
        "FROM (PIVOT claims ON status USING count(*)) ORDER BY ALL",
        "(PIVOT claims ON status) UNION ALL BY NAME (PIVOT claims ON status)",
        "SUMMARIZE (PIVOT claims ON status)",
        "DESCRIBE (PIVOT claims ON status)",
        "UNPIVOT claims ON id, text",
    ):
        answered = filled.mirror.answer(query, limit=0, seconds=10)
        relation = filled.sql(query, sync=False)
        assert relation.fetchall() == list(answered.rows), query
    ordered = filled.sql("FROM range(50000) ORDER BY range DESC", sync=False).fetchall()
    assert ordered == [(n,) for n in reversed(range(50_000))]


def test_an_answer_turns_into_frames_and_goes_on_while_others_use_the_mirror(filled: Desk) -> None:
    found = filled.sql(
        "SELECT id, status, created_at FROM claims JOIN sessions USING (session_id)", sync=False
    )
    assert filled.sync_mirror(rebuild=True).ok
    frame = found.df()
    assert list(frame.columns) == ["id", "status", "created_at"]
    assert str(frame.dtypes["created_at"]).endswith("UTC]")
    assert found.arrow().read_all().num_rows == len(frame) == 1
    assert found.filter("status = 'VERIFIED'").aggregate("count(*)").fetchall() == [(1,)]
    assert found.pl().shape == (1, 3)


def test_threads_may_ask_and_sync_at_the_same_time(filled: Desk) -> None:
    problems: list[object] = []

    def ask(number: int) -> None:
        try:
            for _ in range(5):
                if number == 0:
                    assert filled.sync_mirror().ok
                assert filled.sql("SELECT count(*) FROM claims", sync=number == 1).fetchall() == [(1,)]
        except (ResearchdeskError, AssertionError) as problem:
            problems.append(problem)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
