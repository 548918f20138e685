"""Sessions to measure with, and measuring: two sides take turns, operation by operation, in one process.

Only the ratio of two such figures means anything on a machine that others use too.
"""

import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from researchdesk.state import events as ev
from researchdesk.state.bodies import named_bodies
from researchdesk.stores.sqlite.connection import Connection
from researchdesk.stores.sqlite.ledger import _INSERT_EVENT
from researchdesk.tools.door import Session
from researchdesk.tools.workspace import open_desk

WARM_UP = 40
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


def interleaved(
    sides: list[Side], *, times: int, clock: Callable[[], int] = time.thread_time_ns
) -> list[Timed]:
    """Do one operation of each side in turn, ``times`` times; ``clock`` gives the CPU time, of this thread alone."""
    wall: list[list[int]] = [[] for _ in sides]
    cpu: list[list[int]] = [[] for _ in sides]
    for turn in range(times):
        for place in range(len(sides)):
            at = (place + turn) % len(sides)
            began, worked = time.perf_counter_ns(), clock()
            sides[at].work()
            cpu[at].append(clock() - worked)
            wall[at].append(time.perf_counter_ns() - began)
    return [
        Timed(wall=statistics.median(w) / 1000, cpu=statistics.median(c) / 1000)
        for w, c in zip(wall, cpu, strict=True)
    ]


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


def bare_commits(connection: Connection, values: tuple[Any, ...]) -> Callable[[], None]:
    """Commits one event row after the other."""
    count = iter(range(10_000_000, 20_000_000))

    def work() -> None:
        n = next(count)
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(_INSERT_EVENT, (f"bare:{n}", n, f"e_{n}", *values[3:]))
        connection.execute("COMMIT")

    return work


def middle(values: list[float]) -> float:
    """The median."""
    return statistics.median(values)
