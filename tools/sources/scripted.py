"""A provider and fetcher that answer from a script, for tests and evaluations."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Generic, TypeAlias, TypeVar

from researchdesk.state.locators import host_of, parse_locator
from researchdesk.tools.sources.ports import Fetched, FetchRefused, Hit, SearchFailed, SearchOutcome

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class InTurn(Generic[Answer]):
    """Answers given one after the other; the last one stays. ``InTurn((failure, hits))`` fails once."""

    answers: tuple[Answer, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A scripted document; an empty ``origin`` means its host without ``www.``, or ``scripted`` for a file."""

    text: str
    title: str | None = None
    origin: str = ""
    media_type: str = "text/plain"


SearchAnswer: TypeAlias = Sequence[Hit] | SearchFailed
FetchAnswer: TypeAlias = str | Page | Fetched | FetchRefused


class ScriptedSource:
    """Answers each query and locator as written down, and counts how often it was asked.

    Args:
        searches: query -> hits or failure (or `InTurn` of them); an unknown query finds nothing.
        pages: locator in any spelling -> text, `Page`, `Fetched` or failure; unknown is ``fetch_not_found``.
        delay: seconds each answer takes.

    A failure is raised as it is. ``search_calls`` and ``fetch_calls`` count by query and by locator as asked.
    """

    def __init__(
        self,
        *,
        searches: Mapping[str, SearchAnswer | InTurn[SearchAnswer]] | None = None,
        pages: Mapping[str, FetchAnswer | InTurn[FetchAnswer]] | None = None,
        name: str = "scripted",
        delay: float = 0.0,
    ) -> None:
        self.name = name
        self.search_calls: Counter[str] = Counter()
        self.fetch_calls: Counter[str] = Counter()
        self._searches: dict[str, tuple[SearchAnswer, ...]] = {
            query: _turns(answer) for query, answer in (searches or {}).items()
        }
        self._pages: dict[str, tuple[FetchAnswer, ...]] = {
            str(parse_locator(locator)): _turns(page) for locator, page in (pages or {}).items()
        }
        self._asked: Counter[str] = Counter()
        self._delay = delay
        self._lock = Lock()

    def search(self, query: str, *, limit: int) -> SearchOutcome:
        """Return the scripted hits, at most ``limit``."""
        with self._lock:
            self.search_calls[query] += 1
            answer = self._answer(f"search {query}", self._searches.get(query, ((),)))
        time.sleep(self._delay)
        if isinstance(answer, SearchFailed):
            raise answer
        return SearchOutcome(provider=self.name, hits=tuple(answer[:limit]), total=len(answer))

    def accepts(self, locator: str) -> bool:
        """Say whether the script knows the locator."""
        return str(parse_locator(locator)) in self._pages

    def fetch(self, locator: str) -> Fetched:
        """Return the scripted document."""
        canonical = str(parse_locator(locator))
        missing = FetchRefused("fetch_not_found", f"the script has no page {locator!r}")
        with self._lock:
            self.fetch_calls[locator] += 1
            answer = self._answer(canonical, self._pages.get(canonical, (missing,)))
        time.sleep(self._delay)
        if isinstance(answer, FetchRefused):
            raise answer
        if isinstance(answer, Fetched):
            return answer
        return _fetched(locator, canonical, Page(text=answer) if isinstance(answer, str) else answer)

    def _answer(self, key: str, answers: tuple[Answer, ...]) -> Answer:
        turn = min(self._asked[key], len(answers) - 1)
        self._asked[key] += 1
        return answers[turn]


def _turns(answer: Answer | InTurn[Answer]) -> tuple[Answer, ...]:
    return answer.answers if isinstance(answer, InTurn) else (answer,)


def _fetched(requested: str, canonical: str, page: Page) -> Fetched:
    web = canonical.startswith("https:")
    origin = page.origin or (host_of(canonical).removeprefix("www.") if web else "scripted")
    return Fetched(
        requested=requested,
        locator=canonical,
        canonical=canonical,
        redirects=(),
        status=200 if web else 0,
        media_type=page.media_type,
        charset="utf-8",
        raw=page.text.encode(),
        text=page.text,
        extractor="scripted",
        extractor_version="1",
        title=page.title,
        sections=(),
        origin=origin,
        origin_reason="scripted",
        domain=origin,
        readable=True,
        note="",
    )
