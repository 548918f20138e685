"""What the report is written from: the noted quotes, scored anew, and dealt to the sections once each."""

import re
from dataclasses import dataclass
from functools import cached_property

from researchdesk.graph.offline.compare import Comparison, Evidence, compare, is_echo, opposed
from researchdesk.graph.offline.feedback import deal
from researchdesk.graph.offline.gathering import (
    ASIDE,
    Folders,
    asks_for_asides,
    folder_parts,
    is_aside,
    is_web,
)
from researchdesk.graph.offline.passages import Sentence, clean, looks_like_code
from researchdesk.graph.offline.programs import is_program
from researchdesk.graph.offline.question import Question
from researchdesk.graph.offline.quotes import Quote, parse_quotes
from researchdesk.graph.offline.sentences import NORMATIVE, says_again, score
from researchdesk.graph.offline.terms import Rarity
from researchdesk.graph.offline.view import Source, View

TAKEAWAYS, ADVICE, MEANINGS, FINDINGS = 5, 4, 3, 24
WORTH, OUTSTANDING = 0.5, 0.7
"""A quote is written into the report from this share of the best score, and whatever its words from the second."""
DESCRIBING_WORTH = 0.4
"""The first share where the question asks for no rule: answers are worded in more ways then."""
OFF_SUBJECT_WORTH = 0.6
"""The share for a quote that names the question's subject neither itself nor in its heading."""
TELLING = 0.6
"""The share of the best score from which a quote may open the report."""
PROGRAM = 0.8
"""What a comment in a program counts beside a text that is written for readers."""
MEANING = re.compile(r"\b(?:(?:is|are) an? |means |refers? to |(?:is|are) defined as |(?:is|are) known as )")


