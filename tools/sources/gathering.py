"""Reaching the world for one call: run a search or read a document, redact it, keep bytes and receipt.

This is the only part of a tool call that touches the world. What comes back is redacted before it is stored
anywhere; where the redactor fired, the raw bytes are not kept and only their hash remains.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import tenacity
from pydantic import ConfigDict, TypeAdapter
from pydantic.dataclasses import dataclass as strict_dataclass

from researchdesk.state import events as ev
from researchdesk.state.cleaning import safe_error
from researchdesk.state.errors import Refusal, ResearchdeskError
from researchdesk.state.ids import content_hash
from researchdesk.state.independence import signature
from researchdesk.state.limits import ARCHIVED_CHARS, LOCATOR_CHARS, NAME_CHARS, SNIPPET_CHARS
from researchdesk.state.locators import UnsafeLocator, host_of, is_web, parse_locator
from researchdesk.state.redaction import redact
from researchdesk.tools.sources.asking import ask_all, broken_provider, merged
from researchdesk.tools.sources.domains import registrable_domain, suffix_list
from researchdesk.tools.sources.extracted import MAX_SECTIONS, clean
from researchdesk.tools.sources.fitting import fit_count, fit_score, fit_text
from researchdesk.tools.sources.ports import (
    Fetched,
    Fetcher,
    FetchRefused,
    Hit,
    SearchFailed,
    SearchProvider,
    Section,
    StoppedEarly,
)
from researchdesk.tools.spec import Fetch, Page, Search

HEAD_CHARS = 600
TITLE_CHARS = 500
TRIES = 3
LONGEST_WAIT = 10.0
"""Seconds that a call waits for a service which asks to be left alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """The search providers and fetchers of one run; ``a + b`` has those of both.

    All providers are asked, at the same time. A document is read by the first fetcher that accepts its locator
    and has it.
    """

    providers: Sequence[SearchProvider] = ()
    fetchers: Sequence[Fetcher] = ()

    def __add__(self, other: "Sources") -> "Sources":
        return Sources(
            providers=(*self.providers, *other.providers), fetchers=(*self.fetchers, *other.fetchers)
        )


@strict_dataclass(frozen=True, slots=True, kw_only=True, config=ConfigDict(extra="forbid"))
class Taken:
    """What one call gathered, without the bodies; this is the receipt that is staged."""

    search: ev.SearchRecorded | None = None
    page: Page | None = None
    failure: tuple[str, str] | None = None
    broken_way: bool = False


TAKEN: TypeAdapter[Taken] = TypeAdapter(Taken)


@dataclass(frozen=True, slots=True, kw_only=True)
class Haul:
    """A receipt with the bodies that belong to it, by hash."""

    taken: Taken
    bodies: dict[str, bytes]


def _is_transient(problem: BaseException) -> bool:
    if isinstance(problem, SearchFailed) and (problem.retry_after or 0) > LONGEST_WAIT:
        return False
    return isinstance(problem, SearchFailed | FetchRefused) and problem.transient


_soon = tenacity.wait_random_exponential(multiplier=0.2, max=5)


def _when_asked(state: tenacity.RetryCallState) -> float:
    """Wait as long as the service asked for, else a little."""
    problem = state.outcome.exception() if state.outcome else None
    wanted = problem.retry_after if isinstance(problem, SearchFailed) else None
    return _soon(state) if wanted is None else wanted


_patiently = tenacity.Retrying(
    retry=tenacity.retry_if_exception(_is_transient),
    stop=tenacity.stop_after_attempt(TRIES),
    wait=_when_asked,
    reraise=True,
)


def gather(need: Search | Fetch, sources: Sources) -> Haul:
    """Search or fetch; a failure is part of what comes back, whatever a provider or a fetcher raises.

    Transient faults are tried again first; what is returned is final for the call that asked.

    Raises:
        ResearchdeskError: what is no refusal: a store or an index that cannot be had, a setting that cannot be used.
        StoppedEarly: somebody asked to end the reading of a corpus.
    """
    try:
        match need:
            case Search():
                return _search(need, sources)
            case Fetch():
                return _fetch(need, sources)
    except FetchRefused as refusal:
        return _failed(refusal, broken_way=refusal.broken_way)
    except Refusal as refusal:
        return _failed(refusal)
    except (ResearchdeskError, StoppedEarly):
        raise
    except Exception as problem:  # an answer of another form than the ports have
        return _failed(_surprise(need, problem), broken_way=True)


