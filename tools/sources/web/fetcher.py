"""A fetcher for pages of the web: safe, bounded and polite, whatever the server on the other side does.

What decides:

* Only addresses of the public internet are connected to (`addresses`, `transport`), redirects included.
* A redirect may go from https to http: it is the site's own word, and the receipt shows the chain.
* A page's identity is the URL it came from after all redirects. What it says of itself (``rel=canonical``, AMP)
  decides nothing, so that no page can take the name of another.
* Cookies live for one fetch and go where a browser would send them; environment proxies are not used.
* ``robots.txt`` is followed (RFC 9309): none means everything may be read, one that a server fails to give means
  nothing.
"""

import re
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from time import sleep as _sleep
from urllib.parse import unquote, urlsplit

import httpx

from researchdesk.state.locators import canonical_url, host_of
from researchdesk.tools.sources.domains import registrable_domain, suffix_list
from researchdesk.tools.sources.extract import HTML, media_type_of
from researchdesk.tools.sources.extracted import Extracted
from researchdesk.tools.sources.ports import Archive, Fetched, FetchRefused, Known
from researchdesk.tools.sources.web.addresses import Addresses, Resolver
from researchdesk.tools.sources.web.allowance import Allowance, current, spending
from researchdesk.tools.sources.web.challenges import challenged_by, says_without_text, stands_in_the_way
from researchdesk.tools.sources.web.exchange import Answer, Exchange, asked_url, next_url, shown
from researchdesk.tools.sources.web.hosts import Hosts, retry_after
from researchdesk.tools.sources.web.reading import read_apart
from researchdesk.tools.sources.web.robots import MAX_BYTES as ROBOTS_BYTES
from researchdesk.tools.sources.web.robots import Robots
from researchdesk.tools.sources.web.statuses import refusal_of
from researchdesk.tools.sources.web.transport import Transport

AGENT = "researchdesk"
"""The name under which rules for this program stand in a ``robots.txt``."""
_ROBOTS_REDIRECTS = 5
_REFRESH = re.compile(
    rb"<meta\s[^>]{0,200}http-equiv\s*=\s*[\"']?refresh[\"']?\s[^>]{0,200}?content\s*=\s*[\"']?\s*([0-5])(?:\.\d*)?\s*[;,]"
    rb"\s*(?:url\s*=\s*)?[\"']?([^\"'>\s]{1,2000})",
    re.IGNORECASE,
)
_REFRESH_CHARS = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class WebLimits:
    """What one fetch may cost, and how hosts are treated.

    ``seconds`` are those of a whole fetch with all its redirects, without the waiting for a host's turn. ``bytes``
    are counted after unpacking, and for what came over the network by themselves; ``markup_bytes`` is the limit
    for HTML, whose reading takes many times its size. ``reading_seconds`` are those of making text of a page, which
    begins when all of it is there. ``pause`` and ``max_wait`` are as in `Hosts`.
    """

    seconds: float = 15.0
    reading_seconds: float = 30.0
    bytes: int = 20_000_000
    markup_bytes: int = 8_000_000
    redirects: int = 8
    at_once: int = 2
    pause: float = 0.5
    max_wait: float = 8.0
    connections: int = 32


