"""Values and stances of different publishers side by side: mechanical comparison, no judgement of who is right."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from researchdesk.graph.offline.modals import ALLOWS, REQUIRES, modal
from researchdesk.graph.offline.passages import clean
from researchdesk.graph.offline.question import Question
from researchdesk.graph.offline.sentences import AGAINST
from researchdesk.graph.offline.values import Value, is_statement, values

FOCUSED = 0.6
"""A sentence takes part in a comparison when it holds this share of the question's focus."""
AS_GOOD = 0.85
"""From this share of a document's best score on its other sentences answer as well."""
FOR = re.compile(
    r"\b(?:shall|should|must|required?|requires|recommend\w*|ensure|allow\w*|permit\w*|may)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Evidence:
    """A quote with what is known of the document it stands in.

    Args:
        text: the quote.
        said: what it says to a reader, or the clause of it that is meant; "" for the whole.
        document: names the document within its publisher, e.g. an edition.
        score: how well the quote answers, as the scorer said.
        focus: the share of what the question is about that the quote and its heading hold.
        about: 1 where the quote itself names the question's subject, 0.5 where only its heading does, else 0.
        held: the share of the question's terms that the quote itself holds.
        work: what the editions of one work have in common, "" where nothing tells.
        claim_id: the claim that it is noted as, "" for none.
        others: further sources that say the same.
    """

    text: str
    heading: str
    source_id: str
    origin: str
    document: str
    score: float
    focus: float
    about: float = 1.0
    work: str = ""
    said: str = ""
    claim_id: str = ""
    others: tuple[str, ...] = ()
    held: float = 1.0

    @property
    def statement(self) -> str:
        """What is compared of it."""
        return self.said or clean(self.text)


@dataclass(frozen=True, slots=True)
class Told:
    """One value with the evidence that tells it."""

    value: Value
    evidence: Evidence
    first: bool = True
    """Whether its sentence answers best of its document."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What was told of one quantity.

    Args:
        kind: ``contradiction`` (publishers share no value of one strength), ``values differ``, ``editions differ``
            (of one work), ``documents differ`` (of one publisher) or ``agreement``.
        bound: ``min``, ``max``, ``permit`` or ``exact``.
        told: one entry for each document, value and strength, ordered by publisher.
    """

    kind: str
    bound: str
    unit: str
    told: tuple[Told, ...]


def compare(evidence: Sequence[Evidence], question: Question) -> list[Comparison]:
    """Comparisons of the values that answer the question, by bound; none where no quantity is asked for."""
    if not question.wants_number:
        return []
    focused = answering(evidence, question)
    unit = leading_unit(focused, question)
    told = [one for document in by_document(focused) for one in best_told(document, unit, question)]
    compared = [
        comparison(bound, unit, group)
        for bound, group in by_bound(told, question).items()
        if len({one.evidence.source_id for one in group}) > 1
    ]
    return sorted(compared, key=lambda one: (one.bound not in question.bounds, -len(one.told)))


def answering(evidence: Sequence[Evidence], question: Question) -> list[Evidence]:
    """The statements that speak of what is asked; where some say what the question asks of it (a battery *lasts*),
    those that do not are about another matter."""
    focused = [
        one
        for one in evidence
        if one.focus >= FOCUSED
        and is_statement(one.statement)
        and speaks_of(one.statement, one.about, question)
    ]
    heads = [one for one in focused if question.has_head(one.statement)]
    return heads or focused


def speaks_of(text: str, about: float, question: Question) -> bool:
    """Whether a sentence's own words name what is asked: the subject, what is asked of it, or the unit asked for."""
    if about >= 1 or (about and question.has_head(text)):
        return True
    counted = {
        part for value in values(text, vocabulary=question.vocabulary) for part in value.unit.split("/")
    }
    return bool(about and counted & set(question.terms))


def leading_unit(evidence: Sequence[Evidence], question: Question) -> str:
    """The unit in which most documents answer, the better answers counting more."""
    weights: dict[str, dict[str, float]] = defaultdict(dict)
    for one in evidence:
        for value in values(one.statement, vocabulary=question.vocabulary):
            if question.answers_in(value.unit):
                weights[value.unit].setdefault(one.source_id, 0.0)
                weights[value.unit][one.source_id] = max(weights[value.unit][one.source_id], one.score)
    return max(weights, key=lambda unit: (sum(weights[unit].values()), unit), default="")


def by_document(evidence: Sequence[Evidence]) -> list[list[Evidence]]:
    documents: dict[str, list[Evidence]] = defaultdict(list)
    for one in evidence:
        documents[one.source_id].append(one)
    return list(documents.values())


def best_told(document: Sequence[Evidence], unit: str, question: Question) -> list[Told]:
    """For each bound the values in the document's best sentences that tell one; a sentence may tell several."""
    best: dict[str, list[Told]] = {}
    for one in sorted(document, key=lambda item: -item.score):
        for value in values(one.statement, vocabulary=question.vocabulary):
            told = best.setdefault(value.bound, []) if value.unit == unit else None
            # What is claimed of one sentence clause by clause goes together, and what is told as well as the best.
            if told is not None and (not told or is_as_good(one, told[0].evidence)):
                told.append(Told(value, one, first=not told or told[0].evidence.text == one.text))
    return [one for told in best.values() for one in told]


def is_as_good(one: Evidence, best: Evidence) -> bool:
    return one.text == best.text or (one.score >= AS_GOOD * best.score and one.focus >= best.focus)


def by_bound(told: Sequence[Told], question: Question) -> dict[str, list[Told]]:
    """The values by bound; one without a bound joins the bound that is asked for, or that most documents tell."""
    groups: dict[str, list[Told]] = defaultdict(list)
    for one in told:
        groups[one.value.bound].append(one)
    bounded = [bound for bound in ("min", "max") if bound in question.bounds and bound in groups]
    if "exact" in groups and bounded:
        exact = groups.pop("exact")
        if (
            "permit" in question.bounds
        ):  # where only a least is asked for, a bare number beside one is no answer
            groups[max(bounded, key=lambda bound: len(groups[bound]))] += exact
    return groups


def comparison(bound: str, unit: str, told: Sequence[Told]) -> Comparison:
    ordered = tuple(
        sorted(told, key=lambda one: (one.evidence.origin, one.evidence.document, one.value.number))
    )
    return Comparison(kind_of(ordered), bound, unit, ordered)


def kind_of(told: Sequence[Told]) -> str:
    """How the told values stand to each other; what no modal word marks counts as required."""
    strengths: dict[str, dict[str, set[float]]] = defaultdict(lambda: defaultdict(set))
    documents: dict[str, set[str]] = defaultdict(set)
    publishers: dict[str, set[float]] = defaultdict(set)
    for one in told:
        strength = one.value.strength or "required"
        strengths[strength][one.evidence.origin].add(one.value.number)
        documents[strength].add(one.evidence.source_id)
        publishers[one.evidence.origin].add(one.value.number)
    single = len({one.value.number for one in told}) == 1
    # Two publishers agree on what both tell; of one publisher two documents do.
    alone = len(publishers) == 1
    if single or all(
        len(set[float]().union(*by_origin.values())) == 1
        and len(documents[strength] if alone else by_origin) > 1
        for strength, by_origin in strengths.items()
    ):
        return "agreement"
    if alone:
        works = {one.evidence.work for one in told}
        return "editions differ" if len(works) == 1 and works != {""} else "documents differ"
    if set.intersection(*publishers.values()):
        return "values differ"
    apart = any(
        len(by_origin) > 1 and not set.intersection(*by_origin.values()) for by_origin in strengths.values()
    )
    return "contradiction" if apart else "values differ"


def stance(text: str) -> str:
    """``against``, ``for`` or "" by the modal words and negations of a sentence; a reading, not a finding."""
    if told := modal(text):
        return "for" if told in {REQUIRES, ALLOWS} else "against"
    if AGAINST.search(clean(text)):
        return "against"
    return "for" if FOR.search(clean(text)) else ""


def is_echo(one: Evidence, origins: Sequence[str]) -> bool:
    """True where a sentence names another publisher: it repeats that publisher and is no independent voice."""
    folded = clean(one.text).lower()
    names = {origin.split(".")[0].lower() for origin in origins if origin != one.origin}
    return any(len(name) > 2 and re.search(rf"\b{re.escape(name)}\b", folded) for name in names)
