"""Searching and archiving: which words to search with next, and which of the found documents to keep."""

import re
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from researchdesk.graph.offline.calls import Call, archive, search
from researchdesk.graph.offline.feedback import PASSAGES, deal, expansion
from researchdesk.graph.offline.question import Question
from researchdesk.graph.offline.terms import Rarity, words
from researchdesk.graph.offline.view import Found, View

TARGETS = {"quick": 10, "standard": 15, "deep": 25}
LEAST_SOURCES = 10
"""Fewer documents showed only one side where publishers differ."""
HITS = 50
LONGEST_QUERY = 400
QUESTION_END = re.compile(r"(?<=[?？])\s*|(?<=[.。;；])\s+")


@dataclass(frozen=True, slots=True)
class Folders:
    """Tells found documents apart by folder or site, for dealing in turn."""

    depth: int

    @classmethod
    def of(cls, locators: Iterable[str]) -> "Folders":
        """Folders are told apart at the first level where the locators part."""
        paths = [folder_parts(locator) for locator in locators]
        depth = 0
        while (
            paths and all(len(path) > depth for path in paths) and len({path[depth] for path in paths}) == 1
        ):
            depth += 1
        return cls(depth)

    def __call__(self, hit: Found) -> Hashable:
        parts = folder_parts(hit.locator)
        return hit.origin, parts[self.depth] if len(parts) > self.depth else ""


def is_web(locator: str) -> bool:
    return urlsplit(locator).scheme in {"http", "https"}


def folder_parts(locator: str) -> list[str]:
    """Site and folders of a locator, without the document's own name."""
    if is_web(locator):
        return [urlsplit(locator).netloc]
    locator = locator.removeprefix("file:")
    return [part for part in locator.replace("\\", "/").split("/")[:-1] if part]


def next_searches(view: View, question: Question) -> list[Call]:
    """Searches that are still worth a call: the plain question, its parts, then with learned words."""
    failed = {folded(str(result.arguments.get("query", ""))) for result in view.failed("search_sources")}
    asked = {folded(search.query) for search in view.searches} | failed
    plain = plain_queries(view.objective, question)
    if (failed and not failed & {folded(query) for query in plain}) or (view.steps and not view.sources):
        return []
    missing = [query for query in plain if folded(query) not in asked]
    if missing:
        return [search(query, limit=HITS) for query in missing]
    if len(asked) == len(plain):
        widened = widened_query(view, question) if view.found else fallback_query(question)
        if widened and folded(widened) not in asked:
            return [search(widened, limit=HITS)]
    return []


def folded(query: str) -> str:
    """A query as the record of searches compares it."""
    return " ".join(query.casefold().split())


def locating_searches(view: View, question: Question) -> list[Call]:
    """Searches made when all is archived: they show further places in the sources that are worth reading."""
    if not view.sources or view.notes or view.failed("search_sources"):
        return []
    asked = {folded(search.query) for search in view.searches}
    focus = focus_words(question)
    queries = [" ".join([*focus, *question.asked_units]), " ".join([*question.learned_words, *focus])]
    wanted = [query for query in dict.fromkeys(queries) if query and folded(query) not in asked]
    return [search(query, limit=HITS) for query in wanted]


def plain_queries(objective: str, question: Question) -> list[str]:
    """The objective, and each of its questions where it holds several; long ones by their words alone."""
    parts = [part.strip() for part in QUESTION_END.split(objective) if len(part.split()) >= 3]
    queries = [" ".join(objective.split()), *(parts[:4] if len(parts) > 1 else [])]
    return list(dict.fromkeys(shorten(query, question) for query in queries))


def shorten(query: str, question: Question) -> str:
    if len(query) <= LONGEST_QUERY:
        return query
    kept = [word for word in query.split() if question.vocabulary.terms(word)]
    return " ".join(dict.fromkeys(kept))[:LONGEST_QUERY].rsplit(" ", 1)[0]


def widened_query(view: View, question: Question) -> str:
    hits = ranked(view, question)
    folders = Folders.of(hit.locator for hit in hits)
    passages = [(folders(hit), hit.snippet) for hit in deal(hits, folders, PASSAGES)]
    learned = expansion(question.text, passages, vocabulary=question.vocabulary)
    return " ".join([shorten(view.objective, question), *learned]) if learned else ""


def fallback_query(question: Question) -> str:
    """What the question is about without its frame, when the plain question found nothing."""
    return " ".join(question.focus)


def ranked(view: View, question: Question) -> list[Found]:
    """The found passages, best first: the engine's order, and how much of the question each holds."""
    rarity = Rarity.over(question.vocabulary.terms(hit.snippet) for hit in view.found)
    wanted = [*question.terms, *question.learned]
    weights = {term: rarity(term) * question.weight(term) for term in wanted}
    total = sum(weights.values()) or 1.0

    def value(place: int, hit: Found) -> float:
        held = set(question.vocabulary.terms(f"{hit.title} {hit.snippet}"))
        cover = sum(weight for term, weight in weights.items() if term in held) / total
        return cover + 10 / (10 + place)

    order = sorted(view.found, key=lambda hit: -hit.score)
    placed = sorted(enumerate(order), key=lambda pair: -value(*pair))
    return [hit for _, hit in placed]


def target(view: View) -> int:
    wanted = view.limits.target_sources or TARGETS.get(view.scope_level, LEAST_SOURCES)
    return max(wanted, LEAST_SOURCES)


def next_archives(view: View, question: Question) -> list[Call]:
    """Documents to archive now: the best passages' documents, dealt over folders, without refused ones."""
    room = target(view) - len(view.sources)
    if room <= 0:
        return []
    barred = {one.locator for one in view.refused} | {source.locator for source in view.sources}
    barred |= {
        str(result.arguments.get("locator", "")) for result in view.last if result.tool == "archive_source"
    }
    documents: dict[str, Found] = {}
    for hit in ranked(view, question):
        if hit.locator not in barred:
            documents.setdefault(hit.locator, hit)
    folders = Folders.of(documents)
    return [archive(hit.locator) for hit in deal(documents.values(), folders, room)]


def focus_words(question: Question) -> list[str]:
    """The words of the question, as written, that say what it is about."""
    return [
        word
        for word in dict.fromkeys(words(question.text))
        if question.vocabulary.term(word) in question.focus
    ]
