"""Listing the desk: a folder's files level by level, in pages that a file's id leads from one to the next."""

import re
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from researchdesk.state.desk.desk_state import DeskState
from researchdesk.state.desk.files import DeskFile
from researchdesk.state.desk.naming import fitted_label, is_whole, named_folder, shown, version
from researchdesk.state.desk.paths import is_inside, path_key
from researchdesk.state.errors import Refusal
from researchdesk.state.ids import CallId
from researchdesk.state.workspace import Workspace
from researchdesk.tools.desk.arguments import ListFiles
from researchdesk.tools.desk.results import sealed_lines
from researchdesk.tools.spec import Decision, Gathered

_NEXT: Final = re.compile(r"//(f_[0-9a-f]{12}):([0-9]{1,3})")
Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Entry:
    """A file, or a folder with what is in it at any depth; ``key`` is its place in the order of a list."""

    key: Key
    path: str
    file: DeskFile | None
    inside: int
    first: str
    """The id of its first file, from which a list goes on."""

    @property
    def line(self) -> str:
        """Kind, path, version, revision and size."""
        file = self.file
        if file is None or file.kind == "folder":
            held = f"{self.inside:,} {'file' if self.inside == 1 else 'files'}"
            own = f" {version(file.content_hash)} r{file.rev}" if file else ""
            return f"folder {shown(self.path + '/')}{own} {held}{self._id}"
        return (
            f"{file.kind} {shown(file.path)} {version(file.content_hash)} r{file.rev} {file.chars}{self._id}"
        )

    @property
    def _id(self) -> str:
        """The file's id where its path cannot be shown as it is."""
        return "" if self.file is None or is_whole(self.path) else f" id {self.file.id}"

    @property
    def data(self) -> dict[str, Any]:
        """The same for programs."""
        if self.file is None:
            return {"kind": "folder", "path": self.path, "files": self.inside}
        own = self.file
        known = {"kind": own.kind, "path": own.path, "file_id": own.id, "version": own.content_hash}
        size = {"files": self.inside} if own.kind == "folder" else {"chars": own.chars}
        return {**known, "rev": own.rev, **size}


def decide_list(workspace: Workspace, arguments: ListFiles, gathered: Gathered, call: CallId) -> Decision:
    """List a folder, or go on with a list."""
    assert gathered.desk is not None
    if arguments.depth < 0:
        raise Refusal(
            "invalid_arguments", f"depth: {arguments.depth} is no number of levels. Send 0 for all."
        )
    desk = gathered.desk.state
    folder, after = _place(desk, arguments.folder)
    everything = _entries(desk, folder, arguments.depth)
    entries = [entry for entry in everything if entry.key >= after[: len(entry.key)]]
    before = len(everything) - len(entries)
    following = [f"//{entry.first}:{_levels(folder)}" for entry in entries]

    def attributes(count: int) -> dict[str, str | int]:
        here: dict[str, str | int] = {"total": len(everything)}
        if folder:
            here["folder"] = fitted_label(folder)
        if entries:
            here["entries"] = f"{before + 1}-{before + count}"
        return {**here, "truncated": "true", "next": following[count]} if count < len(entries) else here

    lines = [entry.line for entry in entries] or ["Nothing is here yet."]
    text, count = sealed_lines(lines, gathered.boundary, tag="desk_files", attributes=attributes)
    more = count < len(entries)
    return Decision(
        text=text,
        data={
            "folder": folder,
            "depth": arguments.depth,
            "entries": [entry.data for entry in entries[:count]],
            "total": len(everything),
            "truncated": more,
            "next": following[count] if more else "",
        },
    )


def _place(desk: DeskState, asked: str) -> tuple[str, Key]:
    """The folder that is asked for, and the key of the entry to begin with."""
    found = _NEXT.fullmatch(asked.strip())
    if found is None:
        return named_folder(desk, asked), ()
    file = desk.files.get(found[1])
    if file is None:
        raise Refusal(
            "invalid_arguments",
            f'folder: there is no list to go on with at "{asked.strip()}". Name a folder.',
        )
    # Also a file that is gone since has its place in the order.
    return "/".join(file.path.split("/")[: int(found[2])]), _key(file)


def _entries(desk: DeskState, folder: str, depth: int) -> list[_Entry]:
    inside = ((_key(file), file) for file in desk.live if is_inside(file.path, folder))
    ordered = sorted(inside, key=lambda one: one[0])
    level = _levels(folder) + depth
    groups = groupby(ordered, key=lambda one: one[0][:level] if depth else one[0])
    return [_entry(key, [file for _, file in group]) for key, group in groups]


def _entry(key: Key, files: list[DeskFile]) -> _Entry:
    first = files[0]
    segments = first.path.split("/")
    own = first if len(segments) == len(key) else None
    inside = sum(file.kind != "folder" for file in files if file is not own)
    return _Entry(key, "/".join(segments[: len(key)]), own, inside, first.id)


def _key(file: DeskFile) -> Key:
    return tuple(path_key(file.path).split("/"))


def _levels(folder: str) -> int:
    return folder.count("/") + 1 if folder else 0
