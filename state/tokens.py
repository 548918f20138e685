"""How many tokens a text costs a model, estimated without a tokenizer.

Tables, hashes, code and other scripts cost several times what prose of the same length does, so pieces are weighted by
what they are: words by their length and by the pairs of letters that are rare in words (a random run of letters is cut
up, a word is not), digits in threes, a sign each, and characters of other scripts by what common vocabularies make of
them. Against the vocabularies ``o200k_base`` and ``cl100k_base``, whichever is higher, the estimate is not below 0.9 of
the count on any kind of text in ``tests/state/token_counts.json``; `cut` leaves that tenth free.
"""

import math
import re
from bisect import bisect
from functools import lru_cache
from itertools import pairwise
from typing import Final
from unicodedata import category

#: Pieces are short, so that a text can be cut between any two of them.
_PIECES: Final = re.compile(
    r"(?P<word>[A-Z]?[a-z]{1,40})|(?P<capitals>[A-Z]{1,40})|(?P<digits>[0-9]{1,30})|(?P<lines>[\r\n]{1,40})"
    r"|(?P<gap> {1,200}(?=[0-9]))|(?P<spaces> {1,200})|(?P<signs>[!-/:-@\[-`{-~]{1,40})|(?P<other>.)",
    re.DOTALL,
)
#: After each letter those that often follow it in words of European languages.
_COMMON: Final = {
    "a": "bcdgiklmnprstuv", "b": "aefiloruy", "c": "aehiklortu", "d": "aeios", "e": "abcdefgilmnpqrstvx",
    "f": "aefilortu", "g": "aehirs", "h": "aeiortu", "i": "abcdefglmnoprstv", "j": "e", "k": "e", "l": "adefilostuy",
    "m": "aeilmops", "n": "acdefgiopstuy", "o": "abcdfgiklmnoprstuvw", "p": "aehilorstuy", "q": "u",
    "r": "acdegiklmnorstuy", "s": "acehiklopstu", "t": "aehioprstuy", "u": "beilmnprst", "v": "aei", "w": "aehio",
    "x": "bmt", "y": "pt", "z": "e",
}  # fmt: skip
_PAIRS: Final = frozenset(first + second for first, seconds in _COMMON.items() for second in seconds)
#: Up to which character one costs how much; where a script is written, its prose counts, else its bytes.
_SCRIPTS: Final = (
    (0x80, 1.0), (0x100, 1.3), (0x180, 1.6), (0x370, 2.0), (0x3D0, 1.5), (0x410, 1.9), (0x450, 1.0), (0x460, 1.7),
    (0x530, 2.1), (0x590, 2.3), (0x600, 1.4), (0x671, 1.15), (0x700, 2.0), (0x900, 3.0), (0x980, 1.7), (0xB00, 2.1),
    (0xB80, 2.8), (0xD00, 2.1), (0xE00, 2.6), (0xE80, 1.4), (0xF00, 2.4), (0x1000, 3.0), (0x1100, 2.3), (0x1780, 3.0),
    (0x1800, 2.0), (0x1E00, 3.0), (0x1F00, 2.2), (0x2000, 3.0), (0x2010, 2.0), (0x2027, 1.1), (0x2190, 2.0),
    (0x2280, 2.4), (0x2500, 3.0), (0x2680, 2.0), (0x2700, 3.0), (0x2780, 2.0), (0x3000, 3.0), (0x3003, 1.3),
    (0x3040, 1.7), (0x3100, 1.4), (0xFE00, 3.0), (0xFE10, 1.5), (0xFF00, 3.0), (0xFFF0, 1.85), (0x10000, 3.0),
    (0x1F1E6, 4.0), (0x1FB00, 3.0), (0x110000, 4.0),
)  # fmt: skip
#: A letter drawn out is cheap, whatever it is.
_RUNS: Final = re.compile(r"(.)\1{2,}")
_ENDS: Final = tuple(end for end, _ in _SCRIPTS)
_LEVELS: Final = (("gb2312", 0xB0, 0xD7), ("big5", 0xA4, 0xC6), ("shift_jis", 0x88, 0x97))


