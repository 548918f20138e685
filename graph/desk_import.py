"""Files of a disk as files for a desk: documents, CSV and workbooks, each taken whole or named with what is wrong."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from researchdesk.state.desk.files import CONTENT_BYTES, FileKind
from researchdesk.state.desk.paths import clean_path, path_key
from researchdesk.state.errors import Refusal, ResearchdeskError
from researchdesk.tools.desk.workbook import MAX_FILE, read_workbook
from researchdesk.tools.files import NewFile

_KINDS: Final[dict[str, FileKind]] = {
    **dict.fromkeys((".md", ".markdown", ".txt"), "markdown"),
    ".csv": "spreadsheet",
}
_WORKBOOKS: Final = (".xlsx", ".xlsm")


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Something on the disk that cannot come to the desk, and why."""

    path: str
    why: str


@dataclass(slots=True)
class Found:
    """What was read: files for the desk, what was asked for and cannot be read, what a folder holds besides."""

    files: list[NewFile] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    left_out: list[Problem] = field(default_factory=list)
    sources: dict[str, Path] = field(default_factory=dict)
    """What each file of the desk comes from, by the key of its path."""

    def add(self, files: list[NewFile], source: Path) -> None:
        """Take what was read from a file of the disk.

        Raises:
            Refusal: ``bad_file``: something else comes to the same place.
        """
        for file in files:
            other = self.sources.setdefault(path_key(file.path), source)
            if other != source:
                raise Refusal("bad_file", f"it would stand at {file.path} as {other} does")
        self.files += files


def read_paths(paths: list[Path], *, folder: str = "") -> Found:
    """The files and folders at these paths, to stand in ``folder`` of the desk.

    A folder keeps its name there, but ``.`` gives what is in it. Hidden files and links in a folder are left out.
    """
    found = Found()
    for path in paths:
        if os.path.isdir(path):  # noqa: PTH112 - says no where `Path.is_dir` raises
            name = path.resolve().name if path.name == ".." else path.name
            _read_folder(path, _joined(folder, name), found)
            continue
        try:
            found.add(_read_file(path, folder), path)
        except (Refusal, OSError, UnicodeError) as problem:
            found.problems.append(Problem(path=str(path), why=_why(problem)))
    return found


def read_text(path: Path) -> str:
    """A file's text.

    Raises:
        Refusal: ``bad_file``: it is not UTF-8 text, or too large for a desk.
        OSError: it cannot be read.
    """
    return decoded(_bytes(path, CONTENT_BYTES + 3))


def decoded(data: bytes) -> str:
    """Bytes as the text of a file; a byte-order mark goes.

    Raises:
        Refusal: ``bad_file``: they are not UTF-8 text.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise Refusal(
            "bad_file", f"it is not UTF-8 text (byte {problem.start + 1:,}); save it as UTF-8"
        ) from None
    if "\0" in text:
        raise Refusal("bad_file", "it holds NUL characters, which no text does")
    return text


def _read_folder(path: Path, folder: str, found: Found) -> None:
    for inside in _walk(path, found):
        parent = _joined(folder, inside.parent.relative_to(path).as_posix().removeprefix("."))
        try:
            found.add(_read_file(inside, parent), inside)
        except (Refusal, OSError, UnicodeError) as problem:
            found.left_out.append(Problem(path=str(inside), why=_why(problem)))


def _walk(path: Path, found: Found) -> Iterator[Path]:
    def refused(problem: OSError) -> None:
        found.left_out.append(Problem(path=str(problem.filename), why=_why(problem)))

    for name, folders, files in os.walk(path, onerror=refused):
        folders[:] = sorted(one for one in folders if not one.startswith("."))
        for one in sorted(files):
            inside = Path(name, one)
            if inside.is_symlink():
                found.left_out.append(Problem(path=str(inside), why="it is a link"))
            elif not one.startswith("."):
                yield inside


def _read_file(path: Path, folder: str) -> list[NewFile]:
    suffix = path.suffix.casefold()
    if suffix in _WORKBOOKS:
        sheets = read_workbook(_bytes(path, MAX_FILE), name=path.name)
        return [NewFile(path=clean_path(_joined(folder, sheet.path)), content=sheet.text) for sheet in sheets]
    kind = _KINDS.get(suffix)
    if kind is None:
        path.stat()  # what is not there at all is told so
        kinds = ", ".join(one[1:] for one in (*_KINDS, *_WORKBOOKS))
        raise Refusal("bad_file", f"a desk takes {kinds}")
    return [NewFile(path=clean_path(_joined(folder, path.name)), content=read_text(path), kind=kind)]


def _bytes(path: Path, limit: int) -> bytes:
    # Without waiting: a pipe that nobody writes to would be waited for until the end of days.
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise Refusal("bad_file", "it is no plain file; a pipe is read from stdin")
        data = file.read(limit + 1)
    if len(data) > limit:
        raise Refusal("bad_file", f"it has over {limit:,} bytes")
    return data


def _joined(folder: str, name: str) -> str:
    return "/".join(part for part in (folder.strip("/"), name.strip("/")) if part)


def _why(problem: Exception) -> str:
    if isinstance(problem, OSError):
        return problem.strerror or str(problem)
    return str(problem) if isinstance(problem, ResearchdeskError) else "its name is not UTF-8"
