"""One exchange with a search service over HTTP: asked within a deadline, read within a bound, its failure typed.

```
429                            search_rate_limited, with the seconds to wait where the service says them
no answer in time              search_timeout
400, 414, 422                  search_bad_query
401, 402, 403                  search_unavailable, not to be tried again: the key or the plan
any other status, a lost line, search_unavailable
an answer of another form
```

A key is sent as a header and never shown: not in an address, an error or a log.
"""

import json
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from importlib.metadata import version
from typing import Any

import httpx

from researchdesk.state.redaction import redact
from researchdesk.tools.sources.ports import SearchFailed
from researchdesk.tools.sources.providers.deadline import Late, within

TIMEOUT = 20.0
MAX_BYTES = 4_000_000
_TOLD_CHARS = 200
_CODINGS = ("gzip", "deflate")
_BAD_QUERY = frozenset({400, 414, 422})
_NO_ACCESS = frozenset({401, 402, 403, 432, 433})


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is sent: the method's default is GET; ``body`` makes it a POST of JSON."""

    url: str
    params: Mapping[str, str | int] | None = None
    headers: Mapping[str, str] | None = None
    body: Mapping[str, Any] | None = None


class Exchange:
    """The way to one service.

    Args:
        service: its name, as it stands in messages.
        timeout: seconds for a whole exchange.
        transport: what carries the requests; by default the network, without following redirects.
        secret: the key, to be taken out of whatever the service says.
    """

    def __init__(
        self,
        service: str,
        *,
        timeout: float = TIMEOUT,
        transport: httpx.BaseTransport | None = None,
        secret: str = "",
    ) -> None:
        self._service = service
        self._timeout = timeout
        self._transport = transport
        self._secret = secret

    def json(self, asked: Asked) -> Any:
        """Ask, and read the answer as JSON. Raises: SearchFailed."""
        body = self.text(asked)
        try:
            return json.loads(body)
        except (ValueError, RecursionError):
            raise self.malformed("it is not JSON") from None

    def text(self, asked: Asked) -> bytes:
        """Ask, and give the body of an answer with status 200. Raises: SearchFailed."""
        try:
            return within(self._timeout, lambda: self._read(asked))
        except (Late, httpx.TimeoutException):
            raise SearchFailed(
                "search_timeout", f"{self._service} did not answer within {self._timeout:g} seconds."
            ) from None
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as problem:
            # Only the kind of problem is told: its words may hold the address with the query.
            kind = type(problem).__name__
            raise SearchFailed(
                "search_unavailable", f"{self._service} could not be reached ({kind})."
            ) from None

    def malformed(self, what: str) -> SearchFailed:
        """The failure of a service that answered, but not in its form."""
        return SearchFailed(
            "search_unavailable", f"{self._service} answered in a form that cannot be read: {what}."
        )

    def _read(self, asked: Asked) -> bytes:
        ends = time.monotonic() + self._timeout
        method = "POST" if asked.body is not None else "GET"
        with (
            httpx.Client(transport=self._transport, timeout=self._timeout, headers=_identity()) as client,
            client.stream(
                method, asked.url, params=asked.params, headers=asked.headers, json=asked.body
            ) as response,
        ):
            body = self._bounded(response, ends)
            if response.status_code != 200:
                raise self._failure(response, body)
            return body

    def _bounded(self, response: httpx.Response, ends: float) -> bytes:
        coding = response.headers.get("content-encoding", "").strip().lower()
        if coding not in (
            "",
            "identity",
            *_CODINGS,
        ):  # two of them, or a better one, unpack a little to gigabytes
            raise self.malformed(f"it is packed as {coding[:40]!r}")
        body = bytearray()
        for chunk in response.iter_bytes():
            body += chunk
            if len(body) > MAX_BYTES:
                raise self.malformed(f"it is larger than {MAX_BYTES:,} bytes")
            if time.monotonic() > ends:
                raise Late
        return bytes(body)

    def _failure(self, response: httpx.Response, body: bytes) -> SearchFailed:
        status, said = response.status_code, self._said(body)
        if status == 429:
            return self._too_many(response, said)
        if status in _BAD_QUERY:
            return SearchFailed("search_bad_query", f"{self._service} refused the query ({status}){said}")
        if status in _NO_ACCESS:
            text = f"{self._service} gave no access ({status}): check the key, the plan and its limits{said}"
            return SearchFailed("search_unavailable", text, transient=False)
        if 300 <= status < 400:
            text = f"{self._service} redirects ({status}), which is not followed; set its base URL to where it leads."
            return SearchFailed("search_unavailable", text, transient=False)
        wait = _seconds(response.headers.get("retry-after"))
        text = f"{self._service} answered with an error ({status}){said}"
        return SearchFailed(
            "search_unavailable", text, transient=status >= 500 or status == 408, retry_after=wait
        )

    def _too_many(self, response: httpx.Response, said: str) -> SearchFailed:
        wait = _seconds(response.headers.get("retry-after"))
        when = f"; it asks to wait {wait:g} seconds" if wait is not None else ""
        return SearchFailed(
            "search_rate_limited",
            f"{self._service} was asked too often (429){when}{said}",
            retry_after=wait,
        )

    def _said(self, body: bytes) -> str:
        """What the service said about it, short and without secrets; a full stop where it said nothing."""
        words = _message(body)
        if self._secret:
            words = words.replace(self._secret, "…")
        words = redact(" ".join(words.split())).text[:_TOLD_CHARS]
        return f". It said: {words}" if words else "."


def _identity() -> dict[str, str]:
    agent = f"researchdesk/{version('researchdesk')} (research agent)"
    return {"User-Agent": agent, "Accept-Encoding": ", ".join(_CODINGS)}


def _message(body: bytes) -> str:
    """The words of an error, by the names that services give them."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    for name in ("detail", "error", "message", "info"):
        if isinstance(found, dict) and name in found:
            found = found[name]
            if isinstance(found, str):
                return found
    if isinstance(found, dict):
        return next(
            (found[name] for name in ("error", "message", "detail") if isinstance(found.get(name), str)), ""
        )
    return ""


def _seconds(header: str | None) -> float | None:
    """The seconds of a Retry-After header, in either of its forms; None where it has neither."""
    if not header:
        return None
    try:
        seconds = float(header)
        return max(0.0, seconds) if math.isfinite(seconds) else None
    except ValueError:
        pass
    try:
        at = parsedate_to_datetime(header)
    except (ValueError, OverflowError):
        return None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return max(0.0, math.ceil((at - datetime.now(UTC)).total_seconds()))
