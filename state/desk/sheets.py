"""A spreadsheet as a text: ranges read, cells set, its size, its header and a look at its beginning.

A cell holds raw text; one that begins with ``=`` is a formula and is kept as it is. Nothing here computes or escapes:
a cell may say ``=HYPERLINK(…)`` or ``@SUM``, so whoever writes a file for a spreadsheet program decides there what may
run in it (``tools/desk/workbook.py``).
"""

from collections.abc import Iterable
from dataclasses import dataclass

from researchdesk.state.desk.a1 import Area, Ref, parse_area, parse_ref
from researchdesk.state.desk.grids import Row, check_cells, read_grid, write_grid, write_rows
from researchdesk.state.errors import Refusal
from researchdesk.state.texts import cut_line


@dataclass(frozen=True, slots=True)
class Dimensions:
    """How many rows and columns hold something."""

    rows: int
    columns: int

    def __str__(self) -> str:
        return str(Area(Ref(0, 0), Ref(self.rows - 1, self.columns - 1))) if self.rows else "empty"


@dataclass(frozen=True, slots=True)
class Block:
    """The cells of a range as far as the sheet goes; ``area`` is the part that is there, None if none is."""

    area: Area | None
    rows: tuple[tuple[str, ...], ...]

    @property
    def text(self) -> str:
        """The cells as CSV."""
        return write_rows(self.rows)


def is_formula(cell: str) -> bool:
    """Whether a cell is computed from others."""
    return cell.startswith("=") and len(cell) > 1


def dimensions(text: str) -> Dimensions:
    """The size of a sheet."""
    return size_of(read_grid(text))


def size_of(rows: list[Row]) -> Dimensions:
    """The size of a sheet that is read already."""
    return Dimensions(len(rows), len(rows[0]) if rows else 0)


def header_row(text: str) -> tuple[str, ...]:
    """The cells of the first row; none for an empty sheet."""
    return tuple(next(iter(read_grid(text)), ()))


def read_range(text: str, area: str) -> Block:
    """The cells of ``area`` ("" for the whole sheet), cut to what the sheet holds.

    Raises:
        Refusal: ``bad_range``.
    """
    rows = read_grid(text)
    size = size_of(rows)
    asked = parse_area(area) if area.strip() else Area(Ref(0, 0), Ref(size.rows - 1, size.columns - 1))
    last = Ref(min(asked.last.row, size.rows - 1), min(asked.last.column, size.columns - 1))
    if last.row < asked.first.row or last.column < asked.first.column:
        return Block(None, ())
    columns = slice(asked.first.column, last.column + 1)
    return Block(
        Area(asked.first, last), tuple(tuple(row[columns]) for row in rows[asked.first.row : last.row + 1])
    )


def read_cells(text: str, names: Iterable[str]) -> dict[str, str]:
    """What stands in the named cells; "" beyond the end of the sheet.

    Raises:
        Refusal: ``bad_range``.
    """
    rows = read_grid(text)
    return {name: _cell(rows, parse_ref(name)) for name in names}


def set_cells(text: str, cells: Iterable[tuple[str, str]]) -> str:
    """The sheet with each named cell holding its new text; it grows as far as it has to, and "" empties a cell.

    Raises:
        Refusal: ``bad_range``; ``invalid_arguments`` for a cell named twice; ``too_large`` over 500,000 cells.
    """
    changes = parse_cells(cells)
    rows = read_grid(text)
    size = size_of(rows)
    filled = [ref for ref, value in changes.items() if value]
    height = max([size.rows, *(ref.row + 1 for ref in filled)])
    width = max([size.columns, *(ref.column + 1 for ref in filled)])
    check_cells(rows=height, columns=width)
    rows = [[*row, *[""] * (width - len(row))] for row in rows]
    rows += [[""] * width for _ in range(height - len(rows))]
    for ref, value in changes.items():
        if ref.row < height and ref.column < width:
            rows[ref.row][ref.column] = value
    return write_grid(rows)


def parse_cells(cells: Iterable[tuple[str, str]]) -> dict[Ref, str]:
    """Cells by the place that their names mean, in their order.

    Raises:
        Refusal: ``bad_range``; ``invalid_arguments`` for a cell named twice.
    """
    parsed: dict[Ref, str] = {}
    for name, value in cells:
        if ":" in name:
            raise Refusal("bad_range", f'"{cut_line(name, 40)}" is a range; name each cell alone, like B2.')
        ref = parse_ref(name)
        if ref in parsed:
            raise Refusal("invalid_arguments", f"cells: {ref} is there twice. Send each cell once.")
        parsed[ref] = value
    return parsed


def preview(text: str, *, rows: int = 5, columns: int = 8, cell_chars: int = 40) -> str:
    """The beginning of a sheet as CSV with long cells cut, and a last line that says what is left out."""
    grid = read_grid(text)
    size = size_of(grid)
    shown = [[cut_line(cell, cell_chars) for cell in row[:columns]] for row in grid[:rows]]
    left = [
        f"{count:,} more {what if count > 1 else what[:-1]}"
        for count, what in ((size.rows - rows, "rows"), (size.columns - columns, "columns"))
        if count > 0
    ]
    return write_rows(shown) + (f"… {', '.join(left)}\n" if left else "")


def _cell(rows: list[Row], ref: Ref) -> str:
    if ref.row >= len(rows) or ref.column >= len(rows[ref.row]):
        return ""
    return rows[ref.row][ref.column]
