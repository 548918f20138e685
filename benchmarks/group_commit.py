"""What a shared writer gains: ``python benchmarks/group_commit.py [--threads 16] [--commits 40] [--repeat 5]``.

So many threads append an event each to a session of their own, again and again: once all through one desk, whose
appends share transactions, and once each through a desk and a connection of its own. Both sides take turns on one
ledger file. First only the appends, prepared before, then whole recordings; last one thread alone, which must not wait
for anybody.
"""

import argparse
import contextlib
import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from showing import Bar, add_no_fail, finish

from researchdesk.state import events as ev
from researchdesk.stores.codec import Refs
from researchdesk.stores.ledger import Append
from researchdesk.stores.replay import extend
from researchdesk.tools.door import Session
from researchdesk.tools.workspace import open_desk

EVENT = ev.RunConfigured(corpus=("notes/",), model="offline")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """Commits a second, CPU microseconds of each, and the milliseconds that one of a hundred takes longer than."""

    rate: float
    cpu: float
    slow: float


def prepared(session: Session, *, commits: int) -> list[Append]:
    """Transactions of one event each that follow each other."""
    projection, made = session.records.projection(session.id), []
    for _ in range(commits):
        extension = extend(projection, [EVENT], stream=session.stream, ts=session.records.now(), refs=Refs())
        made.append(extension.append)
        projection = extension.projection
    return made


def appending(sessions: list[Session], *, commits: int) -> Rate:
    """All sessions at once, each in a thread of its own: what was prepared before is appended."""
    made = [prepared(session, commits=commits) for session in sessions]
    return at_once(
        [
            [partial(s.records.ledger.append, append) for append in own]
            for s, own in zip(sessions, made, strict=True)
        ]
    )


def recording(sessions: list[Session], *, commits: int) -> Rate:
    """The same with all that belongs to it: the head is looked at, the event folded, its rows derived."""
    return at_once([[partial(session.record, [EVENT])] * commits for session in sessions])


def at_once(works: list[list[Callable[[], object]]]) -> Rate:
    """Each list in a thread of its own, all at the same time."""
    ready = threading.Barrier(len(works) + 1)
    spans: list[list[float]] = [[] for _ in works]

    def work(steps: list[Callable[[], object]], own: list[float]) -> None:
        ready.wait()
        for step in steps:
            began = time.perf_counter()
            step()
            own.append(time.perf_counter() - began)

    threads = [threading.Thread(target=work, args=both) for both in zip(works, spans, strict=True)]
    for thread in threads:
        thread.start()
    ready.wait()
    began, worked = time.perf_counter(), time.process_time()
    for thread in threads:
        thread.join()
    wall, cpu = time.perf_counter() - began, time.process_time() - worked
    every = sorted(span for own in spans for span in own)
    slow = every[int(len(every) * 0.99)]
    return Rate(rate=len(every) / wall, cpu=cpu / len(every) * 1e6, slow=slow * 1000)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--threads", type=int, default=16)
    parser.add_argument("--commits", type=int, default=60, help="of each thread in a round")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--folder", type=Path, help="where the ledger lies; a temporary folder otherwise")
    add_no_fail(parser)
    given = parser.parse_args()
    names = [f"s{n}" for n in range(given.threads)]
    commits, many = given.commits, given.commits * 4
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="group-", dir=given.folder)))
        shared = stack.enter_context(open_desk(folder))
        together = [shared.session(name) for name in names]
        apart = [stack.enter_context(open_desk(folder)).session(name) for name in names]
        sides: dict[str, Callable[[], Rate]] = {
            "append, one desk": lambda: appending(together, commits=commits),
            "append, own connections": lambda: appending(apart, commits=commits),
            "record, one desk": lambda: recording(together, commits=commits),
            "record, own connections": lambda: recording(apart, commits=commits),
            "append, one thread, one desk": lambda: appending(together[:1], commits=many),
            "append, one thread, own connection": lambda: appending(apart[:1], commits=many),
        }
        rounds = [{name: work() for name, work in sides.items()} for _ in range(given.repeat + 1)][1:]
        problems = shared.verify().problems
    assert not problems, problems
    rows = []
    for name in sides:
        figures = (
            statistics.median(getattr(r[name], what) for r in rounds) for what in ("rate", "cpu", "slow")
        )
        rows.append((name, *(f"{value:,.0f}" if value > 20 else f"{value:.1f}" for value in figures)))

    def gain(one: str, other: str) -> float:
        return statistics.median(r[one].rate / r[other].rate for r in rounds)

    bars = [
        Bar(
            name=f"{given.threads} threads, append: one desk / own connections",
            value=gain("append, one desk", "append, own connections"),
            bar=8,
            least=True,
        ),
    ]
    columns = ("", "commits/s", "CPU µs a commit", "p99 ms")
    finish(f"{given.threads} threads", columns, rows, bars, no_fail=given.no_fail)


if __name__ == "__main__":
    main()
