"""Several search providers asked at once, and their answers as one: merged by rank, failures kept by name."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TypeAlias

from researchdesk.state.cleaning import safe_error
from researchdesk.state.errors import ResearchdeskError
from researchdesk.state.locators import UnsafeLocator, parse_locator
from researchdesk.state.ranks import merged_ranks
from researchdesk.tools.sources.ports import Hit, SearchFailed, SearchOutcome, SearchProvider, StoppedEarly

AT_ONCE = 8
# What tells most of all providers' failures comes first: a query that one of them does not take says least.
_TELLING = ("search_rate_limited", "search_timeout", "search_unavailable", "search_bad_query")

Ask: TypeAlias = Callable[..., SearchOutcome]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The answers, and the failures with the provider's name; both in the providers' order."""

    outcomes: tuple[SearchOutcome, ...]
    failures: tuple[tuple[str, SearchFailed], ...]

    def failure(self) -> SearchFailed:
        """The failure that stands for all where nobody answered: of the most telling kind, with every text."""
        if len(self.failures) == 1:
            return self.failures[0][1]
        codes = {problem.code for _, problem in self.failures}
        code = next((code for code in _TELLING if code in codes), "search_unavailable")
        text = "No provider answered. " + " ".join(
            f"{name}: {problem.text}" for name, problem in self.failures
        )
        return SearchFailed(code, text)


def ask_all(providers: Sequence[SearchProvider], query: str, *, limit: int, ask: Ask) -> Asked:
    """Ask all providers, at most `AT_ONCE` at the same time.

    Args:
        ask: called with a provider's ``search`` and its arguments; it may try more than once.

    Raises:
        ResearchdeskError, StoppedEarly: what is none of a search's own failures.
    """

    def one(provider: SearchProvider) -> SearchOutcome | SearchFailed:
        try:
            answer = ask(provider.search, query, limit=limit)
            return replace(answer, hits=tuple(answer.hits))  # what is no outcome fails here
        except SearchFailed as problem:
            return problem
        except (ResearchdeskError, StoppedEarly):
            raise
        except Exception as problem:
            return broken_provider(f"The search provider {provider.name}", problem)

    if len(providers) == 1:
        answers = [one(providers[0])]
    else:
        with ThreadPoolExecutor(min(AT_ONCE, len(providers)), thread_name_prefix="search") as workers:
            answers = list(workers.map(one, providers))
    named = list(zip(providers, answers, strict=True))
    return Asked(
        outcomes=tuple(answer for answer in answers if isinstance(answer, SearchOutcome)),
        failures=tuple((one.name, answer) for one, answer in named if isinstance(answer, SearchFailed)),
    )


def broken_provider(what: str, problem: Exception) -> SearchFailed:
    """The failure that stands for whatever else a provider raises."""
    text = f"{what} failed ({safe_error(problem)})."
    return SearchFailed("search_unavailable", text, transient=False)


def merged(outcomes: Sequence[SearchOutcome]) -> tuple[Hit, ...]:
    """The hits of all answers by document, best first, each under its document's one locator.

    Those of one answer alone keep order and scores. Else a document's score is the sum of its reciprocal ranks. Of one
    that several found, the hits of the answer that has it highest are kept, with the first title that one knows.
    """
    if len(outcomes) == 1:
        return tuple(map(_settled, outcomes[0].hits))
    answers = [_documents(outcome) for outcome in outcomes]
    scores = merged_ranks(answers)
    kept: dict[str, tuple[int, list[Hit]]] = {}
    titles: dict[str, str] = {}
    for answer in answers:
        for rank, (document, hits) in enumerate(answer.items()):
            title = next((hit.title for hit in hits if hit.title), None)
            if title:
                titles.setdefault(document, title)
            if document not in kept or rank < kept[document][0]:
                kept[document] = (rank, hits)
    return tuple(
        replace(hit, score=score, title=hit.title or titles.get(document))
        for document, score in scores.items()
        for hit in kept[document][1]
    )


def _documents(outcome: SearchOutcome) -> dict[str, list[Hit]]:
    """The hits of each document by its canonical locator, best document first."""
    found: dict[str, list[Hit]] = {}
    for hit in map(_settled, outcome.hits):
        found.setdefault(hit.locator, []).append(hit)
    return found


def _settled(hit: Hit) -> Hit:
    """The hit under its document's one locator, and with the address where a server without TLS has to be asked."""
    try:
        locator = str(parse_locator(hit.locator))
    except UnsafeLocator:
        return hit
    plain = hit.locator if hit.locator.lower().startswith("http:") else ""
    return replace(hit, locator=locator, address=hit.address or plain)
