"""Killing a research run at many moments and resuming it: nothing is lost, done twice or asked again.

``python benchmarks/kill_and_resume.py CORPUS [--kills 50] [--seed 0] [--signals]``

The run is made once without a kill; then it is killed once or twice in a home of its own, its checkpoint file
kept, deleted or filled with garbage, and resumed. Every final ledger has to be the undisturbed one's. With
``--signals`` the run gets SIGTERM instead and has to stop by itself, cleanly.
"""

import argparse
import multiprocessing
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from watched_run import QUESTION, SESSION, Job, Moment, attempts, drive, read_log

from researchdesk.stores.codec import StoredEvent
from researchdesk.tools.workspace import Desk, open_desk

PATIENCE = 120.0
PRELOAD = ["researchdesk.graph.runner", "researchdesk.graph.offline.model", "watched_run"]
CHECKPOINTS = ("kept", "deleted", "garbage", "deleted")
_processes = multiprocessing.get_context("forkserver")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What is left of a run: its events without what may differ, its sources, its report, what it did."""

    status: str
    events: tuple[tuple[str, ...], ...]
    lost_requests: int
    sources: tuple[str, ...]
    report: str
    chain: dict[str, str]
    problems: tuple[str, ...]
    asked: tuple[str, ...]
    staged: Counter[str]
    fetched: Counter[str]


@dataclass(slots=True, kw_only=True)
class Trial:
    """One killed run: where it was killed, and what was wrong with it in the end."""

    moments: list[Moment]
    checkpoint: str
    problems: list[str] = field(default_factory=list)
    lost_requests: int = 0
    repeated_gathers: int = 0
    stopped_after: float = 0.0


def attempt(job: Job) -> tuple[int, float]:
    """One process of the run; its exit code and, when it had to be stopped, how long it took to end."""
    process = _processes.Process(target=drive, args=(job,))
    process.start()
    stopped = time.monotonic()
    if job.moment is not None and job.moment.kind == "seconds":
        process.join(job.moment.at)
        stopped = time.monotonic()
        if process.is_alive():
            (process.terminate if job.signals else process.kill)()
    process.join(PATIENCE)
    if process.is_alive():
        process.kill()
        process.join()
    assert process.exitcode is not None
    return process.exitcode, time.monotonic() - stopped


def read_outcome(home: Path, log: Path) -> Outcome:
    """What the ledger and the log say after the last attempt."""
    lines = read_log(log)
    with open_desk(home) as desk:
        session = desk.existing(SESSION)
        run = session.run
        assert run is not None
        stored = session.events()
        events, lost = comparable([(e.type, orjson.loads(e.payload)) for e in stored])
        report = run.artifacts.get(run.report_artifact_id)
        return Outcome(
            status=f"{run.status} {run.stop_reason or ''}".strip(),
            events=events,
            lost_requests=lost,
            sources=tuple(source.url for source in run.all_sources),
            report=desk.records.text(report.content_hash) if report else "",
            chain={str(e.seq): e.hash for e in stored},
            problems=tuple(ledger_problems(desk, stored)),
            asked=tuple(line[1] for line in lines if line[0] == "asked"),
            staged=Counter(line[1] for line in lines if line[0] == "staged"),
            fetched=Counter(line[1] for line in lines if line[0] == "fetched"),
        )


def ledger_problems(desk: Desk, stored: list[StoredEvent]) -> list[str]:
    """What is wrong with a ledger by itself."""
    found = [str(problem) for problem in desk.verify().problems]
    for kind, keys in (
        ("call_recorded", ("turn_id", "tool_call_id")),
        ("research_artifact_recorded", ("artifact_id",)),
        ("source_recorded", ("url",)),
    ):
        bodies = (orjson.loads(event.payload) for event in stored if event.type == kind)
        times = Counter(tuple(body[key] for key in keys) for body in bodies)
        found += [f"{kind} twice: {key}" for key, count in times.items() if count > 1]
    left = desk.ledger.query("SELECT count(*) AS n FROM gathered")[0]["n"]
    return [*found, f"{left} gathered rows are left"] if left else found


def comparable(events: list[tuple[str, dict[str, Any]]]) -> tuple[tuple[tuple[str, ...], ...], int]:
    """Kinds and identities in order, without requests whose answer was lost; and the number of those.

    Code's own calls are named after the sequence, which lost requests shift; so are the artifacts that they make.
    """
    found: list[tuple[str, ...]] = []
    artifacts: dict[str, str] = {}
    lost = 0
    for place, (kind, body) in enumerate(events):
        following = events[place + 1][0] if place + 1 < len(events) else ""
        if kind == "model_called" and following not in ("model_answered", "model_failed"):
            lost += 1
            continue
        body = {**body, "artifact_id": artifacts.setdefault(body.get("artifact_id", ""), str(len(artifacts)))}
        if body.get("tool_call_id", "").startswith("code:"):
            body |= {"tool_call_id": "code", "input_digest": ""}
        keys = ("turn_id", "tool_call_id", "name", "input_digest", "status", "code", "artifact_id")
        same = [str(body[key]) for key in (*keys, "content_hash", "url", "query", "stage") if key in body]
        found.append((kind, *same))
    return tuple(found), lost


def differences(seen: Outcome, wanted: Outcome, log: Path, *, clean: bool) -> list[str]:
    """What a killed run has other than the undisturbed one; ``clean`` says that nothing may have been lost."""
    found = list(seen.problems)
    if seen.status != wanted.status:
        found.append(f"ended {seen.status}, not {wanted.status}")
    if seen.sources != wanted.sources:
        found.append("other sources")
    if seen.report != wanted.report:
        found.append("another report")
    if seen.events != wanted.events:
        at = next(
            (n for n, pair in enumerate(zip(seen.events, wanted.events, strict=False)) if pair[0] != pair[1]),
            min(len(seen.events), len(wanted.events)),
        )
        found.append(f"other events from the {at + 1}th on ({len(seen.events)} for {len(wanted.events)})")
    found += [f"staged again: {key}" for key in seen.staged - wanted.staged]
    if collapsed(seen.asked) != collapsed(wanted.asked):
        found.append("other requests")
    found += log_problems(seen, log)
    if clean and (seen.lost_requests or seen.fetched != wanted.fetched):
        found.append("a clean stop lost an answer or a document")
    return found


def log_problems(seen: Outcome, log: Path) -> list[str]:
    """Acknowledged events that are gone, answers that were asked for again, documents read in vain."""
    found, last_ask = [], ""
    lines = read_log(log)
    for line in lines:
        if line[0] == "event" and seen.chain.get(line[1]) != line[2]:
            found.append(f"acknowledged event {line[1]} ({line[3]}) is lost")
        if line[0] == "event" and line[3] == "model_answered":
            last_ask = f"recorded {last_ask}"
        if line[0] == "asked":
            if last_ask == f"recorded {line[1]}":
                found.append("asked again for a recorded answer")
            last_ask = line[1]
    *_, last = attempts(lines)
    read = Counter(line[1] for line in last if line[0] == "fetched")
    kept = Counter(line[1] for line in last if line[0] == "staged")
    return found + [f"read in vain: {key}" for key in read - kept]


def collapsed(values: tuple[str, ...]) -> list[str]:
    """The values without direct repetitions."""
    return [value for n, value in enumerate(values) if n == 0 or values[n - 1] != value]


def plan(kills: int, wanted: Outcome, seconds: float, dice: random.Random) -> list[Trial]:
    """Moments over the whole run: half by the clock, half at what the run does; every fourth is killed twice."""
    writes = sum(
        1 for event in wanted.events if event[0] in ("call_recorded", "model_called", "model_answered")
    )
    often = {"write": writes, "inside": writes, "written": writes, "staged": wanted.staged.total()}
    often |= {"fetched": wanted.fetched.total(), "answered": len(wanted.asked)}
    kinds = list(often)
    trials = []
    for n in range(kills):
        share = (n + dice.random()) / kills
        kind = kinds[n // 2 % len(kinds)]
        at: float = max(1, round(share * often[kind]))
        moments = [Moment(kind="seconds", at=share * seconds) if n % 2 else Moment(kind=kind, at=at)]
        if n % 4 == 0:
            moments.append(Moment(kind="written", at=dice.randint(1, 12)))
        trials.append(Trial(moments=moments, checkpoint=CHECKPOINTS[n // 2 % len(CHECKPOINTS)]))
    return trials


def make(trial: Trial, folder: Path, corpus: Path, index: Path, wanted: Outcome, *, signals: bool) -> None:
    """Kill, resume and judge one run."""
    home, log = new_home(folder, index), folder / "log"
    for moment in trial.moments:
        code, took = attempt(Job(home=home, corpus=corpus, log=log, moment=moment, signals=signals))
        trial.stopped_after = max(trial.stopped_after, took if moment.kind == "seconds" else 0)
        before_it_listened = code == -signal.SIGTERM and not read_log(log)
        if signals and code not in (0, 3, 5) and not before_it_listened:
            trial.problems.append(f"exit {code} after SIGTERM")
        spoil(home / "checkpoints.sqlite", trial.checkpoint)
    code, _ = attempt(Job(home=home, corpus=corpus, log=log))
    if code != (0 if wanted.status == "completed" else 3):
        trial.problems.append(f"exit {code} after the resume: {(home / 'stderr.txt').read_text()[-300:]}")
        return
    seen = read_outcome(home, log)
    trial.lost_requests = seen.lost_requests
    trial.repeated_gathers = (seen.fetched - wanted.fetched).total()
    trial.problems += differences(seen, wanted, log, clean=signals)


def new_home(folder: Path, index: Path) -> Path:
    """A home with a ready index, so that each run is quick."""
    home = folder / "home"
    home.mkdir(parents=True)
    if index.exists():
        shutil.copy(index, home / "index.sqlite")
    return home


def spoil(checkpoints: Path, how: str) -> None:
    """Keep the checkpoint file, delete it, or fill it with garbage."""
    if how == "kept" or not checkpoints.exists():
        return
    for suffix in ("", "-wal", "-shm"):
        checkpoints.with_name(checkpoints.name + suffix).unlink(missing_ok=True)
    if how == "garbage":
        checkpoints.write_bytes(b"SQLite format 3\x00" + random.Random(7).randbytes(40_000))


def print_table(console: Console, trials: list[Trial], *, signals: bool) -> None:
    """A line for each kind of moment."""
    table = Table("moment", "runs", "stops", "no checkpoint", "requests lost", "reads repeated", "failed")
    for kind in dict.fromkeys(trial.moments[0].kind for trial in trials):
        own = [trial for trial in trials if trial.moments[0].kind == kind]
        table.add_row(
            kind,
            str(len(own)),
            str(sum(len(trial.moments) for trial in own)),
            str(sum(trial.checkpoint != "kept" for trial in own)),
            str(sum(trial.lost_requests for trial in own)),
            str(sum(trial.repeated_gathers for trial in own)),
            str(sum(bool(trial.problems) for trial in own)),
        )
    console.print(table)
    for trial in trials:
        for problem in trial.problems:
            where = ", ".join(f"{moment.kind} {moment.at:.3g}" for moment in trial.moments)
            console.print(f"[{where}; checkpoint {trial.checkpoint}] {problem}", markup=False)
    if signals:
        slowest = max(trial.stopped_after for trial in trials)
        console.print(f"slowest stop after SIGTERM: {slowest:.2f} s")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--kills", type=int, default=50, help="runs to disturb")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--signals", action="store_true", help="SIGTERM and a clean stop instead of SIGKILL")
    given = parser.parse_args()
    _processes.set_forkserver_preload(PRELOAD)
    console = Console()
    corpus = given.corpus.resolve()
    with tempfile.TemporaryDirectory(prefix="kill-and-resume-") as name:
        folder = Path(name)
        wanted, seconds, index = undisturbed(folder, corpus)
        console.print(
            f"{QUESTION}\nundisturbed: {wanted.status}, {len(wanted.events)} events, "
            f"{len(wanted.sources)} sources, {len(wanted.asked)} requests, {seconds:.1f} s"
        )
        trials = plan(given.kills, wanted, seconds, random.Random(given.seed))
        with Progress(console=console, transient=True) as progress:
            for n, trial in enumerate(progress.track(trials, description="stopping and resuming")):
                make(trial, folder / str(n), corpus, index, wanted, signals=given.signals)
                if not trial.problems:
                    shutil.rmtree(folder / str(n))
    print_table(console, trials, signals=given.signals)
    failed = sum(bool(trial.problems) for trial in trials)
    stops = sum(len(trial.moments) for trial in trials)
    verb = "stops by SIGTERM" if given.signals else "kills"
    console.print(
        f"{len(trials) - failed} of {len(trials)} runs ended as the undisturbed one, after {stops} {verb}"
    )
    return 1 if failed else 0


def undisturbed(folder: Path, corpus: Path) -> tuple[Outcome, float, Path]:
    """The run without a kill, made twice: the first builds the index, the second is timed."""
    index = folder / "index.sqlite"
    first = new_home(folder / "first", index)
    attempt(Job(home=first, corpus=corpus, log=folder / "first" / "log"))
    shutil.copy(first / "index.sqlite", index)
    home, log = new_home(folder / "undisturbed", index), folder / "undisturbed" / "log"
    started = time.monotonic()
    attempt(Job(home=home, corpus=corpus, log=log))
    seconds = time.monotonic() - started
    one, two = read_outcome(first, folder / "first" / "log"), read_outcome(home, log)
    assert (one.events, one.report) == (two.events, two.report), "two undisturbed runs differ"
    assert collapsed(one.asked) == collapsed(two.asked), "two undisturbed runs ask differently"
    return two, seconds, index


if __name__ == "__main__":
    sys.exit(main())
