"""Reading archived sources around their hits, and noting what they say as claims with their words."""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from researchdesk.graph.offline.asking import left_to_answer
from researchdesk.graph.offline.calls import Call, change, entry, notes, read
from researchdesk.graph.offline.compare import FOCUSED, speaks_of
from researchdesk.graph.offline.gathering import OBJECTIVE, read_for, target
from researchdesk.graph.offline.passages import Sentence, sentences
from researchdesk.graph.offline.programs import code_sentences, is_program
from researchdesk.graph.offline.question import Question
from researchdesk.graph.offline.sentences import (
    DESCRIBING,
    ENOUGH,
    Scored,
    best,
    binding,
    is_command,
    is_listing,
    moved,
    says_again,
    score,
    supports,
)
from researchdesk.graph.offline.statements import Finding, entries_of, links_of, said_by
from researchdesk.graph.offline.terms import Rarity, Vocabulary
from researchdesk.graph.offline.view import Claim, Hit, Source, View

WINDOW = 3_000
READS_A_TURN = {"quick": 3, "standard": 4, "deep": 6}
"""A prompt of a scope holds so many windows uncut."""
WINDOWS_A_SOURCE = 3
BEFORE_HIT = 900
"""Characters read before a hit, so that the heading above it is usually seen."""
AFTER_HIT = 500
"""So many of a passage have to be inside the window that it is in."""
CLAIMS_A_SOURCE = 5
CLAIMS = {"quick": 20, "standard": 40, "deep": 40}
"""Claims of one run."""
AHEAD = 1.25
"""How much more than its even share of the claims a source may have: those that are read first are the better ones."""
BLANK = "Nothing to quote: no sentence of it that was read answers."
READ, NOTE = "deep_research_read_artifact", "notes_append"
CITATION = re.compile(r"\[[sc]_\d+\]")


@dataclass(frozen=True, slots=True)
class Page:
    """A part of a source's text as it was read."""

    source: Source
    offset: int
    text: str
    starts: bool = False
    """True where it begins with a sentence's first word."""


