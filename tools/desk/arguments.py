"""The argument schemas of the desk tools; "", [] and 0 mean that a property is not used."""

from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field

from researchdesk.state.desk.files import FileKind
from researchdesk.state.limits import QUERY_CHARS, SEARCH_RESULTS
from researchdesk.tools.fields import Query as QueryText
from researchdesk.tools.fields import body_at_most, items_at_most
from researchdesk.tools.spec import Arguments

CELLS: Final = 2_000
CELL_CHARS: Final = 32_767
"""As much as a cell of a workbook holds."""
FIND_CHARS: Final = 20_000
NAME_CHARS: Final = 400
"""More than a path can have; what is longer is refused before anybody looks for it."""

Name = Annotated[str, AfterValidator(body_at_most(NAME_CHARS))]
Find = Annotated[str, AfterValidator(body_at_most(FIND_CHARS))]
CellText = Annotated[str, AfterValidator(body_at_most(CELL_CHARS))]

_FILE = 'The file\'s path, like "notes/plan.md", or its id (f_...).'
_VERSION = (
    "The version that reading or listing the file gave you; a change is refused without it, or where the file "
    "changed since."
)
_PATH = (
    'The whole path from the top of the desk, like "notes/plan.md"; folders come by themselves. At most 240 '
    "characters."
)
_NEW_PATH = "The whole new path from the top of the desk."
_MARKDOWN = "The whole text, at most 512,000 characters."
_CSV = "The whole sheet as CSV; a cell that begins with = is a formula. At most 512,000 characters."
_CELLS = f"The cells to set, at most {CELLS:,}, each as ref like B2 and value as raw text; an empty value empties it."


class Cell(Arguments):
    ref: str = Field(description="The cell, like B2.")
    value: CellText = Field(description="Its new raw text; = begins a formula.")


Cells = Annotated[list[Cell], AfterValidator(items_at_most(CELLS))]


class ListFiles(Arguments):
    folder: Name = Field(
        description='The folder to list; empty for the whole desk. To go on, the "next" of the last result.'
    )
    depth: int = Field(
        description="How many levels to list, folders below them in one line each; 0 for every level."
    )


class ReadFile(Arguments):
    file: Name = Field(description=_FILE)
    from_line: int = Field(
        description='The first line to return, from 1; to go on, the "next" of the last result.'
    )
    max_lines: int = Field(description="How many lines at most; 0 for as many as fit into one result.")
    range: str = Field(
        description="With a spreadsheet: the cells to return, like A1:F20; empty for all of them. Else empty."
    )


class CreateFile(Arguments):
    path: Name = Field(description=_PATH)
    kind: FileKind = Field(description="What it is.")
    content: str = Field(
        description="Markdown, or the CSV of a spreadsheet; empty for a folder. At most 512,000 characters."
    )


class UpdateFile(Arguments):
    file: Name = Field(description=_FILE)
    base_version: Name = Field(description=_VERSION)
    mode: Literal["replace", "append", "replace_text", "set_cells", "rename"] = Field(
        description="replace: content becomes the whole file. append: content is added at the end. replace_text: "
        "content takes the place of find. set_cells: cells of a spreadsheet. rename: the file moves to new_path."
    )
    content: str = Field(description="With replace, append and replace_text: the new text, else empty.")
    find: Find = Field(
        description="With replace_text: the text to replace, exactly as it stands in the file and once in it; else "
        "empty."
    )
    cells: Cells = Field(description=f"With set_cells: {_CELLS[0].lower()}{_CELLS[1:]} Else empty.")
    new_path: Name = Field(description=f"With rename: {_NEW_PATH[0].lower()}{_NEW_PATH[1:]} Else empty.")


class DeleteFile(Arguments):
    file: Name = Field(description=_FILE)
    base_version: Name = Field(description=_VERSION)


class ReadContext(Arguments):
    pass


class SearchContent(Arguments):
    query: QueryText = Field(description=f"Words to look for, at most {QUERY_CHARS:,} characters.")
    folder: Name = Field(description="Search only in this folder; empty for the whole desk.")
    max_results: int = Field(description=f"How many places at most, up to {SEARCH_RESULTS}; 0 for 10.")


class ManagePanel(Arguments):
    op: Literal["open", "focus", "close"] = Field(description="What to do with the panel.")
    target: Name = Field(
        description="A file's path or id, a panel's id, or the type of a panel that shows no file, like log."
    )


class CreateMarkdown(Arguments):
    path: Name = Field(description=_PATH)
    content: str = Field(description=_MARKDOWN)


class CreateSpreadsheet(Arguments):
    path: Name = Field(description=_PATH)
    content: str = Field(description=_CSV)


class UpdateMarkdown(Arguments):
    file: Name = Field(description=_FILE)
    base_version: Name = Field(description=_VERSION)
    mode: Literal["replace", "append", "replace_text"] = Field(
        description="replace: content becomes the whole file. append: content is added at the end. replace_text: "
        "content takes the place of find."
    )
    content: str = Field(description="The new text.")
    find: Find = Field(
        description="With replace_text: the text to replace, exactly as it stands in the file and once in it; else "
        "empty."
    )


class UpdateCells(Arguments):
    file: Name = Field(description=_FILE)
    base_version: Name = Field(description=_VERSION)
    cells: Cells = Field(description=_CELLS)


class RenameFile(Arguments):
    file: Name = Field(description=_FILE)
    base_version: Name = Field(description=_VERSION)
    new_path: Name = Field(description=_NEW_PATH)
