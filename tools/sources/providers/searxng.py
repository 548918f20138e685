"""SearXNG: a metasearch engine that people host themselves (https://docs.searxng.org, `GET /search?format=json`)."""

from typing import Any, ClassVar

from researchdesk.tools.sources.ports import Hit, SearchFailed
from researchdesk.tools.sources.providers.exchange import Asked, Exchange
from researchdesk.tools.sources.providers.service import Service, ranked, records, web_hit
from researchdesk.tools.sources.providers.wording import QueryLimit


class SearxNG(Service):
    """Web pages from several engines. Its settings have to allow the format ``json``."""

    name: ClassVar[str] = "searxng"
    title: ClassVar[str] = "SearXNG"
    limit: ClassVar[QueryLimit] = QueryLimit(chars=1_000)
    most: ClassVar[int] = 50

    def _ask(self, exchange: Exchange, query: str, count: int) -> tuple[tuple[Hit, ...], int]:
        params: dict[str, str | int] = {"q": query, "format": "json", "safesearch": 0}
        body = self._answer(exchange, Asked(url=f"{self.base_url}/search", params=params))
        found = records(body, "results", exchange=exchange)
        if not found and (silent := _unresponsive(body)):
            text = f"None of SearXNG's engines answered ({silent})."
            raise SearchFailed("search_unavailable", text)
        hits = ranked(
            web_hit(
                record.get("url"),
                heading=record.get("title"),
                snippet=record.get("content"),
                rank=rank,
                score=record.get("score"),
            )
            for rank, record in enumerate(found, start=1)
        )
        return hits[:count], len(hits)

    def _answer(self, exchange: Exchange, asked: Asked) -> Any:
        try:
            return exchange.json(asked)
        except SearchFailed as failure:
            if "(403)" not in failure.text:
                raise
            text = "SearXNG refused (403): its settings.yml has to list 'json' under search.formats."
            raise SearchFailed("search_unavailable", text, transient=False) from None


def _unresponsive(body: Any) -> str:
    silent = body.get("unresponsive_engines") if isinstance(body, dict) else None
    named = (
        [pair for pair in silent if isinstance(pair, list) and len(pair) >= 2]
        if isinstance(silent, list)
        else []
    )
    return ", ".join(f"{str(engine)[:40]}: {str(reason)[:80]}" for engine, reason, *_ in named[:5])
