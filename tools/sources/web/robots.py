"""What a host's ``robots.txt`` lets this program read, as RFC 9309 says, remembered for a day."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from urllib.parse import urlsplit

from protego import Protego

MAX_BYTES = 512_000
"""What is read of the file; rules beyond are not seen."""
_REMEMBERED = 1_000
_DAY = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The rules of one host for one program."""

    parsed: Protego
    agent: str

    def allow(self, url: str) -> bool:
        """Say whether the page may be read."""
        return self.parsed.can_fetch(url, self.agent)

    @property
    def pause(self) -> float:
        """Seconds that the host wants between two requests."""
        return self.parsed.crawl_delay(self.agent) or 0.0


class Robots:
    """The rules of hosts, each asked for once a day; safe for many threads.

    Args:
        ask: from the URL of a ``robots.txt`` to its text, empty where the host has none. What it raises goes to
            the caller and is not remembered.
        agent: the name under which rules for this program stand.
    """

    def __init__(
        self, ask: Callable[[str], str], *, agent: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._ask, self._agent, self._clock = ask, agent, clock
        self._known: OrderedDict[str, tuple[float, Rules]] = OrderedDict()
        self._asking: dict[str, Future[Rules]] = {}
        self._lock = threading.Lock()

    def of(self, url: str) -> Rules:
        """The rules of the page's host.

        Raises:
            FetchRefused: its ``robots.txt`` could not be had, by no fault of the page.
        """
        parts = urlsplit(url)
        origin = f"{parts.scheme}://{parts.netloc}"
        with self._lock:
            ends, rules = self._known.get(origin, (0.0, None))
            if rules and ends > self._clock():
                return rules
            answer = self._asking.get(origin)
            mine = answer is None
            answer = self._asking.setdefault(origin, answer or Future())
        if mine:  # the others of this host wait for the one that asks, and get what it gets
            self._read(origin, answer)
        return answer.result()

    def _read(self, origin: str, answer: "Future[Rules]") -> None:
        try:
            rules = Rules(parsed=Protego.parse(self._ask(f"{origin}/robots.txt")), agent=self._agent)
        except BaseException as problem:
            answer.set_exception(problem)
        else:
            answer.set_result(rules)
            self._remember(origin, rules)
        finally:
            with self._lock:
                del self._asking[origin]

    def _remember(self, origin: str, rules: Rules) -> None:
        with self._lock:
            self._known[origin] = (self._clock() + _DAY, rules)
            while len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
