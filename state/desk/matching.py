"""Where in a text a query is met: the stretches that hold most of its terms, by stem and letter by letter."""

import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from researchdesk.state.desk.a1 import Ref
from researchdesk.state.desk.grids import read_grid
from researchdesk.state.queries import Query

STRETCH: Final = 160
"""Characters within which terms stand together."""
AROUND: Final = 40
"""Characters that are shown before and after them."""
_EACH: Final = 1_000
"""Of one term, so many places are looked at."""
_WORD: Final = re.compile(r"[^\W_]+")
_ACCENTS: Final = re.compile("[\u0300-\u036f]+")


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of one line, from the first of the terms that it holds to the end of the last."""

    first: int
    end: int
    weight: int


@dataclass(frozen=True, slots=True)
class _Match:
    start: int
    end: int
    term: str


class Matcher:
    """Finds one query in texts; not for several threads."""

    def __init__(self, query: Query) -> None:
        import snowballstemmer  # loads its every language, which only who searches should wait for

        self._parts = tuple(dict.fromkeys((*query.trigrams, *query.pieces)))
        self._stemmer = snowballstemmer.stemmer("porter")
        self._known: dict[str, str] = {}
        self._stems = {self._stem(word) for term in query.words for word in _WORD.findall(term)}

    def stretches(self, text: str, *, limit: int) -> list[Stretch]:
        """The best stretches of a text, which do not overlap: those with most and longest terms, then the first.

        One that says less than half of what the best says is none.
        """
        found = sorted(_stretches(text, self._matches(text)), key=lambda one: (-one.weight, one.first))
        kept: list[Stretch] = []
        for one in found:
            if len(kept) == limit or 2 * one.weight < found[0].weight:
                break
            if all(one.end + AROUND <= other.first or one.first >= other.end + AROUND for other in kept):
                kept.append(one)
        return kept

    def cells(self, text: str, *, limit: int) -> list[tuple[Ref, str, Stretch]]:
        """The cells of a spreadsheet that hold the best stretches, with what stands in them.

        Raises:
            Refusal: it is no spreadsheet.
        """
        grid = read_grid(text)
        width = len(grid[0]) if grid else 1
        cells = [cell.replace("\n", " ") for row in grid for cell in row]  # each is a line
        starts = list(accumulate((len(cell) + 1 for cell in cells), initial=0))
        places = []
        for found in self.stretches("\n".join(cells), limit=limit):
            n = bisect_right(starts, found.first) - 1
            inside = Stretch(found.first - starts[n], found.end - starts[n], found.weight)
            places.append((Ref(*divmod(n, width)), cells[n], inside))
        return places

    def _matches(self, text: str) -> list[_Match]:
        lowered = text.replace("\u0130", "i").lower()  # the one letter that would become two
        return sorted(
            (*self._by_part(lowered), *self._by_stem(lowered)), key=lambda match: (match.start, match.end)
        )

    def _by_part(self, lowered: str) -> Iterator[_Match]:
        for part in self._parts:
            at = lowered.find(part)
            for _ in range(_EACH):
                if at < 0:
                    break
                yield _Match(at, at + len(part), part)
                at = lowered.find(part, at + len(part))

    def _by_stem(self, lowered: str) -> Iterator[_Match]:
        if not self._stems:
            return
        left = Counter(dict.fromkeys(self._stems, _EACH))
        for word in _WORD.finditer(lowered):
            stem = self._stem(word[0])
            if left[stem] > 0:
                left[stem] -= 1
                yield _Match(word.start(), word.end(), f"{stem} ")  # another term than the part

    def _stem(self, word: str) -> str:
        """The stem of a word in lower case, without accents."""
        if word not in self._known:
            plain = word if word.isascii() else unicodedata.normalize("NFD", word)
            self._known[word] = str(self._stemmer.stemWord(_ACCENTS.sub("", plain)[:64]))
        return self._known[word]


def _stretches(text: str, matches: list[_Match]) -> Iterator[Stretch]:
    """From each match on, as far as others stand close to it in its line."""
    held: Counter[str] = Counter()
    last = line_end = weight = 0
    for match in matches:
        if match.start >= line_end:
            line_end = text.find("\n", match.start) + 1 or len(text) + 1
        while last < len(matches) and matches[last].start < min(match.start + STRETCH, line_end):
            term = matches[last].term
            weight += 0 if held[term] else len(term)
            held[term] += 1
            last += 1
        yield Stretch(match.start, max(match.end, matches[last - 1].end), weight)
        held[match.term] -= 1
        weight -= 0 if held[match.term] else len(match.term)
