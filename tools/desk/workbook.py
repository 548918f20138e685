"""A workbook of a spreadsheet program: read into sheets of the desk, written from them.

The library is imported when it is needed. A workbook from outside is measured before it is parsed; macros, links and
charts in it are ignored, and no formula is computed.
"""

import io
import re
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Final

from researchdesk.state.desk.a1 import MAX_COLUMNS, Ref
from researchdesk.state.desk.edits import clean_content
from researchdesk.state.desk.grids import check_cells, read_grid, write_grid
from researchdesk.state.desk.paths import clean_path
from researchdesk.state.errors import Refusal, UsageError
from researchdesk.tools.desk.cells import exported, imported, written

INSTALL: Final = "Workbooks need the extra 'sheets': pip install 'researchdesk[sheets]'."
MAX_FILE: Final = 20_000_000
MAX_UNPACKED: Final = 100_000_000
MAX_PARTS: Final = 5_000
MAX_SHEETS: Final = 100
MAX_CELL: Final = 32_767

_CHUNK: Final = 1 << 20
_NO_TITLE: Final = re.compile(r"[\\/*?:\[\]\x00-\x1f]")


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedSheet:
    """A sheet of a workbook as a text of the desk, and the path that it may have there."""

    title: str
    path: str
    text: str
    hidden: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedWorkbook:
    """A workbook, and the cells whose formulas stand in it as text since they would reach out of it."""

    data: bytes
    held_back: tuple[str, ...]


def read_workbook(data: bytes, *, name: str) -> tuple[ImportedSheet, ...]:
    """The sheets of an xlsx or xlsm file that hold something, each as raw cell texts; ``name`` is the file's name.

    Dates are in ISO form, formulas as ``=…``, a text that begins with ``=`` behind an apostrophe.

    Raises:
        Refusal: ``bad_workbook`` for what is no such file, is damaged or empty; ``too_large``.
        UsageError: the extra ``sheets`` is not installed.
    """
    openpyxl = _library()
    _check_package(data, name)
    try:
        workbook = openpyxl.load_workbook(io.BytesIO(data), read_only=True, keep_vba=False, keep_links=False)
        if len(workbook.worksheets) > MAX_SHEETS:
            raise Refusal(
                "too_large", f'"{name}" has {len(workbook.worksheets)} sheets; the limit is {MAX_SHEETS}.'
            )
        read = [(sheet.title, _text(sheet), sheet.sheet_state != "visible") for sheet in workbook.worksheets]
    except Refusal:
        raise
    except Exception as error:  # the library fails in many ways on damaged files
        raise Refusal(
            "bad_workbook", f'"{name}" cannot be read ({type(error).__name__}). Save it anew as .xlsx.'
        ) from error
    filled = [sheet for sheet in read if sheet[1]]
    if not filled:
        raise Refusal("bad_workbook", f'"{name}" holds no cells. Choose a workbook with a table.')
    return tuple(
        ImportedSheet(
            title=title, path=_path(name, title if len(filled) > 1 else "", number), text=text, hidden=hidden
        )
        for number, (title, text, hidden) in enumerate(filled, start=1)
    )


def write_workbook(sheets: Mapping[str, str]) -> ExportedWorkbook:
    """An xlsx file with a sheet for each text, by title; numbers, dates, truth values and formulas are what they are.

    A formula that could send or fetch something (``WEBSERVICE``, another workbook, DDE) is written as text; so is
    everything else that is none, whatever sign it begins with.

    Raises:
        Refusal: ``too_large`` for a cell or a sheet beyond what a workbook takes.
        UsageError: the extra ``sheets`` is not installed, or no sheet is given.
    """
    if not sheets:
        raise UsageError("A workbook needs at least one sheet; name one.")
    openpyxl = _library()
    workbook = openpyxl.Workbook(write_only=True)
    titles: set[str] = set()
    held_back: list[str] = []
    for name, text in sheets.items():
        title = _title(name, titles)
        sheet = workbook.create_sheet(title)
        for cells in _cells(sheet, text, title=title, held_back=held_back):
            sheet.append(cells)
    stream = io.BytesIO()
    workbook.save(stream)
    return ExportedWorkbook(data=stream.getvalue(), held_back=tuple(held_back))


