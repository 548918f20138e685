"""What a durable tool call costs: ``python benchmarks/append.py [--calls 300] [--repeat 5]``.

A call's append is measured against the same SQL statements in bare SQLite, against one bare commit of its event,
and in short against long sessions. The sides are interleaved operation by operation in one process on warm WAL
files, since only the ratio of two such figures means anything. CPU time stands beside the wall clock.
"""

import argparse
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from researchdesk.state import events as ev
from researchdesk.state.bodies import named_bodies
from researchdesk.stores.replay import Projection, follow
from researchdesk.stores.sqlite.connection import Connection, connect, dbapi
from researchdesk.stores.sqlite.ledger import _INSERT_EVENT, SqliteLedger, _event_values
from researchdesk.tools.door import Session
from researchdesk.tools.workspace import Desk, open_desk

WARM_UP = 40
Statement = tuple[str, Any]
STEP = {
    "kind": "local_exploration",
    "status": "completed",
    "objective": "Find out where sessions are opened",
    "summary": "They are opened by the facade, and nowhere else.",
    "roots": ["tools/"],
    "stopping_condition": "every caller was read",
    "expected_evidence": "the place",
    "evidence_artifact_ids": ["s_001"],
}
NOTE = {
    "role": "evidence_note",
    "name": "Where sessions are opened",
    "content": "The facade opens every session, as the text says [s_001].",
    "summary": "The facade opens them.",
    "source_artifact_ids": ["s_001"],
}
CALLS: dict[str, dict[str, Any]] = {"deep_research_record_step": STEP, "deep_research_save_artifact": NOTE}


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """Medians of one side, in microseconds."""

    wall: float
    cpu: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One side of a comparison: an operation that is done again and again."""

    name: str
    work: Callable[[], object]


def interleaved(sides: list[Side], *, times: int) -> list[Timed]:
    """Do one operation of each side in turn, ``times`` times."""
    wall: list[list[int]] = [[] for _ in sides]
    cpu: list[list[int]] = [[] for _ in sides]
    for turn in range(times):
        for place in range(len(sides)):
            at = (place + turn) % len(sides)
            began, worked = time.perf_counter_ns(), time.thread_time_ns()
            sides[at].work()
            cpu[at].append(time.thread_time_ns() - worked)
            wall[at].append(time.perf_counter_ns() - began)
    return [
        Timed(wall=statistics.median(w) / 1000, cpu=statistics.median(c) / 1000)
        for w, c in zip(wall, cpu, strict=True)
    ]


# -- sessions -------------------------------------------------------------------------------------------------


def seeded(home: Path, *, events: int) -> None:
    """A desk with one session of about so many events."""
    with open_desk(home) as desk:
        # Nothing of this is kept, so nothing has to reach the disk at once.
        desk.ledger._db.execute("PRAGMA synchronous=OFF")  # type: ignore[attr-defined]
        call = caller(desk.session("s"), "seed")
        call(
            "deep_research_start",
            {"objective": "Where is it?", "scope_level": "quick", "template": "general"},
        )
        source = {"role": "source", "name": "Text", "content": "The facade opens every session.\n" * 20}
        call("deep_research_save_artifact", {**source, "locator": "notes/text.md"})
        for tool, arguments in work_mix(events):
            if desk.session("s").workspace.seq >= events:
                break
            call(tool, arguments)


def work_mix(events: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Steps, notes and looks at the status; they leave room for what is measured."""
    steps = 100
    for n in range(events):
        if n % 10 == 0 and steps:
            steps -= 1
            yield "deep_research_record_step", STEP
        elif n % 10 < 5:
            yield "deep_research_save_artifact", {**NOTE, "content": f"{NOTE['content']} Note {n}."}
        else:
            yield "deep_research_update_checklist", {"item_id": "sources_compared", "status": "in_progress"}


def caller(session: Session, prefix: str) -> Callable[[str, dict[str, Any]], object]:
    """Calls tools under new ids."""
    count = iter(range(1_000_000))

    def call(tool: str, arguments: dict[str, Any]) -> object:
        result = session.call(tool, arguments, tool_call_id=f"{prefix}{next(count)}")
        assert result.status == "success" or result.data.get("code") == "invalid_arguments", result.text
        return result

    return call


