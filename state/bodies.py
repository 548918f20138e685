"""The bodies that a session stands on: which event named each first, for whom, and whether it was let go."""

from __future__ import annotations  # the persistent maps are generic for type checkers only

from collections.abc import Container, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from rpds import HashTrieMap

from researchdesk.state import events as ev
from researchdesk.state.copying import changed, maker
from researchdesk.state.references import referenced

SESSION = ""
"""The owner of what a purge never takes: a model's words, and calls that are about no artifact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """One body as one session knows it."""

    named_seq: int
    """The event that named it first."""
    owners: tuple[str, ...]
    """For whom it is kept: artifact ids, `SESSION`, or an answer's call that has no record yet."""
    released_seq: int = 0
    """The purge after which nothing in the session stands on it; 0 while something does."""


Bodies: TypeAlias = "HashTrieMap[str, Body]"
_new_body = maker(Body)


def named_bodies(event: ev.Event) -> tuple[str, ...]:
    """The hashes of the bodies that an event names, each once."""
    match event:
        case ev.ArtifactRecorded():
            return (event.content_hash,)
        case ev.SourceRecorded():
            return (event.receipt.raw_hash,) if event.receipt and event.receipt.raw_kept else ()
        case ev.CallRecorded():
            return stowed_bodies(event.text, event.arguments)
        case ev.ModelAnswered():
            return stowed_bodies(event.text, *(call.arguments for call in event.calls))
        case ev.MessageReceived() | ev.CallSettled():
            return stowed_bodies(event.text)
        case _:
            return ()


def stowed_bodies(text: ev.Stowed, *arguments: ev.Stowed) -> tuple[str, ...]:
    """The bodies of a text and of arguments; only arguments are JSON that may name some inside."""
    found = [text.hash] if text.hash else []
    for item in arguments:
        found.extend(referenced(item.inline))
    return tuple(dict.fromkeys(found)) if len(found) > 1 else tuple(found)


def bodies_after(
    bodies: Bodies, event: ev.Event, *, seq: int, artifact: str = "", asked: ev.AskedCall | None = None
) -> Bodies:
    """The bodies after an event that names some, at ``seq``.

    Args:
        artifact: for the record of a call, the artifact that it is about, or empty.
        asked: for the record of a call, what the model's answer said of it.
    """
    match event:
        case ev.ArtifactRecorded() | ev.SourceRecorded():
            return stand_on(bodies, named_bodies(event), owner=event.artifact_id, seq=seq)
        case ev.ModelAnswered():
            bodies = stand_on(bodies, stowed_bodies(event.text), owner=SESSION, seq=seq)
            for call in event.calls:
                keys, owner = stowed_bodies(ev.Stowed(), call.arguments), _waiting(event.turn_id, call.id)
                bodies = stand_on(bodies, keys, owner=owner, seq=seq)
            return bodies
        case ev.MessageReceived() | ev.CallSettled():
            return stand_on(bodies, named_bodies(event), owner=SESSION, seq=seq)
        case ev.CallRecorded():
            arguments = (event.arguments, asked.arguments) if asked else (event.arguments,)
            keys = stowed_bodies(event.text, *arguments)
            if not keys:
                return bodies
            waiting = _waiting(event.turn_id, event.tool_call_id)
            return stand_on(bodies, keys, owner=artifact or SESSION, seq=seq, instead_of=waiting)
        case _:
            return bodies


def _waiting(turn_id: str, tool_call_id: str) -> str:
    """The owner of what a call was asked with, until its record says what it is about."""
    return f"{turn_id}/{tool_call_id}"


def stand_on(bodies: Bodies, keys: Iterable[str], *, owner: str, seq: int, instead_of: str = "") -> Bodies:
    """The bodies after an event at ``seq`` named ``keys`` for ``owner``, who takes the place of another one."""
    for key in keys:
        known = bodies.get(key)
        if known is None:
            bodies = bodies.insert(key, _new_body(seq, (owner,), 0))
            continue
        owners = known.owners
        if instead_of and instead_of in owners:
            owners = tuple(name for name in owners if name != instead_of)
        owners = owners if owner in owners else (*owners, owner)
        if owners != known.owners or known.released_seq:
            bodies = bodies.insert(key, changed(known, owners=owners, released_seq=0))
    return bodies


def releasable(bodies: Bodies, key: str, *, purged: Container[str]) -> bool:
    """Whether nothing in the session stands on a body any more once these artifacts are purged."""
    body = bodies.get(key)
    return body is not None and not body.released_seq and all(owner in purged for owner in body.owners)


def release(bodies: Bodies, keys: Iterable[str], *, seq: int) -> Bodies:
    """The bodies after a purge at ``seq`` let ``keys`` go."""
    for key in keys:
        bodies = bodies.insert(key, changed(bodies[key], released_seq=seq))
    return bodies
