"""A ledger on PostgreSQL: ``python benchmarks/postgres.py [--server URL] [--appends 300] [--repeat 5]``.

What an append costs against a bare insert of its event by the same driver, the two taking turns; then several
processes that append to one desk at the same time, to sessions of their own and to one that all share: no error may
reach any of them, and the numbers of the events must have no gap. The server is ``--server``,
``$RESEARCHDESK_TEST_POSTGRES`` or the one on this machine; everything happens in schemas that are dropped afterwards.
"""

import argparse
import contextlib
import os
import secrets
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import psycopg
from sessions import CALLS, WARM_UP, Side, Timed, caller, interleaved, middle
from showing import Bar, add_no_fail, judge, show

from researchdesk.state import events as ev
from researchdesk.state.ids import CallId
from researchdesk.stores.codec import Refs
from researchdesk.stores.ledger import Append
from researchdesk.stores.postgres.address import parse_address
from researchdesk.stores.postgres.appending import EVENT_FIELDS
from researchdesk.stores.postgres.connection import connect
from researchdesk.stores.replay import extend
from researchdesk.tools.door import Session
from researchdesk.tools.workspace import open_desk

PROCESSES = 8
CONFIGURED = ev.RunConfigured(corpus=("notes/",), model="offline")
_COLUMNS = ("global_seq", *EVENT_FIELDS)
_INSERT = f"INSERT INTO events ({', '.join(_COLUMNS)}) VALUES ({', '.join(['%s'] * len(_COLUMNS))})"


@contextlib.contextmanager
def new_desks(server: str, count: int) -> Iterator[list[str]]:
    """URLs of new desks."""
    schemas = [f"bench_{secrets.token_hex(6)}" for _ in range(count)]
    try:
        yield [f"{server}{'&' if '?' in server else '?'}schema={schema}" for schema in schemas]
    finally:
        with psycopg.connect(server, autocommit=True) as connection:
            for schema in schemas:
                connection.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE")


def started(session: Session, prefix: str = "m") -> Callable[[str, dict[str, Any]], object]:
    """A session with a run and a source, and what calls its tools."""
    call = caller(session, prefix)
    call("deep_research_start", {"objective": "Where is it?", "scope_level": "quick", "template": "general"})
    source = {"role": "source", "name": "Text", "content": "The facade opens every session.\n" * 20}
    call("deep_research_save_artifact", {**source, "locator": "notes/text.md"})
    return call


def made_appends(session: Session, events: Callable[[int], list[ev.Event]], *, times: int) -> list[Append]:
    """Transactions that follow each other."""
    projection, made = session.records.projection(session.id), []
    for n in range(times):
        new = extend(projection, events(n), stream=session.stream, ts=session.records.now(), refs=Refs())
        made.append(new.append)
        projection = new.projection
    return made


def like_a_step(session: Session) -> Callable[[int], list[ev.Event]]:
    """Events like those of a call that records a research step: the step, and the record of the call."""
    step, record = (stored.event() for stored in session.events()[-2:])
    assert isinstance(step, ev.StepRecorded) and isinstance(record, ev.CallRecorded)
    return lambda n: [replace(step, step=step.step + 1 + n), replace(record, tool_call_id=f"append{n}")]


def against_bare(server: str, *, call: bool, times: int) -> list[Timed]:
    """The append, and a bare insert of its last event into the same table of another desk."""
    with new_desks(server, 2) as (ours, bare), open_desk(ours) as desk, open_desk(bare):
        session = desk.session("s")
        started(session)("deep_research_record_step", CALLS["deep_research_record_step"])
        events = like_a_step(session) if call else lambda n: [CONFIGURED]
        made = made_appends(session, events, times=times + WARM_UP)
        if call:
            made = [
                replace(a, settles=CallId(session="s", turn="", call=f"append{n}"))
                for n, a in enumerate(made)
            ]
        following = iter(made)
        rows = iter(
            [(n, *(getattr(a.events[-1], name) for name in EVENT_FIELDS)) for n, a in enumerate(made, 1)]
        )
        with connect(parse_address(bare)) as connection:
            sides = [
                Side(name="append", work=lambda: desk.ledger.append(next(following))),
                Side(name="bare insert", work=lambda: connection.execute(_INSERT, next(rows), prepare=True)),
            ]
            interleaved(sides, times=WARM_UP)
            return interleaved(sides, times=times)


