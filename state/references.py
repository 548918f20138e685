"""References to bodies inside the JSON of arguments: a long text is written as ``{"$blob": hash}``."""

from typing import Any

import orjson

BLOB_KEY = "$blob"


def referenced(arguments: str) -> tuple[str, ...]:
    """The hashes of the bodies that a JSON text names somewhere, in their order, each once; it may be no JSON."""
    if BLOB_KEY not in arguments:
        return ()
    found: list[str] = []
    try:
        _collect(orjson.loads(arguments), found)
    except orjson.JSONDecodeError:
        return ()  # an imported event may hold anything
    return tuple(dict.fromkeys(found))


def _collect(value: Any, found: list[str]) -> None:
    """Append the bodies that stand somewhere in parsed JSON to ``found``."""
    if isinstance(value, dict):
        if len(value) == 1 and isinstance(key := value.get(BLOB_KEY), str):
            found.append(key)
            return
        value = value.values()
    elif not isinstance(value, list):
        return
    for item in value:
        if item and isinstance(item, (dict, list)):
            _collect(item, found)
