"""Cells and ranges as a spreadsheet names them: ``B2``, ``A1:C20``."""

import re
from dataclasses import dataclass
from typing import Final

from researchdesk.state.errors import Refusal
from researchdesk.state.texts import cut_line

MAX_ROWS: Final = 1_048_576
MAX_COLUMNS: Final = 16_384

_CELL: Final = re.compile(r"\$?([A-Za-z]{1,3})\$?([1-9][0-9]{0,6})")


@dataclass(frozen=True, slots=True, order=True)
class Ref:
    """One cell; rows and columns count from 0."""

    row: int
    column: int

    def __str__(self) -> str:
        return f"{column_letters(self.column)}{self.row + 1}"


@dataclass(frozen=True, slots=True)
class Area:
    """A rectangle of cells, its corners included."""

    first: Ref
    last: Ref

    def __str__(self) -> str:
        return str(self.first) if self.first == self.last else f"{self.first}:{self.last}"


def parse_ref(text: str) -> Ref:
    """The cell that ``text`` names, in any case, ``$`` or not, up to XFD1048576.

    Raises:
        Refusal: ``bad_range``.
    """
    found = _CELL.fullmatch(text.strip())
    if found:
        row, column = int(found[2]) - 1, _column(found[1])
        if row < MAX_ROWS and column < MAX_COLUMNS:
            return Ref(row, column)
    raise Refusal("bad_range", f'"{cut_line(text, 40)}" is not a cell or range like B2 or A1:C20.')


def parse_area(text: str) -> Area:
    """The range that ``text`` names, whichever of its corners come first; a cell is a range of one.

    Raises:
        Refusal: ``bad_range``.
    """
    first, colon, last = text.partition(":")
    try:
        one = parse_ref(first)
        other = parse_ref(last) if colon else one
    except Refusal:
        raise Refusal(
            "bad_range", f'"{cut_line(text, 40)}" is not a cell or range like B2 or A1:C20.'
        ) from None
    return Area(
        Ref(min(one.row, other.row), min(one.column, other.column)),
        Ref(max(one.row, other.row), max(one.column, other.column)),
    )


def column_letters(column: int) -> str:
    """``A`` for 0, ``Z`` for 25, ``AA`` for 26."""
    letters = ""
    while column >= 0:
        column, letter = divmod(column, 26)
        letters = chr(ord("A") + letter) + letters
        column -= 1
    return letters


def _column(letters: str) -> int:
    column = 0
    for letter in letters.upper():
        column = column * 26 + ord(letter) - ord("A") + 1
    return column - 1
