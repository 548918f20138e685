"""A change of a file's text: what it asks for, what comes of it, and whether what it stands on is still there."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, assert_never

from researchdesk.state.desk.files import CONTENT_BYTES, FileKind
from researchdesk.state.desk.grids import canonical
from researchdesk.state.desk.proposals import Guard
from researchdesk.state.desk.sheets import parse_cells, read_cells, set_cells
from researchdesk.state.errors import Refusal

EditMode = Literal["replace", "append", "replace_text", "set_cells"]

_UNUSED: Final[dict[EditMode, tuple[str, ...]]] = {
    "replace": ("find", "cells"),
    "append": ("find", "cells"),
    "replace_text": ("cells",),
    "set_cells": ("content", "find"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """One change of a text.

    ``replace`` takes ``content`` for the whole, ``append`` puts it on a line of its own at the end, ``replace_text``
    puts it where ``find`` stands, and ``set_cells`` sets ``cells``: pairs of a name like ``B2`` and a raw text.
    """

    kind: FileKind
    mode: EditMode
    content: str = ""
    find: str = ""
    cells: tuple[tuple[str, str], ...] = ()


def make_edit(
    *, kind: FileKind, mode: EditMode, content: str, find: str, cells: Iterable[tuple[str, str]]
) -> Edit:
    """The edit that a call asks for; what its mode does not use has to be empty.

    Raises:
        Refusal: ``invalid_arguments``, ``bad_range`` or ``too_large``, naming the field and what to send.
    """
    edit = Edit(kind=kind, mode=mode, content=content, find=find, cells=tuple(cells))
    if kind == "folder":
        raise Refusal("invalid_arguments", "file: a folder has no text. Rename it, or change a file in it.")
    if mode == "set_cells" and kind != "spreadsheet":
        raise Refusal(
            "invalid_arguments",
            'mode: "set_cells" is for spreadsheets alone. Use "replace_text" or "append".',
        )
    for field in _UNUSED[mode]:
        if getattr(edit, field):
            empty = "[]" if field == "cells" else '""'
            raise Refusal("invalid_arguments", f'{field}: mode "{mode}" does not use it. Send {empty}.')
    if mode == "append" and not content:
        raise Refusal("invalid_arguments", "content: there is nothing to append. Send the text.")
    if mode == "replace_text" and not find:
        raise Refusal("invalid_arguments", "find: it is empty. Send the text that is to be replaced.")
    if mode == "set_cells" and not cells_of(edit):
        raise Refusal("invalid_arguments", "cells: none is there. Send each as {ref, value}.")
    return edit


def apply(edit: Edit, text: str) -> str:
    """The text after the edit; a spreadsheet is in its canonical form again.

    Raises:
        Refusal: ``invalid_arguments`` where ``find`` does not occur exactly once or no sheet would come of it;
            ``too_large`` over 2,000,000 bytes or 500,000 cells.
    """
    match edit.mode:
        case "replace":
            new = edit.content
        case "append":
            new = f"{text}\n{edit.content}" if text and not text.endswith("\n") else text + edit.content
        case "replace_text":
            new = _replaced(edit, text)
        case "set_cells":
            new = set_cells(text, edit.cells)
        case _:
            assert_never(edit.mode)
    return clean_content(new, kind=edit.kind)


def clean_content(content: str, *, kind: FileKind) -> str:
    """A content as it is kept: of a spreadsheet the canonical CSV, of a document the text as it is.

    Raises:
        Refusal: ``too_large`` over 2,000,000 bytes or 500,000 cells; ``invalid_arguments`` for what is no CSV, for
            half a character (a lone surrogate), or for a folder with content.
    """
    if kind == "folder" and content:
        raise Refusal("invalid_arguments", 'content: a folder has none. Send "".')
    kept = canonical(content) if kind == "spreadsheet" else content
    try:
        size = len(kept) if kept.isascii() else len(kept.encode())
    except UnicodeEncodeError as problem:
        half, at = ord(kept[problem.start]), problem.start + 1
        raise Refusal(
            "invalid_arguments", f"content: character {at:,} is half of one (U+{half:04X}). Leave it out."
        ) from None
    if size > CONTENT_BYTES:
        raise Refusal("too_large", f"The text is {size:,} bytes; the limit is {CONTENT_BYTES:,}.")
    return kept


def guard_of(edit: Edit) -> Guard:
    """What has to be as it was for the edit to be right: the cells it sets, or the whole file."""
    return "cells" if edit.mode == "set_cells" else "file"


def touched_unchanged(edit: Edit, base: str, current: str) -> bool:
    """Whether what the edit stands on is in ``current`` as it was in ``base``.

    Of a spreadsheet whose cells are set these cells alone count, so that somebody may change others meanwhile.
    """
    if base == current:
        return True
    if guard_of(edit) == "file":
        return False
    touched = cells_of(edit)
    return read_cells(base, touched) == read_cells(current, touched)


def cells_of(edit: Edit) -> tuple[str, ...]:
    """The cells that the edit sets, as ``B2``, in its order.

    Raises:
        Refusal: ``bad_range``; ``invalid_arguments`` for a cell named twice.
    """
    return tuple(map(str, parse_cells(edit.cells)))


def _replaced(edit: Edit, text: str) -> str:
    at = text.find(edit.find)
    if at >= 0 and text.find(edit.find, at + 1) < 0:
        return text[:at] + edit.content + text[at + len(edit.find) :]
    if at >= 0:
        times = max(2, text.count(edit.find))
        raise Refusal(
            "invalid_arguments",
            f"find: the text occurs {times:,} times. "
            "Send more of what stands around the place, so that it occurs once.",
        )
    apart = " ".join(edit.find.split())
    hint = " It does with other spaces or line ends." if apart and apart in " ".join(text.split()) else ""
    raise Refusal(
        "invalid_arguments",
        f"find: the text does not occur.{hint} Read the file and send the words exactly as they stand there.",
    )
