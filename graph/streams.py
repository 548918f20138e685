"""The standard streams of a command: closed ones, full ones, and those that nobody reads any more."""

import contextlib
import os
import sys
from typing import IO, Any

from researchdesk.state.errors import Unavailable


def open_streams() -> None:
    """Put the null device where a standard stream is closed, so that no file opened later gets its number.

    Raises:
        Unavailable: stdout was closed: no result could be printed.
    """
    closed = sys.stdout is None
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            null = os.open(os.devnull, os.O_RDWR)
            if null != number:
                os.dup2(null, number)
                os.close(null)
            setattr(sys, name, os.fdopen(number, mode))
    if closed:
        raise Unavailable(
            "stdout is closed, so that no result can be printed; send it to a file or /dev/null"
        )


def write_out(text: str) -> None:
    """Write to stdout at once.

    Raises:
        BrokenPipeError: nobody reads it any more.
        Unavailable: it cannot be written, as to a disk that is full.
    """
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as problem:
        raise stdout_failed(problem) from None


def stdout_failed(problem: OSError) -> Unavailable:
    """The error about a stdout that cannot be written; nothing is written there any more."""
    let_go(sys.stdout)
    return Unavailable(f"cannot write to stdout: {problem.strerror or problem}")


def let_go(stream: IO[str]) -> None:
    """Lead a broken stream to the null device: its buffer must not fail once more when the process ends."""
    with contextlib.suppress(OSError):
        null = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(null, stream.fileno())
        finally:
            os.close(null)


class Unbreakable:
    """A stream for what is said beside the result: where it cannot be written it is lost, and nothing breaks."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write, if possible."""
        try:
            return self._stream.write(text)
        except OSError:
            let_go(self._stream)
            return len(text)

    def flush(self) -> None:
        """Flush, if possible."""
        try:
            self._stream.flush()
        except OSError:
            let_go(self._stream)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
