"""Finding a quotation in an archived text, to the code point.

What may differ between a quotation and its source is folded while searching: the form of composed letters,
white space, typographic against straight quotation marks and apostrophes, and the backslash by which Markdown says
that a sign means itself. What stands in the ledger is the span in the source, so the quoted words are always the
source's own.
"""

import re
import unicodedata
from dataclasses import dataclass

from rapidfuzz import fuzz

_DOUBLE = '"“”„‟«»＂❝❞'
_SINGLE = "'’‘‚‛"
_ESCAPED = "_*[]<>#+-.!(){}|~`="
_FOLDS = {ord(mark): '"' for mark in _DOUBLE} | {ord(mark): "'" for mark in _SINGLE}
NEAREST_WINDOW = 300_000
SHORTEST_QUOTE = 2
LEAST_OF_TWO_WORDS, LEAST_OF_ONE, LEAST_UNSPACED = 6, 12, 4
FIRST_UNSPACED = 0x0E00
LONGEST_WORD = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A stretch of a text in code points, ``end`` exclusive."""

    start: int
    end: int


def find_quote(text: str, quote: str) -> Span | None:
    """Where ``quote`` stands in ``text``, or None; the first place when there are several."""
    wanted = quote.strip()
    if len(wanted) < SHORTEST_QUOTE:
        return None
    exact = text.find(wanted)
    if exact >= 0:
        return Span(start=exact, end=exact + len(wanted))
    match = re.search(_pattern(wanted), text)
    return Span(start=match.start(), end=match.end()) if match else None


def _pattern(quote: str) -> str:
    words = unicodedata.normalize("NFC", quote).split()
    return r"\s+".join("".join(_letter(letter) for letter in word) for word in words)


def _letter(letter: str) -> str:
    if letter in _DOUBLE:
        return f"[{re.escape(_DOUBLE)}]"
    if letter in _SINGLE:
        return f"[{re.escape(_SINGLE)}]"
    if letter in _ESCAPED:
        return rf"\\?{re.escape(letter)}"
    decomposed = unicodedata.normalize("NFD", letter)
    return re.escape(letter) if decomposed == letter else f"(?:{re.escape(letter)}|{re.escape(decomposed)})"


def folded(text: str) -> str:
    """The text as two quotations are compared: NFC, white space and quotation marks in one form."""
    plain = unicodedata.normalize("NFC", text).translate(_FOLDS)
    return " ".join(plain.split())


def nearest_passage(text: str, quote: str) -> str:
    """The passage of ``text`` most like ``quote``, for a message to whoever misquoted; may be empty."""
    found = fuzz.partial_ratio_alignment(quote, text[:NEAREST_WINDOW], score_cutoff=40)
    if found is None or found.dest_end <= found.dest_start:
        return ""
    start = found.dest_start - len(
        _whole(text[max(0, found.dest_start - LONGEST_WORD) : found.dest_start][::-1])
    )
    return " ".join(text[start : found.dest_end + len(_whole(text[found.dest_end :]))].split())


def _whole(text: str) -> str:
    """What is left of a word that was cut; nothing where words are not set apart by spaces."""
    rest = text[:LONGEST_WORD].split(maxsplit=1)[:1] if text[:1].strip() else []
    return rest[0] if rest and len(rest[0]) < LONGEST_WORD else ""


def says_something(quote: str) -> bool:
    """Whether a quote is more than a scrap that stands in any text: two words of six letters or digits together, one
    of twelve, or four signs of a script that sets no words apart."""
    signs = [letter for letter in quote if letter.isalnum()]
    unspaced = sum(ord(letter) >= FIRST_UNSPACED for letter in signs)
    least = LEAST_OF_TWO_WORDS if len(quote.split()) > 1 else LEAST_OF_ONE
    return len(signs) >= least or unspaced >= LEAST_UNSPACED
