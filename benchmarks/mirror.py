"""What a mirror costs: ``python benchmarks/mirror.py [--events 100000] [--histories 1000] [--repeat 5]``.

The same rows are loaded by a sync and row by row, in turn; then a sync follows 1, 100 and 10,000 new events of an open
mirror, and one that is opened and closed for it. CPU time counts, of this process alone. "Calls" are those of the other
benchmarks; "inquiry" is a whole investigation of the embedded model, with its searches, claims and challenges. At the
end so many random histories are mirrored by syncs at random moments, of which some are killed, and compared row by row.
"""

import argparse
import contextlib
import itertools
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
from sessions import middle, seeded
from showing import Bar, add_no_fail, judge, show

from researchdesk.graph.runner import run_research
from researchdesk.state import events as ev
from researchdesk.state.ids import session_stream
from researchdesk.stores.codec import Refs
from researchdesk.stores.ledger import Ledger
from researchdesk.stores.mirror.mirror import Mirror
from researchdesk.stores.mirror.news import all_rows, event_pages, event_row
from researchdesk.stores.mirror.opening import for_writing
from researchdesk.stores.mirror.schema import ALL, EVENTS, MIRRORED, column_type
from researchdesk.stores.mirror.syncing import LiveMirror, make
from researchdesk.stores.replay import extend, nothing_yet
from researchdesk.tools.workspace import Desk, open_desk

TS = "2026-01-01T00:00:00.{:06d}+00:00"
SIZES = {1: (100, 6.0), 100: (20, 10.0), 10_000: (2, 250.0)}
"""How often each number of new events is measured in a round, and its bar in milliseconds."""
BY_HAND = 400


def unsynced(desk: Desk) -> Desk:
    """Nothing of this is kept, so nothing has to reach the disk at once."""
    desk.ledger._db.execute("PRAGMA synchronous=OFF")  # type: ignore[attr-defined]
    return desk


# -- what is mirrored ---------------------------------------------------------------------------------------------


def events_of_calls(folder: Path) -> list[ev.AnyEvent]:
    """A session of the calls that the other benchmarks make."""
    seeded(folder / "calls", events=600)
    with open_desk(folder / "calls") as desk:
        return [item.event() for item in desk.ledger.read("session:s")]


def events_of_inquiry(folder: Path, corpus: Path) -> list[ev.AnyEvent]:
    """A session of the embedded model about a folder of documents."""
    with open_desk(folder / "inquiry") as desk:
        question = "What is the mirror, what does a claim need, and how are sources archived?"
        run_research(desk, question, corpus=[corpus], scope="standard", session_id="s")
        return [item.event() for item in desk.ledger.read("session:s")]


@dataclass(slots=True)
class Writer:
    """Writes the same session again and again under other names, so many events at a time."""

    ledger: Ledger
    events: Sequence[ev.AnyEvent]
    prefix: str
    sessions: int = 0
    left: Any = None
    projection: Any = None
    stream: str = ""

    def write(self, count: int) -> None:
        """So many events more, in as many sessions as that takes."""
        while count > 0:
            part = list(itertools.islice(self.left or (), min(count, 200)))
            if not part:
                self._begin()
                continue
            ts = TS.format(self.projection.head.count)
            extension = extend(self.projection, part, stream=self.stream, ts=ts, refs=Refs())
            self.ledger.append(extension.append)
            self.projection = extension.projection
            count -= len(part)

    def _begin(self) -> None:
        name = f"{self.prefix}{self.sessions}"
        opened, *others = self.events
        assert isinstance(opened, ev.SessionOpened)
        self.sessions += 1
        self.stream = session_stream(name)
        self.projection = nothing_yet(self.stream)
        self.left = iter([replace(opened, session_id=name), *others])


# -- loading ------------------------------------------------------------------------------------------------------


def timed(work: Callable[[], Any]) -> tuple[float, float, Any]:
    """CPU and wall seconds of something, and what it gave."""
    began, worked = time.perf_counter(), time.process_time()
    result = work()
    return time.process_time() - worked, time.perf_counter() - began, result


def load(ledger: Ledger, path: Path) -> int:
    """A whole new mirror; gives its rows."""
    path.unlink(missing_ok=True)
    synced = Mirror(path).sync(ledger)
    assert synced.ok, synced
    return synced.rows


def load_by_hand(ledger: Ledger, path: Path) -> int:
    """As many rows of every table as there are up to `BY_HAND`, read in the same way and inserted one by one."""
    path.unlink(missing_ok=True)
    count = 0
    with duckdb.connect(str(path)) as connection:
        make(connection)
        connection.begin()
        for name, table in MIRRORED.items():
            pages = event_rows(ledger) if table is EVENTS else all_rows(ledger, table)
            marks = ", ".join("?" * len(table.columns))
            kinds = [column_type(name, column) for column in table.columns]
            for row in itertools.islice(itertools.chain.from_iterable(pages), BY_HAND):
                values = [None if kind in ("JSON", "TIMESTAMPTZ") and value == "" else value
                          for kind, value in zip(kinds, row, strict=True)]  # fmt: skip
                connection.execute(f"INSERT INTO {name} VALUES ({marks})", values)
                count += 1
        connection.commit()
    return count


def event_rows(ledger: Ledger) -> Iterator[list[Any]]:
    for page in event_pages(ledger, after=0):
        yield [event_row(event) for event in page]


