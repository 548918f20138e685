"""Stopping a run by a signal: the first one asks for a clean end, a second one ends at once."""

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from types import FrameType

from langgraph.runtime import RunControl

from researchdesk.graph.exits import Exit

SIGNALS = (signal.SIGINT, signal.SIGTERM)
_SHOW_CURSOR = b"\x1b[?25h"


@contextlib.contextmanager
def stoppable() -> Iterator[RunControl]:
    """A control that SIGINT and SIGTERM drain while the block runs; the handlers before it come back after it.

    What is recorded is on disk at any moment, so that ending at once loses no more than the step in work.
    """
    control = RunControl()
    if threading.current_thread() is not threading.main_thread():
        yield control  # only the main thread gets signals
        return

    def stop(number: int, frame: FrameType | None) -> None:
        # Written directly: a handler may have interrupted a write to the buffered stream.
        if control.drain_requested:
            os.write(2, (_SHOW_CURSOR if os.isatty(2) else b"") + b"\nended at once\n")
            os._exit(Exit.UNFINISHED)
        control.request_drain()
        os.write(2, b"\nstopping after the step in work; once more ends at once\n")

    before = [(number, signal.signal(number, stop)) for number in SIGNALS]
    try:
        yield control
    finally:
        for number, handler in before:
            signal.signal(number, handler)
