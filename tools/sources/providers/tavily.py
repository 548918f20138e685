"""Tavily: a web search for agents, with a key (https://docs.tavily.com, `POST /search`)."""

from typing import ClassVar

from researchdesk.tools.sources.ports import Hit
from researchdesk.tools.sources.providers.exchange import Asked, Exchange
from researchdesk.tools.sources.providers.service import Service, ranked, records, web_hit
from researchdesk.tools.sources.providers.wording import QueryLimit


class Tavily(Service):
    """Web pages, each with a summary that fits the query."""

    name: ClassVar[str] = "tavily"
    title: ClassVar[str] = "Tavily"
    home: ClassVar[str] = "https://api.tavily.com"
    variable: ClassVar[str] = "TAVILY_API_KEY"
    limit: ClassVar[QueryLimit] = QueryLimit(chars=400)

    def _ask(self, exchange: Exchange, query: str, count: int) -> tuple[tuple[Hit, ...], int]:
        asked = Asked(
            url=f"{self.base_url}/search",
            headers={"Authorization": f"Bearer {self.key}"},
            body={"query": query, "max_results": count, "search_depth": "basic"},
        )
        found = records(exchange.json(asked), "results", exchange=exchange)
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
        return hits, len(hits)
