"""The I/O log of a session as values: each message and the calls that it made."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from researchdesk.graph.plain import one_line
from researchdesk.state.errors import NotFound
from researchdesk.state.rows import ROLE_CALLER
from researchdesk.tools.workspace import Desk

TEXT_CHARS = 120
_SUBJECTS = (
    "query",
    "locator",
    "artifact_id",
    "item_id",
    "report_section_key",
    "objective",
    "question_id",
    "challenge_id",
    "target_id",
    "id",
    "name",
    "summary",
    "text",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedCall:
    """A tool call and its result; ``arguments`` names long texts by the hash of their blob."""

    id: str
    tool: str
    arguments: dict[str, Any]
    entity_type: str
    entity_id: str
    status: str
    code: str
    duration_ms: int
    result: str | None
    """None when it was purged."""
    seq: int
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedMessage:
    """A message: a model's answer, or the stand-in for a call by a person or by code (role ``caller``)."""

    id: str
    turn_id: str
    role: str
    text: str | None
    """None when it was purged."""
    seq: int
    at: str
    calls: list[LoggedCall] = field(default_factory=list)


def read_log(desk: Desk, session_id: str = "") -> list[LoggedMessage]:
    """The messages of a session in order, each with its calls.

    Raises:
        NotFound: there is no such session.
    """
    session = desk.existing(session_id)
    rows = desk.ledger.query(
        "SELECT * FROM io_log WHERE session_id = ? ORDER BY message_seq, tool_seq", (session.id,)
    )
    messages: dict[str, LoggedMessage] = {}
    for row in rows:
        key = str(row["message_id"])
        if key not in messages:
            messages[key] = LoggedMessage(
                id=key,
                turn_id=str(row["turn_id"]),
                role=str(row["role"]),
                text=_text(desk, row["content"], row["content_hash"]),
                seq=int(str(row["message_seq"])),
                at=str(row["created_at"]),
            )
        if row["tool_call_id"] is not None:
            messages[key].calls.append(_call(desk, row))
    return list(messages.values())


def _call(desk: Desk, row: dict[str, Any]) -> LoggedCall:
    return LoggedCall(
        id=row["tool_call_id"],
        tool=row["name"],
        arguments=orjson.loads(row["arguments"]),
        entity_type=row["entity_type"],
        entity_id=row["entity_id"],
        status=row["status"],
        code=row["code"],
        duration_ms=row["duration_ms"],
        result=_text(desk, row["result"], row["result_hash"]),
        seq=row["tool_seq"],
        at=row["tool_created_at"],
    )


def _text(desk: Desk, inline: object, content_hash: object) -> str | None:
    if not content_hash:
        return str(inline)
    try:
        return desk.records.text(str(content_hash))
    except NotFound:
        return None


def log_lines(messages: Sequence[LoggedMessage]) -> Iterator[tuple[str, ...]]:
    """The log as rows: time, turn, who or tool, about, status, milliseconds, first line of the text."""
    for message in messages:
        if message.role != ROLE_CALLER:
            yield (message.at[:19], message.turn_id, message.role, "", "", "", _first_line(message.text))
        for call in message.calls:
            yield (
                call.at[:19],
                message.turn_id or "-",
                f"  {call.tool}",
                subject(call),
                call.code or call.status,
                str(call.duration_ms),
                _first_line(call.result),
            )


def subject(call: LoggedCall) -> str:
    """What a call was about: the thing that it made or named, else the argument that says most."""
    named = (call.arguments.get(name) for name in _SUBJECTS)
    said = next((value for value in named if isinstance(value, str) and value), "")
    return one_line(call.entity_id or said, limit=60)


def _first_line(text: str | None) -> str:
    """The first line that says something; the tags around archived text do not."""
    if text is None:
        return "(purged)"
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("<")]
    return one_line(lines[0] if lines else "", limit=TEXT_CHARS)
