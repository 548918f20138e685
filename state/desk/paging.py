"""A page of a text: as many whole lines as fit under a limit of tokens, and the line to go on with."""

import json
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from researchdesk.state.errors import Refusal
from researchdesk.state.tokens import estimate_tokens, fitting, room

LINE_TOKENS: Final = 150
"""A longer line counts as several, so that it can be paged too."""
_SURELY_SHORT: Final = 36
_SURELY_SHORT_ASCII: Final = 80
_WINDOW: Final = 8_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Lines ``first`` on of the ``total`` that a text has; ``next`` is the line after them, 0 at the end.

    The pages of a text, one after the other, are the text.
    """

    text: str
    first: int
    next: int
    total: int


def json_cost(text: str) -> int:
    """Estimated tokens of a text as it stands in a JSON string."""
    return estimate_tokens(json.dumps(text, ensure_ascii=False)[1:-1])


def page(
    text: str, *, from_line: int, max_lines: int, limit: int, cost: Callable[[str], int] = json_cost
) -> Page:
    """The page of ``text`` from line ``from_line`` (1 is the first, 0 too) that stays a tenth below ``limit`` tokens.

    At most ``max_lines`` lines (0 for as many as fit), at least one. Lines are counted with every one of more than
    150 tokens as several; a limit below that is taken for it.

    Raises:
        Refusal: ``invalid_arguments`` for a line beyond the end.
    """
    starts = _starts(text)
    total = len(starts) - 1
    first = max(1, from_line)
    if first > max(1, total) or from_line < 0:
        raise Refusal(
            "invalid_arguments",
            f"from_line: there is no line {from_line:,}; the text has {total:,}. Send 1 to {max(1, total):,}.",
        )
    allowed = max(room(limit), LINE_TOKENS)
    last = min(total, first - 1 + max_lines) if max_lines > 0 else total
    end, spent = first - 1, 0
    while end < last:
        spent += cost(text[starts[end] : starts[end + 1]])
        if spent > allowed and end >= first:
            break
        end += 1
    while end > first and cost(text[starts[first - 1] : starts[end]]) > allowed:
        end -= 1
    return Page(
        text=text[starts[first - 1] : starts[end]] if total else "",
        first=first,
        next=end + 1 if end < total else 0,
        total=total,
    )


def line_at(text: str, place: int) -> int:
    """The line of a page that holds the character at ``place``."""
    return bisect_right(_starts(text), place, hi=max(1, len(_starts(text)) - 1))


@lru_cache(maxsize=4)
def _starts(text: str) -> tuple[int, ...]:
    """Where each line starts, and where the last one ends."""
    starts = [0]
    while starts[-1] < len(text):
        start = starts[-1]
        end = text.find("\n", start, start + _WINDOW) + 1
        line = text[start : end or start + _WINDOW]
        starts.append(start + (len(line) if end and _is_short(line) else _first_part(line)))
    return tuple(starts)


def _is_short(line: str) -> bool:
    if len(line) <= _SURELY_SHORT:
        return True
    plain = len(line) <= _SURELY_SHORT_ASCII and line.isascii() and line[:-1].isprintable()
    return plain or json_cost(line) <= LINE_TOKENS


def _first_part(line: str) -> int:
    """How much of a line makes one line of a page."""
    end = max(1, fitting(line, LINE_TOKENS))
    while end > 1 and json_cost(line[:end]) > LINE_TOKENS:
        end //= 2
    return end
