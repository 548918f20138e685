"""Answers to questions, made of counts and of the words of the claims; nothing is added to them."""

from collections.abc import Sequence
from dataclasses import dataclass

from researchdesk.graph.offline.asking import asks_for_agreement
from researchdesk.graph.offline.compare import Evidence, stance
from researchdesk.graph.offline.feedback import deal
from researchdesk.graph.offline.question import Question
from researchdesk.graph.offline.records import comparisons_of, differs_line
from researchdesk.graph.offline.sources import known_of
from researchdesk.graph.offline.statements import evidence_of
from researchdesk.graph.offline.view import Asked, Claim, View

BEST, CITED, SHOWN = 3, 8, 260
READS = {"against": "reject", "for": "ask or allow", "": "neither"}


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer with the claims that it stands on; none where it has none."""

    text: str
    claim_ids: tuple[str, ...]


def answer_to(view: View, asked: Asked, question: Question) -> Answer:
    """The answer to a question from the claims that belong to it, or to what it depends on."""
    if asked.depth == 0:
        return conclusion(view, question)
    claims = claims_for(view, asked)
    return (agreement if asks_for_agreement(asked.text) else sayings)(view, question, claims)


def claims_for(view: View, asked: Asked) -> list[Claim]:
    """The claims that a question can be answered from."""
    if asked.depth == 0:
        return list(view.standing)
    wanted = set(asked.depends_on) if asks_for_agreement(asked.text) else {asked.id}
    return [claim for claim in view.standing if claim.question_id in wanted]


def sayings(view: View, question: Question, claims: Sequence[Claim]) -> Answer:
    """How many claims answer, and the best of each publisher."""
    best = evidence_of(claims, known_of(view), question)
    if not best:
        return Answer("", ())
    chosen = deal(best, lambda one: one.origin, BEST)
    cited = [*chosen, *(one for one in best if one not in chosen)][:CITED]
    text = f"{counted(view, claims)} Best by publisher: {'; '.join(map(quoted_line, chosen))}"
    return Answer(text, tuple(one.claim_id for one in cited))


def quoted_line(one: Evidence) -> str:
    return f"{one.origin}: “{one.statement[:SHOWN]}” ({one.claim_id})"


def counted(view: View, claims: Sequence[Claim]) -> str:
    """``12 claims of 7 sources by 2 publishers.``"""
    origins = {source.source_id: source.origin for source in view.sources}
    linked = {link.source_id for claim in claims for link in claim.supports}
    publishers = {origins[key] for key in linked if key in origins}
    return (
        f"{plural(len(claims), 'claim')} of {plural(len(linked), 'source')} by "
        f"{plural(len(publishers), 'publisher')}."
    )


def plural(count: int, name: str) -> str:
    return f"{count} {name}{'' if count == 1 else 's'}"


def agreement(view: View, question: Question, claims: Sequence[Claim]) -> Answer:
    """Whether the publishers agree, as far as values and modal words tell."""
    best = evidence_of(claims, known_of(view), question)
    origins = list(dict.fromkeys(one.origin for one in best))
    if not best:
        return Answer("", ())
    chosen = deal(best, lambda one: one.origin, CITED)
    if len(origins) == 1:
        return Answer(
            f"Only {origins[0]} answers, so that agreement cannot be told.", tuple(ids_of(chosen[:BEST]))
        )
    own = {claim.id for claim in claims}
    against = [one for one in view.contradictions if {one.claim_id, one.other_id} <= own]
    if against:
        cited = [key for one in against for key in (one.claim_id, one.other_id)]
        return Answer(f"No. {'; '.join(one.differs for one in against)}", tuple(dict.fromkeys(cited)))
    compared = comparisons_of(view, question, claims)
    if compared and compared[0].kind in {"contradiction", "values differ", "agreement"}:
        lead = "Yes, on the value" if compared[0].kind == "agreement" else "Values differ"
        cited = [told.evidence.claim_id for told in compared[0].told]
        return Answer(f"{lead}: {differs_line(compared[0])}", tuple(dict.fromkeys(cited))[:CITED])
    both = sum(len({one.origin, *others_of(view, one)}) > 1 for one in best)
    text = f"No contradiction was found by rules; {stances(chosen)}"
    text += f"; {plural(both, 'claim')} told by more than one publisher" if both else ""
    return Answer(text, tuple(ids_of(chosen)))


def others_of(view: View, one: Evidence) -> set[str]:
    origins = {source.source_id: source.origin for source in view.sources}
    return {origins[key] for key in one.others if key in origins}


def stances(best: Sequence[Evidence]) -> str:
    """``by their modal words the best claims of nist.gov 4 reject, 2 ask or allow; of owasp.org …``."""
    sides = []
    for origin in dict.fromkeys(one.origin for one in best):
        read = [stance(one.statement) for one in best if one.origin == origin]
        told = [f"{read.count(kind)} {words}" for kind, words in READS.items() if read.count(kind)]
        sides.append(f"of {origin} {', '.join(told)}")
    return f"by their modal words the best claims {'; '.join(sides)}"


def ids_of(evidence: Sequence[Evidence]) -> list[str]:
    return [one.claim_id for one in evidence]


def conclusion(view: View, question: Question) -> Answer:
    """The answers of the questions under the objective, side by side, on the claims that they stand on."""
    settled = [one for one in view.questions if one.depth > 0 and one.answer and one.status == "resolved"]
    best = evidence_of(view.standing, known_of(view), question)
    if not best:
        return Answer("", ())
    told = [f"{one.id}: {one.answer}" for one in settled]
    cited = list(dict.fromkeys(key for one in reversed(settled) for key in one.claim_ids)) or ids_of(best)
    return Answer("\n".join(told) or counted(view, view.standing), tuple(cited[: 2 * CITED]))
