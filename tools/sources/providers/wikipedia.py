"""Wikipedia: its own full-text search (https://www.mediawiki.org/wiki/API:Search), without a key."""

from typing import Any, ClassVar
from urllib.parse import quote

import httpx

from researchdesk.tools.sources.fitting import fit_count
from researchdesk.tools.sources.ports import Hit, SearchFailed
from researchdesk.tools.sources.providers.exchange import TIMEOUT, Asked, Exchange
from researchdesk.tools.sources.providers.service import Service, ranked, records, web_hit
from researchdesk.tools.sources.providers.wording import QueryLimit

_TOO_MANY = frozenset({"ratelimited", "maxlag"})


class Wikipedia(Service):
    """Articles of one language's Wikipedia, each with the words that were found.

    Args:
        language: the code in the host's name, such as ``en`` or ``zh-yue``; see `Service` for the others.
    """

    name: ClassVar[str] = "wikipedia"
    title: ClassVar[str] = "Wikipedia"
    key_needed: ClassVar[bool] = False
    limit: ClassVar[QueryLimit] = QueryLimit(chars=300)
    most: ClassVar[int] = 50

    def __init__(
        self,
        *,
        language: str = "en",
        base_url: str | None = None,
        timeout: float = TIMEOUT,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        super().__init__(base_url=base_url, timeout=timeout, transport=transport)
        self._language = language

    @property
    def base_url(self) -> str:
        """Where it is asked: what was given, else the Wikipedia of the language."""
        return super().base_url or f"https://{self._language}.wikipedia.org"

    def _ask(self, exchange: Exchange, query: str, count: int) -> tuple[tuple[Hit, ...], int]:
        params: dict[str, str | int] = {
            "action": "query",
            "list": "search",
            "srsearch": query,
            "srlimit": count,
            "srprop": "snippet",
            "format": "json",
            "formatversion": 2,
        }
        body = exchange.json(Asked(url=f"{self.base_url}/w/api.php", params=params))
        _check(body)
        found = records(body, "query", "search", exchange=exchange)
        hits = ranked(
            web_hit(
                self._article(record.get("title")),
                heading=record.get("title"),
                snippet=record.get("snippet"),
                rank=rank,
            )
            for rank, record in enumerate(found, start=1)
        )
        return hits, _total(body, len(hits))

    def _article(self, name: object) -> str | None:
        if not isinstance(name, str) or not name:
            return None
        return f"{self.base_url}/wiki/{quote(name.replace(' ', '_'), safe='/:,()!*@;', errors='replace')}"


def _check(body: Any) -> None:
    """Read the errors that come with status 200. Raises: SearchFailed."""
    error = body.get("error") if isinstance(body, dict) else None
    if not isinstance(error, dict):
        return
    code, said = str(error.get("code", ""))[:80], str(error.get("info", ""))[:200]
    if code in _TOO_MANY:
        raise SearchFailed("search_rate_limited", f"Wikipedia was asked too often ({code}): {said}")
    if code.startswith(("cirrussearch", "srsearch", "missingparam", "bad", "no", "toolong", "invalid")):
        raise SearchFailed("search_bad_query", f"Wikipedia refused the query ({code}): {said}")
    raise SearchFailed("search_unavailable", f"Wikipedia's search failed ({code}): {said}")


def _total(body: Any, least: int) -> int:
    info = body["query"].get("searchinfo")
    return fit_count(info.get("totalhits") if isinstance(info, dict) else None, least=least)
