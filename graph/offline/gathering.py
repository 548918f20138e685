"""Searching and archiving: which words to search with next, and which of the found documents to keep."""

import re
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from researchdesk.graph.offline.aliases import aliases, defining_query
from researchdesk.graph.offline.asking import (
    asks_for_agreement,
    content_of,
    left_to_answer,
    questions_to_answer,
)
from researchdesk.graph.offline.calls import Call, archive, entry, notes, search
from researchdesk.graph.offline.feedback import PASSAGES, deal, expansion
from researchdesk.graph.offline.programs import code_sentences, is_program
from researchdesk.graph.offline.question import Question, read_question
from researchdesk.graph.offline.terms import Rarity, words
from researchdesk.graph.offline.view import Found, View
from researchdesk.state.locators import is_web, path_of
from researchdesk.state.sameness import normal_query

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
OBJECTIVE = "q_001"
TAKEN, CALLED = "Words taken to belong to the matter: ", "Names taken for the same thing: "
"""How assumptions begin that searches with learned words rest on."""
OWN_SOURCES = 4
"""Documents that a question may archive though earlier ones had the wanted number."""
SOURCES_LACK = re.compile(r"fetched sources are")


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


def folder_parts(locator: str) -> list[str]:
    """Site and folders of a locator, without the document's own name."""
    if is_web(locator):
        return [urlsplit(locator).netloc]
    return [part for part in path_of(locator).replace("\\", "/").split("/")[:-1] if part]


def opening_searches(view: View) -> list[Call]:
    """The first searches, made for the objective itself: its words, and how documents call its subject."""
    question = read_for(view, OBJECTIVE, view.objective)
    if was_blocked(view):
        return [search(turned(question, len(view.searches)), limit=HITS)]
    defining = defining_query(subject_words(question))
    wanted = [(defining, NAMING_HITS), (shorten(" ".join(view.objective.split()), question), HITS)]
    asked = tried(view)
    return [search(query, limit=most) for query, most in wanted if query and folded(query) not in asked]


def next_searches(view: View, question: Question) -> list[Call]:
    """Searches that are still worth a call for the question in progress: its words, then words that they led to."""
    if was_blocked(view):
        return [search(turned(question, len(view.searches)), limit=HITS)]
    asked = tried(view)
    plain = shorten(" ".join(question.text.split()), question)
    failed = {folded(str(result.arguments.get("query", ""))) for result in view.failed("search_sources")}
    if is_searched(view) or (failed and not view.searches):
        return []  # enough, or no search works here
    if folded(plain) not in asked:
        return [search(plain, limit=HITS)]
    if failed - {folded(plain)}:
        return []
    wanted = second_queries(view, question) if view.found else [" ".join(focus_words(question))]
    fresh = [query for query in dict.fromkeys(wanted) if query and folded(query) not in asked]
    return [search(query, limit=HITS) for query in fresh[: view.working.searches_left]]


def tried(view: View) -> set[str]:
    """The queries that were made or failed, as far as they are shown."""
    made = [one.query for one in view.searches] + [one.query for one in view.working.attempts]
    made += [str(one.arguments.get("query", "")) for one in view.failed("search_sources")]
    return {folded(query) for query in made}


def is_searched(view: View) -> bool:
    """True once the question in progress was searched with words that were learned for it, or is being challenged."""
    own = view.working.id
    learned = any(one.question_id == own and one.text.startswith(TAKEN) for one in view.assumptions)
    return learned or is_challenged(view, own) or not view.working.searches_left


def is_challenged(view: View, question_id: str) -> bool:
    """True from the first challenge of a claim that a question has, or of its answer."""
    claims = {claim.id for claim in view.claims if claim.question_id == question_id}
    targets = {one.target_id for one in view.challenges}
    return bool(targets & {*claims, question_id}) or any(
        claim.challenged for claim in view.claims if claim.id in claims
    )


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
    """The question with learned words, with the other names of its subject in quotation marks, and by its focus."""
    focus, learned = focus_words(question), learned_words(view, question)
    rest = [word for word in focus if question.vocabulary.term(word) not in question.subject]
    plain = shorten(" ".join(question.text.split()), question)
    return [
        " ".join([plain, *learned]) if learned else "",
        *(" ".join([f'"{name}"', *rest]) for name in other_names(view, question)),
        " ".join([*focus, *question.asked_units]),
        " ".join([*learned, *focus]),
    ]


def other_names(view: View, question: Question) -> list[str]:
    seen = [result.text for result in view.last if result.tool == "search_sources"]
    return aliases(question.subject, seen, question.vocabulary)