def _failed(refusal: Refusal, *, broken_way: bool = False) -> Haul:
    failure = (refusal.code, fit_text(refusal.text))
    return Haul(taken=Taken(failure=failure, broken_way=broken_way), bodies={})


def _surprise(need: Search | Fetch, problem: Exception) -> Refusal:
    if isinstance(need, Search):
        return broken_provider("The search", problem)
    return _broken_fetcher("What was read", problem)


def _broken_fetcher(what: str, problem: Exception) -> FetchRefused:
    """The refusal that stands for whatever else a fetcher raises."""
    return FetchRefused("fetch_unreadable", f"{what} failed ({safe_error(problem)}).", broken_way=True)


def _search(need: Search, sources: Sources) -> Haul:
    if not sources.providers:
        raise SearchFailed("search_unavailable", "This run has no corpus to search. Start it with one.")
    asked = ask_all(sources.providers, redact(need.query).text, limit=need.limit, ask=_patiently.copy())
    if not asked.outcomes:
        raise asked.failure()
    found = merged(asked.outcomes)
    shown = list(dict.fromkeys(hit.locator for hit in found))[: need.limit]
    total = sum(outcome.total for outcome in asked.outcomes)
    search = ev.SearchRecorded(
        query=need.query,
        provider=", ".join(fit_text(outcome.provider, chars=NAME_CHARS) for outcome in asked.outcomes),
        hits=tuple(_found(hit) for hit in found if hit.locator in shown),
        total=fit_count(total, least=len(shown)),
        failed=tuple((name, problem.code) for name, problem in asked.failures),
        asked=tuple((one.provider, one.asked) for one in asked.outcomes if one.asked),
    )
    return Haul(taken=Taken(search=search), bodies={})


def _found(hit: Hit) -> ev.Found:
    return ev.Found(
        locator=fit_text(hit.locator, chars=LOCATOR_CHARS),
        title=fit_text(hit.title, chars=TITLE_CHARS) if hit.title else None,
        origin=fit_text(hit.origin, chars=NAME_CHARS),
        snippet=redact(clean(hit.snippet[:SNIPPET_CHARS])).text,
        start=fit_count(hit.start, least=-1),
        score=fit_score(hit.score),
        address="" if redact(hit.address).count else hit.address,
    )


def _fetch(need: Fetch, sources: Sources) -> Haul:
    fetchers = [fetcher for fetcher in sources.fetchers if _accepts(fetcher, need.locator)]
    if not fetchers:
        raise FetchRefused(
            "fetch_unsafe",
            f"'{need.locator[:200]}' is outside what this run may read: {_kinds(need, sources)}.",
        )
    if "[redacted:" in need.locator and is_web(need.locator):
        raise FetchRefused(
            "fetch_unsafe",
            "The address held a secret, which is not kept, so that its page cannot be asked for. Use one without.",
        )
    fetched = _first_that_has(fetchers, need.locator)
    if len(fetched.canonical) > LOCATOR_CHARS:
        raise FetchRefused(
            "fetch_unsafe",
            f"Its locator has {len(fetched.canonical):,} characters, the limit is {LOCATOR_CHARS:,}.",
        )
    if len(fetched.text) > ARCHIVED_CHARS:
        raise FetchRefused(
            "fetch_too_large",
            f"The text has {len(fetched.text):,} characters, the limit is {ARCHIVED_CHARS:,}.",
        )
    if not fetched.text.strip():
        raise FetchRefused("fetch_empty", f"'{fetched.locator[:200]}' holds no text.")
    return _archived(need, fetched)


