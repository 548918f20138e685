"""Opposed wordings: one publisher forbids what another one asks for or allows; mechanical, and never a verdict."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz

from researchdesk.graph.offline.compare import Evidence
from researchdesk.graph.offline.language import language_of
from researchdesk.graph.offline.modals import (
    ALLOWS,
    CLAUSE,
    EXEMPTS,
    FORBIDS,
    MIXED,
    MODALS,
    REQUIRES,
    are_opposed,
    modal,
    of_clause,
)
from researchdesk.graph.offline.passages import clean
from researchdesk.graph.offline.question import Question, stemmed_frames
from researchdesk.graph.offline.terms import words
from researchdesk.graph.offline.values import is_statement

COVERED, ALIKE = 0.75, 80
"""From these on two sentences speak of the same: the share of one's terms in the other, likeness per cent."""
CONDITION = re.compile(
    r"\b(?:if|when|unless|except|only|in case|after|until|upon|wenn|falls|außer|nur|sofern|sauf|salvo|als|tenzij|если"
    r"|кроме)\b",
    re.IGNORECASE,
)
LIMITED = re.compile(
    r"\b(?:(?P<below>below|under|less than|fewer than|unter|weniger als)"
    r"|(?P<above>above|over|more than|exceeding|über|mehr als))\s+(?P<limit>[-−–]?\d+(?:[.,]\d+)?)",
    re.IGNORECASE,
)
NUMBER = re.compile(r"(?<![\w.])[-−–]?\d+(?:[.,]\d+)?")
ADVICE = re.compile(
    r"\b(?:should|recommend\w*|advis\w*|avoid\w*|soll\w*|devrai\w+|debería\w*|dovrebbe\w*|deveria\w*)\b",
    re.IGNORECASE,
)
BINDING = {
    FORBIDS: "forbids it",
    REQUIRES: "requires it",
    ALLOWS: "allows it",
    EXEMPTS: "does not ask for it",
}
ADVISING = {FORBIDS: "advises against it", REQUIRES: "advises it"}
DIFFERENTLY = "Publishers word it differently"
HELD = 0.5
"""A sentence that holds more of the question's terms than this share speaks of what is asked."""
PLAIN = re.compile(r"(?<![\w.,/§-])\d+(?:[.,]\d+)*(?![\w/-])")
"""A number that is not part of a name."""
NEGATION = re.compile(
    r"\b(?:not|no|never|none|cannot|without|nicht|kein\w*|nie|pas|jamais|non|niet|geen|nunca|não|не|нет)\b|n['’]t\b",
    re.IGNORECASE,
)
NEARLY = 80
"""Likeness per cent from which sentences with the same words that tell are worded nearly alike."""
JUDGED = re.compile(r"\s*(?:is|are|was|were|ist|sind)\b", re.IGNORECASE)
"""How a question begins that asks what something is, not what is to be done."""
PASSIVE = re.compile(r"\bbe(?:en)?\s+(?:\w+ly\s+)?(\w+)", re.IGNORECASE)
REJECTING = re.compile(
    r"\b(?:(?:is|are|shall|should|must|may|can|do|does) not|cannot|don't|no longer|never|not (?:\w+ )?(?:acceptable"
    r"|allowed|permitted|recommended|suitable)|avoid\w*|restrict\w*|deprecat\w*|discourag\w*|prohibit\w*|forbid\w*|disallow\w*"
    r"|nicht|kein\w*|verboten|unzulässig)\b",
    re.IGNORECASE,
)
ACCEPTING = re.compile(
    r"\b(?:acceptable|allowed|permitted|recommended|suitable|approved|(?:may|can) be used|erlaubt|zulässig"
    r"|empfohlen)\b",
    re.IGNORECASE,
)
MODAL_WORDS = 2
"""Content words after a modal among which its verb stands, where verbs follow at once."""


@dataclass(frozen=True, slots=True)
class Opposition:
    """Two publishers' sentences that word it differently.

    Args:
        sides: for each publisher what its sentence says.
        clear: whether both speak of the same case as far as their words tell; else a person has to look.
    """

    one: Evidence
    other: Evidence
    sides: Mapping[str, str]
    clear: bool

    @property
    def line(self) -> str:
        """``Publishers word it differently: a.org forbids it, b.org allows it: read both``."""
        told = ", ".join(f"{origin} {said}" for origin, said in self.sides.items())
        doubt = "" if self.clear else " (whether of the same case, rules cannot tell)"
        return f"{DIFFERENTLY}: {told}{doubt}: read both"


def opposition(evidence: Sequence[Evidence], question: Question) -> Opposition | None:
    """The clearest and best opposed pair of different publishers, None where there is none."""
    language = question.vocabulary.language
    told = [one for one in evidence if one.held > HELD]
    pairs = [
        (how != "unclear", one.score + other.score, one, other)
        for one in told
        for other in told
        if one.origin < other.origin
        for how in [clash(one.statement, other.statement, question)]
        if how
    ]
    if not pairs:
        return None
    clear, _, one, other = max(pairs, key=lambda pair: pair[:2])
    sides: dict[str, str] = {}
    for pair_clear, _, left, right in pairs:
        for each in (left, right) if pair_clear == clear else ():
            other_side = right if each is left else left
            how = clash(each.statement, other_side.statement, question)
            sides.setdefault(each.origin, side(each.statement, how, language))
    return Opposition(one, other, sides, clear)


def clash(one: str, other: str, question: Question) -> str:
    """How two statements differ: ``clear`` or ``unclear`` by modal words, ``negation`` or ``number``; "" for not."""
    return opposed(one, other, question) or differs(one, other, question)


