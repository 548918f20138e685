"""From a provider's message to the answer that is recorded: cleaned, bounded, every call with an id of its own."""

import re
from dataclasses import dataclass
from typing import Any

import orjson
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from researchdesk.state import events as ev
from researchdesk.state.cleaning import MAX_INTEGER, clean_arguments, clean_text, parse_arguments
from researchdesk.state.errors import IntegrityError, NotFound, Refusal
from researchdesk.state.limits import CALLS_PER_TURN
from researchdesk.state.redaction import is_secret_like, redact
from researchdesk.state.stowing import Stow, unstow, unstow_arguments
from researchdesk.state.texts import cut
from researchdesk.state.tokens import estimate_tokens
from researchdesk.tools.calls import clean_tool_name, redacted_arguments
from researchdesk.tools.door import Session

_THINKING = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}")
TEXT_CHARS = 64_000
TOO_MANY = "At most {most} calls run in one answer, and this one was beyond it: it has not run."
SHOWN_CHARS = 400
"""Of each text of a message for whoever watches: messages rest in every checkpoint."""
# What went into a provider's cache; where it says for how long, the first is 0.
_WRITTEN = ("cache_creation", "ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A cleaned answer, and the bodies that its event names."""

    event: ev.ModelAnswered
    bodies: dict[str, bytes]


@dataclass(slots=True)
class _Asked:
    id: str
    name: str
    arguments: dict[str, Any]
    problem: str = ""


def read_answer(
    message: object, request: ev.ModelCalled, *, ordinal: int, most_calls: int = CALLS_PER_TURN
) -> Answer:
    """What is recorded of a model's message; nothing that it holds can fail this.

    Calls beyond ``most_calls`` carry the problem that they do not run; where none may run, none is kept.
    """
    stow = Stow()
    message = as_message(message)
    text, cleaned = _text(message)
    asked = _calls(message)
    kept, dropped = _distinct(asked) if most_calls else ([], len(asked))
    for call in kept[most_calls:]:
        call.problem = TOO_MANY.format(most=most_calls)
    calls = tuple(_recorded(call, stow) for call in kept)
    usage = getattr(message, "usage_metadata", None) or {}
    read, written = _tokens(usage, "input_tokens"), _tokens(usage, "output_tokens")
    output = written or estimate_tokens(text) + sum(
        estimate_tokens(orjson.dumps(call.arguments).decode()) for call in kept
    )
    known = usage.get("input_token_details"), usage.get("output_token_details")
    event = ev.ModelAnswered(
        ordinal=ordinal,
        turn_id=f"t_{ordinal}",
        message_id=_message_id(message, ordinal),
        text=stow.text(text),
        calls=calls,
        request_digest=request.request_digest,
        input_tokens=read or request.input_tokens,
        output_tokens=output,
        usage_reported=bool(written),
        finish_reason=_finish_reason(message),
        cleaned=cleaned,
        dropped_calls=dropped,
        cached_tokens=min(read, _tokens(known[0], "cache_read")),
        written_tokens=min(read, sum(_tokens(known[0], name) for name in _WRITTEN)),
        reasoning_tokens=min(output, _tokens(known[1], "reasoning")),
    )
    return Answer(event=event, bodies=stow.bodies)


def _tokens(usage: Any, name: str) -> int:
    """A reported number of tokens, 0 where there is none or it can be none."""
    value = usage.get(name) if isinstance(usage, dict) else None
    return value if isinstance(value, int) and 0 <= value <= MAX_INTEGER else 0


def as_message(answered: object) -> BaseMessage:
    """What a model gave back as a message, also where it is a bare text or nothing at all."""
    if isinstance(answered, BaseMessage):
        return answered
    return AIMessage(content=answered if isinstance(answered, str) else "")


def _text(message: BaseMessage) -> tuple[str, int]:
    raw = message.text if isinstance(message.text, str) else str(message.content)
    cleaned = clean_text(_THINKING.sub("", str(raw))[:TEXT_CHARS])
    return redact(cleaned.text.strip()).text, cleaned.replaced


def _calls(message: BaseMessage) -> list[_Asked]:
    """The calls of a message in order; those that cannot be read carry their problem."""
    found: list[_Asked] = []
    for call in getattr(message, "tool_calls", None) or ():
        call = call if isinstance(call, dict) else {}
        found.append(_readable(call.get("id"), call.get("name"), call.get("args"), position=len(found)))
    for broken in getattr(message, "invalid_tool_calls", None) or ():
        raw = broken.get("args")
        try:
            arguments = parse_arguments(raw if isinstance(raw, str) else "")
            found.append(_readable(broken.get("id"), broken.get("name"), arguments, position=len(found)))
        except Refusal as refusal:
            identity, name = _identity(broken.get("id"), position=len(found)), _name(broken.get("name"))
            found.append(_Asked(id=identity, name=name, arguments={}, problem=refusal.text))
    return found


def _readable(identity: Any, name: Any, arguments: Any, *, position: int) -> _Asked:
    asked = _Asked(id=_identity(identity, position=position), name=_name(name), arguments={})
    try:
        cleaned = clean_arguments(arguments if isinstance(arguments, dict) else {"arguments": arguments})
        asked.arguments = redacted_arguments(cleaned)[0]
    except Refusal as refusal:
        asked.problem = refusal.text
    return asked


def _identity(value: Any, *, position: int) -> str:
    """The provider's id where it has a usable form, else one by position."""
    usable = isinstance(value, str) and _ID.fullmatch(value) and not is_secret_like(value)
    return str(value) if usable else f"call_{position + 1}"


def _name(value: Any) -> str:
    return clean_tool_name(str(value or "unnamed"))


def _distinct(asked: list[_Asked]) -> tuple[list[_Asked], int]:
    """One call for each id: a repeated one runs once, another one under a used id is refused under a new id."""
    kept: dict[str, _Asked] = {}
    dropped = 0
    for position, call in enumerate(asked):
        first = kept.get(call.id)
        if len(kept) >= CALLS_PER_TURN or (
            first and (first.name, first.arguments) == (call.name, call.arguments)
        ):
            dropped += 1
            continue
        if first is not None:
            call.problem = (
                f"the id '{call.id}' was used for another call in the same answer; give each call its own"
            )
            call.id = f"{call.id[:100]}:{position}"
        kept[call.id] = call
    return list(kept.values()), dropped


def _recorded(call: _Asked, stow: Stow) -> ev.AskedCall:
    always = ("content",) if call.name == "deep_research_save_artifact" else ()
    return ev.AskedCall(
        id=call.id,
        name=call.name,
        arguments=stow.arguments(call.arguments, always=always),
        problem=call.problem,
        chars=len(orjson.dumps(call.arguments)),
    )


def _message_id(message: BaseMessage, ordinal: int) -> str:
    """The streamed id made unique by the turn: providers leave it out or repeat it."""
    streamed = message.id if isinstance(message.id, str) and _ID.fullmatch(message.id) else ""
    return f"t_{ordinal}:{streamed}" if streamed else f"t_{ordinal}"


def _finish_reason(message: BaseMessage) -> str:
    metadata = message.response_metadata or {}
    reason = str(metadata.get("finish_reason") or metadata.get("stop_reason") or "")[:40]
    return "length" if reason.lower() in {"length", "max_tokens", "max_output_tokens"} else reason


def as_messages(
    answer: ev.ModelAnswered,
    session: Session,
    *,
    text_chars: int = SHOWN_CHARS,
    argument_chars: int = SHOWN_CHARS,
    result_chars: int = SHOWN_CHARS,
) -> list[BaseMessage]:
    """The recorded answer and its results as chat messages; every call has its tool message.

    Args:
        answer: the answer.
        session: whose answer it is.
        text_chars: to which its text is cut; 0 for the whole of it.
        argument_chars: to which each long argument is cut.
        result_chars: to which each result is cut; 0 for the whole of it.
    """
    spoken = AIMessage(
        content=_shown(unstow(answer.text, session.records.text), f"turn {answer.turn_id}", limit=text_chars),
        tool_calls=[
            {
                "id": call.id,
                "name": call.name,
                "args": _shown_arguments(call, answer.turn_id, session, limit=argument_chars),
                "type": "tool_call",
            }
            for call in answer.calls
        ],
        id=answer.message_id,
    )
    results = (_as_result(session, answer.turn_id, call, limit=result_chars) for call in answer.calls)
    return [spoken, *results]


def _as_result(session: Session, turn_id: str, call: ev.AskedCall, *, limit: int) -> ToolMessage:
    recorded = session.recorded(turn_id=turn_id, tool_call_id=call.id)
    return ToolMessage(
        content=_shown(recorded.text if recorded else "", _place(call, turn_id), limit=limit),
        tool_call_id=call.id,
        name=call.name,
        id=f"{turn_id}:{call.id}",
        status="error" if recorded and recorded.status == "error" else "success",
    )


def _shown_arguments(call: ev.AskedCall, turn_id: str, session: Session, *, limit: int) -> dict[str, Any]:
    """The arguments; a long one as the beginning of its text, or of its JSON."""
    try:
        shown = unstow_arguments(call.arguments, session.records.text)
    except (NotFound, IntegrityError):  # a purged or damaged text; its hash stands for it
        shown = orjson.loads(call.arguments.inline)
    for name, value in shown.items():
        told = value if isinstance(value, str) else orjson.dumps(value).decode()
        if len(told) > limit:
            shown[name] = _shown(told, _place(call, turn_id), limit=limit)
    return shown


def _place(call: ev.AskedCall, turn_id: str) -> str:
    return f"call {call.id} of turn {turn_id}"


def _shown(text: str, place: str, *, limit: int) -> str:
    """The text, or its beginning and where it stands whole."""
    if not limit or len(text) <= limit:
        return text
    return f"{cut(text, limit)} (whole in the ledger: {place})"
