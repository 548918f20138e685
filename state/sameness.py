"""When two questions or two queries are the same.

Questions: after normal form NFKC, case, width, punctuation and white space are folded, the words are compared as a
bag, without filler words; two words are one when they differ in a plural ending, a doubled letter, or (from eight
letters on) in two neighbours that changed places. Numbers, units, symbols, negations and names are words like others
and no filler, so a different one makes another question. Where words are not spaced, the texts are alike in at least
`GRAMS` of their character pairs and differ in nothing but particles. Paraphrase is out of reach.

Queries: equality after folding; order and every sign count, since search engines read them.
"""

import re
import unicodedata
from collections import Counter
from functools import lru_cache

from rapidfuzz.distance import OSA

GRAMS = 0.85
"""Share of character pairs (Dice) from which unspaced texts count as alike."""
SWAP_LETTERS = 8
UNSPACED = re.compile(
    r"[\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]"
)
_FILLER = """
a an the of in on at for is are was were be been do does did what which that this these those there it its
and please exactly actually really me tell find out know explain describe
bitte genau eigentlich wirklich exactement vraiment exactamente realmente
"""
FILLER = frozenset(_FILLER.split())
_NEGATED = re.compile(r"\b(can)not\b|\b(\w+)n[’']t\b")
_PARTICLES = frozenset("的了吗呢吧啊嘛么着はがをもへとやねよかのにでだすまし?。、")
_UNSPACED_NEGATION = re.compile(r"不|没|沒|无|無|非|未|否|ない|なか|なく|ません|ぬ|ไม่|មិន")
_NUMBER = re.compile(r"(?<![\w.])[-−]\d+(?:[.,]\d+)*|\d+(?:[.,]\d+)*")
_TOKEN = re.compile(rf"{_NUMBER.pattern}|[^\W\d_]+|[^\w\s]")
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_MEANINGFUL = frozenset("%‰#°^")


def same_question(one: str, other: str) -> bool:
    """Whether the texts ask the same, in the sense of this module; symmetric."""
    if UNSPACED.search(one) and UNSPACED.search(other):
        return _same_unspaced(folded(one), folded(other))
    return _same_words(_bag(one), _bag(other))


def same_query(one: str, other: str) -> bool:
    """Whether two queries are equal after folding."""
    return normal_query(one) == normal_query(other)


@lru_cache(maxsize=4096)
def normal_query(query: str) -> str:
    """A query with form, case, width and white space folded and closing marks dropped."""
    return folded(query).rstrip("?!.;: ")


def folded(text: str) -> str:
    """NFKC, case, quotation marks and white space folded; what a superscript raises stays apart."""
    raised = "".join(_apart(letter) for letter in text)
    text = unicodedata.normalize("NFKC", raised).casefold()
    return " ".join(text.replace("’", "'").replace("−", "-").split())


def _apart(letter: str) -> str:
    kind = unicodedata.decomposition(letter)
    if kind.startswith("<super>"):
        return f" ^{letter}"
    return f" {letter}" if kind.startswith("<fraction>") else letter


def words(text: str) -> list[str]:
    """The words, numbers and meaningful symbols of a text, folded, in order; negations spelled out."""
    expanded = _NEGATED.sub(lambda m: f"{m[1] or _stem_of_negated(m[2])} not", folded(text))
    return [_plain(token) for token in _TOKEN.findall(expanded) if _counts(token)]


def _stem_of_negated(word: str) -> str:
    return {"wo": "will", "ca": "can", "sha": "shall"}.get(word, word)


def _counts(token: str) -> bool:
    first = token[0]
    return (
        first.isalnum()
        or token[-1].isdigit()
        or first in _MEANINGFUL
        or unicodedata.category(first)[0] in "SM"
    )


def _plain(token: str) -> str:
    return token.replace(",", "") if _GROUPED.fullmatch(token) else token


def content_words(text: str) -> list[str]:
    """The words of a text without filler; a filler written as an acronym (IT, US) is a name and stays."""
    found = words(text)
    acronyms = (
        {word.casefold() for word in re.findall(r"\b[A-Z]{2,}\b", text)} if not text.isupper() else set()
    )
    kept = [word for word in found if word not in FILLER or word in acronyms]
    return [word for word in kept if word != "s"] or found


@lru_cache(maxsize=4096)
def _bag(text: str) -> tuple[str, ...]:
    return tuple(sorted(content_words(text)))


def _same_words(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    if len(one) != len(other):
        return False
    left = Counter(one) - Counter(other)
    right = list((Counter(other) - Counter(one)).elements())
    for word in left.elements():
        twin = next((candidate for candidate in right if _same_word(word, candidate)), None)
        if twin is None:
            return False
        right.remove(twin)
    return True


def _same_word(one: str, other: str) -> bool:
    if not (one.isalpha() and other.isalpha()):
        return False
    if _singular(one) == _singular(other):
        return True
    longest = min(len(one), len(other))
    if longest < SWAP_LETTERS:
        return False
    if re.sub(r"(.)\1", r"\1", one) == re.sub(r"(.)\1", r"\1", other):
        return True
    return Counter(one) == Counter(other) and OSA.distance(one, other) == 1


def _singular(word: str) -> str:
    if len(word) < 4 or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    if word.endswith(("ches", "shes", "sses", "xes", "zes")):
        return word[:-2]
    return word.removesuffix("s")


def _same_unspaced(one: str, other: str) -> bool:
    if sorted(_NUMBER.findall(one)) != sorted(_NUMBER.findall(other)):
        return False
    if len(_UNSPACED_NEGATION.findall(one)) != len(_UNSPACED_NEGATION.findall(other)):
        return False
    first, second = _letters(one), _letters(other)
    apart = (Counter(first) - Counter(second)) + (Counter(second) - Counter(first))
    if not apart.keys() <= _PARTICLES:
        return False
    pairs, others = _pairs(first), _pairs(second)
    total = pairs.total() + others.total()
    return first == second or (total > 0 and 2 * (pairs & others).total() / total >= GRAMS)


def _letters(text: str) -> str:
    return "".join(letter for letter in text if letter.isalnum() or _counts(letter))


def _pairs(text: str) -> Counter[str]:
    kept = "".join(letter for letter in text if letter not in _PARTICLES)
    return Counter(kept[n : n + 2] for n in range(len(kept) - 1))
