"""A folder (or some files of it) of local documents, walked and read so that nothing outside it can be reached.

Every component of a path is opened by itself, relative to its parent and without following links
(``dir_fd`` and ``O_NOFOLLOW``). A check of the whole path followed by an open would let a link that is swapped
in between escape; here such a race ends in a refusal. Links are not followed at all: one that stays inside
only repeats a document that is read under its own name.
"""

import json
import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from researchdesk.state.locators import MAX_LOCATOR
from researchdesk.tools.sources.leaveout import (
    MAX_RAW,
    GitIgnores,
    LeftOut,
    file_reason,
    folder_reason,
    has_marker,
    is_setting,
)
from researchdesk.tools.sources.ports import FetchRefused

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_MAX_GITIGNORE = 1_000_000
_NOT_IN_NAMES = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileStamp:
    """What the file system says of a file; equal stamps mean that it need not be read again."""

    size: int
    mtime_ns: int
    ctime_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundFile:
    """A document met on a walk: its path under the root (``/``-separated) and its stamp."""

    path: str
    stamp: FileStamp


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    name: str
    is_dir: bool
    is_link: bool
    status: os.stat_result | None


class CorpusRoot:
    """One root of a corpus.

    Args:
        folder: the real path of a folder.
        name: how the root is called in locators.
        only: the files of the folder that belong to it; empty means all that is in it and below.
        without: real paths under the folder that belong to something else and are passed over.
    """

    def __init__(
        self,
        folder: Path,
        *,
        name: str = "",
        only: frozenset[str] = frozenset(),
        without: Sequence[Path] = (),
    ) -> None:
        self.folder = folder
        self.name = name or folder.name or "root"
        self.only = only
        self._without = frozenset(
            inner.relative_to(folder).as_posix()
            for inner in without
            if inner != folder and inner.is_relative_to(folder)
        )

    @property
    def key(self) -> str:
        """What the root is indexed under: equal keys mean equal documents."""
        narrowed = [sorted(self.only), sorted(self._without)]
        return (
            json.dumps([str(self.folder), *narrowed], ensure_ascii=False)
            if any(narrowed)
            else str(self.folder)
        )

    def walk(self, left_out: LeftOut) -> Iterator[FoundFile]:
        """Give the documents in a stable order (folders after files, by name); tally the rest."""
        if self.only:
            yield from self._named_files(left_out)
            return
        waiting = [("", GitIgnores())]
        while waiting:
            folder, ignores = waiting.pop()
            try:
                entries, ignores = self._enter(folder, ignores)
            except (OSError, FetchRefused):
                left_out.add("unreadable", folder or self.name)
                continue
            if folder and has_marker(entry.name for entry in entries):
                left_out.add("ignored_folder", folder)
                continue
            subfolders = [entry for entry in entries if entry.is_dir]
            for entry in entries:
                if not entry.is_dir and not is_setting(entry.name):
                    yield from self._file(folder + entry.name, entry, ignores, left_out)
            for entry in reversed(subfolders):
                if self._enters(folder + entry.name, entry, ignores, left_out):
                    waiting.append((f"{folder}{entry.name}/", ignores))

    def read(self, path: str) -> tuple[bytes, FileStamp]:
        """Read a file under the root, whole.

        Raises:
            FetchRefused: ``fetch_not_found``, ``fetch_unsafe`` (a link, a pipe, a device, a climb),
                ``fetch_too_large``, ``fetch_unreadable`` (permission, disk).
        """
        with _opened(self.folder, path) as descriptor:
            return _read_whole(descriptor, path, limit=MAX_RAW)

    def locate(self, path: str) -> str:
        """Give the real path under the root of ``path`` (relative, or absolute), links resolved.

        Opening the result follows no link, so a race can only make it fail.

        Raises:
            FetchRefused: ``fetch_unsafe`` where it lies outside the root, or is none of its named files.
        """
        real = _resolved(self.folder / path)
        if real is None:
            raise FetchRefused("fetch_not_found", f"there is no file {path!r} in the corpus")
        if not real.is_relative_to(self.folder) or real == self.folder:
            raise FetchRefused("fetch_unsafe", f"{path!r} lies outside the corpus {self.name!r}")
        relative = real.relative_to(self.folder).as_posix()
        if self.only and relative not in self.only:
            raise FetchRefused(
                "fetch_unsafe", f"{path!r} is not one of the files that the corpus consists of"
            )
        return relative

    def why_left_out(self, path: str) -> str:
        """Say why a path does not belong to the corpus (a reason of `leaveout.REASONS`); "" where it does."""
        *folders, name = path.split("/")
        ignores, folder = GitIgnores(), ""
        for step in ("", *folders):
            folder += f"{step}/" if step else ""
            if step and (folder_reason(step) or folder[:-1] in self._without):
                return "ignored_folder"
            if not self.only:
                if step and ignores.ignores(folder):
                    return "gitignored"
                if step and any(
                    (self.folder / folder / marker).exists() for marker in ("pyvenv.cfg", "ledger.sqlite")
                ):
                    return "ignored_folder"
                ignores = self._entering(ignores, folder)
        if path in self._without:
            return "ignored_folder"
        return "gitignored" if ignores.ignores(path) else file_reason(name)

    def _named_files(self, left_out: LeftOut) -> Iterator[FoundFile]:
        for name in sorted(self.only):
            try:
                status = (self.folder / name).lstat()
            except OSError:
                left_out.add("unreadable", name)
                continue
            if reason := _kind_reason(status) or file_reason(name):
                left_out.add(reason, name)
            else:
                yield FoundFile(path=name, stamp=_stamp(status))

    def _enter(self, folder: str, ignores: GitIgnores) -> tuple[list[_Entry], GitIgnores]:
        """List a folder, sorted by name, and add its `.gitignore` to those that hold."""
        with (
            _opened_folder(self.folder, folder.split("/")[:-1]) as descriptor,
            os.scandir(descriptor) as listing,
        ):
            entries = sorted((_entry(entry) for entry in listing), key=lambda entry: os.fsencode(entry.name))
        if any(entry.name == ".gitignore" for entry in entries):
            ignores = self._entering(ignores, folder)
        return entries, ignores

    def _file(self, path: str, entry: _Entry, ignores: GitIgnores, left_out: LeftOut) -> Iterator[FoundFile]:
        if path in self._without:
            return
        reason = _name_reason(path)
        if not reason and entry.is_link:
            target = _resolved(self.folder / path)
            reason = "symlink" if target and target.is_relative_to(self.folder) else "symlink_outside"
        reason = reason or file_reason(entry.name) or ("gitignored" if ignores.ignores(path) else "")
        reason = reason or ("unreadable" if entry.status is None else _kind_reason(entry.status))
        if reason or entry.status is None:
            left_out.add(reason, _printable(path))
        else:
            yield FoundFile(path=path, stamp=_stamp(entry.status))

    def _enters(self, path: str, entry: _Entry, ignores: GitIgnores, left_out: LeftOut) -> bool:
        if path in self._without:
            return False
        reason = _name_reason(path) or folder_reason(entry.name)
        reason = reason or ("gitignored" if ignores.ignores(f"{path}/") else "")
        if reason:
            left_out.add(reason, f"{_printable(path)}/")
        return not reason

    def _entering(self, ignores: GitIgnores, folder: str) -> GitIgnores:
        def text() -> str:
            with _opened(self.folder, f"{folder}.gitignore") as descriptor:
                raw, _ = _read_whole(descriptor, ".gitignore", limit=_MAX_GITIGNORE)
            return raw.decode("utf-8", "replace")

        with suppress(FetchRefused):
            return ignores.entering(folder, text)
        return ignores


