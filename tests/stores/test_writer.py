"""What several threads append at the same time shares a transaction, and fails or succeeds each for itself."""

import itertools
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from researchdesk.state.errors import IntegrityError, LeaseLost, Unavailable
from researchdesk.state.ids import session_stream
from researchdesk.state.row_changes import RowChange
from researchdesk.stores.codec import Refs
from researchdesk.stores.ledger import Append, HeadMoved, Lease
from researchdesk.stores.replay import Projection, extend, replay
from researchdesk.stores.sqlite.connection import connect, dbapi
from researchdesk.stores.sqlite.ledger import SqliteLedger
from researchdesk.stores.verify import verify

from ..desks import call, opened
from .contract import STARTED, TS, recorded

WRITES = ("BEGIN", "SAVEPOINT", "INSERT", "UPDATE", "RELEASE", "COMMIT")
NAMES = [f"s{n}" for n in range(5)]
HOLDER = "first"
NUMBERS = itertools.count()


class Script:
    """What happens to the statements of a connection: it can be held at a commit, and a later write can fail."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.open = threading.Event()
        self.open.set()
        self.held = threading.Event()
        self.nth, self.done, self.fault = 0, False, BaseException()
        self.count = 0

    def hold(self) -> None:
        """Let the next commit wait for `open`, and note what follows it."""
        self.open.clear()
        self.seen = []

    def fail(self, nth: int, fault: BaseException, *, done: bool) -> None:
        """Let the n-th write after the held commit fail, before or after it was done."""
        self.nth, self.fault, self.done, self.count = nth, fault, done, 0

    def run(self, sql: str, work: Callable[[], Any]) -> Any:
        if not self.open.is_set() and sql == "COMMIT":
            self.held.set()
            assert self.open.wait(60)
            return work()
        if not sql.startswith(WRITES):
            return work()
        self.seen.append(sql)
        self.count += self.held.is_set()
        if not self.held.is_set() or self.count != self.nth:
            return work()
        if self.done:
            work()
        raise self.fault


class Scripted:
    """A connection that goes by a script."""

    def __init__(self, path: Path, script: Script) -> None:
        self._real, self._script = connect(path), script

    def execute(self, sql: str, parameters: Any = ()) -> Any:
        return self._script.run(sql, lambda: self._real.execute(sql, parameters))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
def ledger(tmp_path: Path, script: Script) -> Iterator[SqliteLedger]:
    opening: Any = lambda path: Scripted(path, script)  # noqa: E731
    ledger = SqliteLedger(tmp_path / "ledger.sqlite", open_file=opening)
    for name in (HOLDER, *NAMES):
        ledger.append(append_of(ledger, name, [opened(name), STARTED]))
    yield ledger
    script.nth = 0
    assert verify(ledger).problems == ()
    ledger.close()


def append_of(ledger: SqliteLedger, name: str, events: Sequence[Any]) -> Append:
    stream = session_stream(name)
    projection = replay(Projection(), ledger.read(stream))
    return extend(projection, events, stream=stream, ts=TS, refs=Refs()).append


def call_of(ledger: SqliteLedger, name: str) -> Append:
    """A call that is recorded."""
    return append_of(ledger, name, [recorded(f"c{next(NUMBERS)}")])


def together(ledger: SqliteLedger, script: Script, appends: Sequence[Append]) -> list[BaseException | None]:
    """Append all in threads of their own while the writer is busy; how each ended."""
    ends: list[BaseException | None] = [None] * len(appends)

    def work(at: int) -> None:
        try:
            ledger.append(appends[at])
        except BaseException as problem:
            ends[at] = problem

    first = call_of(ledger, HOLDER)
    script.hold()
    holder = threading.Thread(target=ledger.append, args=(first,))
    holder.start()
    assert script.held.wait(60)
    script.seen, script.count = [], 0
    threads = [threading.Thread(target=work, args=(at,)) for at in range(len(appends))]
    for at, thread in enumerate(threads, start=1):
        thread.start()
        while len(ledger._writer._queue) < at:
            time.sleep(0)
    script.open.set()
    for thread in (holder, *threads):
        thread.join(60)
        assert not thread.is_alive()
    script.held.clear()
    return ends


def counts(ledger: SqliteLedger) -> list[int]:
    return [ledger.head(session_stream(name)).count for name in NAMES]


def test_what_was_waiting_is_written_in_one_transaction(ledger: SqliteLedger, script: Script) -> None:
    appends = [call_of(ledger, name) for name in NAMES]
    assert together(ledger, script, appends) == [None] * 5
    assert (script.seen.count("BEGIN IMMEDIATE"), script.seen.count("COMMIT")) == (1, 1)
    assert counts(ledger) == [3] * 5
    stored = [ledger.read(session_stream(name))[-1].hash for name in NAMES]
    assert stored == [append.events[-1].hash for append in appends]


def test_one_thread_alone_needs_neither_queue_nor_savepoint(ledger: SqliteLedger, script: Script) -> None:
    script.seen = []
    ledger.append(call_of(ledger, "s0"))
    assert not any(sql.startswith("SAVEPOINT") for sql in script.seen)
    assert script.seen.count("COMMIT") == 1


def test_who_fails_in_a_group_is_undone_alone(ledger: SqliteLedger, script: Script) -> None:
    lost = ledger.take_lease("s1", holder="the slow one")
    ledger.take_lease("s1", holder="the fast one")
    stale = call_of(ledger, "s0")
    ledger.append(append_of(ledger, "s0", [recorded("earlier")]))
    appends = [
        replace(stale, bodies={"sha256:0": b"0"}),
        replace(call_of(ledger, "s1"), lease=lost, bodies={"sha256:1": b"1"}),
        replace(call_of(ledger, "s2"), settles=call(session="s2"), adopts=("sha256:unknown",)),
        call_of(ledger, "s3"),
        replace(call_of(ledger, "s4"), lease=Lease(session_id="s1", epoch=2)),
    ]
    ends = together(ledger, script, appends)
    assert [type(end) for end in ends] == [HeadMoved, LeaseLost, IntegrityError, type(None), type(None)]
    assert "the fast one" in str(ends[1])
    assert counts(ledger) == [3, 2, 2, 3, 3]
    assert list(ledger.body_hashes()) == []


def test_of_two_that_decided_on_the_same_head_the_second_is_told_so(
    ledger: SqliteLedger, script: Script
) -> None:
    both = [append_of(ledger, "s0", [recorded(f"same{n}")]) for n in range(2)]
    ends = together(ledger, script, both)
    assert [type(end) for end in ends] == [type(None), HeadMoved]
    rows = [ledger.call_row(call(session="s0", call=f"same{n}")) for n in range(2)]
    assert [row is not None for row in rows] == [True, False]


def test_a_row_that_is_refused_only_at_the_commit_spoils_nothing_for_the_others(
    ledger: SqliteLedger, script: Script
) -> None:
    stray = RowChange(table="messages", new=("nobody", "m", "", "caller", "", "", "", 1, TS))
    appends = [call_of(ledger, name) for name in NAMES]
    appends[2] = replace(appends[2], rows=(*appends[2].rows, stray))
    ends = together(ledger, script, appends)
    assert [type(end) for end in ends] == [type(None)] * 2 + [IntegrityError] + [type(None)] * 2
    assert "nothing was written" in str(ends[2])
    assert counts(ledger) == [3, 3, 2, 3, 3]


def test_an_error_of_the_commit_reaches_all_who_wait(ledger: SqliteLedger, script: Script) -> None:
    appends = [call_of(ledger, name) for name in NAMES]
    assert together(ledger, script, appends) == [None] * 5
    nth = len(script.seen)
    appends = [append_of(ledger, name, [recorded("again")]) for name in NAMES]
    script.fail(nth, dbapi.OperationalError("disk I/O error"), done=False)
    ends = together(ledger, script, appends)
    assert [type(end) for end in ends] == [Unavailable] * 5
    assert len({id(end) for end in ends}) == 5
    assert counts(ledger) == [3] * 5
    script.nth = 0
    assert together(ledger, script, appends) == [None] * 5


@pytest.mark.parametrize("done", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("fault", [dbapi.OperationalError("database or disk is full"), KeyboardInterrupt()])
def test_whatever_write_of_a_group_fails_who_was_told_of_success_is_recorded_and_nobody_else(
    ledger: SqliteLedger, script: Script, fault: BaseException, done: bool
) -> None:
    appends = [call_of(ledger, name) for name in NAMES]
    assert together(ledger, script, appends) == [None] * 5
    writes = len(script.seen)
    failed = set()
    for nth in range(1, writes + 1):
        before = counts(ledger)
        appends = [append_of(ledger, name, [recorded(f"{nth}")]) for name in NAMES]
        script.fail(nth, fault, done=done)
        ends = together(ledger, script, appends)
        script.nth = 0
        grown = [now - old for old, now in zip(before, counts(ledger), strict=True)]
        through = done and nth == writes  # the commit went through, and nobody could be told so
        for end, events in zip(ends, grown, strict=True):
            assert events == (1 if end is None or through else 0), (nth, end)
            assert end is None or isinstance(end, Unavailable | KeyboardInterrupt)
        failed.add(sum(end is not None for end in ends))
        for append, events in zip(appends, grown, strict=True):
            if not events:
                ledger.append(append)
    assert 5 in failed and (1 in failed or isinstance(fault, KeyboardInterrupt))


def test_a_fork_waits_for_the_writer_and_the_child_has_free_locks_and_a_connection_of_its_own(
    ledger: SqliteLedger, script: Script
) -> None:
    first, own = call_of(ledger, HOLDER), call_of(ledger, "s0")
    script.hold()
    holder = threading.Thread(target=ledger.append, args=(first,))
    holder.start()
    assert script.held.wait(60)
    threading.Timer(0.05, script.open.set).start()
    child = os.fork()
    if child == 0:
        try:
            through = ledger.head(session_stream(HOLDER)).count == 3
            ledger.append(own)
            os._exit(0 if through and ledger.head("session:s0").count == 3 else 1)
        finally:
            os._exit(2)
    holder.join(60)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert counts(ledger)[0] == 3
    ledger.append(append_of(ledger, "s0", [recorded("later")]))