def warm(connection: Connection) -> None:
    """Grow the WAL to its full length once, so that what follows writes over it again."""
    connection.execute("INSERT INTO blobs (hash, bytes) VALUES ('sha256:warm', zeroblob(8000000))")
    connection.execute("PRAGMA wal_checkpoint(RESTART)").fetchall()


def appended(session: Session, like: list[ev.Event], *, times: int) -> Callable[[], object]:
    """Appends events like those of a call, made before: checks, fold, chain, rows and commit, nothing else."""
    *own, record = like
    assert isinstance(record, ev.CallRecorded)
    bodies = {key: session.records.ledger.body(key) or b"" for event in like for key in named_bodies(event)}
    run = session.run
    assert run is not None
    made = []
    for n in range(1, times + 1):
        events: list[ev.Event] = []
        for event in own:
            if isinstance(event, ev.StepRecorded):
                events.append(replace(event, step=run.step_count + n))
            elif isinstance(event, ev.ArtifactRecorded):
                events.append(replace(event, artifact_id=f"a_{n:016x}"))
        made.append([*events, replace(record, tool_call_id=f"append{n}")])
    following = iter(made)
    return lambda: session.record(next(following), bodies=bodies)


# -- the bare side --------------------------------------------------------------------------------------------


class _Recording(dbapi.Connection):
    """A connection that writes down its statements."""

    seen: list[Statement] | None = None

    def execute(self, sql: str, parameters: Any = ()) -> Any:
        if self.seen is not None:
            self.seen.append((sql, parameters))
        return super().execute(sql, parameters)

    def executemany(self, sql: str, parameters: Any) -> Any:
        rows = list(parameters)
        if self.seen is not None:
            self.seen += [(sql, row) for row in rows]
        return super().executemany(sql, rows)


def recorded(home: Path, tool: str, *, calls: int) -> list[list[Statement]]:
    """The statements of each of so many calls."""
    real = dbapi.connect

    def recording(*where: Any, **how: Any) -> Any:
        return real(*where, factory=_Recording, **how)

    dbapi.connect = recording
    try:
        ledger = SqliteLedger(home / "ledger.sqlite")
    finally:
        dbapi.connect = real
    with Desk(home, ledger) as desk:
        session = desk.session("s")
        call = caller(session, "m")
        found = []
        for _ in range(calls):
            ledger._connection.seen = own = []
            call(tool, CALLS[tool])
            found.append(own)
        ledger._connection.seen = None
    return found


def replayed(connection: Connection, calls: list[list[Statement]]) -> Callable[[], None]:
    """Does the statements of one call after the other, as a plain script would."""
    following = iter(calls)

    def work() -> None:
        for sql, parameters in next(following):
            cursor = connection.execute(sql, parameters)
            if cursor.description is not None:
                cursor.fetchall()

    return work


def bare_commits(connection: Connection, values: tuple[Any, ...]) -> Callable[[], None]:
    """Commits one event row after the other."""
    count = iter(range(10_000_000, 20_000_000))

    def work() -> None:
        n = next(count)
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(_INSERT_EVENT, (f"bare:{n}", n, f"e_{n}", *values[3:]))
        connection.execute("COMMIT")

    return work


# -- comparisons ----------------------------------------------------------------------------------------------


def against_bare(folder: Path, tool: str, *, calls: int) -> tuple[list[str], list[Timed]]:
    """A call, its statements bare, one bare commit of its event, its append alone, and an exact retry."""
    seed = folder / "seed"
    homes = [folder / f"{tool}-{name}" for name in ("recorded", "ours", "bare", "commit", "append")]
    for home in homes:
        shutil.rmtree(home, ignore_errors=True)
        shutil.copytree(seed, home)
    statements = recorded(homes[0], tool, calls=calls + WARM_UP)
    with open_desk(homes[1]) as desk, open_desk(homes[4]) as plain:
        session = desk.session("s")
        call = caller(session, "m")
        event = session.events()[-1]
        other = plain.session("s")
        caller(other, "like")(tool, CALLS[tool])
        like = [stored.event() for stored in other.events()[-2:]]
        bare, single = connect(homes[2] / "ledger.sqlite"), connect(homes[3] / "ledger.sqlite")
        retried = {"tool_call_id": "m0"}
        sides = [
            Side(name="call", work=lambda: call(tool, CALLS[tool])),
            Side(name="its statements, bare", work=replayed(bare, statements)),
            Side(name="bare commit of the event", work=bare_commits(single, _event_values(event))),
            Side(name="its append alone", work=appended(other, like, times=calls + WARM_UP)),
            Side(name="exact retry", work=lambda: session.call(tool, CALLS[tool], **retried)),
        ]
        interleaved(sides, times=WARM_UP)
        for connection in (desk.ledger._db, plain.ledger._db, bare, single):  # type: ignore[attr-defined]
            warm(connection)
        timed = interleaved(sides, times=calls)
        bare.close()
        single.close()
    return [side.name for side in sides], timed


