"""Copying a whole desk: ``python benchmarks/copying.py [--server URL] [--events 20000] [--sessions 12]``.

A desk of so many events, whose sessions were written by turns, goes from a folder to a server and back, to another
folder and to another schema; each copy is a process of its own. Told are the events a second of the whole copy and of
its three stages, the most memory that the process took, and its CPU time (not that of the server). The server is
``--server``, ``$RESEARCHDESK_TEST_POSTGRES`` or the one on this machine; everything happens in schemas that are
dropped afterwards.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from postgres import new_desks
from sessions import caller, work_mix
from showing import Bar, add_no_fail, finish

from researchdesk.stores.transfer import CopyProgress
from researchdesk.tools.workspace import open_desk

STAGES = ("checking", "copying", "verifying")


def seed(home: Path, *, events: int, sessions: int) -> None:
    """A desk of about so many events; every session archives a page of its own of 20 kB now and then."""
    with open_desk(home) as desk:
        # Nothing of this is kept, so nothing has to reach the disk at once.
        desk.ledger._db.execute("PRAGMA synchronous=OFF")  # type: ignore[attr-defined]
        calls = [caller(desk.session(f"s{n}"), "seed") for n in range(sessions)]
        for call in calls:
            call(
                "deep_research_start",
                {"objective": "Where is it?", "scope_level": "deep", "template": "general"},
            )
            source = {"role": "source", "name": "Text", "content": "The facade opens every session.\n" * 20}
            call("deep_research_save_artifact", {**source, "locator": "notes/text.md"})
        works = [work_mix(events) for _ in calls]
        count = 0
        while desk.ledger.query("SELECT max(global_seq) AS n FROM events")[0]["n"] < events:  # type: ignore[operator]
            for n, (call, work) in enumerate(zip(calls, works, strict=True)):
                call(*next(work))
                count += 1
                if count % 7 == 0:
                    page = {"role": "source", "name": "Page", "content": f"{n} {count} A sentence.\n" * 1_000}
                    call("deep_research_save_artifact", {**page, "locator": f"notes/{count}.md"})


def copy(source: str, target: str) -> None:
    """One copy; prints what it took."""
    began, began_working = time.perf_counter(), time.process_time()
    first: dict[str, float] = {}
    with open_desk(source, make=False) as desk, open_desk(target) as other:

        def note(progress: CopyProgress) -> None:
            first.setdefault(progress.stage, time.perf_counter())

        copied = desk.copy_to(other, on_progress=note)
    ended, worked = time.perf_counter(), time.process_time() - began_working
    times = [first[stage] for stage in STAGES] + [ended]
    stages = {stage: times[n + 1] - times[n] for n, stage in enumerate(STAGES)}
    status = Path("/proc/self/status").read_text()
    peak = int(status.partition("VmHWM:")[2].split()[0]) / 1024
    print(
        json.dumps(
            {
                "all": ended - began,
                "cpu": worked,
                "events": copied.events,
                "bytes": copied.body_bytes,
                "peak": peak,
            }
            | stages
        )
    )


def measured(source: str | Path, target: str | Path) -> dict[str, float]:
    """The same in a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, "--copy", str(source), str(target)],
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--events", type=int, default=20_000)
    parser.add_argument("--sessions", type=int, default=12)
    parser.add_argument("--copy", nargs=2, metavar="HOME", help=argparse.SUPPRESS)
    known = os.environ.get("RESEARCHDESK_TEST_POSTGRES") or "postgresql://127.0.0.1:5432/test"
    parser.add_argument("--server", default=known)
    add_no_fail(parser)
    given = parser.parse_args()
    if given.copy:
        copy(*given.copy)
        return
    with tempfile.TemporaryDirectory(prefix="copy-") as name, new_desks(given.server, 2) as desks:
        home = Path(name)
        os.environ["RESEARCHDESK_HOME"] = str(home / "local")
        seed(home / "a", events=given.events, sessions=given.sessions)
        ways = {
            "folder to server": (home / "a", desks[0]),
            "server to folder": (desks[0], home / "b"),
            "folder to folder": (home / "a", home / "c"),
            "server to server": (desks[0], desks[1]),
        }
        found = {way: measured(*places) for way, places in ways.items()}
    rows = [
        (
            way,
            f"{took['events'] / took['all']:,.0f}",
            *(f"{took['events'] / took[stage]:,.0f}" for stage in STAGES),
            f"{took['peak']:.0f}",
        )
        for way, took in found.items()
    ]
    one = found["folder to server"]
    finish(
        f"a desk of {one['events']:,} events in {given.sessions} sessions, {one['bytes'] / 1e6:.0f} MB of bodies",
        ("", "events a second", *STAGES, "peak MB"),
        rows,
        [
            bar
            for way, took in found.items()
            for bar in (
                Bar(
                    name=way,
                    value=took["cpu"] * 100_000 / took["events"],
                    bar=60,
                    unit="s of CPU for 100,000 events",
                ),
                Bar(name=f"{way}, memory", value=took["peak"], bar=150, unit="MB"),
            )
        ],
        no_fail=given.no_fail,
    )


if __name__ == "__main__":
    main()