class WebFetcher:
    """Reads pages by http and https; safe for many threads at once.

    Args:
        archive: what was read before and may be used again where the server says that it still holds.
        allow: addresses and networks that may be reached although they are not public (``10.1.0.0/16``).
        limits: what a fetch may cost.
        robots: whether ``robots.txt`` is followed.
        user_agent: what is sent as ``User-Agent``; by default this program's name and version.
        proxy: URL of an HTTP proxy; it looks names up itself and has to guard the network.
        tls: whose certificates are trusted; by default the public authorities.
        resolver: looks names up; by default the operating system does.
        sleep: waits for seconds.
    """

    def __init__(
        self,
        *,
        archive: Archive | None = None,
        allow: tuple[str, ...] = (),
        limits: WebLimits | None = None,
        robots: bool = True,
        user_agent: str = "",
        proxy: str = "",
        tls: ssl.SSLContext | None = None,
        resolver: Resolver | None = None,
        sleep: Callable[[float], None] = _sleep,
    ) -> None:
        self._limits = limits or WebLimits()
        self._archive = archive
        addresses = Addresses(allow=allow, resolver=resolver)
        self._transport = Transport(addresses, connections=self._limits.connections, proxy=proxy, tls=tls)
        agent = user_agent or f"{AGENT}/{version('researchdesk')} (reads pages for research)"
        self._exchange = Exchange(transport=self._transport, user_agent=agent)
        self._robots = Robots(self._robots_text, agent=AGENT) if robots else None
        self._hosts = Hosts(
            at_once=self._limits.at_once,
            pause=self._limits.pause,
            max_wait=self._limits.max_wait,
            sleep=sleep,
        )

    def accepts(self, locator: str) -> bool:
        """Say whether the locator is a URL of the web; reads nothing."""
        return locator.strip().lower().startswith(("http:", "https:"))

    def fetch(self, locator: str) -> Fetched:
        """Read a page.

        Raises:
            FetchRefused: any of its codes; ``transient`` where trying again may help.
        """
        with spending(Allowance(seconds=self._limits.seconds)) as allowance:
            try:
                return self._follow(locator)
            except FetchRefused as refusal:
                # Whoever tries again would wait as long again.
                refusal.transient = refusal.transient and allowance.spent <= self._limits.seconds / 3
                raise

    def close(self) -> None:
        """Close all connections."""
        self._transport.close()

    def _follow(self, locator: str) -> Fetched:
        """Read a page where all its redirects lead."""
        cookies = httpx.Cookies()
        url, left = asked_url(locator), list[str]()
        while len(left) <= self._limits.redirects:
            answer, known = self._page(url, cookies)
            found = None if answer.moved_to else self._read(answer, known)
            url = answer.moved_to if found is None else _refreshed(answer, found)
            if found and not url:
                return _fetched(locator, tuple(left), answer, found, known)
            left.append(answer.url)
        times = f"more than {self._limits.redirects} times"
        raise FetchRefused("fetch_unreadable", f"{shown(locator)} sends its reader on {times}")

    def _page(self, url: str, cookies: httpx.Cookies) -> tuple[Answer, Known | None]:
        """Ask for one URL, when its host's rules and turn allow."""
        host, pause = host_of(url), 0.0
        if self._robots:
            rules = self._robots.of(url)
            if not rules.allow(url):
                raise FetchRefused(
                    "fetch_blocked", f"robots.txt of {host} asks programs to leave {shown(url)} alone"
                )
            pause = rules.pause
        known = self._archive.known(url) if self._archive else None
        with self._hosts.turn(host, pause=pause) as waited:
            current().extend(waited)
            answer = self._exchange.ask(url, cookies, known, limit=self._limits.bytes)
        if answer.status == 304 and known:
            return answer, known
        if answer.status in (429, 503):
            raise self._told_to_wait(answer, host)
        if refusal := refusal_of(answer.status, answer.headers, shown=shown(url)):
            raise refusal
        return answer, None

    def _told_to_wait(self, answer: Answer, host: str) -> FetchRefused:
        """The refusal of a server that is busy; it is asked again once the time it named is over."""
        named = retry_after(answer.headers.get("retry-after", ""))
        if challenged_by(answer.headers):
            return FetchRefused("fetch_blocked", f"{host} checks whether its reader is a person")
        if named is not None:
            self._hosts.stay_away(host, named)
        wait = f" for {named:,.0f} s" if named else ""
        return FetchRefused(
            "fetch_blocked" if answer.status == 429 else "fetch_unreadable",
            f"{host} asks not to be asked{wait} (status {answer.status})",
            transient=(named or 0.0) <= self._limits.max_wait,
        )

    def _read(self, answer: Answer, known: Known | None) -> Extracted:
        """Make text of an answer's bytes, or of the archived ones that it says still hold."""
        raw = known.raw if known else answer.body
        media_type = known.content_type if known else answer.headers.get("content-type", "")
        name = unquote(urlsplit(answer.url).path.rpartition("/")[2]) or "page"
        kind = media_type_of(raw, name=name, media_type=media_type)
        if kind == HTML and len(raw) > self._limits.markup_bytes:
            raise FetchRefused(
                "fetch_too_large", f"the page has more than {self._limits.markup_bytes:,} bytes of markup"
            )
        if challenged_by(answer.headers):
            raise _challenged(answer.url, "a header")
        try:
            found = read_apart(raw, name=name, media_type=media_type, seconds=self._limits.reading_seconds)
        except FetchRefused as refusal:
            if refusal.code != "fetch_empty":
                raise
            if _refresh(answer):
                return _NO_TEXT
            if words := says_without_text(raw):
                raise _challenged(answer.url, repr(words)) from None
            raise FetchRefused("fetch_empty", f"{shown(answer.url)} holds no text") from None
        if words := stands_in_the_way(title=found.title, text=found.text):
            raise _challenged(answer.url, repr(words))
        return found

    def _robots_text(self, url: str) -> str:
        """The rules of a host, empty where it has none."""
        cookies = httpx.Cookies()
        for _ in range(_ROBOTS_REDIRECTS + 1):
            answer = self._exchange.ask(url, cookies, limit=ROBOTS_BYTES, cut=True)
            if answer.moved_to:
                url = answer.moved_to
            elif answer.status == 429 or answer.status >= 500:
                cause = f"robots.txt of {host_of(url)} cannot be had (status {answer.status}), so nothing is read there"
                raise FetchRefused("fetch_blocked", cause, transient=True)
            else:
                return answer.body.decode("utf-8-sig", "replace")
        return ""


