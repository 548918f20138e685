"""Reading archived sources around their hits, and noting the sentences that answer."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from researchdesk.graph.offline.calls import Call, read, save
from researchdesk.graph.offline.passages import Sentence, sentences
from researchdesk.graph.offline.question import Question
from researchdesk.graph.offline.quotes import Quote, can_be_quoted, quoted, render_quote
from researchdesk.graph.offline.sentences import best, moved, score
from researchdesk.graph.offline.terms import Rarity
from researchdesk.graph.offline.view import Hit, Result, Source, View

WINDOW = 4_000
READS_A_TURN = {"quick": 4, "standard": 6, "deep": 8}
"""A prompt of a scope holds so many windows uncut."""
WINDOWS_A_SOURCE = 3
BEFORE_HIT = 700
"""Characters read before a hit, so that the heading above it is usually seen."""
QUOTES_A_SOURCE = 5
READ = "deep_research_read_artifact"


@dataclass(frozen=True, slots=True)
class Page:
    """A part of a source's text as it was read."""

    source: Source
    offset: int
    text: str


def next_reads(view: View, *, waiting: Sequence[Source]) -> list[Call]:
    """Reads of the next sources that have no note yet; a source is read in one turn, or not yet."""
    calls: list[Call] = []
    for source in waiting:
        windows = windows_of(source)
        if calls and len(calls) + len(windows) > READS_A_TURN.get(view.scope_level, 6):
            break
        calls.extend(read(source.artifact_id, offset=offset, length=WINDOW) for offset in windows)
    return calls


def windows_of(source: Source) -> list[int]:
    """Offsets of the windows that hold most hits, in the order of the text."""
    if source.chars and source.chars <= 2 * WINDOW:
        return list(range(0, source.chars, WINDOW))
    left = sorted(hit.start for hit in source.hits) or [0]
    chosen: list[int] = []
    while left and len(chosen) < WINDOWS_A_SOURCE:
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
    cut = {page: quotable(page) for page in pages}
    seen = [question.vocabulary.terms(one.clean) for found in cut.values() for one in found]
    seen += [question.vocabulary.terms(hit.snippet) for hit in view.found]
    rarity = Rarity.over(seen)
    by_source: dict[str, list[Page]] = defaultdict(list)
    for page in pages:
        by_source[page.source.source_id].append(page)
    calls, empty = [], list(unreadable(view, {page.source.artifact_id for page in pages}))
    for own in by_source.values():
        quotes = quotes_of(own, cut, question, rarity)
        if quotes:
            calls.append(note(own[0].source, quotes))
        else:
            empty.append(own[0].source)
    return [*calls, *([blank_note(empty)] if empty else [])]


def pages_of(view: View) -> list[Page]:
    by_artifact = {source.artifact_id: source for source in view.sources if not source.noted}
    pages = []
    for result in view.last:
        source = by_artifact.get(str(result.arguments.get("artifact_id", "")))
        if result.tool == READ and not result.failed and source is not None and result.page:
            pages.append(Page(source, int(result.arguments.get("offset_chars", 0)), result.page))
    return pages


def unreadable(view: View, readable: set[str]) -> list[Source]:
    """Sources whose read failed, or whose note was refused: they are set down as read without finding."""
    failed = {str(result.arguments.get("artifact_id", "")) for result in view.last if result.tool == READ}
    for result in view.failed("deep_research_save_artifact"):
        if result.arguments.get("role") == "evidence_note":
            failed |= set(result.arguments.get("source_artifact_ids", []))
    return [source for source in view.sources if source.artifact_id in failed - readable and not source.noted]


def quotable(page: Page) -> list[Sentence]:
    """Whole sentences of a page that can stand between quotation marks."""
    found = sentences(page.text)
    if page.offset > 0:
        found = [one for one in found if one.start > first_break(page.text)]
    ends = page.offset + len(page.text) >= page.source.chars if page.source.chars else len(page.text) < WINDOW
    if not ends:
        found = [one for one in found if one.end < len(page.text.rstrip()) or one.text[-1:] in ".。!?"]
    return [moved(one, page.offset) for one in found if can_be_quoted(one.text)]


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
    chosen = best(scored.values(), limit=QUOTES_A_SOURCE)
    return [
        Quote(one.sentence.text, source.source_id, one.sentence.heading or source.title) for one in chosen
    ]


def nearness(sentence: Sentence, hits: Sequence[Hit]) -> float:
    """1 within a passage that a search found, falling to 0 outside it."""
    inside = sum(hit.start - 20 <= sentence.start < hit.start + 700 for hit in hits)
    return min(1.0, inside / 2 + 0.25 * bool(inside))


def note(source: Source, quotes: Sequence[Quote]) -> Call:
    body = "\n".join(render_quote(quote) for quote in quotes)
    return save(
        "evidence_note",
        f"Quotes from {source.title or source.source_id}",
        body,
        summary=f"Sentences of {source.source_id} that answer best: {quoted(quotes[0].text[:200])}",
        sources=[source.artifact_id],
    )


def blank_note(sources: Sequence[Source]) -> Call:
    lines = [f"- nothing to quote in [{source.source_id}] — {source.title}" for source in sources]
    return save(
        "evidence_note",
        "Read without finding",
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
    return any(result.arguments.get("name") == "Read without finding" for result in results)
