"""One request and its answer: where it goes, what is sent, and how much of the answer is read."""

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

import httpx

from researchdesk.state.locators import UnsafeLocator, request_url
from researchdesk.tools.sources.ports import FetchRefused, Known
from researchdesk.tools.sources.web.allowance import current
from researchdesk.tools.sources.web.statuses import MOVED
from researchdesk.tools.sources.web.transport import Transport
from researchdesk.tools.sources.web.unpacking import ACCEPTED, unpacked

_ACCEPT = "text/html,application/xhtml+xml,application/pdf;q=0.9,text/*;q=0.9,*/*;q=0.5"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer of a server: its body, or where it sends the reader (then the body is empty)."""

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes = b""
    moved_to: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """Asks servers for pages."""

    transport: Transport
    user_agent: str

    def ask(
        self,
        url: str,
        cookies: httpx.Cookies,
        known: Known | None = None,
        *,
        limit: int,
        cut: bool = False,
    ) -> Answer:
        """Send one request.

        Args:
            url: as `asked_url` gives it.
            cookies: sent where they belong; those of the answer are added.
            known: the archived page that the server may call unchanged.
            limit: bytes of the body, which is read where it is the page (status 2xx).
            cut: whether a longer body is cut off after a line instead of refused.

        Raises:
            FetchRefused: as `Transport.handle_request` and `unpacked`; ``fetch_unsafe`` for a redirect to what is no
                URL of the web.
        """
        request = httpx.Request("GET", url, headers=self._headers(url, known))
        cookies.set_cookie_header(request)
        with closing(self.transport.handle_request(request)) as response:
            cookies.extract_cookies(response)
            status, headers = response.status_code, response.headers
            if status in MOVED and headers.get("location"):
                return Answer(
                    url=url, status=status, headers=headers, moved_to=next_url(url, headers["location"])
                )
            body = _body(response, limit, cut=cut) if 200 <= status < 300 else b""
        return Answer(url=url, status=status, headers=headers, body=body)

    def _headers(self, url: str, known: Known | None) -> dict[str, str]:
        # The library's own ``Host`` fails for names that the newest rules for names do not know, such as emoji.
        host = urlsplit(url).netloc
        headers = {
            "Host": host,
            "User-Agent": self.user_agent,
            "Accept": _ACCEPT,
            "Accept-Encoding": ACCEPTED,
        }
        if known and known.etag:
            headers["If-None-Match"] = known.etag
        if known and known.last_modified:
            headers["If-Modified-Since"] = known.last_modified
        return headers


def asked_url(locator: str) -> str:
    """The URL that is asked for a locator. Raises: FetchRefused (``fetch_unsafe``)."""
    try:
        return request_url(locator)
    except UnsafeLocator as unsafe:
        raise FetchRefused(unsafe.code, unsafe.text) from None


def next_url(url: str, location: str) -> str:
    """Where a page sends its reader. Raises: FetchRefused."""
    try:
        return asked_url(urljoin(url, location.strip()))
    except ValueError:
        raise FetchRefused("fetch_unreadable", f"{shown(url)} sends its reader to no URL") from None


def _body(response: httpx.Response, limit: int, *, cut: bool) -> bytes:
    """Read a body, never more than ``limit`` bytes: beyond, it is refused, or ``cut`` off after a line."""
    declared = response.headers.get("content-length", "")
    if declared.isdigit() and int(declared[:18]) > limit and not cut:
        raise FetchRefused(
            "fetch_too_large", f"the page has {int(declared[:18]):,} bytes, the limit is {limit:,}"
        )
    # Chunks and their frames; what is in them is counted by itself.
    current().expect("the page", bytes_at_most=limit + limit // 4 + 200_000)
    body = bytearray()
    for piece in _pieces(response, limit + 200_000 * cut):
        body += piece
        if cut and len(body) > limit:
            return bytes(body[: body.rfind(b"\n", 0, limit) + 1])  # half a line may say the contrary
    return bytes(body)


def _pieces(response: httpx.Response, limit: int) -> Iterator[bytes]:
    # Without a chunk size: a buffered reading hides how little arrives.
    for piece in unpacked(response.iter_raw(), response.headers.get("content-encoding", ""), limit=limit):
        current().left()
        yield piece


def shown(url: str) -> str:
    """A URL for a message."""
    return url if len(url) <= 200 else url[:197] + "…"
