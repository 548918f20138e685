"""Fitting lines into a room of tokens, names in them cut shorter where that helps."""

from collections.abc import Callable, Iterable
from typing import Final

Counter = Callable[[str], int]
"""How many tokens a text costs."""
Line = Callable[[int], str]
"""A line whose names are cut to that many characters."""

WIDTHS: Final = (80, 40, 16, 8)


def cost(line: str, count: Counter) -> int:
    """The tokens of a line and its end, never none."""
    return max(1, count(line + "\n"))


def total(lines: Iterable[str], count: Counter) -> int:
    """The tokens of some lines and their ends."""
    return sum(cost(line, count) for line in lines)


def fitted(lines: Iterable[Line], *, room: int, count: Counter) -> list[str]:
    """The first lines, as many as fit, each as wide as it fits."""
    kept: list[str] = []
    for line in lines:
        text = next((text for text in map(line, WIDTHS) if cost(text, count) <= room), None)
        if text is None:
            break
        kept.append(text)
        room -= cost(text, count)
    return kept


def fixed(lines: Iterable[str], *, room: int, count: Counter) -> list[str]:
    """The first lines, as many as fit as they are."""
    kept: list[str] = []
    for line in lines:
        room -= cost(line, count)
        if room < 0:
            break
        kept.append(line)
    return kept


def whole(lines: Iterable[str], *, room: int, count: Counter) -> int | None:
    """The tokens of the lines; None, and the rest not looked at, where they do not fit all together."""
    needed = 0
    for line in lines:
        needed += cost(line, count)
        if needed > room:
            return None
    return needed
