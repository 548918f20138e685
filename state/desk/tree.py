"""The tree of a desk's files within a room of tokens: folders that do not fit whole are one line each."""

from collections import Counter as Tally
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from researchdesk.state.desk.fitting import Counter, cost, fixed, total, whole
from researchdesk.state.desk.labels import NAME_CHARS, label, quoted

_SHORT: Final = {"markdown": "md", "spreadsheet": "csv"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedFile:
    """What a list shows of a file that is there; ``size`` in characters."""

    id: str
    kind: str
    path: str
    rev: int
    size: int

    @property
    def line(self) -> str:
        """Kind, path, revision and size; the id too, where the path cannot be shown as it is."""
        name = "" if label(self.path) == self.path else f" id {label(self.id)}"
        return f"{_kind(self.kind)} {quoted(self.path)} r{self.rev} {self.size}{name}"


_Entry = tuple[tuple[str, ...], ListedFile]


@dataclass(frozen=True, eq=False, slots=True)
class _Folder:
    """A folder with all that lies in it at any depth, sorted; its path has ``depth`` segments."""

    entries: Sequence[_Entry]
    depth: int

    @property
    def line(self) -> str:
        """Path, and how many files of which kind."""
        path = "/".join(self.entries[0][0][: self.depth])
        kinds = Tally(file.kind for _, file in self.entries if file.kind != "folder")
        held = ", ".join(f"{number} {_kind(kind)}" for kind, number in sorted(kinds.items()))
        return f'{quoted(path, NAME_CHARS - 1)[:-1]}/" {held or "empty"}'

    def children(self, listed: Collection[str]) -> list["_Node"]:
        """What lies directly in it: folders, then the files that are not listed elsewhere."""
        folders: list[_Node] = []
        files: list[_Node] = []
        for segment, group in groupby(self.entries, key=lambda entry: entry[0][self.depth : self.depth + 1]):
            entries = list(group)
            if not segment or (len(entries) == 1 and self._holds(entries[0])):
                files += (file for _, file in entries if file.kind != "folder" and file.id not in listed)
            else:
                folders.append(_Folder(entries, self.depth + 1))
        return folders + files

    def _holds(self, entry: _Entry) -> bool:
        segments, file = entry
        return len(segments) == self.depth + 1 and file.kind != "folder"


_Node = _Folder | ListedFile


class FileTree:
    """The live files of a desk, sorted once, to be shown in as much room as there is."""

    def __init__(self, files: Iterable[ListedFile]) -> None:
        entries = [(tuple(file.path.split("/")), file) for file in files]
        self._root = _Folder(sorted(entries, key=lambda entry: (entry[0], entry[1].id)), 0)
        self._by_id = {file.id: file for _, file in self._root.entries}
        self.documents = sum(file.kind != "folder" for _, file in entries)
        """How many files there are, folders not counted."""

    def file(self, file_id: str) -> ListedFile | None:
        """The file of this id."""
        return self._by_id.get(file_id)

    def lines(self, *, first: Iterable[str], room: int, count: Counter) -> list[str]:
        """Lines of at most ``room`` tokens; where files have none of their own, the last line says how many.

        Args:
            first: ids of files whose lines come before the tree, as far as they fit.
            room: tokens that the lines may cost, their ends included.
            count: what a text costs.
        """
        room -= cost(_rest(self.documents), count)
        ahead: list[_Node] = [self._by_id[key] for key in dict.fromkeys(first) if key in self._by_id]
        ahead = _some(ahead, room=room, count=count)
        room -= total((node.line for node in ahead), count)
        listed = {node.id for node in ahead if isinstance(node, ListedFile)}
        nodes = [*ahead, *_unfolded(self._root, listed, room=room, count=count)]
        shown = sum(isinstance(node, ListedFile) and node.kind != "folder" for node in nodes)
        lines = [node.line for node in nodes]
        return [*lines, _rest(self.documents - shown)] if room >= 0 and shown < self.documents else lines


def _unfolded(root: _Folder, listed: Collection[str], *, room: int, count: Counter) -> list[_Node]:
    """What fits: folders are opened level by level, each if all that lies in it has room, the smallest first.

    What room is left shows a part of the first folder that had too little of it, below the line of that folder.
    """
    nodes = root.children(listed)
    needed = whole((node.line for node in nodes), room=room, count=count)
    if needed is None:
        return _some(nodes, room=room, count=count)
    room -= needed
    closed: list[_Folder] = []
    level = _folders(nodes)
    while level:
        below: list[_Node] = []
        for folder in level:
            children = folder.children(listed)
            own = cost(folder.line, count)
            needed = whole((node.line for node in children), room=room + own, count=count)
            if needed is None:
                closed.append(folder)
            elif children:
                _put(nodes, children, at=folder, instead=True)
                room += own - needed
                below += children
        level = _folders(below)
    if closed:
        _put(nodes, _some(closed[0].children(listed), room=room, count=count), at=closed[0], instead=False)
    return nodes


def _put(nodes: list[_Node], children: list[_Node], *, at: _Folder, instead: bool) -> None:
    """Put what lies in a folder behind it, or in its place."""
    place = nodes.index(at)
    nodes[place if instead else place + 1 : place + 1] = children


def _some(nodes: list[_Node], *, room: int, count: Counter) -> list[_Node]:
    """The first nodes, as many as fit."""
    return nodes[: len(fixed((node.line for node in nodes), room=room, count=count))]


def _folders(nodes: Iterable[_Node]) -> list[_Folder]:
    return sorted((node for node in nodes if isinstance(node, _Folder)), key=lambda node: len(node.entries))


def _kind(kind: str) -> str:
    return _SHORT.get(kind, label(kind, 20))


def _rest(files: int) -> str:
    return f"… {files} more, use desk_list_files"
