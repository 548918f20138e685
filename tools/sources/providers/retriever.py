"""Any LangChain retriever as a search provider, and as a fetcher of the documents that stand nowhere else."""

from collections import OrderedDict
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING, Any

from researchdesk.state.limits import ARCHIVED_CHARS, SNIPPET_CHARS
from researchdesk.state.locators import UnsafeLocator, parse_locator
from researchdesk.state.names import clean_id
from researchdesk.tools.sources.ports import Fetched, FetchRefused, Hit, SearchFailed, SearchOutcome
from researchdesk.tools.sources.providers.deadline import Late, within
from researchdesk.tools.sources.providers.exchange import TIMEOUT
from researchdesk.tools.sources.providers.service import ranked, web_hit
from researchdesk.tools.sources.providers.wording import plain, title

if TYPE_CHECKING:
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever

KEPT_DOCUMENTS = 10_000
_URLS = ("source", "url", "link", "href", "source_url")
_TITLES = ("title", "name", "file_name", "filename")


class RetrieverSource:
    """What `from_retriever` makes.

    A document whose metadata has a web address (``source``, ``url``, ``link`` …) is found under that address and
    read from there, by whoever fetches the web. One without is found as ``file:retriever/<name>/<hash>``, and its text
    is what `fetch` gives, with a receipt that says so: nobody saw the document that the text was taken from. The
    texts of the last 10,000 documents found are kept in memory; after a restart, search again before archiving.
    """

    def __init__(self, retriever: "BaseRetriever", *, name: str, timeout: float) -> None:
        self.name = clean_id(name, "retriever's name")
        self._retriever = retriever
        self._timeout = timeout
        self._texts: OrderedDict[str, Document] = OrderedDict()
        self._lock = Lock()

    def search(self, query: str, *, limit: int) -> SearchOutcome:
        """Ask the retriever; it decides itself how many documents it gives, and the first ``limit`` count.

        Raises:
            SearchFailed: ``search_timeout``, or ``search_unavailable`` with the kind of what it raised.
        """
        try:
            documents = within(self._timeout, lambda: list(self._retriever.invoke(query)))
        except Late:
            text = f"The retriever {self.name} did not answer within {self._timeout:g} seconds."
            raise SearchFailed("search_timeout", text) from None
        except Exception as problem:
            text = f"The retriever {self.name} failed ({type(problem).__name__})."
            raise SearchFailed("search_unavailable", text) from None
        hits = ranked(self._hit(document, rank) for rank, document in enumerate(documents, start=1))
        return SearchOutcome(provider=self.name, hits=hits[: max(0, limit)], total=len(hits))

    def accepts(self, locator: str) -> bool:
        """Say whether it is one of the locators that this retriever's texts have."""
        return self._canonical(locator).startswith(f"file:retriever/{self.name}/")

    def fetch(self, locator: str) -> Fetched:
        """Give the text of a document that was found. Raises: FetchRefused (``fetch_not_found``)."""
        spelled = self._canonical(locator)
        with self._lock:
            document = self._texts.get(spelled)
        if document is None:
            raise FetchRefused(
                "fetch_not_found",
                f"The retriever {self.name} did not find {locator[:200]!r} since it was started; search for it again.",
            )
        if len(document.page_content) > ARCHIVED_CHARS:
            raise FetchRefused("fetch_too_large", f"The text has {len(document.page_content):,} characters.")
        return _fetched(document, requested=locator, locator=spelled, name=self.name)

    def _canonical(self, locator: str) -> str:
        try:
            return str(parse_locator(locator))
        except UnsafeLocator:
            return ""

    def _hit(self, document: "Document", rank: int) -> Hit:
        heading = _first(document, _TITLES)
        for address in (document.metadata.get(key) for key in _URLS):
            found = web_hit(address, heading=heading, snippet=document.page_content, rank=rank)
            if found is not None:
                return found
        return Hit(
            locator=self._keep(document),
            title=title(heading),
            snippet=plain(document.page_content[:SNIPPET_CHARS]),
            start=-1,
            score=1 / rank,
            origin=self.name,
            media_type="text/plain",
        )

    def _keep(self, document: "Document") -> str:
        key = sha256(document.page_content.encode("utf-8", errors="replace")).hexdigest()[:16]
        locator = f"file:retriever/{self.name}/{key}"
        with self._lock:
            self._texts[locator] = document
            self._texts.move_to_end(locator)
            while len(self._texts) > KEPT_DOCUMENTS:
                self._texts.popitem(last=False)
        return locator


def from_retriever(
    retriever: "BaseRetriever", *, name: str = "retriever", timeout: float = TIMEOUT
) -> RetrieverSource:
    """Make a LangChain retriever a search provider, and a fetcher of its documents that have no web address.

    Args:
        retriever: anything with LangChain's ``invoke(query) -> list[Document]``.
        name: letters, digits and ``._:-``; it stands in locators and records, and is the origin of its texts.
        timeout: seconds for one search.

    Raises:
        Refusal: the name has not that form.
    """
    return RetrieverSource(retriever, name=name, timeout=timeout)


def _first(document: "Document", keys: tuple[str, ...]) -> Any:
    return next((document.metadata[key] for key in keys if document.metadata.get(key)), None)


def _fetched(document: "Document", *, requested: str, locator: str, name: str) -> Fetched:
    text = document.page_content
    stated = document.metadata.get("source")
    where = f"; it names {plain(str(stated), chars=200)!r} as its source" if stated else ""
    return Fetched(
        requested=requested,
        locator=locator,
        canonical=locator,
        redirects=(),
        status=0,
        media_type="text/plain",
        charset="utf-8",
        raw=text.encode("utf-8", errors="replace"),
        text=text,
        extractor=f"retriever {name}",
        extractor_version="",
        title=title(_first(document, _TITLES)),
        sections=(),
        origin=name,
        origin_reason="the retriever that gave it",
        domain=name,
        readable=True,
        note=f"the text as the retriever {name} gave it, not read from the document itself{where}",
    )
