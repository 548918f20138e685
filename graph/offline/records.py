"""What is noted beside the claims: contradictions between publishers, values side by side, and gaps."""

import re
from collections.abc import Iterable, Sequence

from researchdesk.graph.offline.calls import Call, entry, notes
from researchdesk.graph.offline.compare import Comparison, Told, compare, is_echo
from researchdesk.graph.offline.language import language_of
from researchdesk.graph.offline.modals import can_read
from researchdesk.graph.offline.opposites import Opposition, opposition
from researchdesk.graph.offline.question import Question
from researchdesk.graph.offline.sources import known_of
from researchdesk.graph.offline.statements import evidence_of, voices_of
from researchdesk.graph.offline.values import Value, parted
from researchdesk.graph.offline.view import Claim, View

BOUNDS = {"min": "at least ", "max": "at most ", "permit": "to allow ", "exact": ""}
SAYS = {"required": "requires", "recommended": "recommends", "": "says"}
DIFFERING = {
    "editions differ": "Editions of one work differ",
    "documents differ": "Documents of one publisher differ",
}
MOST_VALUES, MOST_CONTRADICTIONS = 8, 3
SHOWN = 190
"""A record's text is cut to this in later views."""
NAMED = 4
NEAR = 0.4
"""From this share of the question's focus on a claim speaks of the matter."""


def comparisons_of(view: View, question: Question, claims: Sequence[Claim]) -> list[Comparison]:
    """What the claims tell of the asked quantity, the asked bounds only; echoes of other publishers are no voices."""
    origins = [source.origin for source in view.sources]
    voices = [one for one in voices_of(claims, known_of(view), question) if not is_echo(one, origins)]
    return [one for one in compare(voices, question) if one.bound in question.bounds]


def pair_of(comparison: Comparison, figures: Sequence[str]) -> tuple[Told, Told] | None:
    """Two figures of different publishers whose values differ, the best pair; None where there is none.

    Where the publishers have a value in common, only bounds of one kind contradict each other: bare numbers may then be
    told of different things.
    """
    if comparison.kind not in {"contradiction", "values differ"}:
        return None
    shared = comparison.kind == "values differ"
    told = [one for one in comparison.told if one.evidence.claim_id in figures]
    pairs = [
        (one, other)
        for one in told
        for other in told
        if one.evidence.origin < other.evidence.origin
        and one.value.number != other.value.number
        and one.evidence.claim_id != other.evidence.claim_id
        and (not shared or one.value.bound == other.value.bound != "exact")
    ]
    return max(
        pairs,
        key=lambda pair: (sum(one.first for one in pair), sum(one.evidence.score for one in pair)),
        default=None,
    )


def differs_line(comparison: Comparison) -> str:
    """``nist.gov requires at least 8 characters; owasp.org recommends at least 15 characters``."""
    sides = []
    for origin in dict.fromkeys(told.evidence.origin for told in comparison.told):
        own = [told.value for told in comparison.told if told.evidence.origin == origin]
        sides.append(f"{origin} {spoken(own)}")
    return "; ".join(sides)


def spoken(told: Sequence[Value]) -> str:
    """``requires at least 8 characters, recommends at least 15 characters and at least 20 characters``."""
    parts = []
    for strength in dict.fromkeys(value.strength for value in told):
        shown = [f"{BOUNDS[value.bound]}{value.shown}" for value in told if value.strength == strength]
        parts.append(f"{SAYS[strength]} {' and '.join(dict.fromkeys(shown))}")
    return ", ".join(parts)


def figure_ids(view: View) -> list[str]:
    return [claim.id for claim in view.standing if claim.kind == "figure"]


def next_records(view: View, question: Question, claims: Sequence[Claim]) -> list[Call]:
    """Contradictions, datapoints and gaps of the question in progress that are not noted yet."""
    compared = comparisons_of(view, question, claims)
    told = contradictions(view, compared)
    pairs = [set(pair_ids(one)) for one in told]
    worded = [one for one in opposites(view, question, claims) if set(pair_ids(one)) not in pairs]
    return [
        *section("Contradictions", [*told, *worded]),
        *section("Datapoints", datapoints(view, compared)),
        *section("Assumptions & gaps", gaps(view, question, claims, compared)),
    ]


def pair_ids(given: dict[str, object]) -> list[str]:
    about = given["about"]
    return [str(key) for key in about] if isinstance(about, list) else []


def section(name: str, entries: Sequence[dict[str, object]]) -> list[Call]:
    return [notes(name, entries)] if entries else []


def contradictions(view: View, compared: Iterable[Comparison]) -> list[dict[str, object]]:
    known = {frozenset((one.claim_id, one.other_id)) for one in view.contradictions}
    entries = []
    for one in list(compared)[:MOST_CONTRADICTIONS]:
        pair = pair_of(one, figure_ids(view))
        if pair and frozenset(ids := [told.evidence.claim_id for told in pair]) not in known:
            entries.append(entry("contradiction", differs_line(one), about=ids))
    return entries


def opposition_of(view: View, question: Question, claims: Sequence[Claim]) -> Opposition | None:
    """What one publisher forbids and another asks for or allows, as far as modal words tell."""
    origins = [source.origin for source in view.sources]
    voices = [one for one in voices_of(claims, known_of(view), question) if not is_echo(one, origins)]
    return opposition(voices, question)


