"""Numbers in a sentence as values: how much of what, and whether it is a least, a most or what is permitted."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from researchdesk.graph.offline.question import QUANTITIES
from researchdesk.graph.offline.terms import UNSPACED, Vocabulary, words

DENIED = re.compile(
    r"(?:\b(?:not|rather than|instead of|nicht|statt|pas|niet|non|não)|\bне)\s*$", re.IGNORECASE
)
"""What stands before a number that is told not to hold."""
CLAUSE = re.compile(r"[;()]|,(?!\d)|\s(?:although|but|however|whereas|while|unless|and that)\s")
NUMBER = re.compile(
    rf"(?<![.^/#§-])(?<![^\W{UNSPACED}])(?<!\d[, ])(\d{{1,3}}(?:[,  ]\d{{3}})+(?!\d)|\d+(?:\.\d+)?)(?:\^(\d+))?"
    rf"(?![^\W{UNSPACED}]|[\^/]|[.-]\d|-[A-Z])|(?<![.^/#§-])(?<![^\W{UNSPACED}])(\d+(?:\.\d+)?)(?=(?:ms|s|h|kb|mb|gb|kib|mib|gib|bit|px)\b)",
    re.IGNORECASE,
)
TO_SIXTEEN = "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
SPELLED = {name: number for number, name in enumerate(TO_SIXTEEN.split(), start=2)}
SPELLED |= {"twenty": 20, "thirty": 30, "forty": 40, "sixty": 60, "ninety": 90, "hundred": 100}
SPELLED_NUMBER = re.compile(rf"(?<![\w-])({'|'.join(SPELLED)})(?=[\s-][a-z])", re.IGNORECASE)
KNOWN_UNITS = frozenset(unit for _, told in QUANTITIES for unit in told.split())
SAME_UNITS = """mm=millimetre cm=centimetre km=kilometre kg=kilogram millimeter=millimetre centimeter=centimetre
    kilometer=kilometre meter=metre feet=foot inches=inch"""
SPELLINGS = dict(pair.split("=") for pair in SAME_UNITS.split())
PER = re.compile(
    r"\s*(?:per|each|every|/)\s*(second|minute|hour|day|week|month|year|s|min|h)\b", re.IGNORECASE
)
STRENGTHS = {
    "required": re.compile(
        r"\b(?:shall|must|requir\w+|verify|mandatory|mandat\w+|ha[sv]e? to|ensure|muss|müssen|doit|doivent|deben?"
        r"|devono|devem?|moet(?:en)?)\b|должн",
        re.IGNORECASE,
    ),
    "recommended": re.compile(
        r"\b(?:should|recommend\w*|prefer\w*|advis\w*|encourag\w*|better|ideally|best|soll(?:en|te|ten)?|empf[eio]\w+)\b",
        re.IGNORECASE,
    ),
}
"""How binding a value is, by the modal word nearest to it."""
LEAST_WORDS = 4
UNIT_WORDS = re.compile(
    rf"[\s-]?([{UNSPACED}]{{1,2}}|[^\W\d_{UNSPACED}]+)(?:[\s-]([^\W\d_]+))?(?:[\s-]([^\W\d_]+))?"
)
REFERENCE = re.compile(
    r"(?:section|sections|sec|chapter|rfc|table|figure|fig|version|level|appendix|part|page|pages|step|sp|iso|fips|cwe"
    r"|top|note|item|clause|article|annex|no|tls|http|oauth|sha|rev|revision|draft|python|node|published|in|since|of)"
    r"\.?\s*$",
    re.IGNORECASE,
)
EXAMPLE = re.compile(r"\b(?:e\.g\.?|for example|for instance|such as|example)\b", re.IGNORECASE)
EXAMPLES = re.compile(r"\((?:e\.g|i\.e|for example|for instance|such as|like)\b[^()]*\)", re.IGNORECASE)
CONDITION = re.compile(r"^\s*(?:if|when|where|in case|provided)\b", re.IGNORECASE)
LEAST = re.compile(
    r"at least|minimum|no less|not less|no fewer|no shorter|≥|>=|greater than|more than or|or more|or longer"
    r"|or greater|or higher|shorter than|or above|should be above|mindestens|wenigstens|au moins|al menos|almeno"
    r"|pelo menos|minstens|не менее",
    re.IGNORECASE,
)
MOST = re.compile(
    r"at most|maximum|no more|not more|up to|≤|<=|within|exceed|not be longer|longer than|more than|less than"
    r"|fewer than|or less|or fewer|no longer than|limit(?:ed)? (?:to|of|is)|höchstens|maximal|bis zu|au plus"
    r"|como máximo|al massimo|no máximo|hoogstens|не более",
    re.IGNORECASE,
)
OR_MORE = re.compile(
    r"(?:\W*\w+){0,3}\W+or (?:more|longer|greater|higher|above)|\+|(?:\W*\w+)?\W+minimum", re.I
)
OR_LESS = re.compile(r"(?:\W*\w+){0,3}\W+or (?:less|fewer|shorter|lower|below)", re.I)
PARTED = re.compile(r"(\d+(?:[.,  ]\d+)*|\S+)\s*(.*)$")
MAXIMUM = re.compile(r"\bmaximum\b", re.IGNORECASE)
PERMIT = re.compile(r"permit|allow|accept|support|be able to", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Value:
    """One number with its meaning.

    Args:
        number: as a float; powers and thousands are worked out.
        shown: as written, with its unit.
        unit: term of the unit's word, "" when none is told.
        bound: ``min``, ``max``, ``permit`` or ``exact``.
        strength: ``required``, ``recommended`` or "" where no modal word says so.
        clause: the part of the sentence that it was read from.
    """

    number: float
    shown: str
    unit: str
    bound: str
    clause: str
    strength: str = ""


def values(sentence: str, *, vocabulary: Vocabulary) -> list[Value]:
    """The values of a cleaned sentence, without examples, conditions, references and years."""
    found: list[Value] = []
    sentence = EXAMPLES.sub(" ", sentence)
    strength = ""
    for clause, cut in clauses(sentence):
        strength = (
            strength_at(clause, len(clause)) or strength
        )  # a clause without a modal word goes on with the last
        if EXAMPLE.search(clause) or (CONDITION.match(clause) and cut == ","):
            continue
        found.extend(values_of(clause, vocabulary, strength))
    if MAXIMUM.search(sentence):  # "a maximum of at least 64" says what has to be possible
        return [replace(value, bound="permit") if value.bound == "min" else value for value in found]
    return found


def clauses(sentence: str) -> Iterator[tuple[str, str]]:
    """Clauses in order, each with what cut it off ("" for the last one)."""
    at = 0
    for cut in CLAUSE.finditer(sentence):
        yield sentence[at : cut.start()], cut[0]
        at = cut.end()
    yield sentence[at:], ""


def values_of(clause: str, vocabulary: Vocabulary, strength: str) -> Iterator[Value]:
    matches = [*NUMBER.finditer(clause), *SPELLED_NUMBER.finditer(clause)]
    for found in sorted(matches, key=lambda one: one.start()):
        before, after = clause[: found.start()], clause[found.end() :]
        number = number_of(found)
        unit, word = unit_of(before, after, vocabulary)
        if number is None or DENIED.search(before) or (REFERENCE.search(before) and not word):
            continue
        if 1900 <= number <= 2100 and "," not in found[0] and not word:
            continue
        shown = f"{found[0]}{' ' if word.isascii() else ''}{word}".strip()
        said = strength_at(clause, found.start()) or strength
        yield Value(number, shown, unit, bound_of(before, after, clause), " ".join(clause.split()), said)


def strength_at(clause: str, place: int) -> str:
    """The strength of the modal word that is nearest to a place of the clause."""
    near = [
        (min(abs(found.start() - place), abs(found.end() - place)), name)
        for name, pattern in STRENGTHS.items()
        for found in pattern.finditer(clause)
    ]
    return min(near)[1] if near else ""


def is_statement(sentence: str) -> bool:
    """False for cells, lists of numbers and crumbs: a bare number there says nothing of what it is."""
    spoken = re.findall(r"[^\W\d_]{2,}", sentence)
    unspaced = bool(re.search(rf"[{UNSPACED}]", sentence))
    cells = len(re.findall(r"[,;\t|](?=\S)(?!\d{3}\b)", sentence))
    figures = len(re.findall(r"\d+", sentence))
    return unspaced or (len(spoken) >= LEAST_WORDS and cells < 2 and figures <= len(spoken))


def number_of(found: re.Match[str]) -> float | None:
    if found.re is SPELLED_NUMBER:
        return float(SPELLED[found[1].lower()])
    base = float(re.sub(r"[,  ]", "", found[1] or found[3]))
    if not found[2]:
        return base
    return base ** int(found[2]) if int(found[2]) <= 512 else None


def unit_of(before: str, after: str, vocabulary: Vocabulary) -> tuple[str, str]:
    """``(term, words as written)`` of the unit after the number, or of the name before it ("iterations ≥ 10").

    A rate has both of its units: ``request/minut``.
    """
    sign = re.match(r"\s*([%‰°$€])", after)
    if sign:
        return sign[1], sign[1]
    following = UNIT_WORDS.match(after)
    taken = [word for word in following.groups() if word] if following else []
    for count, word in enumerate(taken, start=1):
        if unit_name(word) in KNOWN_UNITS:
            return with_rate(unit_name(word), " ".join(taken[:count]), after, vocabulary)
    if taken and vocabulary.term(taken[0].lower()):
        return with_rate(taken[0].lower(), taken[0], after, vocabulary)
    named = re.search(r"([^\W\d_]+)\s*(?:≥|>=|≤|<=|=|:|\bis\b|\bof\b)\s*(?:at (?:least|most))?\s*$", before)
    if named and (term := vocabulary.term(named[1].lower())):
        return term, ""
    spoken = [word for word in words(before) if unit_name(word) in KNOWN_UNITS]
    return (vocabulary.term(unit_name(spoken[-1])), "") if spoken and not taken else ("", "")


def unit_name(word: str) -> str:
    """A unit's word folded, in the singular where that is known, in one spelling."""
    word = word.lower()
    single = word if word in KNOWN_UNITS or word in SPELLINGS else word.removesuffix("s")
    return SPELLINGS.get(single, single) if single in KNOWN_UNITS or single in SPELLINGS else word


