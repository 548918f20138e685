"""How an event becomes bytes, and the hash chain over them.

Stored payloads are canonical JSON (sorted keys, UTF-8). An event's hash covers the hash before it and every
field of the envelope but the position in the whole ledger, which differs between copies.
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import orjson

from researchdesk.state import events as ev
from researchdesk.state.errors import LedgerCorrupt

GENESIS = "0" * 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Refs:
    """What caused an event: the run, the model's turn and the tool call, empty where there is none."""

    run: str = ""
    turn: str = ""
    call: str = ""

    def encode(self) -> str:
        """Canonical JSON."""
        return orjson.dumps({"call": self.call, "run": self.run, "turn": self.turn}).decode()


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredEvent:
    """An event as it rests in a ledger; ``global_seq`` is 0 before it is stored."""

    stream: str
    seq: int
    event_id: str
    type: str
    schema_version: int
    ts: str
    refs: str
    payload: str
    prev_hash: str
    hash: str
    global_seq: int = 0

    def event(self) -> ev.Event:
        """The payload as the value it was.

        Raises:
            LedgerCorrupt: its type or shape is not known here.
        """
        if self.schema_version != ev.SCHEMA_VERSION:
            raise self.corrupt(f"schema version {self.schema_version}, known is {ev.SCHEMA_VERSION}")
        try:
            return ev.event_from_json(self.type, self.payload)
        except ValueError as problem:
            first = str(problem).splitlines()[0]
            raise self.corrupt(f"payload of '{self.type}' has not its shape ({first})") from None

    def corrupt(self, problem: str) -> LedgerCorrupt:
        """The error that names this event's place."""
        return LedgerCorrupt(f"stream '{self.stream}', event {self.seq}: {problem}")


def encode_event(event: ev.Event) -> str:
    """Canonical JSON of an event's payload."""
    return orjson.dumps(event, option=orjson.OPT_SORT_KEYS).decode()


def chain_hash(stored: StoredEvent) -> str:
    """The hash that this event must have after the one before it."""
    return _hash(
        stored.prev_hash,
        stored.stream,
        str(stored.seq),
        stored.event_id,
        stored.type,
        str(stored.schema_version),
        stored.ts,
        stored.refs,
        stored.payload,
    )


def _hash(*fields: str) -> str:
    return hashlib.sha256("\x1f".join(fields).encode()).hexdigest()


def link(
    events: Iterable[ev.Event], *, stream: str, after_seq: int, after_hash: str, ts: str, refs: str
) -> Iterator[StoredEvent]:
    """Give events their place in a stream, one after the other."""
    version = str(ev.SCHEMA_VERSION)
    for seq, event in enumerate(events, start=after_seq + 1):
        event_id = f"e_{_hash(after_hash, stream, str(seq))[:32]}"
        kind, payload = ev.EVENT_NAMES[type(event)], encode_event(event)
        own_hash = _hash(after_hash, stream, str(seq), event_id, kind, version, ts, refs, payload)
        yield StoredEvent(
            stream=stream,
            seq=seq,
            event_id=event_id,
            type=kind,
            schema_version=ev.SCHEMA_VERSION,
            ts=ts,
            refs=refs,
            payload=payload,
            prev_hash=after_hash,
            hash=own_hash,
        )
        after_hash = own_hash


def check_link(stored: StoredEvent, *, after_seq: int, after_hash: str) -> None:
    """Refuse an event that does not follow the one before it.

    Raises:
        LedgerCorrupt: a gap, a broken chain or changed bytes.
    """
    if stored.seq != after_seq + 1:
        raise stored.corrupt(f"it follows event {after_seq}, there is a gap")
    if stored.prev_hash != after_hash:
        raise stored.corrupt("the hash chain is broken before it")
    if chain_hash(stored) != stored.hash:
        raise stored.corrupt("its bytes do not have the recorded hash")
