"""Searching and archiving: which words to search with next, and which of the found documents to keep."""

import re
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from researchdesk.graph.offline.aliases import aliases, defining_query
from researchdesk.graph.offline.calls import Call, archive, search
from researchdesk.graph.offline.feedback import PASSAGES, deal, expansion
from researchdesk.graph.offline.programs import code_sentences, is_program
from researchdesk.graph.offline.question import Question, read_question
from researchdesk.graph.offline.terms import Rarity, words
from researchdesk.graph.offline.view import Found, View

TARGETS = {"quick": 10, "standard": 15, "deep": 25}
LEAST_SOURCES = 10
"""Fewer documents showed only one side where publishers differ."""
HITS = 50
NAMING_HITS = 12
"""For the search that only asks how the subject is called."""
LONGEST_QUERY = 110
"""Longer ones are asked by their content words alone; the view shows 200 characters of a query."""
SHOWN_QUERY = 190
ASIDES = re.compile(
    r"(?:tests?|specs?|examples?|benchmarks?|fixtures?|samples?|conftest|vendor)(?:[_.-].*)?|.*[_.-]tests?\.\w+"
)
ASIDE = 0.6
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
    """Searches that are still worth a call: the plain question first, then with words that it led to."""
    plain = plain_queries(view.objective, question)
    if was_blocked(view):
        return [search(turned(question, len(view.searches)), limit=HITS)]
    failed = {folded(str(result.arguments.get("query", ""))) for result in view.failed("search_sources")}
    asked = {folded(one.query) for one in view.searches} | failed
    if failed and not view.searches:
        return []  # no search works here
    defining = defining_query(subject_words(question))
    limits = {**({defining: NAMING_HITS} if defining else {}), **dict.fromkeys(plain, HITS)}
    opening = list(limits)
    if missing := [query for query in opening if folded(query) not in asked]:
        return [search(query, limit=limits[query]) for query in missing]
    if failed - {folded(query) for query in opening} or any(
        is_widened(one.query, view) for one in view.searches
    ):
        return []
    wanted = second_queries(view, question) if view.found else [" ".join(focus_words(question))]
    return [search(query, limit=HITS) for query in wanted if query and folded(query) not in asked]


def was_blocked(view: View) -> bool:
    """True at the first turn of a run that ended blocked for want of sources and was taken up again."""
    return not view.sources and any(
        one.tool == "deep_research_checkpoint" and one.arguments.get("status") == "blocked" and not one.failed
        for one in view.last
    )


def turned(question: Question, times: int) -> str:
    """The question's words in another order: a query that was made before is answered from the record."""
    asked = [word for word in dict.fromkeys(words(question.text)) if question.vocabulary.term(word)]
    at = times % max(len(asked), 1)
    return shorten(" ".join([*asked[at:], *asked[:at]]), question)


def second_queries(view: View, question: Question) -> list[str]:
    """The question with learned words, and with the other names of its subject in quotation marks."""
    seen = [result.text for result in view.last if result.tool == "search_sources"]
    names = aliases(question.subject, seen, question.vocabulary)
    rest = [word for word in focus_words(question) if question.vocabulary.term(word) not in question.subject]
    return [widened_query(view, question), *(" ".join([f'"{name}"', *rest]) for name in names)]


def is_widened(query: str, view: View) -> bool:
    """True for a query that holds the whole objective and more."""
    plain = plain_queries(view.objective, read_question(view.objective))[0]
    return folded(query).startswith(f"{folded(plain)} ")


def alias_of(query: str) -> str:
    """The other name of the subject that a search asked for, "" where it asked for none."""
    return query[1 : query.index('"', 1)] if query.startswith('"') and query.count('"') == 2 else ""


def subject_words(question: Question) -> list[str]:
    """The words of the question, as written, that name the thing it is about."""
    return [word for word in focus_words(question) if question.vocabulary.term(word) in question.subject]


def folded(query: str) -> str:
    """A query as the record of searches compares it."""
    return " ".join(query.casefold().split())[:SHOWN_QUERY]


def locating_searches(view: View, question: Question) -> list[Call]:
    """Searches made when archiving: they show further places in the sources that are worth reading."""
    if view.notes or view.failed("search_sources"):
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
    return list(dict.fromkeys(filter(None, (shorten(query, question) for query in queries))))


def shorten(query: str, question: Question) -> str:
    if len(query) <= LONGEST_QUERY:
        return query
    kept = [word for word in query.split() if question.vocabulary.terms(word)]
    return (" ".join(dict.fromkeys(kept)) or query)[:LONGEST_QUERY].rsplit(" ", 1)[0]


def widened_query(view: View, question: Question) -> str:
    hits = ranked(view, question)
    folders = Folders.of(hit.locator for hit in hits)
    passages = [(folders(hit), spoken(hit)) for hit in deal(hits, folders, PASSAGES)]
    learned = expansion(question.text, passages, vocabulary=question.vocabulary)
    return " ".join([shorten(view.objective, question), *learned]) if learned else ""


def ranked(view: View, question: Question) -> list[Found]:
    """The found passages, best first: the engine's order, and how much of the question each holds."""
    rarity = Rarity.over(question.vocabulary.terms(hit.snippet) for hit in view.found)
    wanted = [*question.terms, *question.learned]
    weights = {term: rarity(term) * question.weight(term) for term in wanted}
    total = sum(weights.values()) or 1.0
    wants_asides = asks_for_asides(question)

    def value(place: int, hit: Found) -> float:
        held = set(question.vocabulary.terms(f"{hit.title} {spoken(hit)}"))
        cover = sum(weight for term, weight in weights.items() if term in held) / total
        aside = is_aside(hit.locator) and not wants_asides
        return (cover + 10 / (10 + place)) * (ASIDE if aside else 1.0)

    order = sorted(view.found, key=lambda hit: -hit.score)
    placed = sorted(enumerate(order), key=lambda pair: -value(*pair))
    return [hit for _, hit in placed]


def spoken(hit: Found) -> str:
    """What a passage says to a reader: of a program only its comments and documentation."""
    return (
        " ".join(one.text for one in code_sentences(hit.snippet)) if is_program(hit.locator) else hit.snippet
    )


def is_aside(locator: str) -> bool:
    """True for tests, examples and the like, which show a thing in use and seldom say what it is."""
    return any(ASIDES.fullmatch(part) for part in re.split(r"[\\/]", locator.removeprefix("file:").lower()))


def asks_for_asides(question: Question) -> bool:
    return any(ASIDES.fullmatch(word) for word in words(question.text))


def target(view: View) -> int:
    wanted = view.limits.target_sources or TARGETS.get(view.scope_level, LEAST_SOURCES)
    return max(wanted, LEAST_SOURCES)


def next_archives(view: View, question: Question) -> list[Call]:
    """Documents to archive now: the best passages' documents, dealt over folders, without refused ones."""
    room = target(view) - len(view.sources) - view.sources_not_shown
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
