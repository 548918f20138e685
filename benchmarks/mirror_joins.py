"""The mirror's joins against the ledger's: ``python benchmarks/mirror_joins.py [--rows 1000000] [--repeat 9]``.

The tables that the log and the timeline are made of hold so many rows, in real sessions and copies of them
(`many_sessions.py`), which a sync mirrors. Then both files answer the same SQL in turn, about all sessions and about
one, and have to say the same; times to a thousandth, for SQLite reckons in milliseconds. SQLite has the ledger's
indexes, fresh statistics and a cache for the whole file; DuckDB has what the product gives it, then one thread. Both
are warm. "Opened for it" is the way of `researchdesk mirror sql`, without the sync.

The timeline is asked of SQLite once more in words that only suit SQLite. A look at it all takes ten seconds:
``--rows 20000 --repeat 3 --no-fail``, which is too small for the bars.
"""

import argparse
import contextlib
import math
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

from duckdb import DuckDBPyConnection
from many_sessions import multiply, recorded
from sessions import Side, Timed, interleaved
from showing import Bar, add_no_fail, judge, show

from researchdesk.stores.mirror.mirror import Mirror
from researchdesk.stores.mirror.opening import for_reading
from researchdesk.stores.sqlite.connection import Connection, connect
from researchdesk.tools.workspace import open_desk

Row = tuple[Any, ...]
READ = ("messages", "tool_calls", "proposals", "frontier_questions", "frontier_transitions", "events")
"""The tables that the log and the timeline are made of."""
ONE = "whole-1"
LOG = """
    SELECT role, name, status, proposal_status, count(*), count(DISTINCT session_id), sum(duration_ms), max(duration_ms)
    FROM io_log GROUP BY role, name, status, proposal_status"""
TEXTS = """
    SELECT role, name, status, decided_by, count(*), sum(length(content)), sum(length(arguments)), sum(length(result))
    FROM io_log GROUP BY role, name, status, decided_by"""
TIMELINE = """
    SELECT question_kind, to_status, trigger, actor, count(*), count(DISTINCT session_id), sum(seconds), max(seconds)
    FROM question_timeline GROUP BY question_kind, to_status, trigger, actor"""
LOG_OF_ONE = f"""
    SELECT message_seq, tool_seq, role, content, name, arguments, result, status, code, duration_ms, proposal_status
    FROM io_log WHERE session_id = '{ONE}' ORDER BY message_seq, tool_seq"""
TIMELINE_OF_ONE = f"""
    SELECT question_id, seq, question, from_status, to_status, trigger, actor, reason, seconds
    FROM question_timeline WHERE session_id = '{ONE}' ORDER BY question_id, seq"""
DIALECT = (
    ("epoch(coalesce(", "86400 * (julianday(coalesce("),
    ("END)\n", "END))\n"),
    ("- created_at)", "- julianday(created_at))"),
)
"""What is written otherwise in the timeline's SQL for SQLite."""
BY_INDEX = (
    (", e.ended_at", ""),
    ("LEFT JOIN ends e ON e.stream = 'session:' || t.session_id", ""),
    (
        "ended_at END",
        "(SELECT ts FROM events WHERE stream = 'session:' || session_id ORDER BY seq DESC LIMIT 1) END",
    ),
)
"""The same for SQLite alone: a session's last event is found by the index of its stream."""


# -- the two files --------------------------------------------------------------------------------------------


def build(home: Path, corpus: Path, *, rows: int) -> None:
    """A desk of so many rows, and its mirror; tells what is there."""
    with open_desk(home) as desk:
        db: Connection = desk.ledger._db  # type: ignore[attr-defined]
        # Nothing of this is kept, so nothing has to reach the disk at once.
        db.execute("PRAGMA synchronous=OFF")
        multiply(db, recorded(desk, corpus), rows=rows, counted=READ)
        db.execute("ANALYZE")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        began = time.process_time()
        synced = Mirror(home / "mirror.duckdb").sync(desk.ledger)
        worked = time.process_time() - began
        assert synced.ok, synced
        counts = {name: said(db, f"SELECT count(*) FROM {name}")[0][0] for name in ("sessions", *READ)}
    sizes = [f"{(home / name).stat().st_size / 1e6:,.0f}" for name in ("ledger.sqlite", "mirror.duckdb")]
    lines = [(name, f"{count:,}") for name, count in counts.items()]
    lines += [("rows of the six tables", f"{sum(counts[name] for name in READ):,}")]
    lines += [("rows mirrored, of all tables", f"{synced.rows:,}"), ("CPU seconds of it", f"{worked:.0f}")]
    show("what is asked", ("", ""), [*lines, ("MB of the ledger · the mirror", " · ".join(sizes))])


# -- asking both --------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def ledger_file(home: Path) -> Iterator[Connection]:
    """The ledger's file with all that helps SQLite, and with the timeline in two forms."""
    db = connect(home / "ledger.sqlite")
    text = (files("researchdesk.stores.mirror") / "views" / "question_timeline.sql").read_text()
    same = replaced(text, DIALECT).replace("CREATE VIEW", "CREATE TEMP VIEW")
    with contextlib.closing(db):
        db.execute(same)
        db.execute(replaced(same, BY_INDEX).replace("VIEW question_timeline", "VIEW timeline_by_index"))
        for pragma in ("cache_size=-8000000", "mmap_size=16000000000", "query_only=ON"):
            db.execute(f"PRAGMA {pragma}").fetchall()
        yield db


