"""What an exact retry costs: ``python benchmarks/retry.py [--calls 250] [--repeat 5] [--folder DIR]``.

The same call again, in the same process, against one bare commit of its event, interleaved operation by operation. A
retry must write nothing: neither a row nor a byte of the log.
"""

import argparse
import shutil
import tempfile
from pathlib import Path

from sessions import CALLS, WARM_UP, Side, Timed, bare_commits, caller, interleaved, middle, seeded, warm
from showing import Bar, add_no_fail, judge, show

from researchdesk.stores.sqlite.connection import connect
from researchdesk.stores.sqlite.ledger import _event_values
from researchdesk.tools.workspace import open_desk


def against_commit(folder: Path, tool: str, *, calls: int) -> tuple[list[Timed], int]:
    """A retry and a bare commit, and how many rows and bytes the retries wrote."""
    homes = [folder / name for name in ("retried", "commit")]
    for home in homes:
        shutil.rmtree(home, ignore_errors=True)
        shutil.copytree(folder / "seed", home)
    with open_desk(homes[0]) as desk:
        session = desk.session("s")
        caller(session, "m")(tool, CALLS[tool])
        single = connect(homes[1] / "ledger.sqlite")
        sides = [
            Side(name="exact retry", work=lambda: session.call(tool, CALLS[tool], tool_call_id="m0")),
            Side(name="bare commit", work=bare_commits(single, _event_values(session.events()[-1]))),
        ]
        interleaved(sides, times=WARM_UP)
        warm(single)
        log, connection = homes[0] / "ledger.sqlite-wal", desk.ledger._db  # type: ignore[attr-defined]
        before = connection.total_changes, log.stat().st_mtime_ns
        timed = interleaved(sides, times=calls)
        written = connection.total_changes - before[0] + (log.stat().st_mtime_ns != before[1])
        single.close()
    return timed, written


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--calls", type=int, default=250)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--folder", type=Path, help="where the ledgers lie; a temporary folder otherwise")
    add_no_fail(parser)
    given = parser.parse_args()
    rows, bars = [], []
    with tempfile.TemporaryDirectory(prefix="retry-", dir=given.folder) as name:
        folder = Path(name)
        seeded(folder / "seed", events=100)
        for tool in CALLS:
            rounds = [against_commit(folder, tool, calls=given.calls) for _ in range(given.repeat)]
            for at, side in enumerate(("exact retry", "bare commit")):
                wall, cpu = (middle([getattr(t[at], kind) for t, _ in rounds]) for kind in ("wall", "cpu"))
                rows.append((tool, side, f"{wall:.0f}", f"{cpu:.0f}"))
            value = middle([t[0].wall / t[1].wall for t, _ in rounds])
            bars.append(Bar(name=f"{tool}: retry / commit", value=value, bar=0.25))
            written = sum(w for _, w in rounds)
            bars.append(Bar(name=f"{tool}: writes", value=written, bar=0, unit=""))
    show("exact retries", ("tool", "", "wall µs", "CPU µs"), rows)
    judge(bars, no_fail=given.no_fail)


if __name__ == "__main__":
    main()