@dataclass(frozen=True)
class Material:
    """The evidence of a run in the order of how well it answers."""

    view: View
    question: Question
    late: tuple[Quote, ...] = ()
    """Quotes that are noted in the same answer."""

    @cached_property
    def sources(self) -> dict[str, Source]:
        return {source.source_id: source for source in self.view.sources}

    @cached_property
    def evidence(self) -> tuple[Evidence, ...]:
        """All noted quotes, best first; of nearly equal ones of the same source only the best."""
        quotes = [quote for note in self.view.notes for quote in parse_quotes(note.text)]
        quotes += self.late
        vocabulary = self.question.vocabulary
        rarity = Rarity.over(vocabulary.terms(clean(quote.text)) for quote in quotes)
        found: dict[tuple[str, str], Evidence] = {}
        for quote in quotes:
            source = self.sources.get(quote.source_id)
            if source is None:
                continue
            kind = "code" if looks_like_code(quote.text) else "prose"
            sentence = Sentence(quote.text, 0, len(quote.text), quote.heading, kind)
            scored = score(sentence, self.question, rarity=rarity)
            found[(quote.source_id, quote.text)] = Evidence(
                quote.text,
                quote.heading,
                quote.source_id,
                source.origin or "unknown publisher",
                self.document_names[source.source_id],
                scored.score * self.weight(source),
                scored.focus,
                scored.about,
                work_of(source.locator),
            )
        return tuple(sorted(found.values(), key=lambda one: (-one.score, one.source_id, one.text)))

    def weight(self, source: Source) -> float:
        """What a quote of this source counts: a program less than a text, tests and examples less than both."""
        if is_aside(source.locator) and not asks_for_asides(self.question):
            return ASIDE
        return PROGRAM if is_program(source.locator) else 1.0

    @cached_property
    def document_names(self) -> dict[str, str]:
        """A name for each source: its title, with the folders that tell editions apart; else its path."""
        folders = Folders.of(source.locator for source in self.view.sources)
        names = {}
        for source in self.view.sources:
            place = (
                "" if is_web(source.locator) else "/".join(folder_parts(source.locator)[folders.depth :][:2])
            )
            title = title_of(source)
            path = source.locator.removeprefix("file:")
            named = f"{title} (`{place}`)" if place else title
            names[source.source_id] = named if title else "`" + path.replace("`", "'") + "`"
        return names

    @cached_property
    def comparisons(self) -> list[Comparison]:
        origins = [source.origin for source in self.view.sources]
        return compare([one for one in self.evidence if not is_echo(one, origins)], self.question)

    @cached_property
    def opposed(self) -> list[tuple[Evidence, Evidence]]:
        return opposed(self.evidence[:40])

    @cached_property
    def shares(self) -> dict[str, list[Evidence]]:
        """Quotes of each part of the report; no quote stands in two, none repeats what another says."""
        left = list(self.alike)
        told = {one.evidence for compared in self.comparisons for one in compared.told}
        subject = max((one.about for one in left), default=0.0)
        on_subject = [one for one in left if one.about >= subject or one in told]
        taken = {"takeaways": deal(self.telling(on_subject), lambda one: one.origin, TAKEAWAYS)}
        left = [one for one in left if one not in taken["takeaways"]]
        taken["advice"] = deal(
            [one for one in left if NORMATIVE.search(one.text) and one in on_subject],
            lambda one: one.origin,
            ADVICE,
        )
        left = [one for one in left if one not in taken["advice"]]
        taken["meanings"] = [one for one in left if explains(one, self.question)][:MEANINGS]
        left = [one for one in left if one not in taken["meanings"]]
        taken["findings"] = deal(left, lambda one: one.source_id, FINDINGS)
        return taken

    @cached_property
    def worthy(self) -> list[Evidence]:
        """Evidence that keeps up with the best of it, in its score and in what it is about."""
        top = max((one.score for one in self.evidence), default=0.0)
        worth = WORTH if self.question.wants_rule else DESCRIBING_WORTH
        return [
            one
            for one in self.evidence
            if one.score >= (worth if one.about else OFF_SUBJECT_WORTH) * top
            and (self.is_focused(one) or one.score >= OUTSTANDING * top)
        ]

    def is_focused(self, one: Evidence) -> bool:
        """True where a quote holds half of what the question is about, or of what the best quote holds of it."""
        return one.focus >= min(WORTH, WORTH * max((other.focus for other in self.evidence), default=0.0))

    @cached_property
    def alike(self) -> dict[Evidence, list[str]]:
        """The worthy quotes, none repeating a better one, each with the other sources that say nearly the same."""
        kept: dict[Evidence, list[str]] = {}
        for one in self.worthy:
            same = next((other for other in kept if says_again(clean(one.text), [clean(other.text)])), None)
            if same is None:
                kept[one] = []
            elif one.source_id not in {same.source_id, *kept[same]}:
                kept[same].append(one.source_id)
        return kept

    def telling(self, left: list[Evidence]) -> list[Evidence]:
        """What may open the report: sentences that tell compared values, then the best one of each source."""
        asked = self.comparisons[:1]
        compared = [told.evidence for one in asked for told in one.told if told.evidence in left]
        top = max((one.score for one in left), default=0.0)
        good = [one for one in left if self.is_focused(one) and one.score >= TELLING * top] or left
        return list(dict.fromkeys([*compared, *firsts(good), *good]))

    @cached_property
    def missing(self) -> list[str]:
        """Words of the question that no quote and no heading above one holds."""
        held = {
            term
            for one in self.evidence
            for term in self.question.vocabulary.terms(f"{clean(one.text)} {one.heading}")
        }
        words = self.question.text.replace("?", " ").replace(",", " ").split()
        wanted = {word: self.question.vocabulary.terms(word) for word in words}
        lacking = [word for word, terms in wanted.items() if terms and not held & set(terms)]
        return [word for word in lacking if set(wanted[word]) & set(self.question.focus)]

    @cached_property
    def is_off_topic(self) -> bool:
        """Whether most of what the question is about stands in no quote."""
        return 2 * len(self.missing) > max(2, len(self.question.focus))

    @cached_property
    def shown(self) -> set[str]:
        """Ids of the sources whose words or values stand in the report."""
        quoted = {one for share in self.shares.values() for one in share}
        ids = {one.source_id for one in quoted} | {key for one in quoted for key in self.alike.get(one, [])}
        return ids | {told.evidence.source_id for one in self.comparisons for told in one.told}

    @cached_property
    def silent(self) -> list[Source]:
        """Sources that were archived and are not quoted in the report."""
        return [source for source in self.view.sources if source.source_id not in self.shown]

    @cached_property
    def incomplete(self) -> list[str]:
        """Focus words that no single quote holds together, where each is held by some quote."""
        focus = set(self.question.focus)
        vocabulary = self.question.vocabulary
        whole = any(
            focus <= set(vocabulary.terms(f"{clean(one.text)} {one.heading}")) for one in self.evidence
        )
        words = self.question.text.replace("?", " ").replace(",", " ").split()
        return (
            [] if whole or self.missing else [word for word in words if focus & set(vocabulary.terms(word))]
        )

    @cached_property
    def cited(self) -> list[Source]:
        """Sources with quotes, those with the best quotes first; any source where nothing was quoted."""
        order = dict.fromkeys(one.source_id for one in self.evidence)
        return [self.sources[key] for key in order] or list(self.view.sources)


def title_of(source: Source) -> str:
    """The title on one line, "" where there is none but the locator."""
    name = source.own_title
    return " ".join(clean(name).replace('"', "'").replace("[", "(").replace("]", ")").split())[:90]


VERSION = re.compile(
    r"(?:draft|final|edition|version|release|revision|rev|v)?[\W_]*(?:0x[0-9a-f]+|v?\d+)[\W_]*(?:draft|final)?",
    re.I,
)


def work_of(locator: str) -> str:
    """What the editions of one work share: its path without versions, "" where no folder has one."""
    *folders, name = locator.lower().split("/")
    if not any(re.search(r"\d", folder) for folder in folders):
        return ""
    parts = [" ".join(re.findall(r"[a-z]+", VERSION.sub(" ", part))) for part in (*folders, name)]
    return "/".join(parts)


def firsts(evidence: list[Evidence]) -> list[Evidence]:
    """The best quote of each source, best first."""
    return list({one.source_id: one for one in reversed(evidence)}.values())[::-1]


def explains(one: Evidence, question: Question) -> bool:
    """True where a sentence says what a focus word of the question is."""
    text = clean(one.text)
    cue = MEANING.search(text)
    if cue is None or cue.start() > 100 or NORMATIVE.search(text):
        return False
    return bool(
        set(question.vocabulary.terms(text[: cue.start()])) & {*question.focus, *question.learned[:4]}
    )
