"""Stopping a run by a signal: the first one asks for a clean end, a second one ends at once."""

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import TYPE_CHECKING

from researchdesk.graph.exits import Exit

if TYPE_CHECKING:
    from langgraph.runtime import RunControl

SIGNALS = (signal.SIGINT, signal.SIGTERM)
_SHOW_CURSOR = b"\x1b[?25h"


_process_is_ours = False


def own_process() -> None:
    """Say that this process does nothing after its run but exit, so that a late signal need not end it."""
    global _process_is_ours
    _process_is_ours = True


@contextlib.contextmanager
def stoppable(*, quiet: bool = False) -> "Iterator[RunControl]":
    """A control that SIGINT and SIGTERM drain while the block runs; the handlers before it come back after it.

    In a process of its own they are ignored from then on: what the run ended with stands.

    What is recorded is on disk at any moment, so that ending at once loses no more than the step in work.
    """
    from langgraph.runtime import RunControl

    control = RunControl()
    if threading.current_thread() is not threading.main_thread():
        yield control  # only the main thread gets signals
        return

    def stop(number: int, frame: FrameType | None) -> None:
        if control.drain_requested:
            _say((_SHOW_CURSOR if os.isatty(2) else b"") + b"\nended at once\n")
            os._exit(Exit.UNFINISHED)
        control.request_drain()
        if not quiet:
            _say(b"\nstopping after the step in work; once more ends at once\n")

    before = [(number, signal.signal(number, stop)) for number in SIGNALS]
    try:
        yield control
    finally:
        for number, handler in before:
            signal.signal(number, signal.SIG_IGN if _process_is_ours else handler)


def end_with_parent(control: "RunControl") -> None:
    """Ask for a clean end once stdin ends, which only the parent holds open: it is gone.

    Where a clean end was asked for before, this process ends at once.
    """

    def watch() -> None:
        with contextlib.suppress(OSError):
            while os.read(0, 1024):
                pass
        if control.drain_requested:
            os._exit(Exit.UNFINISHED)
        control.request_drain()

    threading.Thread(target=watch, name="researchdesk-parent", daemon=True).start()


def _say(text: bytes) -> None:
    # Written directly: a handler may have interrupted a write to the buffered stream.
    with contextlib.suppress(OSError):
        os.write(2, text)
