"""How an event becomes bytes, and the hash chain over them.

Stored payloads are canonical JSON (sorted keys, UTF-8). An event's hash covers the hash before it and every
field of the envelope but the position in the whole ledger, which differs between copies.

A stored event never changes. Where the shape of a type does, its schema version grows, and `UPCASTS` says how
the payload of each older version becomes one of the next.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from researchdesk.state import events as ev
from researchdesk.state.errors import LedgerCorrupt

GENESIS = "0" * 64
Upcast = Callable[[dict[str, Any]], dict[str, Any]]
UPCASTS: dict[tuple[str, int], Upcast] = {}
"""From a type and a schema version to what makes its payload one of the version after."""


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

    def event(self) -> ev.AnyEvent:
        """The payload as the value it was.

        Raises:
            LedgerCorrupt: its type or shape is not known here, or a newer version wrote it.
        """
        version = self.schema_version
        if version > ev.SCHEMA_VERSION:
            raise self.corrupt(
                f"it was written by a newer version (schema {version}, this one knows {ev.SCHEMA_VERSION}); "
                "upgrade researchdesk to read it"
            )
        try:
            payload = self.payload if version == ev.SCHEMA_VERSION else self._payload_of_today()
            return ev.event_from_json(self.type, payload)
        except (ValueError, TypeError, LookupError) as problem:  # an upcast trusts the shape that it knows
            first = str(problem).splitlines()[0]
            raise self.corrupt(f"payload of '{self.type}' has not its shape ({first})") from None

    def _payload_of_today(self) -> str:
        """The payload in the newest version's shape; a version that changed nothing about the type has no upcast."""
        casts = [UPCASTS.get((self.type, old)) for old in range(self.schema_version, ev.SCHEMA_VERSION)]
        if not any(casts):
            return self.payload
        payload = orjson.loads(self.payload)
        for cast in casts:
            payload = cast(payload) if cast else payload
        return orjson.dumps(payload).decode()

    def corrupt(self, problem: str) -> LedgerCorrupt:
        """The error that names this event's place."""
        return LedgerCorrupt(f"stream '{self.stream}', event {self.seq}: {problem}")


def encode_event(event: ev.AnyEvent) -> str:
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
    events: Iterable[ev.AnyEvent], *, stream: str, after_seq: int, after_hash: str, ts: str, refs: str
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