@contextmanager
def _opened_folder(root: Path, segments: list[str]) -> Iterator[int]:
    """Open a folder below ``root`` one component at a time; holds one descriptor and closes it afterwards."""
    descriptor = os.open(root, _FOLDER)
    try:
        for segment in segments:
            inner = os.open(segment, _FOLDER, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def _opened(root: Path, path: str) -> Iterator[int]:
    """Open a regular file below ``root``; closes it afterwards."""
    *folders, name = path.split("/")
    if any(segment in ("", ".", "..") or "\0" in segment for segment in (*folders, name)):
        raise FetchRefused("fetch_unsafe", f"{path!r} is not a path under the corpus")
    try:
        with _opened_folder(root, folders) as folder:
            _check_kind(os.stat(name, dir_fd=folder, follow_symlinks=False), path)
            descriptor = os.open(name, _FILE, dir_fd=folder)
        try:
            _check_kind(os.fstat(descriptor), path)
            yield descriptor
        finally:
            os.close(descriptor)
    except OSError as error:
        raise _refusal(error, path) from None


def _check_kind(status: os.stat_result, path: str) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise FetchRefused("fetch_not_found", f"{path!r} is a folder; name a file in it")
    if not stat.S_ISREG(status.st_mode):
        raise FetchRefused(
            "fetch_unsafe", f"{path!r} is a link, a pipe or a device; only plain files are read"
        )


def _refusal(error: OSError, path: str) -> FetchRefused:
    if isinstance(error, FileNotFoundError):
        return FetchRefused("fetch_not_found", f"there is no file {path!r} in the corpus")
    if isinstance(error, NotADirectoryError) or (error.strerror or "").startswith("Too many levels"):
        return FetchRefused(
            "fetch_unsafe", f"{path!r} leads through a link or a file; name the document itself"
        )
    return FetchRefused("fetch_unreadable", f"{path!r} cannot be read: {error.strerror or 'unknown cause'}")


def _read_whole(descriptor: int, path: str, *, limit: int) -> tuple[bytes, FileStamp]:
    """Read at most ``limit`` bytes, whatever the file system promised of its size."""
    status = os.fstat(descriptor)
    pieces: list[bytes] = []
    room = limit + 1
    if status.st_size <= limit:
        while room and (piece := os.read(descriptor, min(room, 1 << 20))):
            pieces.append(piece)
            room -= len(piece)
    if not room or status.st_size > limit:
        raise FetchRefused("fetch_too_large", f"{path!r} is larger than {limit:,} bytes")
    return b"".join(pieces), _stamp(status)


def _kind_reason(status: os.stat_result) -> str:
    if not stat.S_ISREG(status.st_mode):
        return "special"
    return "too_large" if status.st_size > MAX_RAW else ""


def _stamp(status: os.stat_result) -> FileStamp:
    return FileStamp(size=status.st_size, mtime_ns=status.st_mtime_ns, ctime_ns=status.st_ctime_ns)


def _resolved(path: Path) -> Path | None:
    """Resolve links; None where a part vanishes meanwhile."""
    try:
        return Path(os.path.realpath(path))
    except OSError:
        return None


def _entry(entry: os.DirEntry[str]) -> _Entry:
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        status = None
    is_dir = entry.is_dir(follow_symlinks=False)
    return _Entry(name=entry.name, is_dir=is_dir, is_link=entry.is_symlink(), status=status)


def _name_reason(path: str) -> str:
    legal = path.isprintable() or not _NOT_IN_NAMES.search(path)
    return "" if legal and len(path) < MAX_LOCATOR - 256 else "bad_name"


def _printable(name: str) -> str:
    return name[:200].encode("utf-8", "backslashreplace").decode()