def estimate_tokens(text: str) -> int:
    """Estimated tokens of ``text``, rounded up; 0 for the empty text."""
    return math.ceil(sum(_weight(found.lastgroup, found.group()) for found in _PIECES.finditer(text)))


def room(limit: int) -> int:
    """What of a limit of real tokens may be filled by estimate."""
    return limit * 9 // 10


def cut(text: str, limit: int) -> tuple[str, bool]:
    """The beginning of ``text`` that stays below ``limit`` tokens with a tenth to spare, and whether something is left.

    It ends after a line if half or more of what fits is kept so, else after a cell or word, else between two
    characters that are not drawn as one.
    """
    end = fitting(text, room(limit))
    return text[:end], end < len(text)


def fitting(text: str, allowed: float, *, start: int = 0) -> int:
    """Where to cut ``text`` so that what follows ``start`` costs at most ``allowed`` by estimate.

    The cut is after a line, cell, word or character as in `cut`; ``start`` itself if not one character fits.
    """
    left, end = allowed, start
    for found in _PIECES.finditer(text, start):
        weight = _weight(found.lastgroup, found.group())
        if weight > left:
            break
        left -= weight
        end = found.end()
    else:
        return len(text)
    if end == start:  # not even one piece fits as a whole
        shorter = (text[start:at] for at in range(start + 1, found.end()))
        end += max((len(part) for part in shorter if _weight(found.lastgroup, part) <= left), default=0)
    for border, share in (("\n", 0.5), (",", 0.8), ("\t", 0.8), (" ", 0.8)):
        at = text.rfind(border, start, end) + 1
        if at > start + share * (end - start):
            return at
    return _between_characters(text, start, end)


def _between_characters(text: str, start: int, end: int) -> int:
    for at in range(end, max(start, end - 30), -1):
        if not (_joins(text[at]) or text[at - 1] == "\u200d"):
            return at
    return end


def _joins(character: str) -> bool:
    """Whether a character is drawn together with the one before it."""
    return (
        character == "\u200d"
        or category(character) in ("Mn", "Me")
        or "\U0001f3fb" <= character <= "\U0001f3ff"
    )


@lru_cache(maxsize=65_536)
def _weight(kind: str | None, piece: str) -> float:
    length = len(piece)
    match kind:
        case "word":
            return 1 + 0.2 * max(0, length - 4) + 1.1 * _rare_pairs(piece)
        case "capitals":
            return 0.8 + 0.37 * (length - 1) + 0.3 * _rare_pairs(piece)
        case "digits":
            return math.ceil(length / 3)
        case "lines":
            return 1 + (length - 1) / 8
        case "gap":
            return 1 if length == 1 else 2 + length / 64
        case "spaces":
            return 0 if length == 1 else 1 + length / 64
        case "signs":
            changes = sum(one != other for one, other in pairwise(piece))
            return 1 + 0.65 * changes + 0.05 * (length - 1 - changes)
        case _:
            return _other(piece)


def _rare_pairs(piece: str) -> int:
    letters = _RUNS.sub(r"\1\1", piece.lower())
    return sum(one + other not in _PAIRS for one, other in pairwise(letters))


def _other(character: str) -> float:
    code = ord(character)
    if 0x4E00 <= code < 0xA000:
        return 1.45 if _is_common_ideograph(character) else 2.9
    if 0xAC00 <= code < 0xD7A4:
        return 1.3 if len(_encoded(character, "euc_kr")) == 2 else 3.0
    return _SCRIPTS[bisect(_ENDS, code)][1]


def _is_common_ideograph(character: str) -> bool:
    """Whether a national standard has it among the characters of everyday use."""
    return any(low <= (_encoded(character, name) or b"\0")[0] <= high for name, low, high in _LEVELS)


def _encoded(character: str, encoding: str) -> bytes:
    return character.encode(encoding, "ignore")
