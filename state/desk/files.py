"""A file of the desk, as it stands and as it stood before a change."""

from dataclasses import dataclass
from typing import Literal

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass as checked_dataclass

from researchdesk.state.desk.markup import table
from researchdesk.state.ids import CallId

FileKind = Literal["folder", "markdown", "spreadsheet"]
ChangeOp = Literal["update", "rename", "delete", "restore", "human_edit"]

CONTENT_BYTES = 2_000_000


@checked_dataclass(frozen=True, slots=True, kw_only=True, config=ConfigDict(extra="forbid"))
class Cause:
    """The tool call that something on the desk was asked for in; all empty where a person did it."""

    session_id: str = ""
    turn_id: str = ""
    tool_call_id: str = ""

    @classmethod
    def of(cls, call: CallId) -> "Cause":
        """The cause that a call is."""
        return cls(session_id=call.session, turn_id=call.turn, tool_call_id=call.call)

    @property
    def call(self) -> CallId:
        """The call's identity."""
        return CallId(session=self.session_id, turn=self.turn_id, call=self.tool_call_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeskFile:
    """A document, a spreadsheet or a folder; ``content_hash`` is its version, which every change names.

    A deleted file keeps its id and its last content, so that it can come back.
    """

    id: str
    path: str
    kind: FileKind
    content_hash: str
    chars: int
    rev: int
    cause: Cause
    created_by: str
    created_at: str
    created_seq: int
    updated_by: str
    updated_at: str
    updated_seq: int
    edited: bool = False
    """Whether its last change was a person's edit, which that person's next one of the same minute continues."""
    deleted: bool = False


class FileList(list[DeskFile]):
    """Files in a list, which a notebook shows as a table."""

    def _repr_html_(self) -> str:
        columns = ("path", "kind", "revision", "characters", "changed", "by", "id", "version")
        rows = (
            (
                *(file.path, file.kind, str(file.rev), f"{file.chars:,}", file.updated_at[:19]),
                *(file.updated_by, file.id, file.content_hash),
            )
            for file in self
        )
        return table(columns, rows, caption=f"Files: {len(self)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """A file as it was before a change."""

    id: str
    file_id: str
    rev: int
    path: str
    kind: FileKind
    content_hash: str
    chars: int
    op: ChangeOp
    actor: str
    seq: int
    deleted: bool = False


class Revisions(list[Revision]):
    """Revisions of a file in a list, which a notebook shows as a table."""

    def _repr_html_(self) -> str:
        columns = ("revision", "number", "path", "characters", "until", "by", "version")
        rows = (
            (
                *(kept.id, str(kept.rev), kept.path, f"{kept.chars:,}", kept.op, kept.actor),
                kept.content_hash,
            )
            for kept in self
        )
        return table(columns, rows, caption=f"Revisions: {len(self)}")


def file_id(call: CallId) -> str:
    """The id of the file that this call creates."""
    return f"f_{call.digest(12)}"
