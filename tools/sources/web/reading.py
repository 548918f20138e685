"""Making text of pages in processes of their own, each of which ends where a page takes too long or too much memory.

What a page holds decides how long the libraries take that read it, and neither a thread nor a call into them can be
told to stop. Nothing of this program's environment is handed on to those processes, keys least of all.
"""

import atexit
import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from functools import lru_cache
from queue import LifoQueue

from researchdesk.tools.sources.extracted import Extracted
from researchdesk.tools.sources.ports import FetchRefused
from researchdesk.tools.sources.web.reader import ANSWER, LENGTH_BYTES, Answer

AT_ONCE = min(4, os.cpu_count() or 1)
"""Processes at the most."""
_HANDED_ON = (
    *("PATH", "LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PYTHONHOME", "TMPDIR"),
)


def read_apart(raw: bytes, *, name: str, media_type: str, seconds: float) -> Extracted:
    """As `extract`, within ``seconds`` and a bound of memory.

    Raises:
        FetchRefused: as `extract`; ``fetch_too_large`` where it takes more time or memory, ``fetch_unreadable``
            where it ends the process.
    """
    return _readers(os.getpid()).read(raw, name=name, media_type=media_type, seconds=seconds)


@lru_cache(maxsize=1)
def _readers(process: int) -> "_Readers":
    """The readers of this process; one that was forked has its own."""
    readers = _Readers(process)
    atexit.register(readers.close)
    return readers


class _Readers:
    """Readers that wait for pages, and places for those that are to come."""

    def __init__(self, process: int) -> None:
        self._process = process
        self._places: LifoQueue[_Reader | None] = LifoQueue()
        for _ in range(AT_ONCE):
            self._places.put(None)

    def read(self, raw: bytes, *, name: str, media_type: str, seconds: float) -> Extracted:
        reader, answer = self._places.get(), None
        try:
            if reader is None or not reader.is_running:
                reader = _Reader()
            answer = reader.read(raw, name=name, media_type=media_type, seconds=seconds)
        except OSError as problem:
            cause = f"{name!r} could not be read: no process for it ({problem.strerror or problem})"
            raise FetchRefused("fetch_unreadable", cause, transient=True) from None
        finally:
            keeps = reader is not None and answer is not None and not answer.spent
            if reader is not None and not keeps:
                reader.close()
            self._places.put(reader if keeps else None)
        if answer is None:
            raise reader.refusal(name, seconds)
        if answer.found is None:
            code, text = answer.refusal
            raise FetchRefused(code, text)
        return answer.found

    def close(self) -> None:
        """End the readers that wait, in the process that began them."""
        while self._process == os.getpid() and not self._places.empty():
            if reader := self._places.get_nowait():
                reader.close()


class _Reader:
    """One process that reads a page at a time. Raises: OSError where none can be begun."""

    def __init__(self) -> None:
        paths = os.pathsep.join(path for path in sys.path if path)
        handed_on = {name: os.environ[name] for name in _HANDED_ON if name in os.environ}
        self._late = False
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "researchdesk.tools.sources.web.reader"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**handed_on, "PYTHONPATH": paths},
            start_new_session=True,  # Ctrl-C is for this program, which ends its readers itself
        )

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def read(self, raw: bytes, *, name: str, media_type: str, seconds: float) -> Answer | None:
        """The answer; None where the process ended without one."""
        ending = threading.Timer(seconds, self._end)
        ending.daemon = True
        ending.start()
        try:
            return self._answer(
                raw, {"size": len(raw), "name": name, "media_type": media_type, "seconds": seconds}
            )
        finally:
            ending.cancel()
            ending.join()

    def _answer(self, raw: bytes, about: dict[str, object]) -> Answer | None:
        given, taken = self._process.stdin, self._process.stdout
        assert given is not None and taken is not None
        with contextlib.suppress(BrokenPipeError):  # it has ended; there is nothing to take either
            given.write(json.dumps(about).encode() + b"\n")
            given.write(raw)
            given.flush()
        size = int.from_bytes(taken.read(LENGTH_BYTES))
        answer = taken.read(size) if size else b""
        return ANSWER.validate_json(answer) if size and len(answer) == size else None

    def _end(self) -> None:
        self._late = True
        self._process.kill()

    def refusal(self, name: str, seconds: float) -> FetchRefused:
        """What it means that the process, which has ended, gave no answer."""
        if self._late or self._process.returncode == -signal.SIGXCPU:
            return FetchRefused("fetch_too_large", f"{name!r} takes more than {seconds:g} s to make text of")
        return FetchRefused("fetch_unreadable", f"{name!r} cannot be taken apart: its reader broke down")

    def close(self) -> None:
        self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with contextlib.suppress(OSError):
                pipe.close()
        self._process.wait()