def memory(view: View, question: Question) -> list[Call]:
    """What the searches with other words rest on, as assumptions: it is shown, and known in later turns."""
    taken = [
        (TAKEN, ", ".join(learned_words(view, question))),
        (CALLED, ", ".join(other_names(view, question))),
    ]
    entries = [
        entry("assumption", f"{lead}{told}", question_id=view.working.id) for lead, told in taken if told
    ]
    return [notes("Assumptions & gaps", entries)] if entries else []


def read_for(view: View, question_id: str, text: str) -> Question:
    """A question with the words and names that were learned for it; the objective has those of all questions."""
    content = content_of(text)
    whole = question_id == OBJECTIVE or asks_for_agreement(text)
    own = [one.text for one in view.assumptions if whole or one.question_id == question_id]
    learned = [word for told in own if told.startswith(TAKEN) for word in listed(told, TAKEN)]
    names = [name for told in own if told.startswith(CALLED) for name in listed(told, CALLED)]
    return read_question(
        content, queries=[" ".join([content, *learned])], aliases=names, publishers=publishers_of(view)
    )


def publishers_of(view: View) -> list[str]:
    """Names of the publishers of what was found, as a question would call them: ``nist`` of nist.gov."""
    origins = dict.fromkeys(
        [*(source.origin for source in view.sources), *(hit.origin for hit in view.found)]
    )
    return [name for origin in origins if len(name := origin.split(".")[0].casefold()) > 2]


def listed(text: str, lead: str) -> list[str]:
    return [part.strip() for part in text.removeprefix(lead).rstrip("…").split(",") if part.strip()]


def subject_words(question: Question) -> list[str]:
    """The words of the question, as written, that name the thing it is about."""
    return [word for word in focus_words(question) if question.vocabulary.term(word) in question.subject]


def folded(query: str) -> str:
    """A query as the record of searches compares it."""
    return normal_query(query)[:SHOWN_QUERY]


def shorten(query: str, question: Question) -> str:
    if len(query) <= LONGEST_QUERY:
        return query
    kept = [word for word in query.split() if question.vocabulary.terms(word)]
    return (" ".join(dict.fromkeys(kept)) or query)[:LONGEST_QUERY].rsplit(" ", 1)[0]


def learned_words(view: View, question: Question) -> list[str]:
    hits = ranked(view, question)
    folders = Folders.of(hit.locator for hit in hits)
    passages = [(folders(hit), spoken(hit)) for hit in deal(hits, folders, PASSAGES)]
    return expansion(question.text, passages, vocabulary=question.vocabulary)


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
    return any(ASIDES.fullmatch(part) for part in re.split(r"[\\/]", path_of(locator).lower()))


def asks_for_asides(question: Question) -> bool:
    return any(ASIDES.fullmatch(word) for word in words(question.text))


def target(view: View) -> int:
    wanted = view.limits.target_sources or TARGETS.get(view.scope_level, LEAST_SOURCES)
    return max(wanted, LEAST_SOURCES)


def room_for_sources(view: View) -> int:
    """How many documents the question in progress may archive: its share of what is left, and some in any case."""
    archived = len(view.sources) + view.sources_not_shown
    left = max(0, target(view) - archived)
    open_questions = len(left_to_answer(view))
    share = -(-left // max(1, open_questions))
    if left or is_challenged(view, view.working.id):
        return share
    # A later question gets some documents of its own, once.
    further = len(questions_to_answer(view)) - open_questions
    return max(0, target(view) + further * OWN_SOURCES - archived)


def next_archives(view: View, question: Question) -> list[Call]:
    """Documents to archive now: the best passages' documents, dealt over folders, without refused ones."""
    room = room_for_sources(view)
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


def lacking_archives(view: View) -> list[Call]:
    """What the gate to the report still wants of sources: the best documents of publishers that have none yet."""
    if not any(SOURCES_LACK.search(line) for line in view.unmet) or view.failed("archive_source"):
        return []
    known = {source.origin for source in view.sources}
    barred = {one.locator for one in view.refused} | {source.locator for source in view.sources}
    fresh = [hit for hit in view.found if hit.locator not in barred]
    fresh.sort(key=lambda hit: (hit.origin in known, -hit.score))
    return [archive(hit.locator) for hit in deal(fresh, lambda hit: hit.origin, OWN_SOURCES)]


def focus_words(question: Question) -> list[str]:
    """The words of the question, as written, that say what it is about."""
    return [
        word
        for word in dict.fromkeys(words(question.text))
        if question.vocabulary.term(word) in question.focus
    ]
