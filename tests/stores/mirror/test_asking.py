"""What is asked of a mirror: answers in every form, and nothing that a query could do beside answering."""

import threading
from pathlib import Path

import pytest

from researchdesk.state.errors import ResearchdeskError, UsageError
from researchdesk.tools.workspace import Desk

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
def test_a_query_that_takes_too_long_is_stopped(filled: Desk, query: str) -> None:
    with pytest.raises(UsageError, match=r"longer than 0\.5 seconds"):
        filled.mirror.answer(query, limit=10, seconds=0.5)
    assert filled.mirror.answer("SELECT 1", limit=0, seconds=10).rows == [(1,)]


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
    pytest.importorskip("polars")
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
