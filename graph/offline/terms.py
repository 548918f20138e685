"""Words of a text as terms that can be counted: folded, without stop words, stemmed; and how rare they are."""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from researchdesk.graph.offline.language import STOP_WORDS, language_of, stemmer_of

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
)
WORD = re.compile(rf"[{UNSPACED}]+|[^\W_{UNSPACED}]+")
CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z][a-z])")
UNSPACED_START = re.compile(rf"[{UNSPACED}]")


def words(text: str) -> list[str]:
    """Words in order, folded (NFKC, lower case); camelCase in its parts; pairs of characters where words
    are not spaced (Chinese, Japanese, Korean, Thai …)."""
    found: list[str] = []
    for word in WORD.findall(CAMEL.sub(" ", unicodedata.normalize("NFKC", text))):
        if UNSPACED_START.match(word):
            found.extend(pairs(word))
        else:
            found.append(word.lower())
    return found


def pairs(run: str) -> list[str]:
    """Overlapping pairs of characters; those of hiragana alone carry grammar, not meaning, and are left out."""
    if len(run) == 1:
        return [run]
    both = [run[i : i + 2] for i in range(len(run) - 1)]
    return [pair for pair in both if not all("\u3040" <= char <= "\u309f" for char in pair)]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """How words of one language become terms.

    >>> Vocabulary("english").terms("Should passwords be changed?")
    ['password', 'chang']
    """

    language: str

    @classmethod
    def of(cls, text: str) -> "Vocabulary":
        return cls(language_of(text))

    def term(self, word: str) -> str:
        """The stem of a folded word, "" for a stop word."""
        if word in STOP_WORDS[self.language] or (len(word) < 2 and not UNSPACED_START.match(word)):
            return ""
        return stemmer_of(self.language)(word)

    def terms(self, text: str) -> list[str]:
        return [term for word in words(text) if (term := self.term(word))]


@dataclass(frozen=True, slots=True)
class Rarity:
    """Inverse document frequency over what was seen so far; unseen terms count as seen nowhere."""

    documents: int
    counts: Counter[str]

    @classmethod
    def over(cls, documents: Iterable[Iterable[str]]) -> "Rarity":
        counts: Counter[str] = Counter()
        total = 0
        for terms in documents:
            counts.update(set(terms))
            total += 1
        return cls(total, counts)

    def __call__(self, term: str) -> float:
        seen = self.counts[term]
        return math.log(1 + (self.documents - seen + 0.5) / (seen + 0.5))
