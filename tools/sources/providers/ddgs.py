"""ddgs: a library that asks public search engines as a browser would, without a key (extra ``ddgs``)."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from researchdesk.tools.sources.ports import SearchFailed, SearchOutcome
from researchdesk.tools.sources.providers.deadline import Late, within
from researchdesk.tools.sources.providers.exchange import TIMEOUT
from researchdesk.tools.sources.providers.service import ranked, web_hit
from researchdesk.tools.sources.providers.wording import QueryLimit, fitting

INSTALL = "The provider ddgs needs the extra 'ddgs': pip install 'researchdesk[ddgs]'."
_LIMIT = QueryLimit(chars=400)
_MOST = 50


class Engines(Protocol):
    """What is used of the library's class ``DDGS``."""

    def text(self, query: str, **options: Any) -> Sequence[Mapping[str, Any]]: ...


class Ddgs:
    """Web pages from whichever of the engines answers.

    Args:
        backend: engines by the library's names, separated by commas.
        region: country and language, such as ``us-en``.
        timeout: seconds for a whole search.
        engines: what is asked instead of the library.

    No promise of any engine stands behind it: it may be blocked at any time, which is ``search_rate_limited``
    or ``search_unavailable``.
    """

    name = "ddgs"

    def __init__(
        self,
        *,
        backend: str = "auto",
        region: str = "us-en",
        timeout: float = TIMEOUT,
        engines: Engines | None = None,
    ) -> None:
        self._backend = backend
        self._region = region
        self._timeout = timeout
        self._engines = engines

    def missing(self) -> str:
        """What has to be done before it can be asked, "" where nothing has."""
        if self._engines is not None:
            return ""
        try:
            import ddgs  # noqa: F401
        except ImportError:
            return INSTALL
        return ""

    def search(self, query: str, *, limit: int) -> SearchOutcome:
        """Ask for at most ``limit`` documents. Raises: SearchFailed."""
        asked = fitting(query, _LIMIT, service="ddgs")
        count = min(max(1, limit), _MOST)
        try:
            found = within(self._timeout, lambda: self._found(asked, count))
        except Late:
            text = f"ddgs did not answer within {self._timeout:g} seconds."
            raise SearchFailed("search_timeout", text) from None
        hits = ranked(
            web_hit(record.get("href"), heading=record.get("title"), snippet=record.get("body"), rank=rank)
            for rank, record in enumerate(found, start=1)
        )[:limit]
        shortened = asked if asked != " ".join(query.split()) else ""
        return SearchOutcome(provider=self.name, hits=hits, total=len(hits), asked=shortened)

    def _found(self, query: str, count: int) -> Sequence[Mapping[str, Any]]:
        engines = self._engines or self._library()
        try:
            return engines.text(query, region=self._region, max_results=count, backend=self._backend)
        except Exception as problem:
            if _is_empty(problem):
                return ()
            raise _failure(problem, self._timeout) from None

    def _library(self) -> Engines:
        try:
            from ddgs import DDGS
        except ImportError:
            raise SearchFailed("search_unavailable", INSTALL, transient=False) from None
        library: Engines = DDGS(timeout=max(1, int(self._timeout / 2)))
        return library


def _is_empty(problem: Exception) -> bool:
    # The library tells an empty answer only by these words of its base error.
    return type(problem).__name__ == "DDGSException" and str(problem) == "No results found."


def _failure(problem: Exception, timeout: float) -> SearchFailed:
    kind = type(problem).__name__
    if kind == "RatelimitException":
        return SearchFailed("search_rate_limited", "The search engines behind ddgs were asked too often.")
    if kind == "TimeoutException":
        return SearchFailed("search_timeout", f"ddgs did not answer within {timeout:g} seconds.")
    return SearchFailed("search_unavailable", f"The search engines behind ddgs failed ({kind}).")
