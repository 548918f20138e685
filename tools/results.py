"""What a call gives back, now or when it is asked again later."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from researchdesk.state.events import Stowed
from researchdesk.state.stowing import unstow
from researchdesk.state.vocabulary import CallStatus
from researchdesk.state.workspace import Workspace

PURGED = "The text of this result was removed for good; what the call did still stands."


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What a call gives back.

    ``text`` is for a model, ``data`` for a program (``data["code"]`` names a refusal), ``seq`` is the session's
    sequence after the call.
    """

    text: str
    data: Mapping[str, Any]
    status: CallStatus
    replayed: bool
    seq: int
    effects: tuple[Any, ...] = ()


def replayed(row: Mapping[str, str], text: str) -> ToolResult:
    """The result of a recorded call again, with what `text_again` gave."""
    return ToolResult(
        text=text,
        data=orjson.loads(row["data"]),
        status=row["status"],  # type: ignore[arg-type]
        replayed=True,
        seq=int(row["seq"]),
    )


def result_text(row: Mapping[str, str], read: Callable[[str], str]) -> str:
    """The text of a recorded call's result."""
    return unstow(Stowed(inline=row["result"], hash=row["result_hash"]), read)


def text_again(row: Mapping[str, str], workspace: Callable[[], Workspace], read: Callable[[str], str]) -> str:
    """The text of a recorded call's result, or that it was purged; the state is asked for only where that may be.

    Args:
        row: the call's row.
        workspace: gives the session's state.
        read: gives the text of a body.
    """
    if not row["result_hash"]:
        return row["result"]
    return PURGED if is_purged(row, workspace()) else result_text(row, read)


def is_purged(row: Mapping[str, str], workspace: Workspace) -> bool:
    """Whether a recorded call's result repeated a text that was removed since."""
    if not row["result_hash"] or workspace.run is None:
        return False
    return workspace.run.artifact_of(row["entity_type"], row["entity_id"]) in workspace.purged_artifacts