def next_reads(
    view: View, question: Question, *, waiting: Sequence[Source], room: int, turns: int | None = None
) -> list[Call]:
    """Reads of the next sources that have no note yet; a source is read in one turn, or not yet.

    Args:
        room: calls that this answer may still hold.
        turns: answers that are left for gathering; with few of them only the best places are read.
    """
    room = min(room, READS_A_TURN.get(view.scope_level, 6))
    pages = [result for result in view.last if result.tool == READ and not result.failed]
    if any("shown_chars" in result.text[:600] for result in pages):  # the prompt had no room for so many
        room = min(room, max(1, sum(len(result.page or "") for result in pages) // WINDOW))
    most = WINDOWS_A_SOURCE
    if turns is not None and waiting:
        most = max(1, min(most, turns * room // len(waiting)))
    calls: list[Call] = []
    for source in waiting:
        windows = windows_of(source, most=most, from_start=is_about(source, question))
        if calls and len(calls) + len(windows) > room:
            break
        calls.extend(read(source.artifact_id, offset=offset, length=WINDOW) for offset in windows)
    return calls


def is_about(source: Source, question: Question) -> bool:
    """True for a document that is named after the matter: it says the main thing at its beginning."""
    return bool(source.own_title) and question.names_subject(question.vocabulary.terms(source.own_title))


def windows_of(source: Source, *, most: int, from_start: bool) -> list[int]:
    """Offsets of the windows that hold the best hits, in the order of the text.

    Args:
        from_start: whether the beginning is read as well.
    """
    if source.chars and source.chars <= min(2, most) * WINDOW:
        return list(range(0, source.chars, WINDOW))
    # The hits come best first; a window that holds several of them is worth more than one with a single.
    left = {hit.start: 1 / (2 + place) for place, hit in reversed(list(enumerate(source.hits)))} or {0: 1.0}
    chosen = [0] if from_start and most > 1 else []
    left = {start: weight for start, weight in left.items() if not (chosen and held_by(0, [start]))}
    while left and len(chosen) < most:
        windows = {start: held_by(max(0, start - BEFORE_HIT), left) for start in left}
        start = max(windows, key=lambda one: (sum(left[other] for other in windows[one]), -one))
        chosen.append(max(0, start - BEFORE_HIT))
        left = {other: weight for other, weight in left.items() if other not in windows[start]}
    return sorted(chosen)


def held_by(offset: int, starts: Iterable[int]) -> list[int]:
    """The hits of which a window from there holds enough to read them."""
    return [start for start in starts if offset <= start <= offset + WINDOW - AFTER_HIT]


def next_notes(view: View) -> list[Call]:
    """Claims from what the last turn read, links of what it says again, and notes on sources that say nothing."""
    pages = pages_of(view)
    found = findings(view, pages)
    told = {one.source.source_id for one in found}
    read_sources = {page.source.source_id: page.source for page in pages}
    silent = [source for key, source in read_sources.items() if key not in told and not source.noted]
    silent += unreadable(view, set(read_sources))
    return [*noted(view, found), *blank_notes(silent)]


def noted(view: View, found: Sequence[Finding]) -> list[Call]:
    """One call for the new claims of each source, one for each claim that gets further links."""
    again: dict[str, list[Finding]] = defaultdict(list)
    fresh: list[Finding] = []
    for one in found:
        known = next((claim for claim in view.standing if repeats(view, one, claim)), None)
        if known is None:
            fresh.append(one)
        elif one.source.source_id not in {link.source_id for link in known.links}:
            again[known.id].append(one)
    calls = new_claims(view, together(fresh))
    return calls + [change(key, add_links=links_of(own, echoes(view, own))) for key, own in again.items()]


def together(found: Sequence[Finding]) -> list[list[Finding]]:
    """The sentences by what they say; of each source one says it."""
    groups: list[list[Finding]] = []
    for one in found:
        same = next((group for group in groups if is_same(one, group)), None)
        if same is None:
            groups.append([one])
        elif one.source.source_id not in {other.source.source_id for other in same}:
            same.append(one)
    return groups


def new_claims(view: View, groups: Sequence[Sequence[Finding]]) -> list[Call]:
    """One call for the claims of each source, within the claims that the run may still have."""
    by_source: dict[str, list[Sequence[Finding]]] = defaultdict(list)
    for group in groups:
        by_source[group[0].source.source_id].append(group)
    calls: list[Call] = []
    left = claims_left(view)
    for own in by_source.values():
        entries = [
            given
            for group in own
            for given in entries_of(group, question_for(view, group[0].question_id), echoes(view, group))
        ][:left]
        left -= len(entries)
        calls += [notes("Unverified", entries)] if entries else []
    return calls


def repeats(view: View, one: Finding, claim: Claim) -> bool:
    """Whether a sentence says a claim again: nearly, where the publisher is the same; wholly, where it is another."""
    origins = {
        source.origin for source in view.sources if source.source_id in {k.source_id for k in claim.links}
    }
    return says_same(one, said_by(claim)[1], same_publisher=origins == {one.source.origin})


def is_same(one: Finding, group: Sequence[Finding]) -> bool:
    same_publisher = {other.source.origin for other in group} == {one.source.origin}
    return says_same(one, group[0].sentence.clean, same_publisher=same_publisher)


def says_same(one: Finding, other: str, *, same_publisher: bool) -> bool:
    text = one.sentence.clean
    if same_publisher and says_again(text, [other]) and binding(text) == binding(other):
        return True
    return supports(text, other, Vocabulary.of(other))


def echoes(view: View, group: Sequence[Finding]) -> dict[str, str]:
    """For each source whose sentence names another publisher: a source of that publisher, else its name."""
    found = {}
    for one in group:
        text = f" {one.sentence.clean.lower()} "
        for other in view.sources:
            name = other.origin.split(".")[0].lower()
            if other.origin != one.source.origin and len(name) > 2 and is_word(name, text):
                found[one.source.source_id] = other.source_id
                break
    return found


def is_word(name: str, text: str) -> bool:
    at = text.find(name)
    return at > 0 and not text[at - 1].isalnum() and not text[at + len(name)].isalnum()


def question_for(view: View, question_id: str) -> Question:
    """The question of that id, as far as the view tells its text."""
    if question_id == view.working.id:
        return read_for(view, question_id, view.working.text)
    text = next((one.text for one in view.questions if one.id == question_id), view.objective)
    return read_for(view, question_id, text)


def findings(view: View, pages: Sequence[Page]) -> list[Finding]:
    """The best sentences of the pages: each of the question that it answers best, within the shares of claims."""
    cut = {page: quotable(page, view) for page in pages}
    found: list[Finding] = []
    for question_id in asked_ids(view):
        question = question_for(view, question_id)
        found += answers(view, question_id, question, cut)
    by_place: dict[tuple[str, int, int], Finding] = {}
    for one in sorted(found, key=lambda item: -item.score):
        by_place.setdefault((one.source.source_id, one.sentence.start, one.sentence.end), one)
    return within_share(view, list(by_place.values()), {page.source.source_id for page in pages})


def asked_ids(view: View) -> list[str]:
    """The questions that sentences are chosen for: the one in progress first, then those that wait."""
    waiting = [one.id for one in left_to_answer(view)]
    return list(dict.fromkeys([view.working.id, *waiting])) if waiting else [OBJECTIVE]


def answers(
    view: View, question_id: str, question: Question, cut: Mapping[Page, Sequence[Sentence]]
) -> list[Finding]:
    seen = [question.vocabulary.terms(one.clean) for found in cut.values() for one in found]
    seen += [question.vocabulary.terms(hit.snippet) for hit in view.found]
    rarity = Rarity.over(seen)
    scored: dict[Source, dict[tuple[int, int], Scored]] = defaultdict(dict)
    for page, found in cut.items():
        for one in found:
            if not set(question.terms) & set(question.vocabulary.terms(f"{one.clean} {one.heading}")):
                continue  # learned words alone make no answer
            near = nearness(one, page.source.hits)
            scored[page.source][(one.start, one.end)] = score(one, question, rarity=rarity, near=near)
    enough = ENOUGH if question.wants_rule else DESCRIBING
    return [
        Finding(
            one.sentence,
            source,
            question_id,
            one.score,
            one.focus >= FOCUSED and speaks_of(one.sentence.clean, one.about, question),
        )
        for source, own in scored.items()
        for one in best(own.values(), limit=CLAIMS_A_SOURCE, enough=enough)
    ]


def within_share(view: View, found: Sequence[Finding], read_now: set[str]) -> list[Finding]:
    """The best of the findings, so many that the sources which are not read yet get their share, too."""
    left = claims_left(view)
    unread = [one for one in view.sources if not one.noted and one.source_id not in read_now]
    to_come = len(unread) + max(0, target(view) - len(view.sources) - view.sources_not_shown)
    share = math.ceil(left * min(1.0, AHEAD * len(read_now) / max(1, len(read_now) + to_come)))
    ordered = sorted(found, key=lambda one: -one.score)
    firsts = {one.source.source_id: one for one in reversed(ordered)}
    chosen = list(dict.fromkeys([*sorted(firsts.values(), key=lambda one: -one.score), *ordered]))[:share]
    counts: dict[str, int] = defaultdict(int)
    for claim in view.claims:
        for link in claim.links[:1]:
            counts[link.source_id] += 1
    kept = []
    for one in chosen:
        counts[one.source.source_id] += 1
        if counts[one.source.source_id] <= CLAIMS_A_SOURCE:
            kept.append(one)
    return kept


def claims_left(view: View) -> int:
    return max(0, CLAIMS.get(view.scope_level, CLAIMS["standard"]) - view.coverage.total)


def late_findings(view: View) -> list[Finding]:
    """When the report is due: what answers in the pages of the last turn, and in passages that led to other sources."""
    pages = pages_of(view)
    known = {page.source.source_id for page in pages}
    sources = {source.source_id: source for source in view.sources if not source.noted}
    pages += [
        Page(sources[one.source_id], one.start, one.text, starts=True)
        for one in view.passages
        if one.source_id in sources and one.source_id not in known
    ]
    cut = {page: quotable(page, view) for page in pages}
    return answers(view, OBJECTIVE, read_for(view, OBJECTIVE, view.objective), cut)


def pages_of(view: View) -> list[Page]:
    """What the last turn read of sources that have no note, and what searches show of the others; a source that
    the view had no room for is named by its page."""
    shown = {source.artifact_id: source for source in view.sources}
    pages = []
    for result in view.last:
        if result.tool != READ or result.failed or not result.page:
            continue
        told = result.source
        source = shown.get(told.artifact_id if told else str(result.arguments.get("artifact_id", ""))) or told
        if source is not None and not source.noted:
            pages.append(Page(source, result.offset, result.page))
    return [*pages, *pages_found(view)]


def pages_found(view: View) -> list[Page]:
    """What the last searches show of sources that were read for an earlier question."""
    if any(one.tool == "challenge" for one in view.last):
        return []
    noted = {source.source_id: source for source in view.sources if source.noted}
    return [
        Page(noted[told.source_id], 0, told.text, starts=True)
        for result in view.last
        if result.tool == "search_sources"
        for told in result.passages
        if told.source_id in noted
    ]


def unreadable(view: View, readable: set[str]) -> list[Source]:
    """Sources whose read failed, or whose claims were refused: they are noted as read without finding."""
    failed = {
        str(one.arguments.get("artifact_id", "")) for one in view.last if one.tool == READ and one.failed
    }
    told = " ".join(one.text for one in (*view.failed(NOTE), *view.failed("notes_update")))
    return [
        source
        for source in view.sources
        if not source.noted
        and source.source_id not in readable
        and (source.artifact_id in failed or source.source_id in told or not source.readable)
    ]


def quotable(page: Page, view: View) -> list[Sentence]:
    """Whole sentences of a page that can stand between quotation marks and do not only repeat the question."""
    found = code_sentences(page.text) if is_program(page.source.locator) else sentences(page.text)
    if page.offset > 0 and not page.starts:
        found = [one for one in found if one.start > first_break(page.text)]
    ends = page.offset + len(page.text) >= page.source.chars if page.source.chars else len(page.text) < WINDOW
    if not ends:
        found = [one for one in found if one.end < len(page.text.rstrip()) or one.text[-1:] in ".。!?"]
    asked = " ".join(view.objective.split()).casefold()
    return [
        moved(one, page.offset)
        for one in found
        if can_be_quoted(one.text)
        and asked not in one.clean.casefold()
        and not is_command(one)
        and not is_listing(one.clean)
    ]


def first_break(text: str) -> int:
    """Where the first line ends: a window that starts inside a text starts inside a sentence."""
    at = text.find("\n")
    return at if at >= 0 else -1


def nearness(sentence: Sentence, hits: Sequence[Hit]) -> float:
    """1 within a passage that a search found, falling to 0 outside it."""
    inside = sum(hit.start - 20 <= sentence.start < hit.start + 700 for hit in hits)
    return min(1.0, inside / 2 + 0.25 * bool(inside))


def can_be_quoted(text: str) -> bool:
    """False where the text could be taken for a citation or would end its own quotation marks."""
    return not CITATION.search(text) and not ('"' in text and ("“" in text or "”" in text))


def blank_notes(sources: Iterable[Source]) -> list[Call]:
    """A note of its own for each source that holds no answer."""
    entries = [entry("source", BLANK, about=[source.source_id]) for source in sources]
    return [notes("Sources", entries)] if entries else []


def waiting_sources(view: View) -> list[Source]:
    """Sources that are neither noted nor just read."""
    just_read = {result.arguments.get("artifact_id") for result in view.last if result.tool == READ}
    just_read |= {page.source.artifact_id for page in pages_of(view)}
    told = " ".join(one.text for one in view.failed(NOTE))
    return [
        source
        for source in view.sources
        if not source.noted
        and source.readable
        and source.artifact_id not in just_read
        and source.source_id not in told
    ]