def append_bars(server: str, *, times: int, repeat: int) -> list[Bar]:
    bars, rows = [], []
    for name, call in (("one event", False), ("a call: two events, their rows", True)):
        rounds = [against_bare(server, call=call, times=times) for _ in range(repeat)]
        ratio = middle([r[0].wall / r[1].wall for r in rounds])
        figures = [
            middle([getattr(r[at], kind) for r in rounds]) for kind in ("wall", "cpu") for at in (0, 1)
        ]
        rows.append((name, *(f"{figure:.0f}" for figure in figures), f"{ratio:.2f}"))
        bars.append(Bar(name=f"append of {name} / bare insert", value=ratio, bar=1.5))
    columns = ("", "append µs", "bare µs", "append, own CPU", "bare, own CPU", "ratio")
    show("an append against a bare insert of its event", columns, rows)
    return bars


def append_alone(url: str, writer: int, appends: int) -> None:
    """What one process does: half of its appends go to the session that all share."""
    with open_desk(url) as desk:
        own, shared = desk.existing(f"own{writer}"), desk.existing("shared")
        for n in range(appends):
            (own if n % 2 else shared).record([CONFIGURED])


def together(server: str, *, processes: int, appends: int) -> list[Bar]:
    """All processes at once; how many failed, and what the desk holds then."""
    with new_desks(server, 1) as (url,):
        with open_desk(url) as desk:
            for name in ("shared", *(f"own{n}" for n in range(processes))):
                started(desk.session(name))
            before = len(desk.ledger.tail(limit=1_000_000))
        began, failed = time.perf_counter(), 0
        children = [forked(url, writer, appends) for writer in range(processes)]
        for child in children:
            failed += os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0
        seconds = time.perf_counter() - began
        with open_desk(url) as desk:
            numbers = [event.global_seq for event in desk.ledger.tail(limit=1_000_000)]
            gaps = sum(number != place for place, number in enumerate(numbers, 1))
            problems = len(desk.verify().problems)
    new, wanted = len(numbers) - before, processes * appends
    rows = [(f"{processes} × {appends}", f"{new:,}", f"{seconds:.1f}", f"{new / seconds:,.0f}")]
    show("processes that append to one desk", ("", "events", "seconds", "commits/s"), rows)
    return [
        Bar(name="events that are missing", value=wanted - new, bar=0, unit=""),
        Bar(name="numbers out of place", value=gaps, bar=0, unit=""),
        Bar(name="processes that met an error", value=failed, bar=0, unit=""),
        Bar(name="problems that verify finds", value=problems, bar=0, unit=""),
    ]


def forked(url: str, writer: int, appends: int) -> int:
    """A process that appends and ends with 0 when nothing failed."""
    child = os.fork()
    if child:
        return child
    try:
        append_alone(url, writer, appends)
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    known = os.environ.get("RESEARCHDESK_TEST_POSTGRES") or "postgresql://127.0.0.1:5432/test"
    parser.add_argument("--server", default=known)
    parser.add_argument(
        "--appends", type=int, default=300, help="of each side; 0 measures the processes alone"
    )
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--processes", type=int, default=PROCESSES)
    parser.add_argument("--each", type=int, default=500, help="appends of each process")
    add_no_fail(parser)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="postgres-") as folder:
        os.environ["RESEARCHDESK_HOME"] = folder
        bars = together(given.server, processes=given.processes, appends=given.each)
        if given.appends:
            bars += append_bars(given.server, times=given.appends, repeat=given.repeat)
    judge(bars, no_fail=given.no_fail)


if __name__ == "__main__":
    main()