def with_rate(name: str, shown: str, after: str, vocabulary: Vocabulary) -> tuple[str, str]:
    rate = PER.match(after[after.find(shown) + len(shown) :])
    if rate is None:
        return vocabulary.term(name), shown
    return f"{vocabulary.term(name)}/{vocabulary.term(rate[1].lower())}", f"{shown} per {rate[1]}"


def bound_of(before: str, after: str, clause: str) -> str:
    near = " ".join(before.split()[-8:])
    least, most = last_start(LEAST, near), last_start(MOST, near)
    if PERMIT.search(
        clause
    ):  # "at least 64 are permitted" is a length that has to work, "100 are allowed" a limit
        return "permit" if least > most or OR_MORE.match(after) else "max"
    if OR_MORE.match(after) or least > most:
        return "min"
    return "max" if most >= 0 or OR_LESS.match(after) else "exact"


def last_start(pattern: re.Pattern[str], text: str) -> int:
    return max((found.start() for found in pattern.finditer(text)), default=-1)


def parted(shown: str) -> tuple[str, str]:
    """A value as written in its number and its unit: ``12文字`` is ``12`` and ``文字``."""
    found = PARTED.match(shown)
    return (found[1], found[2]) if found else (shown, "")


def has_number(sentence: str) -> bool:
    """True where a word of the sentence is a number that is not part of a name."""
    return bool(NUMBER.search(sentence)) or any(word in SPELLED for word in words(sentence))
