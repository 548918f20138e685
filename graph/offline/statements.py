"""Claims and what they rest on: from a sentence to a claim's entry, and from a noted claim back to its evidence.

A claim says its sentence, cleaned, with the heading above it before a colon, so that it can be understood alone; a
figure says the clause that tells the number where a sentence tells several.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from researchdesk.graph.offline.calls import entry, link
from researchdesk.graph.offline.compare import Evidence
from researchdesk.graph.offline.passages import Sentence, clean, looks_like_code
from researchdesk.graph.offline.question import Question
from researchdesk.graph.offline.sentences import score
from researchdesk.graph.offline.terms import Rarity
from researchdesk.graph.offline.values import Value, is_statement, parted, values
from researchdesk.graph.offline.view import Claim, Link, Source
from researchdesk.state.figures import states_figure

HEADING = 80
ROW_NUMBER = re.compile(r"^(?:\d{1,3}\s+)?\d{1,3}(?:\.\d{1,3}){1,4}\s+(?=[^\W\d_])")
"""What stands before a sentence of a table that was a row: ``1 7.4.3``."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A sentence that answers, with the source it stands in."""

    sentence: Sentence
    source: Source
    question_id: str
    score: float
    answers: bool = False
    """Whether it is about the matter closely enough for its number to be an answer."""


def entries_of(
    group: Sequence[Finding], question: Question, echoes: Mapping[str, str]
) -> list[dict[str, Any]]:
    """The claims of sentences that say the same: one, or one for each value where the first tells several.

    Args:
        echoes: for sources whose sentence names another publisher, what it repeats.
    """
    first = group[0]
    links = links_of(group, echoes)
    told = answering(first.sentence.clean, question) if first.answers else []
    return [
        entry(
            "claim",
            with_heading(first.sentence.heading, said),
            claim_kind="figure" if figure else "quote",
            value=figure[0] if figure else "",
            unit=figure[1] if figure else "",
            question_id=first.question_id,
            links=links,
        )
        for said, value in statements(first.sentence.clean, told)
        for figure in [figure_of(value, first.sentence.text) if value else None]
    ]


def links_of(group: Sequence[Finding], echoes: Mapping[str, str]) -> list[dict[str, str]]:
    return [
        link(one.source.source_id, one.sentence.text, repeats=echoes.get(one.source.source_id, ""))
        for one in group
    ]


def answering(text: str, question: Question) -> list[Value]:
    """The values of a sentence that answer the question, the asked bounds only."""
    if not question.wants_number or not is_statement(text):
        return []
    told = values(text, vocabulary=question.vocabulary)
    return [one for one in told if question.answers_in(one.unit) and one.bound in question.bounds]


def statements(text: str, told: Sequence[Value]) -> list[tuple[str, Value | None]]:
    """What is claimed, with its value: the sentence, or the clauses where it tells several values."""
    apart = {value.clause: value for value in reversed(told)}
    clauses = [(value.clause, value) for value in told if apart.get(value.clause) is value]
    different = {value.number for _, value in clauses}
    if len(different) > 1 and all(clause in text and is_statement(clause) for clause, _ in clauses):
        return list(clauses)
    return [(text, told[0] if told else None)]


def figure_of(value: Value, quote: str) -> tuple[str, str] | None:
    """Number and unit as the quote states them, None where it does not in a way that can be checked."""
    number, unit = parted(value.shown)
    for told in dict.fromkeys((unit, unit.split(" ")[0], "")):
        if states_figure(quote, number, told):
            return number, told
    return None


def with_heading(heading: str, said: str) -> str:
    said = ROW_NUMBER.sub("", said, count=1)
    own = clean(heading.split(" › ")[-1]).replace("*", "").strip(" :")[:HEADING]
    return f"{own}: {said}" if own and own.casefold() not in said.casefold() else said


def said_by(claim: Claim) -> tuple[str, str]:
    """The heading before a claim's words, and these words, as far as its first quote has them."""
    quote = clean(claim.supports[0].quote) if claim.supports else ""
    if claim.text in quote:
        return "", claim.text
    for colon in re.finditer(r": ", claim.text):
        if claim.text[colon.end() :] in quote:
            return claim.text[: colon.start()], claim.text[colon.end() :]
    return "", quote or claim.text


@dataclass(frozen=True)
class Known:
    """What is known of the sources of a view, for reading claims."""

    sources: Mapping[str, Source]
    names: Mapping[str, str]
    works: Mapping[str, str]
    weights: Mapping[str, float]


def evidence_of(claims: Collection[Claim], known: Known, question: Question) -> list[Evidence]:
    """The claims as evidence, each by its first source that is shown, best first."""
    return _read(claims, known, question, every_source=False)


def voices_of(claims: Collection[Claim], known: Known, question: Question) -> list[Evidence]:
    """The same for each source that says it, so that publishers and documents can be set side by side."""
    return _read(claims, known, question, every_source=True)


def _read(
    claims: Collection[Claim], known: Known, question: Question, *, every_source: bool
) -> list[Evidence]:
    rarity = Rarity.over(question.vocabulary.terms(said_by(claim)[1]) for claim in claims)
    found = []
    for claim in claims:
        links = list({one.source_id: one for one in reversed(claim.supports)}.values())[::-1]
        links = [one for one in links if one.source_id in known.sources]
        others = tuple(one.source_id for one in links[1:])
        for own in links if every_source else links[:1]:
            found.append(evidence(claim, own, others, known, question, rarity))
    return sorted(found, key=lambda one: (-one.score, one.claim_id, one.source_id))


def evidence(
    claim: Claim, own: Link, others: tuple[str, ...], known: Known, question: Question, rarity: Rarity
) -> Evidence:
    """A claim as one of its sources says it."""
    heading, said = said_by(claim)
    source = known.sources[own.source_id]
    kind = "code" if looks_like_code(own.quote) else "prose"
    sentence = Sentence(said, 0, len(said), f"{source.own_title} › {heading}", kind)
    scored = score(sentence, question, rarity=rarity)
    return Evidence(
        text=own.quote,
        said=said,
        heading=heading,
        source_id=source.source_id,
        origin=source.origin or "unknown publisher",
        document=known.names[source.source_id],
        score=scored.score * known.weights[source.source_id],
        focus=scored.focus,
        about=scored.about,
        work=known.works[source.source_id],
        claim_id=claim.id,
        others=others,
        held=scored.held,
    )
