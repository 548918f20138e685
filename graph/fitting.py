"""Fitting the parts of a prompt into the room that there is, in estimated tokens."""

from collections.abc import Iterable
from typing import Any, TypeVar

import orjson

from researchdesk.state import texts
from researchdesk.state.envelopes import open_envelope, seal
from researchdesk.state.tokens import estimate_tokens

HEAD_CHARS = 200
Item = TypeVar("Item")


def cost(value: Any) -> int:
    """Estimated tokens of a value as JSON."""
    return estimate_tokens(orjson.dumps(value).decode())


def fit(items: Iterable[Item], room: int) -> list[Item]:
    """The first items, as many as fit."""
    kept: list[Item] = []
    for item in items:
        room -= cost(item)
        if room < 0:
            break
        kept.append(item)
    return kept


def head(text: str) -> str:
    """The first characters of a text, `HEAD_CHARS` at most."""
    return texts.cut(text, HEAD_CHARS)


def cut(text: str, room: int) -> str:
    """The text within ``room`` tokens; an envelope stays whole around a shorter body."""
    needed = estimate_tokens(text)
    if needed <= room:
        return text
    keep = max(0, int(len(text) * room / needed) - 200)
    opened = open_envelope(text)
    if opened is None:
        return text[:keep] + " … (cut; read on by id)"
    body = opened.body[:keep]
    attributes: dict[str, str | int] = {**opened.attributes, "shown_chars": len(body)}
    return seal(body, tag=opened.tag, boundary=opened.boundary, **attributes)


def shares(wanted: list[int], *, room: int) -> list[int]:
    """The room dealt out: who wants little gets it, the others an equal part of the rest."""
    granted = [0] * len(wanted)
    for left, place in enumerate(sorted(range(len(wanted)), key=wanted.__getitem__)):
        granted[place] = min(wanted[place], room // (len(wanted) - left))
        room -= granted[place]
    return granted
