"""Several workers of one command: child processes, started again when they die, stopped and ended together."""

import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

from langgraph.runtime import RunControl

from researchdesk.graph.console import note
from researchdesk.graph.exits import Exit

SOON = 20.0
"""Seconds: who dies sooner after its start is started again later each time."""
LONGEST_PAUSE = 60.0
PATIENCE = 8
"""Early deaths in a row after which a child that should end by itself is given up."""
_STEP = 0.1
_ENDS = frozenset(int(code) for code in Exit)


@dataclass(slots=True)
class _Place:
    """The place of one worker, whichever process works there now."""

    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    again_at: float = 0.0
    early_deaths: int = 0
    code: int | None = None


def supervise(command: Sequence[str], *, jobs: int, ends: bool, control: RunControl) -> Exit:
    """Run ``jobs`` workers until they have ended; a worker that dies is started again.

    Each child is the given command of this program, in a process group of its own, so that a terminal's Ctrl-C
    reaches this process alone. It has a pipe as stdin that ends with this process, however that ends.

    Args:
        command: arguments of the command line for one worker.
        ends: whether a worker ends by itself when its work is done.
        control: when it asks for a stop, the workers are told to stop.
    """
    places = [_Place() for _ in range(jobs)]
    told = False
    while any(place.code is None for place in places):
        if control.drain_requested and not told:
            told = True
            for place in places:
                if place.process is not None:
                    place.process.terminate()
        for place in places:
            _look_after(place, command, ends=ends, stops=told)
        time.sleep(_STEP)
    codes = {place.code for place in places}
    return next(
        (code for code in (Exit.FAILED, Exit.INTEGRITY, Exit.USAGE, Exit.UNFINISHED) if code in codes),
        Exit.COMPLETED,
    )


def _look_after(place: _Place, command: Sequence[str], *, ends: bool, stops: bool) -> None:
    """Start what has to be started, and note what has ended."""
    if place.code is not None:
        return
    if place.process is None:
        if stops:
            place.code = Exit.COMPLETED
        elif time.monotonic() >= place.again_at:
            place.process, place.started = _started(command), time.monotonic()
        return
    code = place.process.poll()
    if code is None:
        return
    if place.process.stdin is not None:
        place.process.stdin.close()
    pid, place.process = place.process.pid, None
    if code in _ENDS and (ends or stops):
        place.code = code
    elif stops:
        place.code = Exit.UNFINISHED
    else:
        _died(place, pid, code, ends=ends)


def _died(place: _Place, pid: int, code: int, *, ends: bool) -> None:
    now = time.monotonic()
    early = now - place.started < SOON
    place.early_deaths = place.early_deaths + 1 if early else 0
    said = f"worker process {pid} died ({f'signal {-code}' if code < 0 else f'exit {code}'})"
    if ends and place.early_deaths >= PATIENCE:
        note(f"{said}, {PATIENCE} times in a row; given up")
        place.code = Exit.FAILED
        return
    pause = min(2.0 ** (place.early_deaths - 2), LONGEST_PAUSE) if place.early_deaths > 1 else 0.0
    place.again_at = now + pause
    note(f"{said}; another one takes its place{f' in {pause:.0f} s' if pause else ''}")


def _started(command: Sequence[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "researchdesk.graph.cli", *command],
        stdin=subprocess.PIPE,
        process_group=0,
    )
