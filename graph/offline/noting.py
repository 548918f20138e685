"""Reading archived sources around their hits, and noting the sentences that answer."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from researchdesk.graph.offline.calls import Call, read, save
from researchdesk.graph.offline.passages import Sentence, sentences
from researchdesk.graph.offline.programs import code_sentences, is_program
from researchdesk.graph.offline.question import Question
from researchdesk.graph.offline.quotes import Quote, can_be_quoted, quoted, render_quote
from researchdesk.graph.offline.sentences import DESCRIBING, ENOUGH, best, is_command, moved, score
from researchdesk.graph.offline.terms import Rarity
from researchdesk.graph.offline.view import Hit, Result, Source, View

WINDOW = 4_000
READS_A_TURN = {"quick": 4, "standard": 6, "deep": 8}
"""A prompt of a scope holds so many windows uncut."""
WINDOWS_A_SOURCE = 3
BEFORE_HIT = 700
"""Characters read before a hit, so that the heading above it is usually seen."""
QUOTES_A_SOURCE = 5
BLANK = "Read without finding"
"""Name of the note on sources that hold no answer."""
READ = "deep_research_read_artifact"


@dataclass(frozen=True, slots=True)
class Page:
    """A part of a source's text as it was read."""

    source: Source
    offset: int
    text: str
    starts: bool = False
    """True where it begins with a sentence's first word."""


