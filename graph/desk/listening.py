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


def hear(session: Session, messages: Iterable[Any], *, layout: PanelLayout, selection: str = "") -> None:
    """Record the messages of people that the session has not heard yet; all others are left alone.

    Args:
        session: where they are recorded.
        messages: chat messages, such as a graph's input or the whole conversation that a client sends each time.
        layout: the panels that stand open.
        selection: what is selected.

    Raises:
        UsageError: a message holds no text, or too much.
        Conflict: an id that stands for another text.
    """
    context = context_text(context_of(layout, selection))
    for message in messages:
        if isinstance(message, HumanMessage):
            _hear(session, message, context)


def _hear(session: Session, message: HumanMessage, context: str) -> None:
    stow = Stow()
    text = stow.text(_text_of(message))
    received = ev.MessageReceived(message_id=message_id(message), text=text, context=context)

    def decide(workspace: Workspace) -> tuple[ev.Event, ...]:
        known = workspace.chat.heard.get(received.message_id)
        if known is not None and known != text_digest(text):
            raise Conflict(f"message '{received.message_id}' was received with another text; use a new id")
        return () if known else (received,)

    session.record_decided(decide, bodies=stow.bodies)


def message_id(message: HumanMessage) -> str:
    """The id under which a message is recorded: its own, where it can be one."""
    own = message.id or uuid.uuid4().hex
    if _USABLE.fullmatch(own) and not _TAKEN.match(own):
        return own
    return f"m_{hashlib.sha256(own.encode('utf-8', errors='backslashreplace')).hexdigest()[:24]}"


def _text_of(message: HumanMessage) -> str:
    text = redact(clean_text(str(message.text)).text.strip()).text
    if not text:
        raise UsageError("a message to a desk has to hold text; files are put onto the desk instead")
    if len(text) > MESSAGE_CHARS:
        raise UsageError(
            f"a message has {len(text):,} characters, the limit is {MESSAGE_CHARS:,}; put a long text onto the desk "
            "as a file and say what to do with it"
        )
    return text
