"""Workers that are killed: ``python benchmarks/workers.py [--workers 4] [--sessions 40] [--every 3] [--server URL]``.

Sessions are queued in one desk and driven by several worker processes, of which one is killed with SIGKILL every few
seconds and replaced. In the end each session has to be what an undisturbed run of its question is, event by event;
no two processes may ever have driven one session at the same time, and nothing that was recorded may have been done
again. Once on SQLite and once on a PostgreSQL server (``--server``, ``$RESEARCHDESK_TEST_POSTGRES`` or the one on this
machine), where the sizes of the desk's tables are shown as well.

What the workers do is seen from outside the package, by wrapping a few of its functions in their processes alone.
"""

import argparse
import os
import random
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import orjson
import psycopg
from kill_and_resume import comparable
from showing import Bar, add_no_fail, judge, show
from watched_run import read_log

from researchdesk.graph.waiting import queue_research, waiting
from researchdesk.stores.postgres.address import parse_address
from researchdesk.tools.workspace import Desk, open_desk

PATIENCE = 1800.0
MODEL_SECONDS, FETCH_SECONDS = 0.1, 0.05
"""How long an answer and a document take besides, so that some are under way when a worker is killed."""
QUESTIONS = (
    "What is the minimum length of a password?",
    "How long may a session of a user stay open?",
    "How often must a password be changed?",
    "After how many failed attempts is an account locked?",
)
_RULES = (
    ("Passwords shall have a minimum length of {} characters where they stand alone.", (15, 8, 12, 14)),
    ("A session of a user may stay open for at most {} hours without being used.", (12, 24, 8, 1)),
    ("A password must be changed every {} days at the latest.", (365, 90, 180, 60)),
    ("After {} failed attempts an account is locked for a quarter of an hour.", (100, 5, 10, 3)),
)
PUBLISHERS = ("agency", "bureau", "council", "department")


def write_corpus(folder: Path) -> Path:
    """Documents of four publishers that do not agree."""
    for rule, (text, values) in enumerate(_RULES):
        for publisher, value in zip(PUBLISHERS, values, strict=True):
            path = folder / publisher / f"rule{rule}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"# Rule {rule} of the {publisher}\n\n{text.format(value)}\n")
    return folder


# -- the worker's side ----------------------------------------------------------------------------------------------


def watched_worker(home: str, log: Path, *more: str) -> None:
    """`researchdesk work` in this process, with a line in the log for each thing that it does to a session."""
    from researchdesk.graph import worker
    from researchdesk.graph.cli import main
    from researchdesk.graph.offline.model import OfflineChatModel
    from researchdesk.tools.sources.corpus import Corpus

    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    current = ""

    def note(*values: object) -> None:
        os.write(file, "\t".join(map(str, (os.getpid(), current, *values))).encode() + b"\n")

    take_up, fetch, generate = worker.take_up, Corpus.fetch, OfflineChatModel._generate

    def taking(desk: Desk, session_id: str, *, on_taken: Callable[[Any], None], **more: Any) -> Any:
        def taken(driven: Any) -> None:
            nonlocal current
            current = session_id
            note("taken")
            on_taken(driven)

        return take_up(desk, session_id, on_taken=taken, **more)

    def fetched(self: Corpus, locator: str) -> Any:
        note("fetched", locator)
        time.sleep(FETCH_SECONDS)
        return fetch(self, locator)

    def asked(self: OfflineChatModel, *rest: Any, **more: Any) -> Any:
        note("asked")
        time.sleep(MODEL_SECONDS)
        return generate(self, *rest, **more)

    worker.take_up = taking
    Corpus.fetch = fetched  # type: ignore[method-assign]
    OfflineChatModel._generate = asked  # type: ignore[method-assign]
    sys.argv = ["researchdesk", "work", "--poll", "0.2", "--home", home, *more]
    main()


# -- the parent's side ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What stands in a finished session: how it ended, its events without what may differ, what they name."""

    status: str
    events: tuple[tuple[str, ...], ...]
    lost: int
    answered: int
    called: int
    sources: tuple[str, ...]
    report: str


@dataclass(slots=True)
class Disturbed:
    """What happened while the workers were killed."""

    kills: int = 0
    seconds: float = 0.0
    lines: list[list[str]] = field(default_factory=list)


def outcome_of(desk: Desk, session_id: str) -> Outcome:
    session = desk.existing(session_id)
    run = session.run
    assert run is not None
    stored = session.events()
    bodies = [(one.type, orjson.loads(one.payload)) for one in stored]
    # Names of artifacts are each session's own, and so are the digests of what names them.
    same = [(kind, {k: v for k, v in body.items() if k != "input_digest"}) for kind, body in bodies]
    events, lost = comparable(same)
    kinds = Counter(one.type for one in stored)
    report = run.artifacts.get(run.report_artifact_id)
    return Outcome(
        status=f"{run.status} {run.stop_reason or ''}".strip(),
        events=events,
        lost=lost,
        answered=kinds["model_answered"],
        called=kinds["model_called"],
        sources=tuple(source.url for source in run.all_sources),
        report=desk.records.text(report.content_hash) if report else "",
    )


