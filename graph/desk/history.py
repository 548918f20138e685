"""The conversation as chat messages, whole turns from the ledger: for the next request, and for whoever watches."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from researchdesk.graph.answers import SHOWN_CHARS, as_messages
from researchdesk.graph.desk.pages import page_of
from researchdesk.graph.fitting import shares
from researchdesk.state import events as ev
from researchdesk.state.chat import Chat, Entry
from researchdesk.state.stowing import unstow, unstow_arguments
from researchdesk.state.texts import cut
from researchdesk.state.tokens import estimate_tokens
from researchdesk.tools.door import Session

HISTORY_TOKENS = 24_000
"""Of a request, for what was said: the last turn in any case, older ones as far as there is room."""
WINDOW_MESSAGES = 40
WINDOW_CHARS = 20_000
"""Of the window that rests in every checkpoint."""
ARGUMENT_CHARS = 2_000
READING = "desk_read_file"
NOTHING_SAID = "(The model gave no text.)"
_MESSAGE_TOKENS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """The messages of the last turns, oldest first, and how many entries before them are left out."""

    messages: list[BaseMessage]
    left_out: int


def request_history(session: Session, chat: Chat, *, page_tokens: int) -> History:
    """The turns for the next request; results of a last turn that is too long are cut to equal parts.

    Args:
        session: whose conversation it is.
        chat: the conversation.
        page_tokens: how much of a file each reading shows.
    """
    kept: list[list[BaseMessage]] = []
    left, shown = HISTORY_TOKENS, 0
    for turn in reversed(_turns(chat)):
        messages = [m for entry in turn for m in _messages(session, entry, page_tokens=page_tokens)]
        if not kept:
            messages = _cut_to(messages, room=HISTORY_TOKENS)
        left -= _cost(messages)
        if kept and left < 0:
            break
        kept.append(messages)
        shown += len(turn)
    return History(
        messages=[message for turn in reversed(kept) for message in turn],
        left_out=chat.left_out + len(chat.entries) - shown,
    )


def window(session: Session, chat: Chat) -> list[BaseMessage]:
    """The last turns for whoever watches: what was said whole, results by their beginnings."""
    kept: list[list[BaseMessage]] = []
    count = chars = 0
    for turn in reversed(_turns(chat)):
        messages = [m for entry in turn for m in _messages(session, entry, shown_chars=SHOWN_CHARS)]
        count += len(messages)
        chars += sum(len(str(message.content)) for message in messages)
        if kept and (count > WINDOW_MESSAGES or chars > WINDOW_CHARS):
            break
        kept.append(messages)
    return [message for turn in reversed(kept) for message in turn]


def as_plain(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """The messages without calls and results as such: providers refuse them in a request without tools."""
    return [_plain(message) for message in messages]


def _plain(message: BaseMessage) -> BaseMessage:
    if isinstance(message, ToolMessage):
        return HumanMessage(f"[result of {message.name or 'a tool'}]\n{message.text}", id=message.id)
    if isinstance(message, AIMessage) and message.tool_calls:
        calls = "\n".join(f"[called {call['name']}]" for call in message.tool_calls)
        return AIMessage("\n".join(part for part in (str(message.text), calls) if part), id=message.id)
    return message


def _turns(chat: Chat) -> list[list[Entry]]:
    """The entries by turn: messages, and what the model did about them."""
    turns: list[list[Entry]] = []
    for entry in chat.entries:
        begins = isinstance(entry, ev.MessageReceived) and (
            not turns or not isinstance(turns[-1][-1], ev.MessageReceived)
        )
        if begins or not turns:
            turns.append([])
        turns[-1].append(entry)
    # The oldest entries may be the rest of a turn whose message is left out.
    return turns if not turns or isinstance(turns[0][0], ev.MessageReceived) else turns[1:] or turns


def _messages(
    session: Session, entry: Entry, *, shown_chars: int = 0, page_tokens: int = 0
) -> Iterator[BaseMessage]:
    """An entry as messages; results and arguments whole, or to so many characters."""
    if isinstance(entry, ev.MessageReceived):
        yield HumanMessage(unstow(entry.text, session.records.text), id=entry.message_id)
        return
    spoken, *results = as_messages(
        entry,
        session,
        text_chars=0,
        argument_chars=shown_chars or ARGUMENT_CHARS,
        result_chars=shown_chars,
    )
    if not spoken.content and not entry.calls:
        spoken.content = NOTHING_SAID
    yield spoken
    for call, result in zip(entry.calls, results, strict=True):
        if call.name == READING and page_tokens:
            result.content = _longer(session, entry.turn_id, call, page_tokens) or result.content
        yield result


def _longer(session: Session, turn_id: str, call: ev.AskedCall, tokens: int) -> str:
    """What a reading shows with this much room; empty where it has no record."""
    recorded = session.recorded(turn_id=turn_id, tool_call_id=call.id)
    if recorded is None or call.problem:
        return ""
    wanted = unstow_arguments(call.arguments, session.records.text).get("max_lines")
    return page_of(session, recorded, max_lines=wanted if isinstance(wanted, int) else 0, tokens=tokens)


def _cost(messages: Sequence[BaseMessage]) -> int:
    return sum(_tokens(message) for message in messages)


def _tokens(message: BaseMessage) -> int:
    calls = message.tool_calls if isinstance(message, AIMessage) else []
    return (
        _MESSAGE_TOKENS
        + estimate_tokens(str(message.content))
        + (estimate_tokens(str(calls)) if calls else 0)
    )


def _cut_to(messages: list[BaseMessage], *, room: int) -> list[BaseMessage]:
    """The messages of one turn with its results cut so that they fit, as far as results are what is long."""
    if _cost(messages) <= room:
        return messages
    results = [message for message in messages if isinstance(message, ToolMessage)]
    wanted = [estimate_tokens(str(message.content)) for message in results]
    granted = shares(wanted, room=max(0, room - (_cost(messages) - sum(wanted))))
    for message, want, grant in zip(results, wanted, granted, strict=True):
        if grant < want:
            text = str(message.content)
            message.content = cut(text, max(40, int(len(text) * grant / want)))
    return messages