def differs(one: str, other: str, question: Question) -> str:
    """``negation`` or ``number``, where two sentences that are worded nearly alike differ in that; else ""."""
    bare = [PLAIN.sub("0", clean(text).lower()) for text in (one, other)]
    terms = [set(question.vocabulary.terms(text)) for text in bare]
    if terms[0] != terms[1] or not is_statement(one) or fuzz.token_sort_ratio(*bare) < NEARLY:
        return ""
    numbers = [set(PLAIN.findall(clean(text))) for text in (one, other)]
    if numbers[0] and numbers[1] and not numbers[0] & numbers[1]:
        return "number"
    negated = [bool(NEGATION.search(text)) for text in bare]
    return "negation" if negated[0] != negated[1] and numbers[0] == numbers[1] else ""


def side(text: str, how: str, language: str) -> str:
    """What one side says, by how it differs from the other."""
    if how == "number":
        return f"tells {', '.join(dict.fromkeys(PLAIN.findall(clean(text))))}"
    if how == "negation":
        return "says that it is not so" if NEGATION.search(clean(text)) else "says that it is so"
    return wording(text, language)


def wording(text: str, language: str = "") -> str:
    """What a sentence says of the matter, in plain words; "" where its modal words do not tell."""
    kind = modal(text, language=language)
    advising = ADVISING.get(kind, "") if ADVICE.search(clean(text)) else ""
    return advising or BINDING.get(kind, "")


def opposed(one: str, other: str, question: Question) -> str:
    """``clear`` where two sentences say the opposite of one case, ``unclear`` where of the same matter, else ""."""
    language = question.vocabulary.language
    if not are_opposed(modal(one, language=language), modal(other, language=language)):
        return ""
    if not (is_statement(one) and is_statement(other) and same_matter(one, other, question)):
        return ""
    both = (clean(one), clean(other))
    fits = {within(text, against) for text, against in (both, both[::-1])}
    if "outside" in fits:
        return ""
    return "unclear" if any(map(CONDITION.search, both)) or "unknown" in fits else "clear"


def same_matter(one: str, other: str, question: Question) -> bool:
    """Whether both hold all words of the question, or nearly the same words; and their modals rule the same."""
    left, right = (set(question.vocabulary.terms(text)) for text in (one, other))
    asked = bool(question.terms) and set(question.terms) <= left & right
    shorter = min((left, right), key=len)
    alike = (
        len(left & right) >= COVERED * len(shorter) > 0
        and fuzz.token_set_ratio(one.lower(), other.lower()) >= ALIKE
    )
    return (asked or alike) and bool(ruled(one, question) & ruled(other, question))


def ruled(text: str, question: Question) -> set[str]:
    """Terms of what the modal words of a sentence rule: in English the next ones, elsewhere any of the clause."""
    found: set[str] = set()
    for clause in CLAUSE.split(clean(text)):
        if of_clause(clause, question.vocabulary.language) in {"", MIXED}:
            continue
        if (language := language_of(clause)) == "english":
            language = question.vocabulary.language
        ends = [match.end() for match in MODALS[language].pattern.finditer(clause)]
        after = [
            question.vocabulary.terms(clause[end:])[:MODAL_WORDS] for end in ends if language == "english"
        ]
        found |= {term for terms in after for term in terms} or set(question.vocabulary.terms(clause))
    return found


def position(one: Evidence, question: Question) -> str:
    """``against``, ``for`` or "": what a sentence says to a question that yes or no would answer.

    Its modal word has to rule what the question asks, or it has to judge the very thing that the question is about;
    a sentence that binds something else says nothing to it.
    """
    if one.held <= HELD:
        return ""
    text = clean(one.statement)
    if JUDGED.match(question.text):
        names = question.terms[:1]
        if not set(names) <= set(question.vocabulary.terms(text)):
            return ""
        rejects, accepts = bool(REJECTING.search(text)), bool(ACCEPTING.search(REJECTING.sub(" ", text)))
        accepts = accepts or (one.held == 1 and not NEGATION.search(text))  # it says what is asked
        return "against" if rejects else "for" if accepts else ""
    kind = modal(text, language=question.vocabulary.language)
    if not kind or not ruled(text, question) & asked_of(question):
        return ""
    return "for" if kind in {REQUIRES, ALLOWS} else "against"


def asked_of(question: Question) -> set[str]:
    """Terms of what a question asks to be done: the word after "be", else all but its subject, and what frames it."""
    passive = PASSIVE.search(question.text)
    if passive and (verb := question.vocabulary.term(passive[1].lower())):
        return {verb}
    told = {term for term in question.terms if term not in question.subject}
    for names, _ in stemmed_frames(question.vocabulary):
        if names & {*told, *words(question.text)}:
            told |= names
    return told or set(question.terms)


def within(text: str, other: str) -> str:
    """How a sentence fits the limit of another: "" where that sets none, ``inside``, ``outside`` or ``unknown``."""
    limit = LIMITED.search(other)
    if limit is None:
        return ""
    most = number(limit["limit"])
    told = [number(found) for found in NUMBER.findall(text)]
    if not told:
        return "unknown"
    own = LIMITED.search(text)
    if own and bool(own["below"]) == bool(limit["below"]):
        return "inside"
    return "inside" if any(n < most if limit["below"] else n > most for n in told) else "outside"


def number(text: str) -> float:
    return float(re.sub("[−–]", "-", text).replace(",", "."))
