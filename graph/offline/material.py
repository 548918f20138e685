"""What the report is written from: the claims of a turn as evidence, dealt to the parts of a section once each."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from rapidfuzz import fuzz

from researchdesk.graph.offline.answers import claims_for, replies
from researchdesk.graph.offline.asking import asks_for_agreement, content_of, questions_to_answer
from researchdesk.graph.offline.compare import Evidence
from researchdesk.graph.offline.feedback import deal
from researchdesk.graph.offline.gathering import asks_for_asides
from researchdesk.graph.offline.noting import question_for
from researchdesk.graph.offline.question import Question
from researchdesk.graph.offline.records import is_off_topic, missing_words
from researchdesk.graph.offline.sentences import NORMATIVE, defines, says_again
from researchdesk.graph.offline.sources import known_of
from researchdesk.graph.offline.statements import evidence_of
from researchdesk.graph.offline.view import Asked, Source, View
from researchdesk.state.sameness import same_question

TAKEAWAYS, ADVICE, MEANINGS, FINDINGS = 5, 4, 3, 24
LEADING = 2
"""So many of the best claims of a question are in the report in any case."""
WORTH, OUTSTANDING = 0.5, 0.7
"""A claim is written into the report from this share of the best score, and whatever its words from the second."""
DESCRIBING_WORTH = 0.4
"""The first share where the question asks for no rule: answers are worded in more ways then."""
OFF_SUBJECT_WORTH = 0.6
"""The share for a claim that names the question's subject neither itself nor in its heading."""
TELLING = 0.7
"""The share of the best score from which a claim may open the report."""
TWIN = 85
"""Likeness per cent from which a question asks what another one asks."""
ID = re.compile(r"\bs_\d+\b")


