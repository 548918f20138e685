"""What reading a whole session costs: ``python benchmarks/fold.py [--events 5000] [--repeat 9]``, in CPU time.

Each stage by itself, then all of them as a process does it that opens the session for the first time.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from sessions import middle, seeded
from showing import Bar, add_no_fail, finish

from researchdesk.state.workspace import fold
from researchdesk.stores.codec import GENESIS, StoredEvent, check_link
from researchdesk.stores.replay import Projection, follow
from researchdesk.tools.workspace import open_desk


def check(stored: list[StoredEvent]) -> None:
    """The hash chain alone."""
    last = GENESIS
    for seq, item in enumerate(stored):
        check_link(item, after_seq=seq, after_hash=last)
        last = item.hash


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--events", type=int, default=5_000)
    parser.add_argument("--repeat", type=int, default=9)
    add_no_fail(parser)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="fold-") as name:
        home = Path(name) / "desk"
        seeded(home, events=given.events)
        with open_desk(home) as desk:
            stored = desk.ledger.read("session:s")
            events = [item.event() for item in stored]
            stages: dict[str, Callable[[], object]] = {
                "read": lambda: desk.ledger.read("session:s"),
                "check the chain": lambda: check(stored),
                "decode": lambda: [item.event() for item in stored],
                "fold": lambda: fold(events),
                "all": lambda: follow(Projection(), desk.ledger.read("session:s")),
            }
            spent: dict[str, list[float]] = {stage: [] for stage in stages}
            for _ in range(given.repeat):
                for stage, work in stages.items():
                    began = time.thread_time_ns()
                    work()
                    spent[stage].append((time.thread_time_ns() - began) / 1e6)
    count = len(stored)
    rows = [(stage, f"{middle(ms):.1f}", f"{middle(ms) * 1000 / count:.1f}") for stage, ms in spent.items()]
    finish(
        f"a session of {count:,} events",
        ("", "CPU ms", "µs an event"),
        rows,
        [
            Bar(
                name="read, check and fold",
                value=middle(spent["all"]) * 5_000 / count,
                bar=45,
                unit="ms of CPU",
            )
        ],
        no_fail=given.no_fail,
    )


if __name__ == "__main__":
    main()