_NO_TEXT = Extracted(
    text="",
    title=None,
    sections=(),
    media_type=HTML,
    charset="",
    extractor="",
    extractor_version="",
    readable=True,
    note="",
)


def _refresh(answer: Answer) -> str:
    """The URL of a page that sends its reader on by markup; empty where it does not, or only to itself."""
    found = _REFRESH.search(answer.body, 0, 8_192)
    if found is None:
        return ""
    url = next_url(answer.url, found[2].decode("utf-8", "replace").replace("&amp;", "&"))
    return url if url != answer.url else ""


def _refreshed(answer: Answer, found: Extracted) -> str:
    """Where a page without content of its own sends its reader."""
    return _refresh(answer) if found.media_type == HTML and len(found.text) <= _REFRESH_CHARS else ""


def _fetched(
    requested: str, left: tuple[str, ...], answer: Answer, found: Extracted, known: Known | None
) -> Fetched:
    domain = registrable_domain(host_of(answer.url))
    again = f"unchanged since {known.fetched_at}, bytes from the archive" if known else ""
    return Fetched(
        requested=requested,
        locator=answer.url,
        canonical=canonical_url(answer.url),
        redirects=left,
        status=answer.status,
        media_type=found.media_type,
        charset=found.charset,
        raw=known.raw if known else answer.body,
        text=found.text,
        extractor=found.extractor,
        extractor_version=found.extractor_version,
        title=found.title,
        sections=found.sections,
        origin=domain,
        origin_reason=f"registrable domain, {suffix_list()}",
        domain=domain,
        readable=found.readable,
        note="; ".join(filter(None, (found.note, again))),
        etag=answer.headers.get("etag", "") or (known.etag if known else ""),
        last_modified=answer.headers.get("last-modified", "") or (known.last_modified if known else ""),
    )


def _challenged(url: str, by: str) -> FetchRefused:
    return FetchRefused(
        "fetch_blocked", f"{shown(url)} shows a check or a refusal instead of its content (told by {by})"
    )
