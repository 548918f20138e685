"""What one fetch may spend: seconds over all of its requests, and bytes for each part of an answer."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from researchdesk.tools.sources.ports import FetchRefused


class Allowance:
    """Seconds until everything has to be over, and bytes that may still come from the network.

    Time spent waiting for a host's turn does not count: see `extend`.
    """

    def __init__(self, *, seconds: float) -> None:
        self.seconds = seconds
        self._ends = time.monotonic() + seconds
        self._bytes = 0
        self._part = ""

    def left(self) -> float:
        """Seconds left, more than zero.

        Raises:
            FetchRefused: ``fetch_timeout``; a server that took all of the time once will take it again.
        """
        left = self._ends - time.monotonic()
        if left <= 0:
            raise self.late()
        return left

    def late(self) -> FetchRefused:
        """The refusal of what took too long."""
        return FetchRefused(
            "fetch_timeout", f"the page did not arrive within {self.seconds:g} s", transient=False
        )

    @property
    def spent(self) -> float:
        """Seconds that were used so far."""
        return self.seconds - (self._ends - time.monotonic())

    def extend(self, seconds: float) -> None:
        """Give time back that was spent waiting on purpose."""
        self._ends += seconds

    def expect(self, part: str, *, bytes_at_most: int) -> None:
        """Say which part of an answer comes next, and how long it may be."""
        self._part, self._bytes = part, bytes_at_most

    def received(self, count: int) -> None:
        """Count bytes from the network.

        Raises:
            FetchRefused: ``fetch_too_large``.
        """
        self._bytes -= count
        if self._bytes < 0:
            raise FetchRefused("fetch_too_large", f"{self._part} is longer than what is read of it")


_local = threading.local()


@contextmanager
def spending(allowance: Allowance) -> Iterator[Allowance]:
    """Make an allowance the one that this thread's connections draw on."""
    before = getattr(_local, "allowance", None)
    _local.allowance = allowance
    try:
        yield allowance
    finally:
        _local.allowance = before


def current() -> Allowance:
    """The allowance of this thread's fetch."""
    allowance = _local.allowance
    assert isinstance(allowance, Allowance)
    return allowance