def replaced(text: str, pairs: Sequence[tuple[str, str]]) -> str:
    for old, new in pairs:
        assert text.count(old) == 1, (old, text)
        text = text.replace(old, new)
    return text


def said(db: Connection | DuckDBPyConnection, sql: str) -> list[Row]:
    found: list[Row] = db.execute(sql).fetchall()
    return found


def equal(one: list[Row], other: list[Row]) -> bool:
    """Whether both hold the same rows, in any order; times to a thousandth."""
    one, other = (sorted(rows, key=lambda row: list(map(str, row[:5]))) for rows in (one, other))
    return len(one) == len(other) and all(
        math.isclose(a, b, rel_tol=0.001, abs_tol=0.002)
        if isinstance(a, float) and isinstance(b, float)
        else a == b
        for row, like in zip(one, other, strict=True)
        for a, b in zip(row, like, strict=True)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What both are asked; the ledger in its own words where those differ."""

    name: str
    sql: str
    by_index: bool = False
    bar: float | None = None
    """How many times as long as the mirror the ledger has to take."""
    least: bool = True

    @property
    def of_ledger(self) -> str:
        return self.sql.replace("question_timeline", "timeline_by_index") if self.by_index else self.sql


QUESTIONS = (
    Question(name="log of all sessions", sql=LOG, bar=4),
    Question(name="log of all, with its texts", sql=TEXTS, bar=4),
    Question(name="timeline of all sessions", sql=TIMELINE, bar=4),
    Question(name="timeline of all, by SQLite's index", sql=TIMELINE, by_index=True),
    Question(name="log of one session", sql=LOG_OF_ONE, bar=1, least=False),
    Question(
        name="timeline of one, by SQLite's index", sql=TIMELINE_OF_ONE, by_index=True, bar=1, least=False
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What a question took: the ledger, the mirror with its threads, with one, and opened for it."""

    ledger: Timed
    mirror: Timed
    one_thread: Timed
    opened: Timed


def ask(home: Path, question: Question, *, repeat: int) -> Answered:
    """Both in turn, after each has answered once and both said the same."""
    measure = partial(interleaved, times=repeat, clock=time.process_time_ns)
    mirror = Mirror(home / "mirror.duckdb")
    with ledger_file(home) as db:
        ledger = Side(name="ledger", work=partial(said, db, question.of_ledger))
        with for_reading(mirror.path, patience=1) as duck:
            rows = said(db, question.of_ledger)
            assert rows and equal(rows, said(duck, question.sql)), question.name
            threads = said(duck, "SELECT current_setting('threads')")[0][0]

            def asked(threads: int) -> None:
                duck.execute(f"SET threads = {threads}")
                said(duck, question.sql)

            sides = [
                ledger,
                Side(name="mirror", work=partial(asked, threads)),
                Side(name="one thread", work=partial(asked, 1)),
            ]
            warm, with_threads, one_thread = measure(sides)
        whole = Side(name="opened", work=partial(mirror.answer, question.sql, limit=0, seconds=60))
        _, opened = measure([ledger, whole])
    return Answered(ledger=warm, mirror=with_threads, one_thread=one_thread, opened=opened)


def told(question: Question, found: Answered) -> list[str]:
    """A line of the table: wall and CPU milliseconds, and how many times as long the ledger took."""
    sides = (found.ledger, found.mirror, found.one_thread, found.opened)
    times = [f"{side.wall / 1000:,.1f} · {side.cpu / 1000:,.1f}" for side in sides]
    wall, cpu = found.ledger.wall / found.mirror.wall, found.ledger.cpu / found.mirror.cpu
    return [question.name, *times, f"{wall:.2g} · {cpu:.2g}"]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=9)
    parser.add_argument("--corpus", type=Path, default=Path(__file__).resolve().parents[1] / "docs")
    parser.add_argument(
        "--folder", type=Path, help="where the files lie (4 GB); a temporary folder otherwise"
    )
    add_no_fail(parser)
    given = parser.parse_args()
    lines, bars = [], []
    with tempfile.TemporaryDirectory(prefix="mirror-joins-", dir=given.folder) as home:
        build(Path(home), given.corpus, rows=given.rows)
        for question in QUESTIONS:
            found = ask(Path(home), question, repeat=given.repeat)
            lines.append(told(question, found))
            if question.bar:
                ratio, name = found.ledger.wall / found.mirror.wall, f"{question.name}: ledger / mirror"
                bars.append(Bar(name=name, value=ratio, bar=question.bar, least=question.least))
    head = ("wall · CPU, ms", "ledger", "mirror", "one thread", "opened for it", "ledger / mirror")
    show("asked", head, lines)
    judge(bars, no_fail=given.no_fail)


if __name__ == "__main__":
    main()
