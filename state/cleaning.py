"""What a model sends, made safe right after it was sent: texts, arguments, raw JSON; and errors made fit to be shown.

Nothing here recurses, so nesting of any depth is refused and never crashes.
"""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from researchdesk.state.errors import Refusal
from researchdesk.state.redaction import redact
from researchdesk.state.texts import cut

MAX_DEPTH: Final = 64
MAX_KEYS: Final = 256
MAX_STRING: Final = 512_000
MAX_BYTES: Final = 1 << 20
MAX_INTEGER: Final = 2**53
MAX_ERROR: Final = 500
_ORDINARY_VALUES: Final = 4_096

_UNSTORABLE: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]")
_NEWLINES: Final = re.compile(r"\s*\n\s*")
_PLACE: Final = re.compile(
    r"(?P<url>\bhttps?://[^\s\"'<>]+)|\bfile://[^\s\"'<>]*/(?P<linked>[^\s\"'<>/]*)"
    r"|(?<![\w.])(?:[A-Za-z]:|~|\.{1,2})?(?:[/\\][\w.@+~ -]{1,255}){1,64}[/\\](?P<file>[\w.@+~-]{1,255})"
)
_BRACKET: Final = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[{]|[\]}]', re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleaned:
    """A text that every store takes, and how many characters became U+FFFD."""

    text: str
    replaced: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanedArguments:
    """A JSON value within the limits, and how many characters of its strings became U+FFFD.

    ``text`` holds every string of the value, names in objects too, joined by line ends.
    """

    value: Any
    replaced: int
    text: str


def clean_text(text: str) -> Cleaned:
    """``text`` with NUL, other control characters but tab and line ends, and lone surrogates as U+FFFD."""
    cleaned, replaced = _storable(text)
    return Cleaned(text=cleaned, replaced=replaced)


def _storable(text: str) -> tuple[str, int]:
    if _UNSTORABLE.search(text) is None:
        return text, 0
    return _UNSTORABLE.subn("\N{REPLACEMENT CHARACTER}", text)


def clean_arguments(value: object) -> CleanedArguments:
    """A JSON value with its strings cleaned; lists and objects are new, the given ones stay as they are.

    Raises:
        Refusal: ``invalid_arguments``, ``<path>: <problem>``: not JSON, NaN or Infinity, an integer beyond ±2**53,
            deeper than 64, more than 256 keys in an object, a string over 512,000 characters, more than 1 MiB in all.
    """
    return _ordinary(value) or _cleaned(value)


class _Odd(Exception):
    """A value that needs a closer look."""


def _ordinary(value: object) -> CleanedArguments | None:
    """What nearly every value needs, a copy; None where there may be something to clean or to refuse."""
    texts: list[str] = []
    try:
        copy = _copied(value, texts, levels=6)
    except _Odd:
        return None
    text = "\n".join(texts)
    if 4 * len(text) + 24 * len(texts) > MAX_STRING or _UNSTORABLE.search(text):
        return None
    return CleanedArguments(value=copy, replaced=0, text=text)


def _copied(value: Any, texts: list[str], *, levels: int) -> Any:
    """A copy; ``texts`` gets its strings, and an empty one for each other value so that all are counted."""
    kind = type(value)
    if kind is str:
        texts.append(value)
        return value
    if value is None or kind is bool or (kind is int and abs(value) <= MAX_INTEGER):
        texts.append("")
        return value
    if kind not in (dict, list) or not levels or len(value) > MAX_KEYS or len(texts) > _ORDINARY_VALUES:
        raise _Odd
    if kind is list:
        return [_copied(item, texts, levels=levels - 1) for item in value]
    if not all(type(key) is str for key in value):
        raise _Odd
    texts.extend(value)
    return {key: _copied(item, texts, levels=levels - 1) for key, item in value.items()}


def _cleaned(value: object) -> CleanedArguments:
    """The value looked at piece by piece, however deep and large it is."""
    root: list[object] = [None]
    waiting: list[_Waiting] = [_Waiting(value, root, 0, None, 0)]
    texts: list[str] = []
    replaced = size = 0
    while waiting:
        item = waiting.pop()
        kept, more, cost = _kept(item)
        item.parent[item.key] = kept
        if isinstance(kept, str):
            texts.append(kept)
        replaced += more
        size += cost
        if size > MAX_BYTES:
            raise Refusal(
                "invalid_arguments",
                f"arguments: more than {MAX_BYTES:,} bytes of JSON; send less in one call.",
            )
        if not isinstance(item.value, dict | list | tuple):
            continue
        count, waiting_now = _children(item, kept)
        replaced += count
        waiting += waiting_now
        if isinstance(kept, dict):
            texts.extend(kept)
            size += sum(map(len, kept))
    return CleanedArguments(value=root[0], replaced=replaced, text="\n".join(texts))


