"""Brave Search: an own index of the web, with a key (https://api-dashboard.search.brave.com, `GET /web/search`)."""

from typing import Any, ClassVar

from researchdesk.tools.sources.ports import Hit
from researchdesk.tools.sources.providers.exchange import Asked, Exchange
from researchdesk.tools.sources.providers.service import Service, ranked, records, web_hit
from researchdesk.tools.sources.providers.wording import QueryLimit


class Brave(Service):
    """Web pages, each with the passages that fit the query."""

    name: ClassVar[str] = "brave"
    title: ClassVar[str] = "Brave Search"
    home: ClassVar[str] = "https://api.search.brave.com"
    variable: ClassVar[str] = "BRAVE_API_KEY"
    limit: ClassVar[QueryLimit] = QueryLimit(chars=400, words=50)

    def _ask(self, exchange: Exchange, query: str, count: int) -> tuple[tuple[Hit, ...], int]:
        asked = Asked(
            url=f"{self.base_url}/res/v1/web/search",
            params={"q": query, "count": count, "result_filter": "web", "text_decorations": "false"},
            headers={"X-Subscription-Token": self.key, "Accept": "application/json"},
        )
        body = exchange.json(asked)
        if _found_nothing(body):
            return (), 0
        found = records(body, "web", "results", exchange=exchange)
        hits = ranked(
            web_hit(record.get("url"), heading=record.get("title"), snippet=_snippet(record), rank=rank)
            for rank, record in enumerate(found, start=1)
        )
        return hits, len(hits)


def _found_nothing(body: Any) -> bool:
    """Say whether it is an answer without a list of pages, which is how nothing is said to be found."""
    return isinstance(body, dict) and body.get("type") == "search" and "web" not in body


def _snippet(record: dict[str, Any]) -> str:
    extra = record.get("extra_snippets")
    more = [piece for piece in extra if isinstance(piece, str)] if isinstance(extra, list) else []
    description = record.get("description")
    return " … ".join([description if isinstance(description, str) else "", *more]).strip(" …")
