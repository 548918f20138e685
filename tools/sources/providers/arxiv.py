"""arXiv: preprints with abstracts (https://info.arxiv.org/help/api), without a key, a request in three seconds."""

import re
import time
from threading import Lock
from typing import ClassVar

import httpx
from lxml import etree

from researchdesk.tools.sources.ports import Hit, SearchFailed
from researchdesk.tools.sources.providers.exchange import TIMEOUT, Asked, Exchange
from researchdesk.tools.sources.providers.service import Service, ranked, web_hit
from researchdesk.tools.sources.providers.wording import QueryLimit

PAUSE = 3.0
_NAMES = {"a": "http://www.w3.org/2005/Atom", "o": "http://a9.com/-/spec/opensearch/1.1/"}
_TERM = re.compile(r"\w+(?:[-.]\w+)*")
_VERSION = re.compile(r"v\d+$")
# Words that every abstract has; a query of these alone keeps them.
_COMMON = frozenset(
    [
        *("a", "an", "and", "are", "as", "at", "be", "been", "by", "can", "did", "do", "does", "for", "from"),
        *("had", "has", "have", "how", "in", "into", "is", "it", "its", "may", "not", "of", "on", "or", "so"),
        *("should", "such", "than", "that", "the", "their", "there", "these", "they", "this", "to", "was"),
        *("were", "what", "when", "where", "which", "who", "why", "will", "with"),
    ]
)


class Pace:
    """At most one request in some seconds, for all who share it."""

    def __init__(self, seconds: float = PAUSE) -> None:
        self._seconds = seconds
        self._lock = Lock()
        self._next = 0.0

    def wait(self) -> None:
        """Sleep until it is this caller's turn."""
        with self._lock:
            now = time.monotonic()
            turn = max(now, self._next)
            self._next = turn + self._seconds
        time.sleep(turn - now)


_PACE = Pace()


class Arxiv(Service):
    """Preprints by their words in any field, the most relevant first.

    Args:
        pace: keeps its distance between requests; by default one shared by the process. See `Service` for the others.
    """

    name: ClassVar[str] = "arxiv"
    title: ClassVar[str] = "arXiv"
    home: ClassVar[str] = "https://export.arxiv.org"
    key_needed: ClassVar[bool] = False
    limit: ClassVar[QueryLimit] = QueryLimit(chars=400, words=30)
    most: ClassVar[int] = 50

    def __init__(
        self,
        *,
        base_url: str | None = None,
        timeout: float = TIMEOUT,
        transport: httpx.BaseTransport | None = None,
        pace: Pace | None = None,
    ) -> None:
        super().__init__(base_url=base_url, timeout=timeout, transport=transport)
        self._pace = pace or _PACE

    def _ask(self, exchange: Exchange, query: str, count: int) -> tuple[tuple[Hit, ...], int]:
        self._pace.wait()
        params: dict[str, str | int] = {
            "search_query": _expression(query),
            "start": 0,
            "max_results": count,
            "sortBy": "relevance",
            "sortOrder": "descending",
        }
        feed = self._feed(exchange, Asked(url=f"{self.base_url}/api/query", params=params))
        entries = feed.findall("a:entry", _NAMES)
        _check(entries)
        hits = ranked(_hit(entry, rank) for rank, entry in enumerate(entries, start=1))
        total = feed.findtext("o:totalResults", "", _NAMES)
        counts = total.isascii() and total.isdigit() and len(total) < 16
        return hits, int(total) if counts else len(hits)

    def _feed(self, exchange: Exchange, asked: Asked) -> etree._Element:
        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
        try:
            feed = etree.fromstring(exchange.text(asked), parser)
        except etree.XMLSyntaxError:
            raise exchange.malformed("it is not XML") from None
        if etree.QName(feed).localname != "feed":
            raise exchange.malformed("it is no Atom feed")
        return feed


def _expression(query: str) -> str:
    """Any of the query's words in any field; nothing that a user writes is search syntax."""
    terms = list(dict.fromkeys(term.lower() for term in _TERM.findall(query)))
    telling = [term for term in terms if term not in _COMMON]
    return " OR ".join(f'all:"{term}"' for term in telling or terms)


def _check(entries: list[etree._Element]) -> None:
    """Read an error, which arXiv tells as an entry. Raises: SearchFailed."""
    for entry in entries:
        if "/api/errors" in (entry.findtext("a:id", "", _NAMES) or ""):
            said = " ".join((entry.findtext("a:summary", "", _NAMES) or "").split())[:200]
            raise SearchFailed("search_bad_query", f"arXiv refused the query: {said}")


def _hit(entry: etree._Element, rank: int) -> Hit | None:
    # Its identifiers are addresses with http; the same page has one with https.
    address = (entry.findtext("a:id", "", _NAMES) or "").strip().replace("http:", "https:", 1)
    return web_hit(
        # Without the version, so that it is the same paper wherever it was found.
        _VERSION.sub("", address),
        heading=entry.findtext("a:title", "", _NAMES),
        snippet=entry.findtext("a:summary", "", _NAMES),
        rank=rank,
    )
