"""The cells of a spreadsheet and their one canonical CSV.

The form is RFC 4180 with ``\\n`` after every row and quotes where they are needed: every row has as many cells as the
widest needs, and no row or column at the end is empty. The parser is our own since the one of the standard library
takes a lone carriage return for the end of a row, refuses long cells by a limit of the whole process, and skips rows.
"""

import re
from collections.abc import Sequence
from typing import Final

from researchdesk.state.errors import Refusal

MAX_CELLS: Final = 500_000

_FIELD: Final = re.compile(r'(?:"([^"]*+(?:""[^"]*+)*+)"|((?!")[^,\r\n]*+))(,|\r\n|\n|\r|\Z)')
_QUOTED: Final = re.compile(r'[,"\r\n]')

Row = list[str]


def read_grid(text: str) -> list[Row]:
    """The rows of a CSV; every row has the same length, and what is empty at the end is gone.

    Raises:
        Refusal: ``invalid_arguments`` for an open quote or text after a closed one; ``too_large``.
    """
    return _squared(_read(text))


def write_grid(rows: Sequence[Sequence[str]]) -> str:
    """The canonical CSV of cells; `read_grid` gives them back whatever text they hold.

    Raises:
        Refusal: ``too_large``: over 500,000 cells.
    """
    return write_rows(_squared(rows))


def write_rows(rows: Sequence[Sequence[str]]) -> str:
    """CSV of the cells as they are, the empty ones at the end too."""
    return "".join(map(_written, rows))


def canonical(text: str) -> str:
    """Any RFC 4180 text in the one form; `canonical` of it is the same.

    Raises:
        Refusal: as `read_grid`.
    """
    return write_rows(read_grid(text))


def check_cells(*, rows: int, columns: int) -> None:
    """Refuse a grid that is too large to be kept.

    Raises:
        Refusal: ``too_large``.
    """
    if rows * columns > MAX_CELLS:
        raise Refusal(
            "too_large",
            f"A sheet of {rows:,} rows and {columns:,} columns is {rows * columns:,} cells; "
            f"the limit is {MAX_CELLS:,}.",
        )


def _read(text: str) -> list[Row]:
    if '"' not in text and "\r" not in text:
        lines = text.split("\n")
        return [line.split(",") for line in (lines if lines[-1] else lines[:-1])]
    rows: list[Row] = []
    row: Row = []
    at, border = 0, ""
    while at < len(text) or border == ",":
        field = _FIELD.match(text, at)
        if field is None:
            raise _broken(text, at, row=len(rows) + 1)
        quoted, plain, border = field.groups()
        row.append(plain if quoted is None else quoted.replace('""', '"'))
        at = field.end()
        if border != ",":
            rows.append(row)
            row = []
    return rows


def _broken(text: str, at: int, *, row: int) -> Refusal:
    closed = re.compile(r'"(?:[^"]|"")*+"').match(text, at)
    problem = "text after a closed quote" if closed else "a quote is never closed"
    return Refusal(
        "invalid_arguments",
        f'content: row {row}: {problem}. Expected CSV: a cell with a comma, quote or line end stands in "…", '
        'and a quote in it is written "".',
    )


def _squared(rows: Sequence[Sequence[str]]) -> list[Row]:
    lengths = [_length(row) for row in rows]
    while lengths and not lengths[-1]:
        lengths.pop()
    width = max(lengths, default=0)
    check_cells(rows=len(lengths), columns=width)
    return [
        [*row[:length], *[""] * (width - length)]
        for row, length in zip(rows[: len(lengths)], lengths, strict=True)
    ]


def _length(row: Sequence[str]) -> int:
    """How many cells a row has without the empty ones at its end."""
    length = len(row)
    while length and not row[length - 1]:
        length -= 1
    return length


def _written(row: Sequence[str]) -> str:
    line = ",".join(row)
    if '"' in line or "\n" in line or "\r" in line or line.count(",") != len(row) - 1:
        line = ",".join(_quoted(cell) if _QUOTED.search(cell) else cell for cell in row)
    return f"{line}\n" if line else '""\n'


def _quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"'