def opposites(view: View, question: Question, claims: Sequence[Claim]) -> list[dict[str, object]]:
    """Opposed wordings of one case, where they are not noted yet; others are only told in the answer."""
    found = opposition_of(view, question, claims)
    if found is None or not found.clear:
        return []
    ids = [found.one.claim_id, found.other.claim_id]
    if any({one.claim_id, one.other_id} == set(ids) for one in view.contradictions):
        return []
    return [entry("contradiction", cut(found.line), about=ids)]


def datapoints(view: View, compared: Iterable[Comparison]) -> list[dict[str, object]]:
    """The told values of the first comparison, one for each document and value."""
    known = {(one.about, one.value) for one in view.datapoints}
    entries: dict[tuple[str, str, str], dict[str, object]] = {}
    for comparison in list(compared)[:1]:
        for told in comparison.told:
            number, unit = parted(told.value.shown)
            about = told.evidence.claim_id
            says = f"{SAYS[told.value.strength]} {BOUNDS[told.value.bound]}".strip()
            label = f"{told.evidence.origin}, {told.evidence.document} {says}"
            if about and (about, number) not in known:
                entries.setdefault(
                    (told.evidence.document, number, told.value.bound),
                    entry("datapoint", label[:SHOWN], value=number, unit=unit, about=[about]),
                )
    return list(entries.values())[:MOST_VALUES]


def gaps(
    view: View, question: Question, claims: Sequence[Claim], compared: Sequence[Comparison]
) -> list[dict[str, object]]:
    """What the searches and the claims of the question in progress lack, by count."""
    found = [
        missing_line(question, claims),
        searches_line(view),
        silent_line(view),
        refused_line(view),
        publishers_line(view, claims),
        language_line(question, claims),
        *(f"{DIFFERING[one.kind]}, {differs_line(one)}" for one in compared if one.kind in DIFFERING),
    ]
    if claims and question.wants_number and not compared:
        found.append("No two documents tell a value that could be compared")
    known = {one.text for one in view.gaps}
    return [
        entry("gap", text, question_id=view.working.id)
        for text in found
        if text and text[:SHOWN] not in known
    ]


def missing_words(question: Question, claims: Iterable[Claim]) -> list[str]:
    """Words of the question, as written, that no claim holds."""
    held = {term for claim in claims for term in question.vocabulary.terms(claim.text)}
    held |= {
        term for claim in claims for link in claim.links for term in question.vocabulary.terms(link.quote)
    }
    lacking = []
    for word in re.findall(r"[\w-]+", question.text):
        terms = set(question.vocabulary.terms(word)) & set(question.focus)
        if terms and not held & terms:
            lacking.append(word)
    return list(dict.fromkeys(lacking))


def is_off_topic(view: View, question: Question, claims: Sequence[Claim]) -> bool:
    """Whether most of what the question is about stands in no claim, and none comes near it by learned words either."""
    if 2 * len(missing_words(question, claims)) <= max(2, len(question.focus)):
        return False
    return all(one.focus < NEAR for one in evidence_of(claims, known_of(view), question))


def missing_line(question: Question, claims: Sequence[Claim]) -> str:
    lacking = missing_words(question, claims) if claims else []
    if lacking:
        return cut(f"No quote holds these words of the question: {coded(lacking)}")
    whole = any(set(question.focus) <= set(question.vocabulary.terms(claim.text)) for claim in claims)
    if not claims or whole:
        return ""
    words = [
        w
        for w in re.findall(r"[\w-]+", question.text)
        if set(question.vocabulary.terms(w)) & set(question.focus)
    ]
    return (
        cut(f"No single claim holds all of {coded(dict.fromkeys(words))}") if len(question.focus) > 1 else ""
    )


def searches_line(view: View) -> str:
    empty = [one.query for one in view.searches if not one.results]
    return cut(f"Searches without a hit: {coded(empty[:NAMED])}") if empty else ""


def silent_line(view: View) -> str:
    """Sources that were read and that no claim links."""
    if view.claims_not_shown:
        return ""
    linked = {link.source_id for claim in view.claims for link in claim.links}
    silent = [source.source_id for source in view.sources if source.source_id not in linked]
    more = f" and {len(silent) - 20} more" if len(silent) > 20 else ""
    return f"Read, and nothing quoted: {', '.join(silent[:20])}{more}" if silent else ""


def refused_line(view: View) -> str:
    codes = sorted({one.code for one in view.refused if one.code})
    return cut(f"Some documents could not be archived: {', '.join(codes)}") if codes else ""


def publishers_line(view: View, claims: Sequence[Claim]) -> str:
    origins = {source.source_id: source.origin for source in view.sources}
    speaking = {origins.get(link.source_id, "") for claim in claims for link in claim.links}
    if len(speaking) != 1 or view.claims_not_shown:
        return ""
    return cut(
        f"Only {next(iter(speaking)) or 'one publisher'} answers, so that nothing is confirmed independently"
    )


def language_line(question: Question, claims: Sequence[Claim]) -> str:
    """What the languages of the question and of the quotes keep rules from seeing."""
    quotes = " ".join(link.quote for claim in claims for link in claim.supports[:1])
    if not can_read(quotes or question.text):
        return "Opposed wordings are not recognised in this language: only values were compared"
    asked, told = language_of(question.text), language_of(quotes)
    if quotes and asked != told:
        return f"The question is in {asked.title()}, the quotes in {told.title()}: asking in that finds more"
    return ""


def coded(words: Iterable[str]) -> str:
    return ", ".join(f"`{word.replace('`', ' ')}`" for word in words)


def cut(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
