"""Naming what is on a desk, as a model does it: a file by id or path, a folder, a version by its first digits."""

from typing import Final

from researchdesk.state.desk.desk_state import DeskState
from researchdesk.state.desk.files import DeskFile
from researchdesk.state.desk.labels import NAME_CHARS, label, quoted
from researchdesk.state.desk.paths import path_key
from researchdesk.state.errors import Refusal
from researchdesk.state.texts import cut
from researchdesk.state.tokens import fitting

VERSION_DIGITS: Final = 12
NAME_TOKENS: Final = 60
"""What a name may cost where it is shown; of a longer one the beginning stands."""


def named_file(desk: DeskState, name: str) -> DeskFile:
    """The file that is there under an id or a path.

    Raises:
        Refusal: ``not_found``; also for a folder that only its files imply, since it is no file itself.
    """
    path = name.rstrip("/")
    found = desk.files.get(path) or desk.at_path(path)
    if found is not None and not found.deleted:
        return found
    inside = desk.folders.get(path_key(path), 0)
    if inside:
        raise Refusal(
            "not_found",
            f"{shown(path)} is no file: it is the folder of {inside:,} {'file' if inside == 1 else 'files'}. "
            "Name one of them; desk_list_files shows them.",
        )
    raise Refusal("not_found", f"No file {shown(name)} on this desk. Use desk_list_files.")


def named_folder(desk: DeskState, name: str) -> str:
    """The path of a folder that is there: one of its own, or one that files are in; "" for the top of the desk.

    Raises:
        Refusal: ``not_found``, or ``invalid_arguments`` for a document.
    """
    path = name.strip("/")
    if not path or path == ".":
        return ""
    file = desk.files.get(path) or desk.at_path(path)
    if file is not None and not file.deleted:
        if file.kind == "folder":
            return file.path
        raise Refusal(
            "invalid_arguments", f"folder: {shown(file.path)} is a {file.kind}. Read it with desk_read_file."
        )
    inside = next(desk.inside(path), None)
    if inside is None:
        raise Refusal("not_found", f'No folder {shown(path)} on this desk. Send "" for all of it.')
    return "/".join(inside.path.split("/")[: path.count("/") + 1])


def version(content_hash: str) -> str:
    """A content's version as a model is shown it: the first digits of its hash."""
    return content_hash.partition(":")[2][:VERSION_DIGITS]


def is_version(given: str, content_hash: str) -> bool:
    """Whether ``given`` names this content: its hash, or the first digits of it, 12 or more."""
    digits = given.strip().casefold().removeprefix("sha256:")
    return len(digits) >= VERSION_DIGITS and content_hash.partition(":")[2].startswith(digits)


def shown(name: str) -> str:
    """A name in quotes, on one line and short."""
    return quoted(fitted_label(name))


def is_whole(name: str) -> bool:
    """Whether a name is shown as it is, so that it can be copied into an argument."""
    return fitted_label(name) == name


def fitted_label(name: str, limit: int = NAME_CHARS, *, tokens: int = NAME_TOKENS) -> str:
    """The label of a text, also cut to what it may cost."""
    text = label(name, limit)
    end = fitting(text, tokens)
    return text if end >= len(text) else cut(text, max(2, end))
