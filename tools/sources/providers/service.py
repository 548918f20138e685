"""What all services have in common: a name, a key, a base address, a limit for queries, and hits from records."""

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar
from urllib.parse import urlsplit

import httpx

from researchdesk.state.errors import UsageError
from researchdesk.state.locators import UnsafeLocator, host_of, parse_locator, request_url
from researchdesk.tools.sources.domains import registrable_domain
from researchdesk.tools.sources.fitting import fit_score
from researchdesk.tools.sources.ports import Hit, SearchFailed, SearchOutcome
from researchdesk.tools.sources.providers.exchange import TIMEOUT, Exchange
from researchdesk.tools.sources.providers.wording import QueryLimit, fitting, plain, title

MOST_RECORDS = 1_000
"""What is read of an answer's list, many times what was asked for."""


class Service(ABC):
    """A search service on the network.

    Args:
        key: its key; by default what the environment variable ``variable`` holds when a search is made.
        base_url: where it is; by default what ``<NAME>_BASE_URL`` holds, else its public address.
        timeout: seconds for a whole search.
        transport: what carries the requests instead of the network.

    A search raises `SearchFailed`; its codes are those of `exchange`. No key, or no address where there is no
    public one, is ``search_unavailable`` and names the variable.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    """How messages name it."""
    home: ClassVar[str] = ""
    """The public address, "" where every user has an own one."""
    variable: ClassVar[str] = ""
    """The environment variable of its key, "" where it needs and takes none."""
    key_needed: ClassVar[bool] = True
    limit: ClassVar[QueryLimit] = QueryLimit(chars=400)
    most: ClassVar[int] = 20
    """Documents that one search gives at most."""

    def __init__(
        self,
        *,
        key: str | None = None,
        base_url: str | None = None,
        timeout: float = TIMEOUT,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._key = key
        self._base_url = base_url
        self._timeout = timeout
        self._transport = transport
        if base_url:
            _checked_address(base_url, "base_url")

    @classmethod
    def base_variable(cls) -> str:
        """The environment variable that says where it is."""
        return f"{cls.name.upper().replace('-', '_')}_BASE_URL"

    def missing(self) -> str:
        """The environment variable that has to be set before it can be asked, "" where none has."""
        if self.key_needed and self.variable and not self.key:
            return self.variable
        return "" if self.base_url else self.base_variable()

    @property
    def key(self) -> str:
        """The key in use, "" for none."""
        return self._key if self._key is not None else os.environ.get(self.variable or "-", "").strip()

    @property
    def base_url(self) -> str:
        """Where it is asked, without a slash at the end; "" where nobody said so.

        Raises:
            UsageError: the environment variable holds no http(s) address.
        """
        address = self._base_url or os.environ.get(self.base_variable(), "").strip() or self.home
        return _checked_address(address, self.base_variable()) if address else ""

    def search(self, query: str, *, limit: int) -> SearchOutcome:
        """Ask for at most ``limit`` documents; a query that is too long is cut after a word (``outcome.asked``).

        Raises:
            SearchFailed.
        """
        if variable := self.missing():
            raise SearchFailed(
                "search_unavailable",
                f"{self.title} cannot be asked: set the environment variable {variable}.",
                transient=False,
            )
        asked = fitting(query, self.limit, service=self.title)
        exchange = Exchange(self.title, timeout=self._timeout, transport=self._transport, secret=self.key)
        hits, total = self._ask(exchange, asked, min(max(1, limit), self.most))
        hits = hits[: max(0, limit)]
        shortened = asked if asked != " ".join(query.split()) else ""
        return SearchOutcome(provider=self.name, hits=hits, total=max(total, len(hits)), asked=shortened)

    @abstractmethod
    def _ask(self, exchange: Exchange, query: str, count: int) -> tuple[tuple[Hit, ...], int]:
        """The hits, best first, and how many documents there are in all as far as the service says."""


def records(body: Any, *path: str, exchange: Exchange) -> list[dict[str, Any]]:
    """The first objects of the list under some names of a JSON answer; what is no object in it is left out.

    Raises:
        SearchFailed: there is no list.
    """
    found = body
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    if not isinstance(found, list):
        raise exchange.malformed(f"it has no list '{'.'.join(path)}'")
    return [record for record in found[:MOST_RECORDS] if isinstance(record, dict)]


def ranked(found: Iterable[Hit | None]) -> tuple[Hit, ...]:
    """The hits in their order, each document once; what has no address was None and is left out."""
    best: dict[str, Hit] = {}
    for hit in found:
        if hit is not None:
            best.setdefault(hit.locator, hit)
    return tuple(best.values())


def web_hit(
    url: object,
    *,
    heading: object,
    snippet: object,
    rank: int,
    media_type: str = "text/html",
    score: object = None,
) -> Hit | None:
    """A hit for a page of the web; None where the address is none that could be fetched."""
    if not isinstance(url, str):
        return None
    try:
        locator = parse_locator(url)
    except UnsafeLocator:
        return None
    if locator.kind != "web":
        return None
    return Hit(
        locator=locator.value,
        title=title(heading),
        snippet=plain(snippet),
        start=-1,
        score=_score(score, rank),
        origin=registrable_domain(host_of(locator.value)),
        media_type=media_type,
        address=request_url(url) if url.strip().lower().startswith("http:") else "",
    )


def _score(told: object, rank: int) -> float:
    if not isinstance(told, int | float) or isinstance(told, bool):
        return 1 / rank
    return fit_score(told, otherwise=1 / rank)


def _checked_address(address: str, what: str) -> str:
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
        raise UsageError(
            f"{what} has to be the address of a service, such as http://localhost:8080, without a user name in it"
        )
    return address.rstrip("/")
