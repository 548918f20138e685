"""Killing the command line itself: ``python benchmarks/kill_command.py CORPUS [--kills 50] [--seed 0]``.

`researchdesk run` is killed with SIGKILL at moments spread over its whole life, start-up and indexing included,
and `researchdesk resume` takes it up, half of the times with the checkpoint file deleted. In the end the sources,
the report and the counts of what was done have to be those of a run that nobody disturbed.
"""

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import track

from researchdesk.tools.workspace import open_desk

QUESTION = "What minimum password length do current guidelines require, and do they agree?"
COMMAND = [sys.executable, "-m", "researchdesk.graph.cli"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a finished run has done: its sources, its report, and how often each kind of event and call stands."""

    sources: tuple[str, ...]
    report: str
    kinds: tuple[tuple[str, int], ...]
    problems: tuple[str, ...]


def run_command(corpus: Path, home: Path) -> list[str]:
    return [*COMMAND, "run", QUESTION, "--corpus", str(corpus), "--scope", "quick", "--home", str(home)]


def read_outcome(home: Path) -> Outcome:
    """The outcome; lost requests are left out, since only they may differ."""
    with open_desk(home) as desk:
        session = desk.existing()
        run = session.run
        assert run is not None
        events = session.events()
        kinds = Counter(event.type for event in events)
        kinds["model_called"] = kinds["model_answered"]
        calls = desk.ledger.query(
            "SELECT turn_id, id, count(*) AS n FROM tool_calls GROUP BY 1, 2 HAVING n > 1"
        )
        problems = [*desk.verify().problems, *(f"twice: {call}" for call in calls)]
        left = desk.ledger.query("SELECT count(*) AS n FROM gathered")[0]["n"]
        problems += [f"{left} gathered rows are left"] if left else []
        report = run.artifacts.get(run.report_artifact_id)
        return Outcome(
            sources=tuple(sorted(source.url for source in run.all_sources)),
            report=desk.records.text(report.content_hash) if report else "",
            kinds=tuple(sorted(kinds.items())),
            problems=tuple(problems),
        )


def killed_run(corpus: Path, home: Path, *, after: float, forget: bool) -> int:
    """Kill the command after so many seconds, resume it, and give the exit code of what ended it."""
    child = subprocess.Popen(run_command(corpus, home), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(after)
    child.kill()
    child.wait()
    if forget:
        for file in home.glob("checkpoints.sqlite*"):
            file.unlink()
    resumed = subprocess.run([*COMMAND, "resume", "--home", str(home)], capture_output=True)
    if resumed.returncode == 1 and not (home / "ledger.sqlite").exists():
        resumed = subprocess.run(
            run_command(corpus, home), capture_output=True
        )  # it was killed before it began
    elif resumed.returncode == 1 and b"no session" in resumed.stderr:
        resumed = subprocess.run(run_command(corpus, home), capture_output=True)
    return resumed.returncode


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    console, dice = Console(), random.Random(given.seed)
    failed = 0
    with tempfile.TemporaryDirectory(prefix="kills-") as name:
        began = time.monotonic()
        subprocess.run(run_command(given.corpus, Path(name) / "whole"), capture_output=True, check=True)
        seconds, wanted = time.monotonic() - began, read_outcome(Path(name) / "whole")
        for number in track(range(given.kills), description="killing", console=console):
            after = seconds * (number + dice.random()) / given.kills
            home = Path(name) / f"killed-{number}"
            code = killed_run(given.corpus, home, after=after, forget=number % 2 == 0)
            found = read_outcome(home)
            if code or found.problems or found != wanted:
                failed += 1
                console.print(
                    f"kill {number} after {after:.2f} s: exit {code}, {found.problems or 'another outcome'}"
                )
                console.print(sorted(set(found.kinds) ^ set(wanted.kinds)))
    console.print(
        f"{given.kills - failed} of {given.kills} killed runs ended as the undisturbed one ({seconds:.1f} s)"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
