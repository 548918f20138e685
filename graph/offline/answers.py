"""Answers to questions, made of counts and of the words of the claims; nothing is added to them."""

from collections.abc import Sequence
from dataclasses import dataclass

from researchdesk.graph.offline.asking import asks_for_agreement
from researchdesk.graph.offline.compare import FOCUSED, Comparison, Evidence, speaks_of
from researchdesk.graph.offline.feedback import deal
from researchdesk.graph.offline.modals import can_read
from researchdesk.graph.offline.noting import question_for
from researchdesk.graph.offline.opposites import DIFFERENTLY, HELD, position
from researchdesk.graph.offline.question import Question
from researchdesk.graph.offline.records import comparisons_of, differs_line, opposition_of
from researchdesk.graph.offline.sentences import DESCRIBING, ENOUGH
from researchdesk.graph.offline.sources import known_of
from researchdesk.graph.offline.statements import evidence_of, voices_of
from researchdesk.graph.offline.values import values
from researchdesk.graph.offline.view import Asked, Claim, View

BEST, CITED, SHOWN = 3, 8, 260
BY_WORDS = "By their modal words"
READS = {
    "against": ("rejects it", "reject it"),
    "for": ("asks for or allows it", "ask for or allow it"),
    "": ("says neither", "say neither"),
}
"""What the modal words of one sentence, or of several, say of the matter."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer with the claims that it stands on; none where it has none."""

    text: str
    claim_ids: tuple[str, ...]


def answer_to(view: View, asked: Asked, question: Question) -> Answer:
    """The answer to a question from the claims that belong to it, or to what it depends on."""
    if asked.depth == 0:
        return conclusion(view, question)
    if asks_for_agreement(asked.text):
        return agreements(view, asked, question)
    return sayings(view, question, claims_for(view, asked, question))


def claims_for(view: View, asked: Asked, question: Question) -> list[Claim]:
    """The claims that a question can be answered from: its own, and those of other questions that answer it, too."""
    if asked.depth == 0:
        return list(view.standing)
    wanted = set(asked.depends_on) if asks_for_agreement(asked.text) else {asked.id}
    own = [claim for claim in view.standing if claim.question_id in wanted]
    if asks_for_agreement(asked.text):
        return own
    others = [claim for claim in view.standing if claim not in own]
    enough = ENOUGH if question.wants_rule else DESCRIBING
    answering = {
        one.claim_id
        for one in evidence_of(others, known_of(view), question)
        if one.score >= enough and one.focus >= FOCUSED and one.about >= 1
    }
    return [*own, *(claim for claim in others if claim.id in answering)]


def sayings(view: View, question: Question, claims: Sequence[Claim]) -> Answer:
    """What the quoted sentences say by count, and the best of each publisher."""
    best = evidence_of(claims, known_of(view), question)
    if not best:
        return Answer("", ())
    best.sort(key=lambda one: not replies(one, question))
    chosen = deal(best, lambda one: one.origin, BEST)
    cited = [*chosen, *(one for one in best if one not in chosen)][:CITED]
    lead = (
        stances(best, question, at_hand=bool(view.claims_not_shown))
        if question.is_polar and can_read(question.text)
        else ""
    )
    text = f"{lead} {counted(view, claims)} Best by publisher: {'; '.join(map(quoted_line, chosen))}".strip()
    return Answer(text, ids_of(cited))


def replies(one: Evidence, question: Question) -> bool:
    """Whether a sentence says something to the question: yes or no, or a value of what it asks for."""
    if question.wants_number:
        told = values(one.statement, vocabulary=question.vocabulary)
        found = any(question.answers_in(value.unit) and value.bound in question.bounds for value in told)
        return found and one.focus >= FOCUSED and speaks_of(one.statement, one.about, question)
    return bool(position(one, question)) if question.is_polar else True


def quoted_line(one: Evidence) -> str:
    return f"{one.origin}: “{one.statement[:SHOWN]}” ({one.claim_id})"


def counted(view: View, claims: Sequence[Claim]) -> str:
    """``12 claims of 7 sources by 2 publishers.``"""
    origins = {source.source_id: source.origin for source in view.sources}
    linked = {link.source_id for claim in claims for link in claim.supports}
    publishers = {origins[key] for key in linked if key in origins}
    at_hand = f" (of those at hand; the run has {view.coverage.total})" if view.claims_not_shown else ""
    return (
        f"{plural(len(claims), 'claim')}{at_hand} of {plural(len(linked), 'source')} by "
        f"{plural(len(publishers), 'publisher')}."
    )


def plural(count: int, name: str) -> str:
    return f"{count} {name}{'' if count == 1 else 's'}"


def focused(evidence: Sequence[Evidence], question: Question) -> list[Evidence]:
    """What speaks of the matter; all of it where nothing does."""
    if question.is_polar and (held := [one for one in evidence if one.held > HELD]):
        return held
    found = [
        one for one in evidence if one.focus >= FOCUSED and speaks_of(one.statement, one.about, question)
    ]
    return found or list(evidence)


def stances(evidence: Sequence[Evidence], question: Question, *, at_hand: bool) -> str:
    """``By their modal words 12 of 15 quoted sentences reject it, 1 asks for or allows it, 2 say neither.``

    Args:
        at_hand: whether these are not all sentences that were quoted.
    """
    read = [position(one, question) for one in focused(evidence, question)]
    if not any(read):
        return ""
    counts = [(read.count(kind), kind) for kind in READS if kind in read]
    counts.sort(key=lambda pair: (not pair[1], -pair[0]))
    first, *rest = [(count, READS[kind][count > 1]) for count, kind in counts]
    which = " at hand" if at_hand else ""
    sentences = f"{first[0]} of {plural(len(read), 'quoted sentence')}{which} {first[1]}"
    return f"{BY_WORDS} {', '.join([sentences, *(f'{count} {said}' for count, said in rest)])}."


