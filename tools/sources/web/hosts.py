"""Being a polite guest: few requests to a host at once, a pause between them, and away when told to stay away."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from researchdesk.tools.sources.ports import FetchRefused


@dataclass(slots=True)
class _Host:
    places: threading.Semaphore
    lock: threading.Lock = field(default_factory=threading.Lock)
    next_start: float = 0.0
    away_until: float = 0.0


class Hosts:
    """Gives each request its turn; safe for many threads.

    Args:
        at_once: requests to one host under way at the same time.
        pause: seconds between the starts of two requests to one host.
        max_wait: seconds that a request waits at most because a host asked for it; where it asked for more,
            requests are refused until then.
        clock, sleep: seconds that only grow, and waiting for some of them.
    """

    def __init__(
        self,
        *,
        at_once: int,
        pause: float,
        max_wait: float,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._at_once, self._pause, self._max_wait = at_once, pause, max_wait
        self._clock, self._sleep = clock, sleep
        self._hosts: dict[str, _Host] = {}
        self._lock = threading.Lock()

    @contextmanager
    def turn(self, host: str, *, pause: float = 0.0) -> Iterator[float]:
        """Wait for a turn at a host, and hold it; yields the seconds that were waited.

        Args:
            host: its name.
            pause: seconds that the host itself wants between two requests; honoured up to ``max_wait``.

        Raises:
            FetchRefused: ``fetch_blocked`` while it wants to be left alone for longer than ``max_wait``.
        """
        place = self._of(host)
        came = self._clock()
        with place.places:
            wait = self._start(place, host, max(self._pause, min(pause, self._max_wait))) - self._clock()
            if wait > 0:
                self._sleep(wait)
            yield self._clock() - came

    def stay_away(self, host: str, seconds: float) -> None:
        """Ask nothing of a host for so long."""
        place = self._of(host)
        with place.lock:
            place.away_until = max(place.away_until, self._clock() + seconds)

    def _of(self, host: str) -> _Host:
        with self._lock:
            if host not in self._hosts:
                self._hosts[host] = _Host(threading.Semaphore(self._at_once))
            return self._hosts[host]

    def _start(self, place: _Host, host: str, pause: float) -> float:
        """Take the next start, so that requests that wait together do not start together."""
        with place.lock:
            now = self._clock()
            if (away := place.away_until - now) > self._max_wait:
                raise FetchRefused("fetch_blocked", f"{host} asks to be left alone for another {away:.0f} s")
            start = max(now, place.next_start, place.away_until)
            place.next_start = start + pause
            return start


def retry_after(value: str, *, now: datetime | None = None) -> float | None:
    """Seconds that a ``Retry-After`` header asks to wait, by number or by date; None where it cannot be read."""
    text = value.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError):
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - (now or datetime.now(UTC))).total_seconds())