def _kinds(need: Fetch, sources: Sources) -> str:
    """What can be read instead of a locator that nobody reads."""
    kinds = "only the files of the corpus can be read" if sources.fetchers else "no source can be read"
    web = "; pages of the web only where it is started with search providers (--web)"
    return kinds + (web if is_web(need.locator) else "")


def _first_that_has(fetchers: Sequence[Fetcher], locator: str) -> Fetched:
    """Read a document from the first fetcher that has it; where none has, the first one's words are told."""
    missing: list[FetchRefused] = []
    for fetcher in fetchers:
        try:
            fetched: Fetched = _patiently.copy()(fetcher.fetch, locator)
        except FetchRefused as refusal:
            if refusal.code != "fetch_not_found":
                raise
            missing.append(refusal)
        except (ResearchdeskError, StoppedEarly):
            raise
        except Exception as problem:
            raise _broken_fetcher(f"The reader {type(fetcher).__name__}", problem) from problem
        else:
            return fetched
    raise missing[0]


def _accepts(fetcher: Fetcher, locator: str) -> bool:
    try:
        return fetcher.accepts(locator)
    except (ResearchdeskError, StoppedEarly):
        raise
    except Exception as problem:
        raise _broken_fetcher(f"The reader {type(fetcher).__name__}", problem) from problem


def _archived(need: Fetch, fetched: Fetched) -> Haul:
    given = clean(fetched.text)
    redacted = redact(given)
    text = redacted.text.encode()
    raw_hash = f"sha256:{hashlib.sha256(fetched.raw).hexdigest()}"
    bodies = {content_hash(text): text}
    if not redacted.count:
        bodies[raw_hash] = fetched.raw
    receipt = ev.Receipt(
        requested=need.locator,
        locator=redact(fetched.locator).text,
        redirects=tuple(redact(step).text for step in fetched.redirects),
        status=fetched.status,
        media_type=fit_text(fetched.media_type, chars=NAME_CHARS),
        charset=fit_text(fetched.charset, chars=NAME_CHARS),
        extractor=fetched.extractor,
        extractor_version=fetched.extractor_version,
        fetched_at=datetime.now(UTC).isoformat(timespec="seconds"),
        raw_hash=raw_hash,
        raw_bytes=len(fetched.raw),
        raw_kept=not redacted.count,
        text_hash=content_hash(text),
        title=fit_text(fetched.title, chars=TITLE_CHARS) if fetched.title else None,
        # Offsets into a text that was shortened would point elsewhere.
        sections=tuple(map(_mark, fetched.sections[:MAX_SECTIONS])) if redacted.text == fetched.text else (),
        redactions=redacted.count,
        readable=fetched.readable,
        note=fit_text(fetched.note),
        etag=_validator(fetched.etag),
        last_modified=_validator(fetched.last_modified),
    )
    domain, origin, origin_reason = _publisher(fetched)
    page = Page(
        receipt=receipt,
        canonical=redact(fetched.canonical).text,
        domain=domain,
        origin=origin,
        origin_reason=origin_reason,
        content_hash=receipt.text_hash,
        chars=len(redacted.text),
        head=redacted.text[:HEAD_CHARS],
        signature=signature(redacted.text),
    )
    return Haul(taken=Taken(page=page), bodies=bodies)


def _publisher(fetched: Fetched) -> tuple[str, str, str]:
    """Domain, origin and who decided it; a page of the web is of whoever registered its host."""
    stated = (fetched.domain, fetched.origin, fetched.origin_reason)
    try:
        parsed = parse_locator(fetched.canonical)
    except UnsafeLocator:
        return stated
    if parsed.kind != "web":
        return stated
    domain = registrable_domain(host_of(parsed.value))
    return domain, domain, f"registrable domain, {suffix_list()}"


def _validator(value: str) -> str:
    """Keep what can be sent back as it is; one that is too long, no plain text or like a secret is dropped."""
    return (
        value
        if value.isascii() and value.isprintable() and len(value) <= 200 and not redact(value).count
        else ""
    )


def _mark(section: Section) -> ev.PageMark:
    title = fit_text(section.title, chars=NAME_CHARS)
    return ev.PageMark(title=title, start=section.start, end=section.end, page=section.page)
