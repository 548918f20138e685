"""The conversation of a session: what was said lately, how far the turn has come, and what was decided since."""

from __future__ import annotations  # the persistent maps are generic for type checkers only

from dataclasses import dataclass, field

from rpds import HashTrieMap

from researchdesk.state import events as ev
from researchdesk.state.copying import changed
from researchdesk.state.ids import content_hash

ENTRIES_KEPT = 64
SETTLED_KEPT = 20
Entry = ev.MessageReceived | ev.ModelAnswered


@dataclass(frozen=True, slots=True, kw_only=True)
class SettledCall:
    """A call that waited for a person and was settled at ``seq``."""

    turn_id: str
    tool_call_id: str
    seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Chat:
    """The conversation as it stands; a *turn* is all that a model does about the last messages."""

    heard: HashTrieMap[str, str] = field(default_factory=HashTrieMap)
    """The hash of each message's text, by the message's id."""
    entries: tuple[Entry, ...] = ()
    """The last `ENTRIES_KEPT` messages and answers, oldest first."""
    left_out: int = 0
    """How many older ones there are."""
    waits: bool = False
    """Whether somebody wrote and the model has not ended its turn with a text yet."""
    steps: int = 0
    """Answers with calls in this turn."""
    spoken_seq: int = 0
    """The sequence of the last answer."""
    news_after: int = 0
    """What was settled after this sequence is news to this turn."""
    settled: tuple[SettledCall, ...] = ()
    """The last `SETTLED_KEPT` calls that a person decided about, oldest first."""

    @property
    def news(self) -> tuple[SettledCall, ...]:
        """What was settled since the last turn, newest first."""
        return tuple(call for call in reversed(self.settled) if call.seq > self.news_after)


NO_CHAT = Chat()


def text_digest(text: ev.Stowed) -> str:
    """The hash by which a message's text is known."""
    return text.hash or content_hash(text.inline.encode())


def hear(chat: Chat, event: ev.MessageReceived) -> Chat:
    """The conversation after a message: a turn begins, or the one that waits has more to answer.

    Raises:
        ValueError: the id was used before.
    """
    if event.message_id in chat.heard:
        raise ValueError(f"message '{event.message_id}' was received before")
    return changed(
        _with(chat, event),
        heard=chat.heard.insert(event.message_id, text_digest(event.text)),
        waits=True,
        steps=0,
        news_after=chat.news_after if chat.waits else chat.spoken_seq,
    )


def speak(chat: Chat, event: ev.ModelAnswered, *, seq: int) -> Chat:
    """The conversation after an answer: one without calls ends the turn."""
    goes_on = bool(event.calls)
    return changed(
        _with(chat, event),
        waits=goes_on,
        steps=chat.steps + goes_on,
        spoken_seq=seq,
    )


def settle(chat: Chat, event: ev.CallSettled, *, seq: int) -> Chat:
    """The conversation after a person decided about a call."""
    call = SettledCall(turn_id=event.turn_id, tool_call_id=event.tool_call_id, seq=seq)
    return changed(chat, settled=(*chat.settled, call)[-SETTLED_KEPT:])


def _with(chat: Chat, entry: Entry) -> Chat:
    entries = (*chat.entries, entry)
    return changed(
        chat, entries=entries[-ENTRIES_KEPT:], left_out=chat.left_out + (len(entries) > ENTRIES_KEPT)
    )
