"""Which texts stand inline in an event and which rest in the blob store, named by their hash.

Long ones would swell the ledger; those that may have to be removed for good must not stand in an event at all,
since an event never changes.
"""

from collections.abc import Callable, Mapping
from typing import Any

import orjson

from researchdesk.state.events import Stowed
from researchdesk.state.ids import content_hash
from researchdesk.state.references import BLOB_KEY

INLINE_CHARS = 2_000


class Stow:
    """Stows texts for one commit and collects their bodies in ``bodies``, by hash."""

    def __init__(self) -> None:
        self.bodies: dict[str, bytes] = {}

    def text(self, text: str, *, always: bool = False) -> Stowed:
        """The text inline, or its hash when it is long or ``always``."""
        if not always and len(text) <= INLINE_CHARS:
            return Stowed(inline=text, chars=len(text))
        return Stowed(hash=self._keep(text), chars=len(text))

    def arguments(self, arguments: Mapping[str, Any], *, always: tuple[str, ...] = ()) -> Stowed:
        """Canonical JSON of arguments in which long texts are replaced by ``{"$blob": hash}``."""
        light = {_escaped(key): self._light(value, always=key in always) for key, value in arguments.items()}
        encoded = orjson.dumps(light, option=orjson.OPT_SORT_KEYS).decode()
        return Stowed(inline=encoded, chars=len(encoded))

    def _light(self, value: Any, *, always: bool = False) -> Any:
        if isinstance(value, str):
            return {BLOB_KEY: self._keep(value)} if value and (always or len(value) > INLINE_CHARS) else value
        if isinstance(value, list):
            return [self._light(item) for item in value]
        if isinstance(value, dict):
            return {_escaped(key): self._light(item) for key, item in value.items()}
        return value

    def _keep(self, text: str) -> str:
        body = text.encode()
        key = content_hash(body)
        self.bodies[key] = body
        return key


def _escaped(key: str) -> str:
    """A key that cannot be taken for the mark of a stowed text, whatever a model names its arguments."""
    return f"${key}" if key.startswith("$") else key


def _unescaped(key: str) -> str:
    return key[1:] if key.startswith("$") else key


def unstow(stowed: Stowed, read: Callable[[str], str]) -> str:
    """The text itself; ``read`` gives the text of a blob."""
    return read(stowed.hash) if stowed.hash else stowed.inline


def unstow_arguments(stowed: Stowed, read: Callable[[str], str]) -> dict[str, Any]:
    """The arguments themselves; ``read`` gives the text of a blob."""
    arguments: dict[str, Any] = _heavy(orjson.loads(stowed.inline), read)
    return arguments


def _heavy(value: Any, read: Callable[[str], str]) -> Any:
    if isinstance(value, dict):
        if value.keys() == {BLOB_KEY}:
            return read(value[BLOB_KEY])
        return {_unescaped(key): _heavy(item, read) for key, item in value.items()}
    if isinstance(value, list):
        return [_heavy(item, read) for item in value]
    return value