def undisturbed(folder: Path, corpus: Path) -> tuple[dict[str, Outcome], dict[str, int]]:
    """What each question comes to where nobody disturbs, and how many documents are read for it."""
    with open_desk(folder / "whole") as desk:
        sessions = {queue_research(desk, text, corpus=corpus, scope="quick"): text for text in QUESTIONS}
        log = folder / "whole.log"
        if started(str(folder / "whole"), log, "--until-empty").wait():
            raise SystemExit(log.with_suffix(".err").read_text())
        read = Counter(line[1] for line in read_log(log) if line[2] == "fetched")
        return (
            {text: outcome_of(desk, name) for name, text in sessions.items()},
            {text: read[name] for name, text in sessions.items()},
        )


def started(home: str, log: Path, *more: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, __file__, "--drive", home, "--log", str(log), *more]
    return subprocess.Popen(command, stderr=log.with_suffix(".err").open("ab"))


def disturb(desk: Desk, home: str, log: Path, *, workers: int, every: float) -> Disturbed:
    """Let workers drive all that waits, and kill one of them every so many seconds."""
    dice, found, began = random.Random(5), Disturbed(), time.monotonic()
    running = [started(home, log) for _ in range(workers)]
    try:
        due = began + 2 * every  # the first have to load first
        while _open(desk):
            if time.monotonic() - began > PATIENCE:
                raise SystemExit(
                    f"not done after {PATIENCE} s: {log.with_suffix('.err').read_text()[-2000:]}"
                )
            time.sleep(0.05)
            if time.monotonic() < due:
                continue
            due = time.monotonic() + every * dice.uniform(0.5, 1.5)
            place = dice.randrange(workers)
            running[place].kill()
            running[place].wait()
            found.kills += 1
            running[place] = started(home, log)
        found.seconds = time.monotonic() - began
    finally:
        for process in running:
            process.send_signal(signal.SIGTERM)
        for process in running:
            process.wait()
    found.lines = read_log(log)
    return found


def _open(desk: Desk) -> bool:
    return bool(_count(desk, "SELECT 1 FROM research_runs WHERE status = 'active'"))


def lines_by_session(lines: list[list[str]]) -> dict[str, list[list[str]]]:
    found: dict[str, list[list[str]]] = defaultdict(list)
    for line in lines:
        found[line[1]].append(line)
    return found


def intruders(lines: list[list[str]]) -> Iterator[str]:
    """Things done to a session by another process than the one that took it last."""
    for session, own in lines_by_session(lines).items():
        driver = ""
        for pid, _, kind, *_ in own:
            if kind == "taken":
                driver = pid
            elif pid != driver:
                yield f"{session}: {kind} by {pid} while {driver} drove"


def judged(
    desk: Desk,
    questions: dict[str, str],
    wanted: dict[str, Outcome],
    reads: dict[str, int],
    found: Disturbed,
    title: str,
) -> list[Bar]:
    """The desk against the undisturbed runs."""
    seen = {session: outcome_of(desk, session) for session in questions}
    pairs = [(seen[session], wanted[question]) for session, question in questions.items()]
    done = {
        kind: Counter(x[1] for x in found.lines if x[2] == kind) for kind in ("taken", "asked", "fetched")
    }
    again = sum(max(0, done["fetched"][name] - reads[text]) for name, text in questions.items())
    lost, kills = sum(one.lost for one in seen.values()), max(1, found.kills)
    numbers = [event.global_seq for event in desk.ledger.tail(limit=10_000_000)]
    show(
        title,
        ("", ""),
        [
            ("sessions, seconds", f"{len(questions)}, {found.seconds:.0f}"),
            ("kills, take-overs", f"{found.kills}, {done['taken'].total() - len(questions)}"),
            ("events", f"{len(numbers):,}"),
            ("answers recorded", f"{sum(one.answered for one in seen.values()):,}"),
            ("requests made, cut off by a kill", f"{done['asked'].total():,}, {lost}"),
            ("documents read, cut off by a kill", f"{done['fetched'].total():,}, {again}"),
        ],
    )
    bars = {
        "ended otherwise": sum(a.status != b.status for a, b in pairs),
        "with other events": sum(a.events != b.events for a, b in pairs),
        "with other sources or report": sum((a.sources, a.report) != (b.sources, b.report) for a, b in pairs),
        "recorded answers more or less": sum(abs(a.answered - b.answered) for a, b in pairs),
        "requests that nobody recorded": sum(max(0, done["asked"][k] - v.called) for k, v in seen.items()),
        "steps by another than the driver": len(list(intruders(found.lines))),
        "calls recorded twice": _count(desk, _TWICE),
        "gathered and left behind": _count(desk, "SELECT 1 FROM gathered"),
        "numbers of events out of place": sum(n != place for place, n in enumerate(numbers, 1)),
        "problems that verify finds": len(desk.verify().problems),
    }
    made = [Bar(name=name, value=value, bar=0, unit="") for name, value in bars.items()]
    made.append(Bar(name="requests cut off a kill", value=lost / kills, bar=1, unit=""))
    return [*made, Bar(name="documents cut off a kill", value=again / kills, bar=2, unit="")]


