"""What a shared writer gains: ``python benchmarks/group_commit.py [--threads 16] [--commits 40] [--repeat 5]``.

So many threads append an event each to a session of their own, again and again: once all through one desk, whose
appends share transactions, and once each through a desk and a connection of its own. Both sides take turns on one
ledger file. Then one thread alone, through the queue and past it, whose time must not differ.
"""

import argparse
import contextlib
import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from researchdesk.state import events as ev
from researchdesk.tools.door import Session
from researchdesk.tools.workspace import open_desk
from showing import Bar, add_no_fail, finish

EVENT = ev.RunConfigured(corpus=("notes/",), model="offline")


def per_second(sessions: list[Session], *, commits: int) -> tuple[float, float, float]:
    """Commits a second of all threads together, CPU seconds a commit, and the 99th percentile of one in ms."""
    ready = threading.Barrier(len(sessions) + 1)
    spans: list[list[float]] = [[] for _ in sessions]

    def work(session: Session, own: list[float]) -> None:
        ready.wait()
        for _ in range(commits):
            began = time.perf_counter()
            session.record([EVENT])
            own.append(time.perf_counter() - began)

    threads = [threading.Thread(target=work, args=both) for both in zip(sessions, spans, strict=True)]
    for thread in threads:
        thread.start()
    ready.wait()
    began, worked = time.perf_counter(), time.process_time()
    for thread in threads:
        thread.join()
    count = len(sessions) * commits
    wall, cpu = time.perf_counter() - began, time.process_time() - worked
    every = sorted(span for own in spans for span in own)
    return count / wall, cpu / count, every[int(len(every) * 0.99)] * 1000


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--threads", type=int, default=16)
    parser.add_argument("--commits", type=int, default=40, help="of each thread in a round")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--folder", type=Path, help="where the ledger lies; a temporary folder otherwise")
    add_no_fail(parser)
    given = parser.parse_args()
    names = [f"s{n}" for n in range(given.threads)]
    rounds = []
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="group-", dir=given.folder)))
        shared = stack.enter_context(open_desk(folder))
        together = [shared.session(name) for name in names]
        apart = [stack.enter_context(open_desk(folder)).session(name) for name in names]
        sides: list[Callable[[], tuple[float, float, float]]] = [
            lambda: per_second(together, commits=given.commits),
            lambda: per_second(apart, commits=given.commits),
            lambda: per_second(together[:1], commits=given.commits * 4),
            lambda: per_second(apart[:1], commits=given.commits * 4),
        ]
        for side in sides:
            side()
        for turn in range(given.repeat):
            order = [(turn + n) % len(sides) for n in range(len(sides))]
            found = {at: sides[at]() for at in order}
            rounds.append([found[at] for at in range(len(sides))])
        problems = shared.verify().problems
    assert not problems, problems
    titles = (
        f"{given.threads} threads, one desk",
        f"{given.threads} threads, own connections",
        "1 thread, one desk",
        "1 thread, own connection",
    )
    rows = []
    for at, title in enumerate(titles):
        rate, cpu, slow = (statistics.median(r[at][what] for r in rounds) for what in range(3))
        rows.append((title, f"{rate:,.0f}", f"{cpu * 1e6:.0f}", f"{slow:.1f}"))
    gain = statistics.median(r[0][0] / r[1][0] for r in rounds)
    alone = statistics.median(r[3][0] / r[2][0] for r in rounds)
    finish(
        "appends of many threads",
        ("", "commits/s", "CPU µs a commit", "p99 ms"),
        rows,
        [
            Bar(name="one desk / own connections, commits a second", value=gain, bar=8, least=True),
            Bar(name="one thread: own connection / one desk, commits a second", value=alone, bar=1.1),
        ],
        no_fail=given.no_fail,
    )


if __name__ == "__main__":
    main()
