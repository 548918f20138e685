"""What somebody writes to a chat: each message becomes an event, once, with what stood open on the desk."""

import hashlib
import re
import uuid
from collections.abc import Iterable
from typing import Any

from langchain_core.messages import HumanMessage
from langchain_core.messages.utils import convert_to_messages

from researchdesk.state import events as ev
from researchdesk.state.chat import text_digest
from researchdesk.state.cleaning import clean_text
from researchdesk.state.desk.context import context_of, context_text
from researchdesk.state.desk.layout import PanelLayout
from researchdesk.state.errors import Conflict, UsageError
from researchdesk.state.redaction import redact
from researchdesk.state.stowing import Stow
from researchdesk.state.texts import cut
from researchdesk.state.workspace import Workspace
from researchdesk.tools.door import Session

MESSAGE_CHARS = 64_000
# Ids under which answers and calls stand in the log begin like this.
_TAKEN = re.compile(r"(t_|call:|m_|failed_)")
_USABLE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}")


def with_ids(given: Any) -> Any:
    """The input with an id for each message that has none; it is in the first checkpoint, so no re-run counts twice.

    Raises:
        UsageError: ``messages`` are none.
    """
    if not isinstance(given, dict) or not given.get("messages"):
        return given
    try:
        messages = convert_to_messages(_listed(given["messages"]))
    except (ValueError, TypeError, NotImplementedError) as problem:
        raise UsageError(f"messages: {str(problem)[:300]}") from None
    named = [m if m.id else m.model_copy(update={"id": uuid.uuid4().hex}) for m in messages]
    return {**given, "messages": named}


def _listed(messages: Any) -> list[Any]:
    return list(messages) if isinstance(messages, list | tuple) else [messages]


def hear(
    session: Session,
    messages: Iterable[Any],
    *,
    layout: PanelLayout,
    selection: str = "",
    is_strict: bool = True,
) -> None:
    """Record the messages of people that the session has not heard yet; all others are left alone.

    Args:
        session: where they are recorded.
        messages: chat messages, such as a graph's input or the whole conversation that a client sends each time.
        layout: the panels that stand open.
        selection: what is selected.
        is_strict: refuse what cannot be recorded; else it is left out, a long text is cut, and another text under a
            known id gets an id of its own.

    Raises:
        UsageError: a message holds no text, or too much.
        Conflict: an id that stands for another text.
    """
    context = context_text(context_of(layout, selection))
    for message in messages:
        if not isinstance(message, HumanMessage):
            continue
        text = _text_of(message)
        if is_strict:
            _check(text)
        elif not text:
            continue
        _hear(session, message_id(message), cut(text, MESSAGE_CHARS), context, is_strict=is_strict)


def _hear(session: Session, own_id: str, text: str, context: str, *, is_strict: bool) -> None:
    stow = Stow()
    stowed = stow.text(text)
    digest = text_digest(stowed)

    def decide(workspace: Workspace) -> tuple[ev.Event, ...]:
        chosen, heard = own_id, workspace.chat.heard
        if heard.get(chosen, digest) != digest:
            if is_strict:
                raise Conflict(f"message '{own_id}' was received with another text; use a new id")
            chosen = _hashed(f"{own_id}:{digest}")
        if chosen in heard:
            return ()
        return (ev.MessageReceived(message_id=chosen, text=stowed, context=context),)

    session.record_decided(decide, bodies=stow.bodies)


def message_id(message: HumanMessage) -> str:
    """The id under which a message is recorded: its own, where it can be one."""
    own = message.id or uuid.uuid4().hex
    return own if _USABLE.fullmatch(own) and not _TAKEN.match(own) else _hashed(own)


def _hashed(name: str) -> str:
    return f"m_{hashlib.sha256(name.encode('utf-8', errors='backslashreplace')).hexdigest()[:24]}"


def _text_of(message: HumanMessage) -> str:
    return redact(clean_text(str(message.text)).text.strip()).text


def _check(text: str) -> None:
    if not text:
        raise UsageError("a message to a desk has to hold text; files are put onto the desk instead")
    if len(text) > MESSAGE_CHARS:
        raise UsageError(
            f"a message has {len(text):,} characters, the limit is {MESSAGE_CHARS:,}; put a long text onto the desk "
            "as a file and say what to do with it"
        )
