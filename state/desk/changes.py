"""What a gated call asks for, and what it makes of the files of a desk."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, assert_never

from researchdesk.state.copying import changed
from researchdesk.state.desk.desk_state import DeskState
from researchdesk.state.desk.edits import Edit, apply, cells_of, guard_of, make_edit, touched_unchanged
from researchdesk.state.desk.events import FileChanged
from researchdesk.state.desk.files import ChangeOp, DeskFile, FileKind, Revision
from researchdesk.state.desk.labels import quoted
from researchdesk.state.desk.paths import (
    MAX_PATH,
    clean_path,
    free_path,
    is_inside,
    name_of,
    parent_of,
    path_key,
)
from researchdesk.state.desk.proposals import Guard, Verb
from researchdesk.state.errors import Refusal
from researchdesk.state.ids import content_hash


@dataclass(frozen=True, slots=True, kw_only=True)
class Rename:
    """A file, or a folder with all that is in it, gets another path."""

    new_path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Delete:
    """A file goes; it can be restored."""


Action = Edit | Rename | Delete


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A file as an action leaves it; ``text`` is None where the content stays.

    ``moved`` are the files that a folder takes along: their ids and where they go.
    """

    op: ChangeOp
    path: str
    text: str | None = None
    refs: tuple[str, ...] = ()
    moved: tuple[tuple[str, str], ...] = ()


def action_of(tool: str, arguments: Mapping[str, Any], *, kind: FileKind) -> Action:
    """The action that a call of a gated tool asks for, on a file of that kind.

    Raises:
        Refusal: its arguments do not go together.
    """
    if tool == "desk_delete_file":
        return Delete()
    mode: Any = arguments.get("mode") or ("rename" if tool == "desk_rename_file" else "set_cells")
    new_path = arguments.get("new_path", "")
    if mode == "rename":
        if not new_path:
            raise Refusal("invalid_arguments", "new_path: it is empty. Send the whole new path.")
        for field in ("content", "find", "cells"):
            if arguments.get(field):
                raise Refusal("invalid_arguments", f'{field}: mode "rename" does not use it. Leave it empty.')
        return Rename(new_path=clean_path(new_path))
    if new_path:
        raise Refusal("invalid_arguments", f'new_path: mode "{mode}" does not use it. Send "".')
    return make_edit(
        kind=kind,
        mode=mode,
        content=arguments.get("content", ""),
        find=arguments.get("find", ""),
        cells=[(cell["ref"], cell["value"]) for cell in arguments.get("cells", ())],
    )


def verb_of(action: Action) -> Verb:
    """What a person is asked for."""
    return "delete" if isinstance(action, Delete) else "rename" if isinstance(action, Rename) else "change"


def guard_for(action: Action) -> Guard:
    """What has to be as it was shown for the action to run."""
    return guard_of(action) if isinstance(action, Edit) else "file"


def still_right(action: Action, base: str, current: str) -> bool:
    """Whether what the action stands on is in the current text as it was in the one that was shown."""
    return touched_unchanged(action, base, current) if isinstance(action, Edit) else base == current


def outcome_of(action: Action, file: DeskFile, text: str, desk: DeskState) -> Outcome:
    """What the action makes of a file whose text is ``text``.

    Raises:
        Refusal: it cannot be done as things stand.
    """
    match action:
        case Edit():
            refs = cells_of(action) if action.mode == "set_cells" else ()
            return Outcome(op="update", path=file.path, text=apply(action, text), refs=refs)
        case Rename():
            return _renamed(action.new_path, file, desk)
        case Delete():
            inside = desk.folders.get(path_key(file.path), 0)
            if file.kind == "folder" and inside:
                raise Refusal(
                    "folder_not_empty", f"{_named(file)} contains {inside} items; delete or move them first."
                )
            return Outcome(op="delete", path=file.path)
    assert_never(action)


def _renamed(new_path: str, file: DeskFile, desk: DeskState) -> Outcome:
    if new_path == file.path:
        raise Refusal("invalid_arguments", f'new_path: the file is at "{new_path}" already.')
    if file.kind == "folder" and is_inside(new_path, file.path):
        raise Refusal("invalid_arguments", f'new_path: "{new_path}" is inside the folder that moves.')
    check_free(desk, new_path, but=file)
    if file.kind != "folder":
        return Outcome(op="rename", path=new_path)
    inside = sorted(desk.inside(file.path), key=lambda one: one.path)
    moved = tuple((other, clean_path(new_path + other.path[len(file.path) :])) for other in inside)
    for other, path in moved:
        check_free(desk, path, but=other)
    return Outcome(op="rename", path=new_path, moved=tuple((other.id, path) for other, path in moved))