def loading(
    folder: Path, events: Sequence[ev.AnyEvent], *, count: int, repeat: int
) -> tuple[list[str], list[Bar]]:
    """A whole sync against inserting row by row, in turn."""
    with unsynced(open_desk(folder / "bulk")) as desk:
        Writer(desk.ledger, events, "b").write(count)
        rounds = []
        for _ in range(repeat):
            cpu, wall, rows = timed(lambda: load(desk.ledger, folder / "bulk.duckdb"))
            slow, _, few = timed(lambda: load_by_hand(desk.ledger, folder / "hand.duckdb"))
            rounds.append((rows / cpu, rows / wall, few / slow, (rows / cpu) / (few / slow)))
        size = (folder / "bulk.duckdb").stat().st_size / 1e6
    columns = [middle([r[at] for r in rounds]) for at in range(4)]
    shown = [f"{count:,}", f"{rows:,}", f"{size:.0f}", *(f"{value:,.0f}" for value in columns)]
    return shown, [
        Bar(name="rows a second of CPU time", value=columns[0], bar=60_000, least=True, unit="rows/s"),
        Bar(name="sync / row by row", value=columns[3], bar=30, least=True),
    ]


# -- following ----------------------------------------------------------------------------------------------------


def following(
    folder: Path, events: Sequence[ev.AnyEvent], name: str, *, repeat: int
) -> tuple[list[Any], list[Bar]]:
    """Syncs of an open mirror after so many new events, and of one that is opened for it."""
    found: dict[str, list[float]] = {f"{size:,} open": [] for size in SIZES} | {"1 opened and closed": []}
    path = folder / f"{name}.duckdb"
    with unsynced(open_desk(folder / f"live-{name}")) as desk:
        writer = Writer(desk.ledger, events, "l")
        writer.write(20_000)
        load(desk.ledger, path)
        for _ in range(repeat):
            with for_writing(path) as connection:
                live = LiveMirror(connection)
                for size, (times, _) in SIZES.items():
                    for _ in range(times):
                        writer.write(size)
                        cpu, _, loaded = timed(partial(live.sync, desk.ledger))
                        assert loaded.events == size
                        found[f"{size:,} open"].append(1_000 * cpu)
            writer.write(1)
            cpu, _, synced = timed(lambda: Mirror(path).sync(desk.ledger))
            assert synced.events == 1
            found["1 opened and closed"].append(1_000 * cpu)
        assert Mirror(path).differences(desk.ledger) == []
    rows = [(name, key, f"{middle(values):.1f}", f"{min(values):.1f}") for key, values in found.items()]
    bars = [
        Bar(name=f"{name}: {size:,} new events", value=middle(found[f"{size:,} open"]), bar=bar, unit="ms")
        for size, (_, bar) in SIZES.items()
    ]
    return rows, bars


# -- the law ------------------------------------------------------------------------------------------------------


def killed_sync(home: Path, dice: random.Random) -> None:
    """A process that syncs and is killed at some moment."""
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException), open_desk(home) as desk:
            desk.sync_mirror(rebuild=dice.random() < 0.2)
        os._exit(0)
    time.sleep(dice.uniform(0, 0.12))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def law(folder: Path, *, histories: int, first: int = 0) -> tuple[list[str], list[Bar]]:
    """Random histories with syncs and kills at random moments: how many mirrors differ from their ledger."""
    sys.path.append(str(Path(__file__).resolve().parents[1]))
    from tests.stores.mirror.histories import Play

    syncs = kills = wrong = events = rows = 0
    for seed in range(first, first + histories):
        dice = random.Random(seed)
        with tempfile.TemporaryDirectory(dir=folder) as home, unsynced(open_desk(home)) as desk:
            play = Play(desk, seed)
            for _ in range(30):
                play.step()
                if dice.random() < 0.08:
                    syncs += 1
                    wrong += not desk.sync_mirror().ok
                if seed % 5 == 0 and dice.random() < 0.08:
                    kills += 1
                    killed_sync(Path(home), dice)
            wrong += not desk.sync_mirror().ok or bool(desk.mirror.differences(desk.ledger))
            counted = [
                desk.sql(f"SELECT count(*) FROM {name}", sync=False).fetchall()[0][0] for name in ("events",)
            ]
            events += counted[0]
            rows += sum(
                desk.sql(" UNION ALL ".join(f"SELECT count(*) FROM {name}" for name in ALL), sync=False)
                .fetchnumpy()["count_star()"]
                .tolist()
            )
    shown = [f"{histories:,}", f"{syncs:,}", f"{kills:,}", f"{events:,}", f"{rows:,}"]
    return shown, [Bar(name="mirrors that differ from their ledger", value=wrong, bar=0, unit="")]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--histories", type=int, default=1_000)
    parser.add_argument("--first", type=int, default=0, help="the number of the first history")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--corpus", type=Path, default=Path(__file__).resolve().parents[1] / "docs")
    parser.add_argument(
        "--folder", type=Path, help="where ledgers and mirrors lie; a temporary folder otherwise"
    )
    add_no_fail(parser)
    given = parser.parse_args()
    bars: list[Bar] = []
    with tempfile.TemporaryDirectory(prefix="mirror-", dir=given.folder) as name:
        folder = Path(name)
        mixes = {"calls": events_of_calls(folder), "inquiry": events_of_inquiry(folder, given.corpus)}
        shown, found = loading(folder, mixes["inquiry"], count=given.events, repeat=given.repeat)
        head = ("events", "rows", "MB", "rows/s of CPU", "rows/s", "row by row/s of CPU", "ratio")
        show("a whole mirror", head, [shown])
        bars += found
        rows = []
        for mix, events in mixes.items():
            lines, found = following(folder, events, mix, repeat=given.repeat)
            rows += lines
            bars += found
        show("following", ("", "new events", "CPU ms", "least"), rows)
        if given.histories:
            shown, found = law(folder, histories=given.histories, first=given.first)
            show("random histories", ("histories", "syncs", "killed", "events", "rows"), [shown])
            bars += found
    judge(bars, no_fail=given.no_fail)


if __name__ == "__main__":
    main()
