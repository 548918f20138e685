"""How well a sentence answers a question: coverage by rarity, heading, cue, number, frame and unit."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from rapidfuzz import fuzz

from researchdesk.graph.offline.passages import Sentence
from researchdesk.graph.offline.question import Question
from researchdesk.graph.offline.terms import Rarity, Vocabulary, words
from researchdesk.graph.offline.values import has_number, values

NORMATIVE = re.compile(
    r"\b(?:shall|should|must|may not|required?|requires|recommend(?:ed|s)?|avoid|never|do not|don't|ensure|verify"
    r"|prefer|no longer|deprecated|prohibited|forbidden|not allowed|is restricted|soll(?:te|en|ten)?|muss|müssen"
    r"|darf|doit|doivent|debe|deben|deve|devono|devem|moet(?:en)?)\b|должн|следует|必须|应当|應|不得|べき|なければ|해야",
    re.IGNORECASE,
)
AGAINST = re.compile(
    r"\b(?:(?:shall|should|must|may|can|do|does|is|are|will)\s*not|cannot|don't|avoid|never|no longer|prohibit\w*"
    r"|forbid\w*|disallow\w*|discourag\w*|deprecat\w*|restricted|must no|there (?:are|should be) no|no)\b",
    re.IGNORECASE,
)
WEIGHTS = {"cover": 1.0, "learned": 0.5, "heading": 0.35, "near": 0.15, "cue": 0.18, "number": 0.12, "frame": 0.12,
           "unit": 0.22, "head": 0.25, "meaning": 0.5, "phrase": 0.25}  # fmt: skip
COMMAND = re.compile(
    r"\s*(?:[$>%]\s|\S*/bin/\S|[A-Z_]{3,}=\S|\./|(?:sudo|pip3?|python3?|npm|npx|yarn|uv|git|cd|curl|wget|docker|export|source|make|cargo|go|brew"
    r"|apt(?:-get)?|import|from|using|package|const|let|var)\s\S|#\s?include|\w+ = )|.*\s(?:&&|\|\|)\s|.*\s--[a-z]"
)
"""A line of code that shows how something is typed, and says nothing."""
MEANING = re.compile(
    r"\b(?:(?:is|are) an? |means |refers? to |(?:is|are) defined as |(?:is|are) known as |(?:ist|sind) ein|bezeichnet )"
    r"|\s[–—-]\s?(?:An?|The|Eine?) "
)
"""What comes between a thing and what it is."""
TREE, LEADERS = re.compile("[│├└┌]|[|+]--|`--"), re.compile(r"\.{4,}|(?:\s\.){4,}|…{2,}")
NAME = re.compile(r"[(`*]*[A-Za-z]\w*(?:(?:[_.]|::|->)\w+)+(?:\(\))?[)`*,;:.]*")
ENOUGH = 0.42
"""Below this score a sentence is not worth a quote."""
DESCRIBING = 0.3
"""The same where the question asks for no rule: its answers have no words that bind."""
OFF_SUBJECT = 0.7
"""What a sentence is worth that names the question's subject neither itself nor in its heading."""
NAMED_UNIT = 0.6
"""The focus of a sentence that tells a value in the very unit that the question names."""
BINDING = re.compile(
    r"\b(?:shall|should|must|may|can(?:not)?|not|no|never|without|unless|only|optional|always|all|any|none|minimum"
    r"|maximum|least|most|more|less|before|after|dis\w+|un\w+|in(?:valid|secure|active)|nicht|kein\w*|muss|müssen|soll\w*"
    r"|darf|dürfen|pas|jamais|doit|doivent|nunca|debe\w*|non|deve\w*|não|niet|geen|moet\w*|не|нельзя|должн\w*"
    r"|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|hundred|thousand|(?:six|seven|eigh|nine|thir|four|fif)teen|eleven|twelve"
    r"|one|two|three|four|five|six|seven|eight|nine|ten|hourly|daily|weekly|monthly|quarterly|yearly|annual\w*)\b"
    r"|\d+(?:[.,]\d+)*|\w+n['’]t\b|ない|なら|ません|不|禁|勿|未|非|無|无|않|없|못|必|최소|최대|最小|最大"
)
"""Words by which two sentences that look alike mean something else."""
SAME = 88.0
"""Two quotes at least this alike (per cent) say the same."""


@dataclass(frozen=True, slots=True)
class Scored:
    """A sentence with its score (about 0 to 2), the share of the question's focus that it holds, whether it is about
    the question's subject: 1 by its own words, 0.5 by its heading, else 0; and the share of the question's terms that
    its own words hold or stand for."""

    sentence: Sentence
    score: float
    focus: float
    about: float = 1.0
    held: float = 1.0


