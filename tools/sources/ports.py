"""The two ports behind searching and archiving, and the values that cross them.

A `SearchProvider` answers a query with hits, a `Fetcher` turns a locator into bytes and text. Fields are JSON
primitives so that a result can be stored and read back. Both are called from worker threads and must be safe
there. Offsets are code points into the extracted text.
"""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from researchdesk.state.errors import Refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One passage that answers a query; a document may have several, all but its best without a snippet.

    ``snippet`` stands at ``start`` in the document's extracted text where the provider has read it; a web
    provider's own summary has ``start`` -1. ``score`` is comparable within one outcome only. ``address`` is where the
    document is read, where that is not its locator: a page that was found under ``http`` has an ``https`` locator.
    """

    locator: str
    title: str | None
    snippet: str
    start: int
    score: float
    origin: str
    media_type: str
    address: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOutcome:
    """What one search returned, best first; ``total`` counts the documents that were considered.

    ``asked`` is the query as it was sent where it had to be shortened, else "".
    """

    provider: str
    hits: tuple[Hit, ...]
    total: int
    asked: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A part of a text, from ``start`` to ``end``; ``page`` counts from 1, 0 where there are no pages."""

    title: str
    start: int
    end: int
    page: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """A document as it was read: the bytes, the text made from them, and how.

    ``status`` is the HTTP status, 0 for a local file. ``canonical`` decides identity. ``domain`` is the
    registrable domain of a web page and the origin of a local file; ``origin_reason`` says who decided the
    origin. ``readable`` is False where most of the text could not be decoded, with the cause in ``note``.
    ``redirects`` are the URLs that sent the reader on, in order. ``etag`` and ``last_modified`` are by what a
    server tells whether the page is still the same, as it sent them.
    """

    requested: str
    locator: str
    canonical: str
    redirects: tuple[str, ...]
    status: int
    media_type: str
    charset: str
    raw: bytes
    text: str
    extractor: str
    extractor_version: str
    title: str | None
    sections: tuple[Section, ...]
    origin: str
    origin_reason: str
    domain: str
    readable: bool
    note: str
    etag: str = ""
    last_modified: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A page as it was archived before; at least one of ``etag`` and ``last_modified`` is given."""

    raw: bytes
    content_type: str
    etag: str
    last_modified: str
    fetched_at: str


class SearchFailed(Refusal):
    """A search that did not run; not the same as one that found nothing.

    Codes: ``search_rate_limited``, ``search_timeout``, ``search_unavailable``, ``search_bad_query``.
    ``transient`` says whether trying again may help, ``retry_after`` after how many seconds where that is known.
    """

    def __init__(
        self, code: str, text: str, *, transient: bool | None = None, retry_after: float | None = None
    ) -> None:
        super().__init__(code, text)
        self.transient = code != "search_bad_query" if transient is None else transient
        self.retry_after = retry_after


class FetchRefused(Refusal):
    """A document that was not read.

    Codes: ``fetch_blocked``, ``fetch_empty``, ``fetch_too_large``, ``fetch_unreadable``, ``fetch_unsafe``,
    ``fetch_timeout``, ``fetch_not_found``. ``transient`` says whether trying again may help, ``broken_way`` whether
    it was the way to the document that failed, which says nothing about the document.
    """

    def __init__(
        self, code: str, text: str, *, transient: bool | None = None, broken_way: bool | None = None
    ) -> None:
        super().__init__(code, text)
        self.transient = code == "fetch_timeout" if transient is None else transient
        told = self.transient or code in ("fetch_timeout", "fetch_blocked")
        self.broken_way = told if broken_way is None else broken_way


class StoppedEarly(Exception):
    """What a corpus's ``progress`` raises to end the reading; it ends the search that reads, too."""


class Archive(Protocol):
    """What was read before."""

    def known(self, locator: str) -> Known | None:
        """The newest archived bytes of exactly this URL that a server may call unchanged, or None."""
        ...


class SearchProvider(Protocol):
    """Something that can be asked for documents."""

    @property
    def name(self) -> str: ...

    def search(self, query: str, *, limit: int) -> SearchOutcome:
        """Return at most ``limit`` documents, best first. Raises: SearchFailed."""
        ...


@runtime_checkable
class Fetcher(Protocol):
    """Something that can read a document."""

    def accepts(self, locator: str) -> bool:
        """Say whether this fetcher is the one for such a locator; reads nothing."""
        ...

    def fetch(self, locator: str) -> Fetched:
        """Read the document. Raises: FetchRefused."""
        ...