_TWICE = "SELECT 1 FROM tool_calls GROUP BY session_id, turn_id, id HAVING count(*) > 1"


def _count(desk: Desk, sql: str) -> int:
    return int(str(desk.ledger.query(f"SELECT count(*) AS n FROM ({sql}) AS found")[0]["n"]))


def show_sizes(desk: Desk, url: str, sessions: int) -> None:
    """What the desk takes on the server, indexes and all."""
    address = parse_address(url)
    sql = (
        "SELECT relname, pg_total_relation_size(c.oid) FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace "
        "WHERE nspname = %s AND relkind = 'r' ORDER BY 2 DESC"
    )
    with psycopg.connect(address.conninfo) as connection:
        sizes = connection.execute(sql, (address.schema,)).fetchall()
    events = desk.ledger.tail(limit=10_000_000)[-1].global_seq
    whole = sum(size for _, size in sizes)
    rows = [(name, f"{size / 1024:,.0f} kB", f"{size / sessions / 1024:,.1f} kB") for name, size in sizes[:8]]
    rows.append(("all", f"{whole / 1024:,.0f} kB", f"{whole / sessions / 1024:,.1f} kB"))
    show(
        f"sizes ({events / sessions:,.0f} events a session, {whole / events:,.0f} bytes an event)",
        ("table", "size", "a session"),
        rows,
    )


def one_desk(home: str, folder: Path, corpus: Path, wanted: Any, given: argparse.Namespace) -> list[Bar]:
    """Queue, disturb and judge on one desk."""
    kind = "PostgreSQL" if home.startswith("postgresql") else "SQLite"
    with open_desk(home) as desk:
        asked = [QUESTIONS[n % len(QUESTIONS)] for n in range(given.sessions)]
        questions = {queue_research(desk, text, corpus=corpus, scope="quick"): text for text in asked}
        assert len(waiting(desk)) == given.sessions
        found = disturb(desk, home, folder / f"{kind}.log", workers=given.workers, every=given.every)
        bars = judged(desk, questions, *wanted, found, f"{kind}: {given.workers} workers")
        if kind == "PostgreSQL":
            show_sizes(desk, home, given.sessions)
    return [replace(bar, name=f"{kind}: {bar.name}") for bar in bars]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    usual = os.environ.get("RESEARCHDESK_TEST_POSTGRES") or "postgresql://127.0.0.1:5432/test"
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--sessions", type=int, default=40)
    parser.add_argument("--every", type=float, default=3.0, help="seconds between two kills, on average")
    parser.add_argument("--server", default=usual, help="PostgreSQL server; empty for SQLite alone")
    parser.add_argument("--drive", default="", help=argparse.SUPPRESS)
    parser.add_argument("--log", type=Path, help=argparse.SUPPRESS)
    add_no_fail(parser)
    given, more = parser.parse_known_args()
    if given.drive:
        watched_worker(given.drive, given.log, *more)
        return
    bars = []
    with tempfile.TemporaryDirectory(prefix="workers-") as name:
        folder = Path(name)
        os.environ["RESEARCHDESK_HOME"] = str(folder / "local")
        corpus = write_corpus(folder / "corpus")
        wanted = undisturbed(folder / "whole", corpus)
        bars += one_desk(str(folder / "home"), folder, corpus, wanted, given)
        if given.server:
            schema = f"bench_{secrets.token_hex(6)}"
            url = f"{given.server}{'&' if '?' in given.server else '?'}schema={schema}"
            try:
                bars += one_desk(url, folder, corpus, wanted, given)
            finally:
                with psycopg.connect(given.server, autocommit=True) as connection:
                    for one in (schema, f"{schema}_langgraph"):
                        connection.execute(f"DROP SCHEMA IF EXISTS {one} CASCADE")
    judge(bars, no_fail=given.no_fail)


if __name__ == "__main__":
    main()
