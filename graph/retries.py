"""Failures of a model's provider: which may pass, whether they cost, and how long to wait before the next try."""

import random
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from langgraph.runtime import get_runtime

LONGEST_WAIT = 60.0
"""Seconds; a provider that asks for more is asked again earlier."""
LONGEST_BACKOFF = 30.0
_PASSING_STATUS = (408, 409, 425, 429)
_SLICE = 0.2


def is_passing(problem: BaseException) -> bool:
    """Whether asking again may work.

    A provider's refusal is final (a bad key, an unknown model). Everything else may pass: a full or broken server, a
    dropped connection, an answer that the provider's client could not read.
    """
    status = status_of(problem)
    if status is not None and 400 <= status < 500:
        return status in _PASSING_STATUS
    return not isinstance(problem, NotImplementedError | ImportError)


def status_of(problem: BaseException) -> int | None:
    """The HTTP status of a provider's error, or None where no answer came."""
    for cause in _causes(problem):
        for holder in (cause, getattr(cause, "response", None)):
            for name in ("status_code", "code", "status"):
                status = getattr(holder, name, None)
                if isinstance(status, int) and 400 <= status < 600:
                    return status
    return None


def _causes(problem: BaseException) -> Iterator[BaseException]:
    """An error and what it was raised from: LangChain's classes wrap those of some providers."""
    seen: set[int] = set()
    cause: BaseException | None = problem
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        yield cause
        cause = cause.__cause__ or cause.__context__


def wait_before(problem: BaseException, *, tries: int, backoff: float) -> float:
    """Seconds until the next try: what the provider asks for, else twice as long each time, with chance in it.

    Args:
        tries: how often the request was made by now.
        backoff: the longest first wait.
    """
    asked = _asked_for(problem)
    if asked is not None:
        return round(min(asked, LONGEST_WAIT), 3)
    longest = min(backoff * 2.0 ** (tries - 1), LONGEST_BACKOFF)
    return round(random.uniform(0.5, 1.0) * longest, 3)


def _asked_for(problem: BaseException) -> float | None:
    """What the headers ``retry-after-ms`` and ``retry-after`` (seconds or a date) say, in seconds."""
    for cause in _causes(problem):
        headers = getattr(getattr(cause, "response", None), "headers", None) or {}
        if (milliseconds := _number(_header(headers, "retry-after-ms"))) is not None:
            return milliseconds / 1000
        if (value := _header(headers, "retry-after")) is not None:
            return seconds if (seconds := _number(value)) is not None else _until(value)
    return None


def _header(headers: Any, name: str) -> str | None:
    value = headers.get(name) if hasattr(headers, "get") else None
    return value if isinstance(value, str) else None


def _number(value: str | None) -> float | None:
    try:
        number = float(value or "")
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None


def _until(date: str) -> float | None:
    try:
        then = parsedate_to_datetime(date)
    except (ValueError, OverflowError):
        return None
    then = then if then.tzinfo else then.replace(tzinfo=UTC)
    return max(0.0, (then - datetime.now(UTC)).total_seconds())


def pause(seconds: float, *, stops: Callable[[], bool] | None = None) -> None:
    """Wait, but no longer than until the run is asked to stop."""
    stops = stops or _is_drained
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0 and not stops():
        time.sleep(min(left, _SLICE))


def _is_drained() -> bool:
    try:
        return get_runtime().drain_requested
    except RuntimeError:  # outside a graph
        return False