def parse_arguments(raw: str) -> object:
    """The value of a JSON text, as strict as `clean_arguments` but for what only values show.

    Raises:
        Refusal: ``invalid_arguments``: cut off or broken JSON, a key twice, NaN, nesting deeper than 64, over 1 MiB.
    """
    if len(raw) > MAX_BYTES or len(raw.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise Refusal(
            "invalid_arguments", f"arguments: more than {MAX_BYTES:,} bytes of JSON; send less in one call."
        )
    open_brackets = _open_brackets(raw)
    try:
        return json.loads(raw, object_pairs_hook=_object, parse_constant=_constant, parse_int=_integer)
    except json.JSONDecodeError as error:
        if open_brackets or not raw.strip() or error.msg.startswith("Unterminated string"):
            raise Refusal(
                "invalid_arguments", "arguments: the JSON is cut off; send the call again, whole."
            ) from None
        place = f"line {error.lineno}, column {error.colno}"
        raise Refusal("invalid_arguments", f"arguments: no JSON at {place} ({error.msg}).") from None


def safe_error(error: BaseException) -> str:
    """An exception as a model may see it: type and message, redacted, paths as file names, at most 500 characters."""
    if isinstance(error, Refusal):
        message = f"{error.code}: {error.text}"
    else:
        try:
            message = f"{type(error).__name__}: {error}"
        except Exception:  # an exception whose own text cannot be made is still named
            message = type(error).__name__
    message = clean_text(redact(message[: 20 * MAX_ERROR]).text).text
    short = _PLACE.sub(lambda found: found["url"] or f"…/{found['linked'] or found['file'] or ''}", message)
    short = _NEWLINES.sub(" ", short).strip().rstrip(":")
    return cut(short, MAX_ERROR)


@dataclass(slots=True)
class _Waiting:
    """A value that still has to be looked at, where it goes, and how its path reads."""

    value: object
    parent: Any
    key: int | str
    above: "_Waiting | None"
    depth: int

    def refuse(self, problem: str) -> Refusal:
        steps, item = [], self
        while item.above is not None:
            steps.append(f"[{item.key}]" if isinstance(item.key, int) else f".{str(item.key)[:60]}")
            item = item.above
        path = redact(clean_text("".join(reversed(steps[:12])).lstrip(".")).text).text or "arguments"
        return Refusal("invalid_arguments", f"{path}: {problem}.")


def _kept(item: _Waiting) -> tuple[object, int, int]:
    """What of a value is kept (empty containers are filled later), characters replaced, bytes of JSON."""
    value = item.value
    if isinstance(value, str):
        if len(value) > MAX_STRING:
            raise item.refuse(f"a string of {len(value):,} characters; at most {MAX_STRING:,}")
        text, replaced = _storable(str(value))
        return text, replaced, 3 + (len(text) if text.isascii() else len(text.encode("utf-8")))
    if value is None or isinstance(value, bool):
        return value, 0, 5
    if isinstance(value, int):
        if abs(value) > MAX_INTEGER:
            raise item.refuse("an integer beyond ±2**53; send it as a string")
        return int(value), 0, 1 + len(str(int(value)))
    if isinstance(value, float):
        if not math.isfinite(value):
            raise item.refuse("NaN and Infinity are no JSON")
        return float(value), 0, 1 + len(repr(float(value)))
    if isinstance(value, dict | list | tuple):
        if item.depth >= MAX_DEPTH:
            raise item.refuse(f"nested deeper than {MAX_DEPTH}")
        return ({} if isinstance(value, dict) else [None] * len(value)), 0, 3
    raise item.refuse(f"a {type(value).__name__} is no JSON value")


def _children(item: _Waiting, kept: object) -> tuple[int, list[_Waiting]]:
    """The values inside a value, last first, and how many characters of the keys were replaced."""
    depth, value = item.depth + 1, item.value
    if isinstance(value, list | tuple):
        if len(value) > MAX_BYTES:
            raise item.refuse(f"a list of {len(value):,} values")
        return 0, [_Waiting(value[at], kept, at, item, depth) for at in range(len(value) - 1, -1, -1)]
    if not isinstance(value, dict) or not isinstance(kept, dict):
        return 0, []
    if len(value) > MAX_KEYS:
        raise item.refuse(f"an object of {len(value):,} keys; at most {MAX_KEYS}")
    replaced = 0
    for key in value:
        if not isinstance(key, str):
            raise item.refuse(f"a key that is a {type(key).__name__} and no string")
        if len(key) > MAX_STRING:
            raise item.refuse(f"a key of {len(key):,} characters; at most {MAX_STRING:,}")
        text, count = _storable(key)
        replaced += count
        if text in kept:
            raise item.refuse("two keys that are the same once cleaned")
        kept[text] = None
    pairs = zip(list(kept), value.values(), strict=True)
    return replaced, [_Waiting(child, kept, key, item, depth) for key, child in pairs][::-1]


def _open_brackets(raw: str) -> int:
    """How many brackets are left open; refuses what nests too deep before a parser that recurses sees it."""
    depth = 0
    for match in _brackets(raw):
        depth += 1 if match in "[{" else -1
        if depth > MAX_DEPTH:
            raise Refusal("invalid_arguments", f"arguments: nested deeper than {MAX_DEPTH}.")
    return max(depth, 0)


def _brackets(raw: str) -> Iterator[str]:
    return (
        found for found in (match.group() for match in _BRACKET.finditer(raw)) if not found.startswith('"')
    )


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    made = dict(pairs)
    if len(made) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        shown = redact(clean_text(twice[:60]).text).text
        raise Refusal("invalid_arguments", f"{shown}: the key is there twice; send it once.")
    return made


def _constant(name: str) -> object:
    raise Refusal("invalid_arguments", f"arguments: {name} is no JSON.")


def _integer(digits: str) -> int:
    if len(digits) > 17:
        raise Refusal("invalid_arguments", "arguments: an integer beyond ±2**53; send it as a string.")
    return int(digits)
