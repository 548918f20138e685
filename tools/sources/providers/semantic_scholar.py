"""Semantic Scholar: papers of all fields with abstracts (https://api.semanticscholar.org, `GET /paper/search`)."""

from typing import Any, ClassVar
from urllib.parse import quote

from researchdesk.tools.sources.fitting import fit_count
from researchdesk.tools.sources.ports import Hit
from researchdesk.tools.sources.providers.exchange import Asked, Exchange
from researchdesk.tools.sources.providers.service import Service, ranked, records, web_hit
from researchdesk.tools.sources.providers.wording import QueryLimit

_FIELDS = "title,abstract,year,venue,url,externalIds,openAccessPdf"


class SemanticScholar(Service):
    """Papers, each under the address where it can be read: arXiv, an open PDF, its DOI, or its entry.

    It works without a key, shared with everybody and often at its limit.
    """

    name: ClassVar[str] = "semantic_scholar"
    title: ClassVar[str] = "Semantic Scholar"
    home: ClassVar[str] = "https://api.semanticscholar.org"
    variable: ClassVar[str] = "SEMANTIC_SCHOLAR_API_KEY"
    key_needed: ClassVar[bool] = False
    limit: ClassVar[QueryLimit] = QueryLimit(chars=300)
    most: ClassVar[int] = 100

    def _ask(self, exchange: Exchange, query: str, count: int) -> tuple[tuple[Hit, ...], int]:
        # A word with a hyphen in it finds nothing there.
        words = " ".join(query.replace("-", " ").split())
        asked = Asked(
            url=f"{self.base_url}/graph/v1/paper/search",
            params={"query": words, "limit": count, "fields": _FIELDS},
            headers={"x-api-key": self.key} if self.key else None,
        )
        body = exchange.json(asked)
        total = body.get("total") if isinstance(body, dict) else None
        if total == 0:
            return (), 0
        found = records(body, "data", exchange=exchange)
        hits = ranked(_hit(record, rank) for rank, record in enumerate(found, start=1))
        return hits, fit_count(total, least=len(hits))


def _hit(record: dict[str, Any], rank: int) -> Hit | None:
    url, media_type = _address(record)
    where = ", ".join(str(record[name]) for name in ("venue", "year") if record.get(name))
    abstract = record.get("abstract") or where
    return web_hit(url, heading=record.get("title"), snippet=abstract, rank=rank, media_type=media_type)


def _address(record: dict[str, Any]) -> tuple[str | None, str]:
    ids = record.get("externalIds")
    ids = ids if isinstance(ids, dict) else {}
    pdf = record.get("openAccessPdf")
    pdf = pdf.get("url") if isinstance(pdf, dict) else None
    if isinstance(ids.get("ArXiv"), str):
        return f"https://arxiv.org/abs/{quote(ids['ArXiv'], errors='replace')}", "text/html"
    if isinstance(pdf, str) and pdf:
        return pdf, "application/pdf"
    if isinstance(ids.get("DOI"), str):
        return f"https://doi.org/{quote(ids['DOI'], safe='/():;', errors='replace')}", "text/html"
    url = record.get("url")
    return (url if isinstance(url, str) else None), "text/html"