def _library() -> Any:
    try:
        import openpyxl
    except ImportError as error:
        raise UsageError(INSTALL) from error
    return openpyxl


def _check_package(data: bytes, name: str) -> None:
    """Unpack every part as far as it is allowed to be large, and keep nothing."""
    if len(data) > MAX_FILE:
        raise Refusal("too_large", f'"{name}" is {len(data):,} bytes; the limit is {MAX_FILE:,}.')
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as package:
            parts = package.infolist()
            if len(parts) > MAX_PARTS:
                raise Refusal("too_large", f'"{name}" has {len(parts):,} parts; the limit is {MAX_PARTS:,}.')
            left = MAX_UNPACKED
            for part in parts:
                with package.open(part) as stream:
                    left = _measured(
                        stream, left, name=name, is_xml=part.filename.endswith((".xml", ".rels", ".vml"))
                    )
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError, ValueError) as error:
        raise Refusal(
            "bad_workbook", f'"{name}" is no .xlsx or .xlsm file, or is encrypted. Save it as .xlsx.'
        ) from error


def _measured(stream: Any, left: int, *, name: str, is_xml: bool) -> int:
    """What is left of the allowed size after one part; refuses a part that declares entities."""
    seen = b""
    while chunk := stream.read(_CHUNK):
        left -= len(chunk)
        if left < 0:
            raise Refusal(
                "too_large", f'"{name}" is over {MAX_UNPACKED:,} bytes unpacked; the limit is that.'
            )
        seen = (seen[-64:] + chunk).replace(b"\0", b"")
        if is_xml and b"<!DOCTYPE" in seen:
            raise Refusal(
                "bad_workbook", f'"{name}" declares a document type, which no workbook does. Save it anew.'
            )
    return left


def _text(sheet: Any) -> str:
    """The canonical CSV of a sheet; memory and time follow the cells that are there, not the size it claims."""
    sheet.reset_dimensions()
    cells: dict[Ref, str] = {}
    height = width = 0
    for row in sheet.iter_rows():
        for cell in row:
            if cell.value is None:
                continue
            ref = Ref(cell.row - 1, cell.column - 1)
            cells[ref] = imported(cell)
            height, width = max(height, ref.row + 1), max(width, ref.column + 1)
        check_cells(rows=height, columns=width)
    rows = [[""] * width for _ in range(height)]
    for ref, text in cells.items():
        rows[ref.row][ref.column] = text
    return clean_content(write_grid(rows), kind="spreadsheet")


def _cells(sheet: Any, text: str, *, title: str, held_back: list[str]) -> Iterator[list[Any]]:
    for y, row in enumerate(read_grid(text)):
        if len(row) > MAX_COLUMNS:
            raise Refusal(
                "too_large", f"The sheet {title} is {len(row):,} columns; the limit is {MAX_COLUMNS:,}."
            )
        cells = []
        for x, raw in enumerate(row):
            if len(raw) > MAX_CELL or len(written(raw)) > MAX_CELL:
                size = max(len(raw), len(written(raw)))
                raise Refusal(
                    "too_large", f"Cell {Ref(y, x)} is {size:,} characters; the limit is {MAX_CELL:,}."
                )
            cell, live = exported(sheet, raw)
            cells.append(cell)
            if not live:
                held_back.append(f"{title}!{Ref(y, x)}")
        yield cells


def _title(name: str, taken: set[str]) -> str:
    """A title that a workbook takes, for the path of a sheet; each only once."""
    plain = _NO_TITLE.sub(" ", PurePath(name).stem).strip(" '")[:31].strip(" '") or "Sheet"
    title, number = plain, 2
    while title.casefold() in taken:
        suffix = f" {number}"
        title, number = plain[: 31 - len(suffix)] + suffix, number + 1
    taken.add(title.casefold())
    return title


def _path(name: str, title: str, number: int) -> str:
    """The path of a sheet: the file's name, and the sheet's if there are several."""
    stem = PurePath(name.replace("\\", "/")).stem[:40]
    for path in (f"{stem} - {title}.csv" if title else f"{stem}.csv", f"{stem} - sheet {number}.csv"):
        try:
            return clean_path(path)
        except Refusal:
            continue
    return f"workbook - sheet {number}.csv"