def next_reads(view: View, *, waiting: Sequence[Source], turns: int | None = None) -> list[Call]:
    """Reads of the next sources that have no note yet; a source is read in one turn, or not yet.

    Args:
        turns: answers that are left for gathering; with few of them only the best places are read.
    """
    room = READS_A_TURN.get(view.scope_level, 6)
    pages = [result for result in view.last if result.tool == READ and not result.failed]
    if any(len(result.page or "") < WINDOW // 2 and "shown_chars" in result.text for result in pages):
        room = max(1, len(pages) // 2)  # the prompt has no room for so many
    most = WINDOWS_A_SOURCE
    if turns is not None and waiting:
        most = max(1, min(most, turns * room // len(waiting)))
    calls: list[Call] = []
    for source in waiting:
        windows = windows_of(source, most=most)
        if calls and len(calls) + len(windows) > room:
            break
        calls.extend(read(source.artifact_id, offset=offset, length=WINDOW) for offset in windows)
    return calls


def windows_of(source: Source, *, most: int) -> list[int]:
    """Offsets of the windows that hold most hits, in the order of the text."""
    if source.chars and source.chars <= min(2, most) * WINDOW:
        return list(range(0, source.chars, WINDOW))
    left = sorted(hit.start for hit in source.hits) or [0]
    chosen: list[int] = []
    while left and len(chosen) < most:
        counts = {
            start: sum(start <= other < start + WINDOW - BEFORE_HIT - 500 for other in left) for start in left
        }
        start = max(counts, key=lambda one: (counts[one], -one))
        chosen.append(max(0, start - BEFORE_HIT))
        left = [other for other in left if not start <= other < start + WINDOW - BEFORE_HIT - 500]
    return sorted(chosen)


def next_notes(view: View, question: Question) -> list[Call]:
    """Notes on the sources that the last turn read; one note without quotes for those that say nothing."""
    pages = pages_of(view)
    calls, empty = [], list(unreadable(view, {page.source.artifact_id for page in pages}))
    for source, quotes in quotes_by_source(view, question, pages).items():
        if quotes:
            calls.append(note([source], quotes))
        else:
            empty.append(source)
    return [*calls, *([blank_note(empty)] if empty else [])]


def late_quotes(view: View, question: Question) -> dict[Source, list[Quote]]:
    """When the report is due: quotes of what the last turn read, and of the passages that led to other sources."""
    pages = pages_of(view)
    known = {page.source.source_id for page in pages}
    sources = {source.source_id: source for source in view.sources if not source.noted}
    pages += [
        Page(sources[one.source_id], one.start, one.text, starts=True)
        for one in view.passages
        if one.source_id in sources and one.source_id not in known
    ]
    return {source: quotes for source, quotes in quotes_by_source(view, question, pages).items() if quotes}


def quotes_by_source(view: View, question: Question, pages: Sequence[Page]) -> dict[Source, list[Quote]]:
    cut = {page: quotable(page, question) for page in pages}
    seen = [question.vocabulary.terms(one.clean) for found in cut.values() for one in found]
    seen += [question.vocabulary.terms(hit.snippet) for hit in view.found]
    rarity = Rarity.over(seen)
    by_source: dict[Source, list[Page]] = defaultdict(list)
    for page in pages:
        by_source[page.source].append(page)
    return {source: quotes_of(own, cut, question, rarity) for source, own in by_source.items()}


def pages_of(view: View) -> list[Page]:
    """What the last turn read of sources that have no note; a source that the view had no room for is named by
    its page."""
    shown = {source.artifact_id: source for source in view.sources}
    pages = []
    for result in view.last:
        if result.tool != READ or result.failed or not result.page:
            continue
        key = str(result.arguments.get("artifact_id", ""))
        source = shown.get(key) or result.source
        if source is not None and not source.noted:
            pages.append(Page(source, int(result.arguments.get("offset_chars", 0)), result.page))
    return pages


def unreadable(view: View, readable: set[str]) -> list[Source]:
    """Sources whose read failed, or whose note was refused: they are set down as read without finding."""
    failed = {str(result.arguments.get("artifact_id", "")) for result in view.last if result.tool == READ}
    for result in view.failed("deep_research_save_artifact"):
        if result.arguments.get("role") == "evidence_note":
            failed |= set(result.arguments.get("source_artifact_ids", []))
    return [source for source in view.sources if source.artifact_id in failed - readable and not source.noted]


def quotable(page: Page, question: Question) -> list[Sentence]:
    """Whole sentences of a page that can stand between quotation marks and do not only repeat the question."""
    found = code_sentences(page.text) if is_program(page.source.locator) else sentences(page.text)
    if page.offset > 0 and not page.starts:
        found = [one for one in found if one.start > first_break(page.text)]
    ends = page.offset + len(page.text) >= page.source.chars if page.source.chars else len(page.text) < WINDOW
    if not ends:
        found = [one for one in found if one.end < len(page.text.rstrip()) or one.text[-1:] in ".。!?"]
    asked = " ".join(question.text.split()).casefold()
    return [
        moved(one, page.offset)
        for one in found
        if can_be_quoted(one.text) and asked not in one.clean.casefold() and not is_command(one)
    ]


def first_break(text: str) -> int:
    """Where the first line ends: a window that starts inside a text starts inside a sentence."""
    at = text.find("\n")
    return at if at >= 0 else -1


def quotes_of(
    pages: Sequence[Page], cut: dict[Page, list[Sentence]], question: Question, rarity: Rarity
) -> list[Quote]:
    source = pages[0].source
    scored = {}
    for page in pages:
        for one in cut[page]:
            scored[(one.start, one.end)] = score(
                one, question, rarity=rarity, near=nearness(one, source.hits)
            )
    enough = ENOUGH if question.wants_rule else DESCRIBING
    chosen = best(scored.values(), limit=QUOTES_A_SOURCE, enough=enough)
    return [
        Quote(one.sentence.text, source.source_id, one.sentence.heading or source.own_title) for one in chosen
    ]


def nearness(sentence: Sentence, hits: Sequence[Hit]) -> float:
    """1 within a passage that a search found, falling to 0 outside it."""
    inside = sum(hit.start - 20 <= sentence.start < hit.start + 700 for hit in hits)
    return min(1.0, inside / 2 + 0.25 * bool(inside))


def note(sources: Sequence[Source], quotes: Sequence[Quote]) -> Call:
    body = "\n".join(render_quote(quote) for quote in quotes)
    ids = ", ".join(source.source_id for source in sources)
    return save(
        "evidence_note",
        f"Quotes from {sources[0].title or sources[0].locator if len(sources) == 1 else ids}",
        body,
        summary=f"Sentences of {ids} that answer best: {quoted(quotes[0].text[:200])}",
        sources=[source.artifact_id for source in sources],
    )


def blank_note(sources: Sequence[Source]) -> Call:
    lines = [f"- nothing to quote in [{source.source_id}] — {source.title}" for source in sources]
    return save(
        "evidence_note",
        BLANK,
        "\n".join(lines),
        summary="These sources were archived and read; no sentence of them answers.",
        sources=[source.artifact_id for source in sources],
    )


def waiting_sources(view: View) -> list[Source]:
    """Sources that are neither noted nor just read."""
    just_read = {result.arguments.get("artifact_id") for result in view.last if result.tool == READ}
    refused = {
        artifact
        for result in view.failed("deep_research_save_artifact")
        for artifact in result.arguments.get("source_artifact_ids", [])
    }
    return [
        source
        for source in view.sources
        if not source.noted and source.artifact_id not in just_read | refused
    ]


def failed_twice(results: Sequence[Result]) -> bool:
    """True when even the note without quotes was refused."""
    return any(result.arguments.get("name") == BLANK for result in results)