def check_free(desk: DeskState, path: str, *, but: DeskFile | None = None) -> None:
    """Refuse a path where another file than ``but`` stands, that leads through a document, or that files are in.

    A folder that moves may go where files are: it takes its own along.

    Raises:
        Refusal: ``exists``.
    """
    taken = desk.at_path(path)
    if taken is not None and (but is None or taken.id != but.id):
        instead = "" if but else " Use desk_update_file."
        raise Refusal("exists", f"{_named(taken)} already exists (id {taken.id}).{instead}")
    for folder in _folders_above(path):
        above = desk.at_path(folder)
        if above is not None and above.kind != "folder":
            raise Refusal("exists", f"{_named(above)} is a {above.kind}, nothing can be put into it.")
    if taken is None and (but is None or but.kind != "folder"):
        inside = next(desk.inside(path), None)
        if inside is not None:
            raise Refusal("exists", f'"{path}" is a folder already: {_named(inside)} is in it.')


def _named(file: DeskFile) -> str:
    """The whole path in quotes that it cannot end: a model is told it outside of any block of data."""
    return quoted(file.path, MAX_PATH)


def restored_path(kept: Revision, desk: DeskState) -> str:
    """Where a file comes back to: where it was, or as near to it as what stands there now lets it."""
    others = [other for other in desk.live if other.id != kept.file_id]
    documents = {path_key(other.path) for other in others if other.kind != "folder"}
    path = kept.path
    for folder in _folders_above(path):
        if path_key(folder) in documents:
            path = f"{parent_of(folder)}/{name_of(path)}".removeprefix("/")
    taken = {path_key(other.path) for other in others}
    if kept.kind != "folder":
        taken |= {path_key(folder) for other in others for folder in _folders_above(other.path)}
    return free_path(path, taken)


def _folders_above(path: str) -> list[str]:
    """The folders that a path leads through, the innermost first."""
    folders = []
    while path := parent_of(path):
        folders.append(path)
    return folders


def after_hash_of(outcome: Outcome, base_hash: str) -> str:
    """The version that a file will have, from the one that the change stands on; empty once it is gone."""
    if outcome.op == "delete":
        return ""
    return base_hash if outcome.text is None else content_hash(outcome.text.encode())


def events_of(
    outcome: Outcome, file: DeskFile, desk: DeskState, *, actor: str, at: str, proposal_id: str = ""
) -> tuple[tuple[FileChanged, ...], dict[str, bytes]]:
    """The events that make an outcome true, each with the revision it keeps, and the new content's body."""
    body = None if outcome.text is None else outcome.text.encode()
    own = FileChanged(
        file_id=file.id,
        op=outcome.op,
        path=outcome.path,
        content_hash=file.content_hash if body is None else content_hash(body),
        chars=file.chars if outcome.text is None else len(outcome.text),
        deleted=outcome.op == "delete",
        actor=actor,
        at=at,
        proposal_id=proposal_id,
        revision_id=revision_id(file),
    )
    along = tuple(_moved(desk.files[key], path, own) for key, path in outcome.moved)
    return (own, *along), {} if body is None else {own.content_hash: body}


def _moved(file: DeskFile, path: str, own: FileChanged) -> FileChanged:
    return changed(
        own,
        file_id=file.id,
        path=path,
        content_hash=file.content_hash,
        chars=file.chars,
        revision_id=revision_id(file),
    )


def revision_id(file: DeskFile) -> str:
    """The id of the revision that keeps a file as it stands now."""
    return f"r_{hashlib.sha256(f'{file.id}:{file.rev}'.encode()).hexdigest()[:12]}"


__all__ = [
    "Action",
    "Delete",
    "Edit",
    "Outcome",
    "Rename",
    "action_of",
    "after_hash_of",
    "check_free",
    "events_of",
    "guard_for",
    "outcome_of",
    "restored_path",
    "revision_id",
    "still_right",
    "verb_of",
]
