"""An estimate of how many tokens a text costs a model, without a tokenizer.

Letter runs, digits, punctuation and wide scripts are weighted by what common byte-pair vocabularies need;
characters divided by four would be short by half on numeric tables and by five on CJK.
"""

import math
import re

_PIECES = re.compile(r"[A-Za-z]+|[0-9]+|\n| +|[^\x00-\x7f]|[^\w\s]|_|\s")


def estimate_tokens(text: str) -> int:
    """Estimated tokens of ``text``, rounded up; 0 for the empty text."""
    return math.ceil(sum(_weight(piece) for piece in _PIECES.findall(text)) * 1.05)


def _weight(piece: str) -> float:
    first = piece[0]
    code = ord(first)
    if code >= 0x80:
        return _wide(code)
    if first.isalpha():
        return 1 + max(0, len(piece) - 5) / 3.5
    if first.isdigit():
        return math.ceil(len(piece) / 3)
    return len(piece) > 1 if first == " " else 1


def _wide(code: int) -> float:
    if code < 0x250:
        return 1.2
    if code < 0x2000:
        return 0.8
    return 1.3 if code < 0x10000 else 3.0
