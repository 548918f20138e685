"""Files of a desk written to a disk: under names that are safe there, in the folder that was named and nowhere else."""

import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from researchdesk.state.desk.files import DeskFile
from researchdesk.state.errors import Unavailable, UsageError
from researchdesk.state.names import safe_file_name
from researchdesk.tools.desk.workbook import write_workbook
from researchdesk.tools.files import Files
from researchdesk.tools.writing import whole_file

_NAME_BYTES: Final = 200
#: Signs that some system forbids; the beginning of a name that hides its file, is an option or a home folder.
_UNSAFE: Final = re.compile(r'[<>:"|?*]|^[.~-]')
_DEVICE: Final = re.compile(r"(?:con|prn|aux|nul|clock\$|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?", re.IGNORECASE)
_SHEET: Final = ".xlsx"


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A file of the desk and where it was written; ``held_back`` names cells whose formulas reach out of a workbook."""

    path: str
    to: Path
    held_back: tuple[str, ...] = ()


def disk_name(name: str) -> str:
    """A segment of a desk's path as a file name: as it is where that is safe on every system, else made safe."""
    if len(name.encode()) <= _NAME_BYTES and not _UNSAFE.search(name) and not _DEVICE.fullmatch(name):
        return name
    suffix = PurePosixPath(name).suffix.casefold()
    if not re.fullmatch(r"\.[a-z0-9]{1,8}", suffix):
        suffix = ""
    return safe_file_name(name.removesuffix(suffix), suffix=suffix)


def write_folder(files: Files, folder: str, out: Path, *, workbooks: bool, replace: bool) -> list[Written]:
    """Write what is in a folder of the desk into the folder ``out``, every spreadsheet as a workbook where asked.

    Raises:
        UsageError: something stands where a file would go and ``replace`` is false, or a link leads out of ``out``;
            nothing was written.
        Unavailable: it cannot be written.
    """
    depth = len(folder.split("/")) if folder else 0
    found = files.listed(folder)
    targets = [_target(out, file.path.split("/")[depth:], file, workbooks) for file in found]
    _check(targets, out, replace=replace)
    _make(out)
    written = []
    for file, target in zip(found, targets, strict=True):
        if target.is_folder:
            _make(target.path)
        else:
            written.append(_write(files, file, target.path))
    return written


def write_file(files: Files, file: DeskFile, out: Path, *, workbook: bool, replace: bool) -> Written:
    """Write one file to ``out``, or under its own name into the folder that ``out`` is; errors as `write_folder`."""
    if out.is_dir():
        target = _target(out, [file.path.rpartition("/")[2]], file, workbook)
        _check([target], out, replace=replace)
    else:
        target = _Target(path=out)
        _check([target], out.parent, replace=replace)
    return _write(files, file, target.path)


def write_sheets(files: Files, folder: str, out: Path, *, replace: bool) -> Written:
    """Write the spreadsheets of a folder as the sheets of one workbook; errors as `write_folder`.

    Raises:
        UsageError: there is none.
    """
    sheets = [file for file in files.listed(folder) if file.kind == "spreadsheet"]
    if not sheets:
        raise UsageError("there is no spreadsheet in that folder to put into a workbook")
    _check([_Target(path=out)], out.parent, replace=replace)
    return _write_workbook({sheet.path: files.read(sheet.id) for sheet in sheets}, folder, out)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Target:
    path: Path
    is_folder: bool = False


def _target(out: Path, segments: list[str], file: DeskFile, workbooks: bool) -> _Target:
    *above, name = segments
    if workbooks and file.kind == "spreadsheet":
        name = (name[:-4] if name.casefold().endswith(".csv") else name) + _SHEET
    path = out.joinpath(*map(disk_name, above), disk_name(name))
    return _Target(path=path, is_folder=file.kind == "folder")


def _check(targets: Sequence[_Target], out: Path, *, replace: bool) -> None:
    """That every target may be written: in ``out``, through no link, over nothing or over a plain file where asked."""
    taken: list[Path] = []
    for target in targets:
        path = target.path
        for above in path.parents[: len(path.parent.parts) - len(out.parts)]:
            if above.is_symlink():
                raise UsageError(f"{above} is a link; nothing is written through it")
        if not os.path.lexists(path) or (target.is_folder and path.is_dir()):
            continue
        if target.is_folder or path.is_symlink() or not path.is_file():
            raise UsageError(f"{path} is in the way; nothing was written")
        taken.append(path)
    twice = {
        path
        for path, times in Counter(str(target.path).casefold() for target in targets).items()
        if times > 1
    }
    if twice:
        raise UsageError(f"two files would be written to {min(twice)}; export them one by one")
    if taken and not replace:
        more = f" and {len(taken) - 1} more" if len(taken) > 1 else ""
        raise UsageError(f"{taken[0]}{more} would be written over; --force does it, nothing was written")


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise Unavailable(f"cannot make the folder {folder}: {problem.strerror or problem}") from None


def _write(files: Files, file: DeskFile, to: Path) -> Written:
    text = files.read(file.id)
    if file.kind == "spreadsheet" and to.suffix.casefold() == _SHEET:
        return _write_workbook({file.path: text}, file.path, to)
    with whole_file(to) as opened:
        opened.write(text.encode())
    return Written(path=file.path, to=to)


def _write_workbook(sheets: Mapping[str, str], path: str, to: Path) -> Written:
    book = write_workbook(sheets)
    with whole_file(to) as opened:
        opened.write(book.data)
    return Written(path=path, to=to, held_back=book.held_back)