@dataclass(frozen=True)
class Material:
    """The evidence of a turn in the order of how well it answers.

    Args:
        planned: whether the view's claims are those that the outline gives to one section; all of them are used then.
        late: evidence that was not noted as claims any more.
    """

    view: View
    question: Question
    planned: bool = False
    late: tuple[Evidence, ...] = ()

    @cached_property
    def sources(self) -> dict[str, Source]:
        return {source.source_id: source for source in self.view.sources}

    @cached_property
    def names(self) -> Mapping[str, str]:
        return known_of(self.view).names

    @cached_property
    def evidence(self) -> tuple[Evidence, ...]:
        """All claims that stand, best first."""
        known = known_of(self.view, with_asides=asks_for_asides(self.question))
        return (*evidence_of(self.view.standing, known, self.question), *self.late)

    def shares(self, parts: Collection[str]) -> dict[str, list[Evidence]]:
        """Claims for each part of a report that shows some; none stands in two, none repeats what another says.

        Args:
            parts: of ``takeaways``, ``advice``, ``meanings`` and ``findings`` those that are written.
        """
        left = list(self.evidence) if self.planned else self.unlike
        subject = max((one.about for one in left), default=0.0)
        on_subject = [
            one for one in left if one.about >= subject or one.claim_id in {*self.told, *self.leading}
        ]
        taken: dict[str, list[Evidence]] = {}
        if "takeaways" in parts:
            first = [one for key in self.leading for one in left if one.claim_id == key]
            dealt = deal(self.telling(on_subject), lambda one: one.origin, TAKEAWAYS)
            most = max(TAKEAWAYS, len(first))
            taken["takeaways"] = list(dict.fromkeys([*first, *dealt]))[:most]
            left = [one for one in left if one not in taken["takeaways"]]
        if "advice" in parts:
            asked = [one for one in left if NORMATIVE.search(one.text) and one in on_subject]
            untold = [one for one in asked if one.claim_id not in self.told]
            taken["advice"] = deal(untold, lambda one: one.origin, ADVICE)
            left = [one for one in left if one not in taken["advice"]]
        if "meanings" in parts:
            taken["meanings"] = [one for one in left if defines(one.statement, self.question)][:MEANINGS]
            left = [one for one in left if one not in taken["meanings"]]
        if "findings" in parts:
            taken["findings"] = deal(left, lambda one: one.source_id, FINDINGS)
        return taken

    @cached_property
    def asked(self) -> list[Asked]:
        """The questions under the objective that something was found for."""
        listed = questions_to_answer(self.view)
        return [one for one in listed if one.status == "resolved" and one.claim_ids]

    @cached_property
    def leading(self) -> list[str]:
        """The claims that answer best, some of each question, of different publishers where there are any."""
        ranked = [self.best_of(one) for one in self.asked]
        return list(
            dict.fromkeys(
                key for place in range(LEADING) for keys in ranked for key in keys[place : place + 1]
            )
        )

    def best_of(self, asked: Asked) -> list[str]:
        question = question_for(self.view, asked.id)
        noted_for = {claim.id: claim.question_id for claim in self.view.claims}
        own = evidence_of(claims_for(self.view, asked, question), known_of(self.view), question)
        own.sort(key=lambda one: not replies(one, question))
        if len(self.asked) > 1:  # a sentence is noted for the question that it answers best
            own.sort(key=lambda one: noted_for.get(one.claim_id) != asked.id)
        return [one.claim_id for one in deal(own, lambda one: one.origin, LEADING)]

    def by_question(self, evidence: Sequence[Evidence]) -> list[tuple[str, list[Evidence]]]:
        """The evidence under the text of the question that it answers; "" where there is one question only."""
        if len(self.asked) < 2:
            return [("", list(evidence))]
        belongs = {key: one.id for one in reversed(self.asked) for key in one.claim_ids}
        own = {claim.id: claim.question_id for claim in self.view.claims}
        under: dict[str, list[Evidence]] = {one.id: [] for one in self.asked}
        rest: list[Evidence] = []
        for one in evidence:
            key = own.get(one.claim_id, "")
            under.get(key if key in under else belongs.get(one.claim_id, ""), rest).append(one)
        told = [(content_of(one.text), under[one.id]) for one in self.asked]
        return [pair for pair in (*told, ("", rest)) if pair[1]]

    @cached_property
    def told(self) -> set[str]:
        """Claims whose values are set side by side, or that contradict each other."""
        pairs = {key for one in self.view.contradictions for key in (one.claim_id, one.other_id)}
        return pairs | {one.about for one in self.view.datapoints if one.about}

    @cached_property
    def worthy(self) -> list[Evidence]:
        """Evidence that keeps up with the best of it, in its score and in what it is about."""
        top = max((one.score for one in self.evidence), default=0.0)
        worth = WORTH if self.question.wants_rule else DESCRIBING_WORTH
        return [
            one
            for one in self.evidence
            if one.claim_id in {*self.told, *self.leading}
            or (
                one.score >= (worth if one.about else OFF_SUBJECT_WORTH) * top
                and (self.is_focused(one) or one.score >= OUTSTANDING * top)
            )
        ]

    def is_focused(self, one: Evidence) -> bool:
        """True where a claim holds half of what the question is about, or of what the best one holds of it."""
        return one.focus >= min(WORTH, WORTH * max((other.focus for other in self.evidence), default=0.0))

    @cached_property
    def unlike(self) -> list[Evidence]:
        """The worthy claims, none repeating a better one or quoting the same sentence."""
        kept: list[Evidence] = []
        for one in self.worthy:
            same = any(one.text == other.text and one.source_id == other.source_id for other in kept)
            if not same and not says_again(one.statement, [other.statement for other in kept]):
                kept.append(one)
        return kept

    def telling(self, left: list[Evidence]) -> list[Evidence]:
        """What may open the report: claims that tell differing values, then the best one of each source."""
        if self.planned:  # chosen when the outline was written, from all claims
            return sorted(left, key=lambda one: not replies(one, self.question))
        pairs = {key for one in self.view.contradictions for key in (one.claim_id, one.other_id)}
        compared = [one for one in left if one.claim_id in pairs]
        top = max((one.score for one in left), default=0.0)
        good = [one for one in left if self.is_focused(one) and one.score >= TELLING * top] or left
        if self.question.is_polar or self.question.wants_number:
            told = [one for one in left if replies(one, self.question)]
            good = told if len(told) > LEADING else [*told, *good]
        return list(dict.fromkeys([*compared, *firsts(good), *good]))

    @cached_property
    def missing(self) -> list[str]:
        """Words of the question that no claim holds."""
        return missing_words(self.question, self.view.standing)

    @cached_property
    def is_off_topic(self) -> bool:
        """Whether no claim comes near what the question is about."""
        return not self.late and is_off_topic(self.view, self.question, self.view.standing)

    @cached_property
    def given_up(self) -> list[Asked]:
        """The questions to which no answer was found, without those that ask what another one answers."""
        answered = [content_of(one.text) for one in self.asked]
        return [
            one
            for one in self.view.questions
            if one.status == "unresolvable"
            and not any(is_twin(content_of(one.text), other) for other in answered)
        ]

    @cached_property
    def agreements(self) -> list[Asked]:
        return [
            one for one in self.view.questions if asks_for_agreement(one.text) and one.status == "resolved"
        ]

    @cached_property
    def silent(self) -> set[str]:
        """Sources that were read and not quoted, as the gaps tell."""
        lines = [one.text for one in self.view.gaps if one.text.startswith("Read, and nothing quoted")]
        return {key for line in lines for key in ID.findall(line)}

    @cached_property
    def cited(self) -> list[Source]:
        """Sources with claims, those with the best ones first; any source where nothing was claimed."""
        order = dict.fromkeys(key for one in self.evidence for key in (one.source_id, *one.others))
        return [self.sources[key] for key in order if key in self.sources] or list(self.view.sources)


def is_twin(one: str, other: str) -> bool:
    """Whether two questions ask the same in nearly the same words."""
    return same_question(one, other) or fuzz.token_sort_ratio(one.casefold(), other.casefold()) >= TWIN


def firsts(evidence: Sequence[Evidence]) -> list[Evidence]:
    """The best claim of each source, best first."""
    return list({one.source_id: one for one in reversed(evidence)}.values())[::-1]
