"""Values and stances of different publishers side by side: mechanical comparison, no judgement of who is right."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz

from researchdesk.graph.offline.passages import clean
from researchdesk.graph.offline.question import Question
from researchdesk.graph.offline.sentences import AGAINST
from researchdesk.graph.offline.values import Value, values

FOCUSED = 0.6
"""A sentence takes part in a comparison when it holds this share of the question's focus."""
FOR = re.compile(
    r"\b(?:shall|should|must|required?|requires|recommend\w*|ensure|allow\w*|permit\w*|may)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Evidence:
    """A quote with what is known of the document it stands in.

    Args:
        document: names the document within its publisher, e.g. an edition.
        score: how well the quote answers, as the scorer said.
        focus: the share of what the question is about that the quote and its heading hold.
    """

    text: str
    heading: str
    source_id: str
    origin: str
    document: str
    score: float
    focus: float


@dataclass(frozen=True, slots=True)
class Told:
    """One value with the evidence that tells it."""

    value: Value
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Comparison:
    """What was told of one quantity.

    Args:
        kind: ``contradiction`` (publishers share no value), ``values differ``, ``editions differ`` (one
            publisher's documents) or ``agreement``.
        bound: ``required``, ``max`` or ``permit``.
        told: one entry for each document and value, ordered by publisher.
    """

    kind: str
    bound: str
    unit: str
    told: tuple[Told, ...]


def compare(evidence: Sequence[Evidence], question: Question) -> list[Comparison]:
    """Comparisons of the values that answer the question, by bound; none where no quantity is asked for."""
    if not question.wants_number:
        return []
    focused = [one for one in evidence if one.focus >= FOCUSED]
    unit = leading_unit(focused, question)
    groups: dict[str, list[Told]] = defaultdict(list)
    for document in by_document(focused):
        for bound, told in best_told(document, unit, question).items():
            groups[bound].extend(told)
    if "permit" not in question.bounds and any(one.value.bound == "min" for one in groups["required"]):
        groups["required"] = [one for one in groups["required"] if one.value.bound == "min"]
    compared = [
        comparison(bound, unit, told)
        for bound, told in groups.items()
        if len({one.evidence.source_id for one in told}) > 1
    ]
    return sorted(compared, key=lambda one: (not asked_for(one.bound, question), -len(one.told)))


def asked_for(bound: str, question: Question) -> bool:
    return bool(question.bounds & ({"min", "exact"} if bound == "required" else {bound}))


def leading_unit(evidence: Sequence[Evidence], question: Question) -> str:
    """The unit in which most documents answer, the better answers counting more."""
    weights: dict[str, dict[str, float]] = defaultdict(dict)
    for one in evidence:
        for value in values(clean(one.text), vocabulary=question.vocabulary):
            if value.unit in question.units:
                weights[value.unit].setdefault(one.source_id, 0.0)
                weights[value.unit][one.source_id] = max(weights[value.unit][one.source_id], one.score)
    return max(weights, key=lambda unit: (sum(weights[unit].values()), unit), default="")


def by_document(evidence: Sequence[Evidence]) -> list[list[Evidence]]:
    documents: dict[str, list[Evidence]] = defaultdict(list)
    for one in evidence:
        documents[one.source_id].append(one)
    return list(documents.values())


def best_told(document: Sequence[Evidence], unit: str, question: Question) -> dict[str, list[Told]]:
    """For each bound the values in the document's best sentence that tells one; a sentence may tell several."""
    best: dict[str, list[Told]] = {}
    for one in sorted(document, key=lambda item: -item.score):
        found: dict[str, list[Told]] = defaultdict(list)
        for value in values(clean(one.text), vocabulary=question.vocabulary):
            if value.unit == unit:
                found["required" if value.bound in {"min", "exact"} else value.bound].append(Told(value, one))
        for bound, told in found.items():
            best.setdefault(bound, told)
    return best


def comparison(bound: str, unit: str, told: Sequence[Told]) -> Comparison:
    ordered = tuple(
        sorted(told, key=lambda one: (one.evidence.origin, one.evidence.document, one.value.number))
    )
    numbers: dict[str, set[float]] = defaultdict(set)
    documents: dict[str, set[float]] = defaultdict(set)
    for one in ordered:
        numbers[one.evidence.origin].add(one.value.number)
        documents[one.evidence.source_id].add(one.value.number)
    return Comparison(kind_of(list(numbers.values()), list(documents.values())), bound, unit, ordered)


def kind_of(publishers: Sequence[set[float]], documents: Sequence[set[float]]) -> str:
    if all(one == documents[0] for one in documents):
        return "agreement"
    if len(publishers) == 1:
        return "editions differ"
    shared = set.intersection(*publishers)
    if all(one == publishers[0] for one in publishers):
        return "editions differ"
    return "values differ" if shared else "contradiction"


def stance(text: str) -> str:
    """``against``, ``for`` or "" by the modal words and negations of a sentence; a reading, not a finding."""
    if AGAINST.search(clean(text)):
        return "against"
    return "for" if FOR.search(clean(text)) else ""


def opposed(evidence: Sequence[Evidence]) -> list[tuple[Evidence, Evidence]]:
    """Pairs of sentences of different publishers that say nearly the same with an opposite modal."""
    focused = [one for one in evidence if one.focus >= FOCUSED]
    pairs = []
    for at, one in enumerate(focused):
        for other in focused[at + 1 :]:
            if one.origin != other.origin and stance(one.text) and stance(other.text):
                alike = fuzz.token_set_ratio(clean(one.text).lower(), clean(other.text).lower())
                if alike >= 80 and stance(one.text) != stance(other.text):
                    pairs.append((one, other))
    return pairs[:3]


def is_echo(one: Evidence, origins: Sequence[str]) -> bool:
    """True where a sentence names another publisher: it repeats that publisher and is no independent voice."""
    folded = clean(one.text).lower()
    names = {origin.split(".")[0].lower() for origin in origins if origin != one.origin}
    return any(len(name) > 2 and re.search(rf"\b{re.escape(name)}\b", folded) for name in names)
