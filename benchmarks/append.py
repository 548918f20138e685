"""What a durable tool call costs: ``python benchmarks/append.py [--calls 250] [--repeat 5] [--folder DIR]``.

A call's append is measured against the same SQL statements in bare SQLite, against one bare commit of its event,
and in short against long sessions. The sides are interleaved operation by operation in one process on warm WAL
files. CPU time stands beside the wall clock.
"""

import argparse
import shutil
import tempfile
from pathlib import Path

from sessions import (
    CALLS,
    NOTE,
    WARM_UP,
    Side,
    Timed,
    appended,
    bare_commits,
    caller,
    interleaved,
    middle,
    seeded,
    warm,
)
from showing import Bar, add_no_fail, judge, show
from statements import Statement, recording_ledger, replayed, statements_of

from researchdesk.stores.sqlite.connection import connect
from researchdesk.stores.sqlite.ledger import _event_values
from researchdesk.tools.workspace import Desk, open_desk

SIZES = (100, 5_000)


def recorded(home: Path, tool: str, *, calls: int) -> list[list[Statement]]:
    """The statements of each of so many calls."""
    ledger = recording_ledger(home)
    with Desk(home, ledger) as desk:
        call = caller(desk.session("s"), "m")
        return [statements_of(ledger, lambda: call(tool, CALLS[tool])) for _ in range(calls)]


def against_bare(folder: Path, tool: str, *, calls: int) -> tuple[list[str], list[Timed]]:
    """A call, its statements bare, one bare commit of its event, and its append alone."""
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
        sides = [
            Side(name="call", work=lambda: call(tool, CALLS[tool])),
            Side(name="its statements, bare", work=replayed(bare, statements)),
            Side(name="bare commit of the event", work=bare_commits(single, _event_values(event))),
            Side(name="its append alone", work=appended(other, like, times=calls + WARM_UP)),
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


def call_bars(folder: Path, *, calls: int, repeat: int) -> list[Bar]:
    bars = []
    for tool in CALLS:
        rounds = []
        for _ in range(repeat):
            names, timed = against_bare(folder, tool, calls=calls)
            rounds.append(timed)
        rows = []
        for at, name in enumerate(names):
            figures = (
                f"{middle([r[at].wall for r in rounds]):.0f}",
                f"{middle([r[at].cpu for r in rounds]):.0f}",
                *(f"{middle([r[at].wall / r[to].wall for r in rounds]):.2f}" for to in (1, 2)),
                *(f"{middle([r[at].cpu / r[to].cpu for r in rounds]):.2f}" for to in (1, 2)),
            )
            rows.append((name, *figures))
        columns = ("", "wall µs", "CPU µs", "/ statements", "/ commit", "CPU / statements", "CPU / commit")
        show(tool, columns, rows)
        for to, against, bar in ((1, "its statements", 1.5), (2, "one commit", 1.75)):
            value = middle([r[3].wall / r[to].wall for r in rounds])
            bars.append(Bar(name=f"{tool}: append / {against}", value=value, bar=bar))
    return bars


def size_bar(folder: Path, *, calls: int, repeat: int) -> Bar:
    rounds = [flatness(folder, list(SIZES), calls=calls) for _ in range(repeat)]
    rows = []
    for at, size in enumerate(SIZES):
        wall, cpu = middle([r[at].wall for r in rounds]), middle([r[at].cpu for r in rounds])
        rows.append((f"{size:,}", f"{wall:.0f}", f"{cpu:.0f}"))
    show("the same call in longer sessions", ("events", "wall µs", "CPU µs"), rows)
    value = middle([r[-1].cpu / r[0].cpu for r in rounds])
    return Bar(name=f"{SIZES[-1]:,} events / {SIZES[0]}, CPU time", value=value, bar=1.15)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--calls", type=int, default=250, help="operations of each side, at most 250")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--folder", type=Path, help="where the ledgers lie; a temporary folder otherwise")
    add_no_fail(parser)
    given = parser.parse_args()
    calls = min(given.calls, 250)
    with tempfile.TemporaryDirectory(prefix="append-", dir=given.folder) as name:
        folder = Path(name)
        for size in SIZES:
            seeded(folder / f"seed-{size}", events=size)
        shutil.copytree(folder / f"seed-{SIZES[0]}", folder / "seed")
        bars = call_bars(folder, calls=calls, repeat=given.repeat)
        bars.append(size_bar(folder, calls=calls, repeat=given.repeat))
    judge(bars, no_fail=given.no_fail)


if __name__ == "__main__":
    main()
