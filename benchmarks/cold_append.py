"""What the first call of a new process costs: ``python benchmarks/cold_append.py [--events 5000] [--repeat 7]``.

Each repetition is a process of its own that imports everything, then opens the desk and does one call in a session of
so many events; imports do not count. Beside it what reading the session's rows, and hashing them, would cost alone.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from sessions import NOTE, middle, seeded
from showing import Bar, add_no_fail, finish

from researchdesk.state.row_changes import row_digest
from researchdesk.state.tables import TABLES
from researchdesk.tools.workspace import open_desk


def spent(work: Callable[[], object]) -> float:
    """CPU milliseconds of this process."""
    began = time.process_time_ns()
    work()
    return (time.process_time_ns() - began) / 1e6


def measured(home: Path) -> dict[str, float]:
    """What one process spends: on opening the desk, on its first call, on a second one, and on the rows alone."""
    desks = []
    opening = spent(lambda: desks.append(open_desk(home)))
    (desk,) = desks
    session = desk.session("s")
    tool = "deep_research_save_artifact"
    first = spent(lambda: session.call(tool, NOTE, tool_call_id="first"))
    second = spent(lambda: session.call(tool, {**NOTE, "name": "Another"}, tool_call_id="second"))
    rows = {}
    reading = spent(lambda: rows.update({table: desk.ledger.rows(table, "s") for table in TABLES}))
    hashing = spent(lambda: sum(row_digest(table, row) for table, found in rows.items() for row in found))
    desk.close()
    return {
        "open the desk": opening,
        "first call": first,
        "second call": second,
        "read the rows": reading,
        "hash the rows": hashing,
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--events", type=int, default=5_000)
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    add_no_fail(parser)
    given = parser.parse_args()
    if given.measure:
        print(json.dumps(measured(given.measure)))
        return
    rounds = []
    with tempfile.TemporaryDirectory(prefix="cold-") as name:
        seed, home = Path(name) / "seed", Path(name) / "desk"
        seeded(seed, events=given.events)
        for _ in range(given.repeat):
            shutil.rmtree(home, ignore_errors=True)
            shutil.copytree(seed, home)
            command = [sys.executable, __file__, "--measure", str(home)]
            rounds.append(json.loads(subprocess.run(command, check=True, capture_output=True).stdout))
    found = {stage: middle([r[stage] for r in rounds]) for stage in rounds[0]}
    whole = middle([r["open the desk"] + r["first call"] for r in rounds])
    finish(
        f"a new process in a session of {given.events:,} events",
        ("", "CPU ms"),
        [(stage, f"{ms:.1f}") for stage, ms in found.items()],
        [Bar(name="open the desk and do the first call", value=whole, bar=6, unit="ms of CPU")],
        no_fail=given.no_fail,
    )


if __name__ == "__main__":
    main()
