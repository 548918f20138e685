"""The desk's files as commands name and show them."""

from typing import TYPE_CHECKING, Any

from researchdesk.state.errors import NotFound

if TYPE_CHECKING:
    from researchdesk.state.desk.files import DeskFile
    from researchdesk.tools.workspace import Desk


def as_json(file: "DeskFile") -> dict[str, Any]:
    """A file as commands write it; ``hash`` is its version."""
    cause = file.cause
    call = {"session_id": cause.session_id, "turn_id": cause.turn_id, "tool_call_id": cause.tool_call_id}
    return {
        "id": file.id,
        "path": file.path,
        "kind": file.kind,
        "hash": file.content_hash,
        "rev": file.rev,
        "chars": file.chars,
        "deleted": file.deleted,
        "created_at": file.created_at,
        "created_by": file.created_by,
        "updated_at": file.updated_at,
        "updated_by": file.updated_by,
        "created_by_call": call if cause.tool_call_id else None,
    }


def at(desk: "Desk", path: str) -> "DeskFile | None":
    """The file that is there at a path or under an id; None where there is none."""
    try:
        return desk.files.get(path)
    except NotFound:
        return None


def found(desk: "Desk", name: str, *, deleted: bool = False) -> "DeskFile":
    """The file that is there at a path or under an id, or where asked the one deleted last from that path.

    Raises:
        NotFound: there is none; the message says what lies there instead.
    """
    from researchdesk.state.desk.paths import path_key

    there = at(desk, name.rstrip("/"))
    if there is not None:
        return there
    gone = [
        file
        for file in desk.files.listed(deleted=True)
        if name == file.id or path_key(name) == path_key(file.path)
    ]
    last = max(gone, key=lambda file: file.updated_seq, default=None)
    if last is not None and deleted:
        return last
    if last is not None:
        raise NotFound(
            f"{last.path} is deleted; `researchdesk desk revisions {last.id}` shows how to restore it"
        )
    inside = len(desk.files.listed(name.strip("/"))) if name.strip("/") else 0
    if inside:
        raise NotFound(f"{name[:200]} is no file but a folder with {inside:,} files in it")
    raise NotFound(f"no file {name[:200]!r} on this desk; `researchdesk desk ls` lists what is there")


def listed(desk: "Desk", name: str, *, deleted: bool) -> "list[DeskFile]":
    """The files in a folder, or the one file of that name.

    Raises:
        NotFound: neither is there.
    """
    folder = "" if name == "." else name.strip("/")
    inside = desk.files.listed(folder, deleted=deleted)
    if inside or not folder:
        return list(inside)
    file = found(desk, folder, deleted=deleted)
    return [] if file.kind == "folder" or file.deleted != deleted else [file]


def folder_of(desk: "Desk", name: str) -> str:
    """The path of a folder of the desk, as its files spell it; "" for all of it.

    Raises:
        NotFound: there is none.
    """
    folder = name.strip("/")
    if folder in ("", "."):
        return ""
    inside = desk.files.listed(folder)
    if inside:
        return "/".join(inside[0].path.split("/")[: folder.count("/") + 1])
    return found(desk, folder).path


def matched(file: "DeskFile", version: str) -> str:
    """The whole hash of a file's version where these are its first digits; else what was given, as a hash."""
    from researchdesk.state.desk.naming import is_version

    if not version or is_version(version, file.content_hash):
        return file.content_hash if version else ""
    return f"sha256:{version.removeprefix('sha256:')}"


def version_of(desk: "Desk", file: "DeskFile", version: str) -> str:
    """The whole hash of a version of a file, present or earlier, by its hash or its first digits.

    Raises:
        NotFound: it never had such a version.
    """
    from researchdesk.state.desk.naming import VERSION_DIGITS, is_version

    hashes = [file.content_hash, *(kept.content_hash for kept in desk.files.revisions(file.id))]
    for content_hash in hashes:
        if is_version(version, content_hash):
            return content_hash
    raise NotFound(
        f"{file.path} has no version {version[:80]!r}; `researchdesk desk revisions {file.id}` lists them. Name one "
        f"by its hash, or by {VERSION_DIGITS} digits of it or more"
    )


def revisions(desk: "Desk", file: "DeskFile") -> list[dict[str, Any]]:
    """What a file was before each of its changes, newest first; ``until`` is when the change came that ended it."""
    rows = desk.ledger.query(
        "SELECT id, created_at, proposal_id FROM file_revisions WHERE file_id = ?", (file.id,)
    )
    changes = {row["id"]: row for row in rows}
    return [
        {
            "id": kept.id,
            "rev": kept.rev,
            "path": kept.path,
            "kind": kept.kind,
            "hash": kept.content_hash,
            "chars": kept.chars,
            "deleted": kept.deleted,
            "until": changes[kept.id]["created_at"],
            "op": kept.op,
            "actor": kept.actor,
            "proposal_id": changes[kept.id]["proposal_id"],
        }
        for kept in desk.files.revisions(file.id)
    ]
