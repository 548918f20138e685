"""The I/O log as values: each message with the calls that it made, what they were about and who decided about them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from researchdesk.state.desk.context import MessageContext, context_from
from researchdesk.state.desk.desk_state import DeskState
from researchdesk.state.desk.labels import label
from researchdesk.state.desk.markup import table
from researchdesk.state.errors import NotFound
from researchdesk.state.rows import ROLE_CALLER, ROLE_USER
from researchdesk.tools.records import Records

TEXT_CHARS: Final = 120
TARGET_CHARS: Final = 60
ROLE_PERSON: Final = "person"
_DONE: Final = {
    "create": "made",
    "human_edit": "saved",
    "rename": "renamed",
    "delete": "deleted",
    "restore": "restored",
    "update": "changed",
}
_BY_PEOPLE: Final = (
    "SELECT id, 'create' AS op, coalesce((SELECT path FROM file_revisions WHERE file_id = f.id ORDER BY rev LIMIT 1), "
    "path) AS path, '' AS new_path, created_by AS actor, created_seq AS seq, created_at AS at FROM desk_files AS f "
    "WHERE tool_call_id = '' UNION ALL "
    "SELECT r.id, op, r.path, coalesce((SELECT path FROM file_revisions WHERE file_id = r.file_id AND rev > r.rev "
    "ORDER BY rev LIMIT 1), f.path), actor, seq, r.created_at FROM file_revisions AS r "
    "JOIN desk_files AS f ON f.id = r.file_id WHERE proposal_id = '' ORDER BY seq"
)
_NOT_RUN: Final = ("rejected", "stale", "expired")
_SUBJECTS: Final = (
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
    "path",
    "folder",
    "target",
    "name",
    "summary",
    "text",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedProposal:
    """What became of a call that a person has to approve; ``approved_by`` is None unless somebody did."""

    id: str
    status: str
    path: str
    decided_by: str
    decided_at: str
    approved_by: str | None
    approved_at: str | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedCall:
    """A tool call and its result; ``arguments`` names long texts by the hash of their blob.

    ``target`` is the path of the file that it was about, else the thing that it made or named.
    """

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
    target: str = ""
    proposal: LoggedProposal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedMessage:
    """A message: of a person, a model's answer, or the stand-in for a call by a person or by code (role ``caller``).

    What a person did to a file without a call stands here too (role ``person``): ``actor`` did it, to ``target``.
    """

    id: str
    turn_id: str
    role: str
    text: str | None
    """None when it was purged."""
    seq: int
    at: str
    calls: list[LoggedCall] = field(default_factory=list)
    session_id: str = ""
    context: MessageContext | None = None
    """What stood open on the desk when a person sent it."""
    actor: str = ""
    target: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRow:
    """A line of the log as a person reads it; texts are on one line and cut."""

    session_id: str
    at: str
    turn_id: str
    who: str
    """The role of a message or the person of a change; the tool of a call, behind two spaces."""
    target: str
    status: str
    decided_by: str
    duration_ms: str
    text: str


class Log(list[LoggedMessage]):
    """Messages in their order, which a notebook shows as a timeline."""

    @property
    def rows(self) -> list[LogRow]:
        """A row for each message and each call; the stand-in for a call by a person has none of its own."""
        found = []
        for message in self:
            if message.role != ROLE_CALLER:
                found.append(_message_row(message))
            found += (_call_row(message, call) for call in message.calls)
        return found

    def _repr_html_(self) -> str:
        columns = ("time", "session", "who or tool", "about", "status", "decided by", "text")
        rows = (
            (
                *(row.at, row.session_id, row.who.replace("  ", "→ "), row.target, row.status),
                *(row.decided_by, row.text),
            )
            for row in self.rows
        )
        return table(columns, rows, caption="Log")


def read_log(records: Records, session_id: str = "") -> Log:
    """The messages of a session in order, each with its calls; without a session those of all, by time.

    Without a session what people did to the files themselves is among them.
    """
    where = "WHERE session_id = ?" if session_id else ""
    order = "message_seq, tool_seq" if session_id else "created_at, session_id, message_seq, tool_seq"
    rows = records.ledger.query(
        f"SELECT * FROM io_log {where} ORDER BY {order}", (session_id,) if session_id else ()
    )
    desk = records.desk().desk
    messages: dict[tuple[str, str], LoggedMessage] = {}
    for row in rows:
        key = (str(row["session_id"]), str(row["message_id"]))
        if key not in messages:
            messages[key] = _message(records, row)
        if row["tool_call_id"] is not None:
            messages[key].calls.append(_call(records, desk, row))
    if session_id:
        return Log(messages.values())
    return Log(sorted([*messages.values(), *_by_people(records)], key=lambda message: message.at))


def _by_people(records: Records) -> Iterator[LoggedMessage]:
    """What people did to the files of the desk without a call, oldest first."""
    for row in records.ledger.query(_BY_PEOPLE):
        yield LoggedMessage(
            id=str(row["id"]),
            turn_id="",
            role=ROLE_PERSON,
            text=_done(str(row["op"]), str(row["path"]), str(row["new_path"])),
            seq=int(str(row["seq"])),
            at=str(row["at"]),
            actor=str(row["actor"]),
            target=str(row["path"]),
        )


def _done(op: str, path: str, new_path: str) -> str:
    """What a person did to a file; where it went, if it moved."""
    moved = f" to {new_path}" if new_path not in ("", path) else ""
    return f"{_DONE[op]} {path}{moved}"


def _message(records: Records, row: Mapping[str, Any]) -> LoggedMessage:
    return LoggedMessage(
        id=row["message_id"],
        turn_id=row["turn_id"],
        role=row["role"],
        text=_text(records, row["content"], row["content_hash"]),
        seq=row["message_seq"],
        at=row["created_at"],
        session_id=row["session_id"],
        context=context_from(row["context"]) if row["context"] else None,
    )


def _call(records: Records, desk: DeskState, row: Mapping[str, Any]) -> LoggedCall:
    arguments = orjson.loads(row["arguments"])
    return LoggedCall(
        id=row["tool_call_id"],
        tool=row["name"],
        arguments=arguments,
        entity_type=row["entity_type"],
        entity_id=row["entity_id"],
        status=row["status"],
        code=row["code"],
        duration_ms=row["duration_ms"],
        result=_text(records, row["result"], row["result_hash"]),
        seq=row["tool_seq"],
        at=row["tool_created_at"],
        target=row["proposal_path"] or _target(desk, row["entity_id"], arguments),
        proposal=_proposal(row) if row["proposal_id"] is not None else None,
    )


def _proposal(row: Mapping[str, Any]) -> LoggedProposal:
    return LoggedProposal(
        id=row["proposal_id"],
        status=row["proposal_status"],
        path=row["proposal_path"],
        decided_by=row["decided_by"],
        decided_at=row["decided_at"],
        approved_by=row["approved_by"],
        approved_at=row["approved_at"],
        reason=row["reason"],
    )


def _target(desk: DeskState, entity_id: str, arguments: Mapping[str, Any]) -> str:
    """The path of the file that a call was about, the thing that it made, or the argument that says most."""
    for key in (entity_id, arguments.get("file")):
        if isinstance(key, str) and key in desk.files:
            return desk.files[key].path
    named = (arguments.get(name) for name in ("file", *_SUBJECTS))
    return entity_id or next((value for value in named if isinstance(value, str) and value), "")


def _text(records: Records, inline: object, content_hash: object) -> str | None:
    if not content_hash:
        return str(inline)
    try:
        return records.text(str(content_hash))
    except NotFound:
        return None


def _message_row(message: LoggedMessage) -> LogRow:
    return LogRow(
        session_id=message.session_id,
        at=message.at[:19],
        turn_id=message.turn_id,
        who=label(message.actor or message.role),
        target=_seen(message.context) if message.role == ROLE_USER else label(message.target, TARGET_CHARS),
        status="",
        decided_by="",
        duration_ms="",
        text=_first_line(message.text),
    )


def _call_row(message: LoggedMessage, call: LoggedCall) -> LogRow:
    proposal = call.proposal
    why = proposal.reason if proposal and proposal.status in _NOT_RUN else ""
    return LogRow(
        session_id=message.session_id,
        at=call.at[:19],
        turn_id=message.turn_id or "-",
        who=f"  {label(call.tool)}",
        target=label(call.target, TARGET_CHARS),
        status=proposal.status if proposal else call.code or call.status,
        decided_by=label(proposal.decided_by) if proposal else "",
        duration_ms=str(call.duration_ms),
        text=label(why, TEXT_CHARS) if why else _first_line(call.result),
    )


def _seen(context: MessageContext | None) -> str:
    """What a person had before them: the panel in focus, how many others, and what was selected."""
    if context is None or not context.panels:
        return ""
    first, others = context.panels[0].title, len(context.panels) - 1 + context.more
    more = f" and {others} more" if others else ""
    selected = f", selected {context.selection}" if context.selection else ""
    return label(f"sees {first}{more}{selected}", TARGET_CHARS)


def _first_line(text: str | None) -> str:
    """The first line that says something; the tags around archived text do not."""
    if text is None:
        return "(purged)"
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("<")]
    return label(lines[0] if lines else "", TEXT_CHARS)