def agreements(view: View, asked: Asked, question: Question) -> Answer:
    """Whether the publishers agree on each of the questions that this one depends on."""
    told: list[tuple[str, Answer]] = []
    for key in asked.depends_on:
        part = next((one for one in view.questions if one.id == key), None)
        if part is None:
            continue
        own = question_for(view, key)
        found = agreement(view, own, claims_for(view, part, own))
        if found.claim_ids:
            told.append((key, found))
    if not told:
        return agreement(view, question, claims_for(view, asked, question))
    if len(told) == 1:
        return told[0][1]
    ids = dict.fromkeys(key for _, answer in told for key in answer.claim_ids)
    short = [
        f"on {key}: {answer.text.removesuffix('.').split('; quoted sentences')[0]}" for key, answer in told
    ]
    return Answer("; ".join(short), tuple(ids)[: 2 * CITED])


def agreement(view: View, question: Question, claims: Sequence[Claim]) -> Answer:
    """Whether the publishers agree, as far as values and modal words tell; that they do is said of values alone."""
    voices = focused(voices_of(claims, known_of(view), question), question)
    if not voices:
        return Answer("", ())
    cited = tuple(dict.fromkeys(ids_of(deal(voices, lambda one: one.origin, CITED))))
    origins = list(dict.fromkeys(one.origin for one in voices))
    if len(origins) == 1:
        told = f"Only {origins[0]} answers"
        if view.claims_not_shown:
            told = f"In the claims at hand ({len(view.claims)} of {view.coverage.total}) only {origins[0]} answers"
        return Answer(f"{told}, so that agreement cannot be told.", cited[:BEST])
    own = {claim.id for claim in claims}
    against = [one for one in view.contradictions if {one.claim_id, one.other_id} <= own]
    if against:
        ids = dict.fromkeys(key for one in against for key in (one.claim_id, one.other_id))
        told = "; ".join(one.differs for one in against)
        return Answer(told if told.startswith(DIFFERENTLY) else f"No. {told}", tuple(ids))
    if found := opposition_of(view, question, claims):
        return Answer(found.line, (found.one.claim_id, found.other.claim_id))
    if compared := on_values(comparisons_of(view, question, claims), claims):
        return compared
    if shaken := [claim for claim in claims if claim.scope]:
        return Answer(weakened(shaken), tuple(claim.id for claim in shaken)[:CITED])
    return Answer(untold(voices, question), cited)


def on_values(compared: Sequence[Comparison], claims: Sequence[Claim]) -> Answer | None:
    """What the values tell; None where there are none of two publishers, or nothing but an agreement of one."""
    if not compared:
        return None
    first = compared[0]
    ids = tuple(dict.fromkeys(told.evidence.claim_id for told in first.told))[:CITED]
    publishers = {told.evidence.origin for told in first.told}
    if len(publishers) == 1:
        told = f"Only {publishers.pop()} tells a value: {differs_line(first)}; whether others agree cannot be told."
        return Answer(told, ids)
    if first.kind != "agreement":
        return Answer(f"Values differ: {differs_line(first)}", ids)
    if shaken := [claim for claim in claims if claim.scope]:
        return Answer(f"Not without exception: {differs_line(first)}. {weakened(shaken)}", ids)
    return Answer(f"Yes, on the value: {differs_line(first)}", ids)


def weakened(claims: Sequence[Claim]) -> str:
    """The claims that a passage of another publisher spoke against."""
    told = "; ".join(f"{claim.id}: {claim.scope}" for claim in claims[:BEST])
    return f"Rules cannot tell that they agree: passages were found against {plural(len(claims), 'claim')} ({told})"


def untold(voices: Sequence[Evidence], question: Question) -> str:
    """That rules cannot tell, and what the modal words of each publisher's sentences say."""
    if not can_read(question.text):
        return "Rules cannot tell: opposed wordings are not recognised in this language."
    sides = []
    for origin in dict.fromkeys(one.origin for one in voices):
        read = [position(one, question) for one in voices if one.origin == origin]
        told = [
            f"{read.count(kind)} {said[read.count(kind) > 1]}" for kind, said in READS.items() if kind in read
        ]
        sides.append(f"of {origin}: {', '.join(told)}")
    return (
        "Rules cannot tell whether they agree: they saw no opposed value or wording; quoted sentences "
        f"{'; '.join(sides)}."
    )


def ids_of(evidence: Sequence[Evidence]) -> tuple[str, ...]:
    return tuple(one.claim_id for one in evidence)


def conclusion(view: View, question: Question) -> Answer:
    """The answers of the questions under the objective, side by side, on the claims that they stand on."""
    settled = [one for one in view.questions if one.depth > 0 and one.answer and one.status == "resolved"]
    best = evidence_of(view.standing, known_of(view), question)
    if not best:
        return Answer("", ())
    told = [f"{one.id}: {one.answer}" for one in settled]
    cited = list(dict.fromkeys(key for one in reversed(settled) for key in one.claim_ids)) or ids_of(best)
    return Answer("\n".join(told) or counted(view, view.standing), tuple(cited[: 2 * CITED]))