def flatness(folder: Path, sizes: list[int], *, calls: int) -> list[Timed]:
    """The same call in sessions of different length."""
    desks = []
    for size in sizes:
        home = folder / f"flat-{size}"
        shutil.rmtree(home, ignore_errors=True)
        shutil.copytree(folder / f"seed-{size}", home)
        desks.append(open_desk(home))
    tool = "deep_research_save_artifact"
    sides = []
    for size, desk in zip(sizes, desks, strict=True):
        call = caller(desk.session("s"), "f")
        sides.append(Side(name=str(size), work=lambda call=call: call(tool, NOTE)))  # type: ignore[misc]
        warm(desk.ledger._db)  # type: ignore[attr-defined]
    interleaved(sides, times=WARM_UP)
    timed = interleaved(sides, times=calls)
    for desk in desks:
        desk.close()
    return timed


def cold_fold(home: Path) -> tuple[int, float]:
    """Events of a session and the CPU milliseconds to read, check and fold them all."""
    times = []
    with open_desk(home) as desk:
        for _ in range(5):
            began = time.thread_time_ns()
            stored = desk.ledger.read("session:s")
            follow(Projection(), stored)
            times.append((time.thread_time_ns() - began) / 1e6)
    return len(stored), statistics.median(times)


def middle(values: list[float]) -> float:
    return statistics.median(values)


def show_calls(console: Console, folder: Path, *, calls: int, repeat: int) -> None:
    for tool in CALLS:
        rounds = []
        for _ in range(repeat):
            names, timed = against_bare(folder, tool, calls=calls)
            rounds.append(timed)
        table = Table("", "wall µs", "CPU µs", "this / statements", "CPU", "this / commit", title=tool)
        for at, name in enumerate(names):
            table.add_row(
                name,
                f"{middle([r[at].wall for r in rounds]):.0f}",
                f"{middle([r[at].cpu for r in rounds]):.0f}",
                f"{middle([r[at].wall / r[1].wall for r in rounds]):.2f}",
                f"{middle([r[at].cpu / r[1].cpu for r in rounds]):.2f}",
                f"{middle([r[at].wall / r[2].wall for r in rounds]):.2f}",
            )
        console.print(table)


def show_sizes(console: Console, folder: Path, *, sizes: list[int], calls: int, repeat: int) -> None:
    rounds = [flatness(folder, sizes, calls=calls) for _ in range(repeat)]
    table = Table(
        "events", "wall µs", "CPU µs", f"/ {sizes[0]}", "CPU", title="the same call in longer sessions"
    )
    for at, size in enumerate(sizes):
        table.add_row(
            f"{size:,}",
            f"{middle([r[at].wall for r in rounds]):.0f}",
            f"{middle([r[at].cpu for r in rounds]):.0f}",
            f"{middle([r[at].wall / r[0].wall for r in rounds]):.2f}",
            f"{middle([r[at].cpu / r[0].cpu for r in rounds]):.2f}",
        )
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--calls", type=int, default=300, help="operations of each side, at most 300")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 2_000, 5_000])
    given = parser.parse_args()
    console = Console()
    calls = min(given.calls, 300)
    with tempfile.TemporaryDirectory(prefix="append-") as name:
        folder = Path(name)
        seeded(folder / "seed", events=100)
        show_calls(console, folder, calls=calls, repeat=given.repeat)
        for size in given.sizes:
            seeded(folder / f"seed-{size}", events=size)
        show_sizes(console, folder, sizes=given.sizes, calls=calls, repeat=given.repeat)
        events, milliseconds = cold_fold(folder / f"seed-{given.sizes[-1]}")
        console.print(f"read, check and fold {events:,} events: {milliseconds:.1f} ms of CPU time")


if __name__ == "__main__":
    main()