def score(sentence: Sentence, question: Question, *, rarity: Rarity, near: float = 0.0) -> Scored:
    """Scores one sentence.

    Args:
        rarity: over the sentences that were seen.
        near: 0 to 1, how good the search hit around the sentence was.
    """
    text = sentence.clean
    told = values(text, vocabulary=question.vocabulary) if question.wants_number else []
    own = set(question.vocabulary.terms(text))
    above = set(question.vocabulary.terms(sentence.heading))
    folded = text.lower()
    matched = [terms for terms, pattern in question.frames if re.search(pattern, folded)]
    framed = own.union(*matched)
    cover = share(question, question.terms, framed, rarity)
    learned = min(1.0, 3 * share(question, question.learned, own, rarity)) if question.learned else 0.0
    heading = share(question, question.terms, above - framed, rarity)
    cue = bool(question.wants_rule and NORMATIVE.search(text)) + (
        question.is_polar and bool(AGAINST.search(text))
    )
    total = (
        WEIGHTS["cover"] * cover
        + WEIGHTS["learned"] * learned * (1 - cover)
        + WEIGHTS["heading"] * heading
        + WEIGHTS["near"] * near
        + WEIGHTS["cue"] * cue
        + WEIGHTS["frame"] * len(matched) / max(len(question.frames), 1)
    )
    total += WEIGHTS["phrase"] * shared_pairs(text, question)
    if question.is_definition and defines(text, question):
        total += WEIGHTS["meaning"]
    if question.heads and question.has_head(text):
        total += WEIGHTS["head"]
    if question.wants_number:
        answers = any(question.answers_in(value.unit) and value.bound in question.bounds for value in told)
        total += WEIGHTS["number"] * has_number(text) + WEIGHTS["unit"] * answers
    if not own & (set(question.terms) | set(question.learned)):
        total *= 0.5
    focus, counted = focus_share(question, own, above), False
    if any(part in question.terms for value in told for part in value.unit.split("/")):
        focus, counted = (
            max(focus, NAMED_UNIT),
            True,
        )  # "how many iterations": who counts iterations speaks of the matter
    about = 1.0 if question.names_subject(own) else 0.5 if counted or question.names_subject(above) else 0.0
    return Scored(
        sentence,
        total * fitness(sentence) * (OFF_SUBJECT + (1 - OFF_SUBJECT) * about),
        focus,
        about,
        held_of(question, framed),
    )


def held_of(question: Question, framed: set[str]) -> float:
    """The share of the question's terms in a sentence; another name of its subject stands for it."""
    named = set(question.subject) if question.is_named_otherwise(framed) else set[str]()
    return sum(term in framed or term in named for term in question.terms) / max(len(question.terms), 1)


def share(question: Question, terms: Iterable[str], held: set[str], rarity: Rarity) -> float:
    """The share of the terms' weight that ``held`` covers, 0 to 1."""
    weights = {term: rarity(term) * question.weight(term) for term in terms}
    return sum(weight for term, weight in weights.items() if term in held) / max(sum(weights.values()), 1e-9)


def focus_share(question: Question, own: set[str], above: set[str]) -> float:
    """How much of what the question is about is there; one missing word may be replaced by a learned one."""
    held = sum(term in own or term in above for term in question.focus)
    replaced = held < len(question.focus) and bool(
        (own | above) & (set(question.learned[:6]) - question.units)
    )
    return (held + 0.75 * replaced) / max(len(question.focus), 1)


def shared_pairs(text: str, question: Question) -> float:
    """The share of the question's pairs of neighbouring words in a sentence: "made of" tells more than its words."""
    pairs = set(pairwise(words(question.text)))
    return len(pairs & set(pairwise(words(text)))) / max(len(pairs), 1)


def defines(text: str, question: Question) -> bool:
    """True where a sentence says what a focus word of the question is."""
    cue = MEANING.search(text)
    if cue is None or cue.start() > 100 or NORMATIVE.search(text):
        return False
    return bool(
        set(question.vocabulary.terms(text[: cue.start()])) & {*question.focus, *question.learned[:4]}
    )


def is_command(sentence: Sentence) -> bool:
    """True for import lines, assignments and shell commands."""
    return sentence.kind == "code" and bool(COMMAND.match(sentence.text))


def is_listing(text: str) -> bool:
    """True for drawn trees, tables of contents and lists of names, which say nothing in a sentence."""
    if TREE.search(text) or LEADERS.search(text):
        return True
    tokens = text.split()
    names = sum(bool(NAME.fullmatch(token)) for token in tokens)
    numbers = sum(token.strip(".").isdigit() for token in tokens)
    return len(tokens) > 2 and (
        names >= 0.5 * len(tokens) or (len(tokens) > 7 and numbers >= 0.3 * len(tokens))
    )


def fitness(sentence: Sentence) -> float:
    """Less than 1 for what does not read as a statement: crumbs, questions, lead-ins, code."""
    text = sentence.clean
    unspaced = not text.isascii() and " " not in text
    is_short = len(text) < (8 if unspaced else 25) and not (text.endswith(".") and len(text.split()) > 3)
    if is_short or (not unspaced and len(text.split()) < 3):
        return 0.4
    if text.endswith(("?", "？")) or text.endswith(":"):
        return 0.7
    long = max(0.75, 1 - 0.005 * max(0, len(text.split()) - 30))
    return 0.75 if sentence.kind == "code" else long


def best(scored: Iterable[Scored], *, limit: int, enough: float = ENOUGH) -> list[Scored]:
    """The best sentences, best first, none saying nearly what a better one says."""
    chosen: list[Scored] = []
    for one in sorted(scored, key=lambda item: (-item.score, item.sentence.start)):
        if len(chosen) >= limit or one.score < enough:
            break
        if not says_again(one.sentence.clean, [other.sentence.clean for other in chosen]):
            chosen.append(one)
    return chosen


def supports(text: str, other: str, vocabulary: Vocabulary) -> bool:
    """True where two sentences hold the same content words, modal words, negations and numbers."""
    one, two = set(vocabulary.terms(text)), set(vocabulary.terms(other))
    return bool(one) and one == two and binding(text) == binding(other)


def says_again(text: str, others: Sequence[str]) -> bool:
    """True where one of the others says nearly the same with the same modal words, negations and numbers."""
    return any(
        text in other or (fuzz.ratio(text, other) >= SAME and binding(text) == binding(other))
        for other in others
    )


def binding(text: str) -> list[str]:
    return sorted(set(BINDING.findall(text.lower())))


def moved(sentence: Sentence, offset: int) -> Sentence:
    """The same sentence, placed in the whole text of which it was read at ``offset``."""
    return replace(sentence, start=sentence.start + offset, end=sentence.end + offset)
