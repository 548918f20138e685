"""Redaction: secrets in a text are replaced by ``[redacted:<kind>]``, and nothing else is touched.

A text is read twice: as it stands, and as its reader would see it (entities decoded, invisible characters and escapes
taken out), so that a token split by them is found as well. Detection goes by prefix, structure and announcing words;
there is no measure of randomness, so hashes, UUIDs, DOIs and git ids stay.
"""

import functools
import html
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from researchdesk.state import redaction_rules as rules

try:
    import re2
except (
    ImportError
):  # pragma: no cover - wheels are missing on some platforms; `re` is bounded by the patterns' form
    re2 = None

_PASSES: Final = 4
_PEM_LIMIT: Final = 40_000
_AT_ONCE: Final = 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class Redacted:
    """A text without secrets, how many were taken out, and how many of each kind, by name."""

    text: str
    count: int
    kinds: tuple[tuple[str, int], ...]


class _Span(NamedTuple):
    start: int
    end: int
    kind: str


class _Rule(NamedTuple):
    kind: str
    reading: str
    pattern: str


def redact(text: str) -> Redacted:
    """Replace every secret in ``text`` by ``[redacted:<kind>]``.

    Idempotent; a text without secrets comes back byte for byte. Linear in the length of the text.
    """
    if is_plain(text):
        return Redacted(text=text, count=0, kinds=())
    found: Counter[str] = Counter()
    for _ in range(_PASSES):
        spans = _merged(_secrets(text))
        if not spans:
            break
        found.update(span.kind for span in spans)
        text = _replaced(text, spans)
    return Redacted(text=text, count=found.total(), kinds=tuple(sorted(found.items())))


def is_secret_like(value: str) -> bool:
    """Whether ``value`` has the form of a secret, so that it cannot serve as an id or a name."""
    return not is_plain(value) and bool(_merged(_secrets(value)))


def is_plain(text: str) -> bool:
    """Whether one look at ``text`` is enough to know that it holds no secret; False says only that it was not.

    The rules know no beginning and no end of a text, so where texts joined by line ends are plain, each of them is.
    """
    hides = not text.isascii() or any(sign in text for sign in _HIDING)
    if hides and _HIDDEN.search(text) is not None:
        return False
    return not _matching(_ascii(text))


def _secrets(text: str) -> Iterator[_Span]:
    """Each secret of the text as it stands and as it is seen, in offsets of ``text``."""
    yield from _scan(text)
    seen = _Seen.of(text)
    if seen is not None:
        for start, end, kind in _scan(seen.text):
            yield _Span(seen.start_of(start), seen.end_of(end), kind)


def _merged(spans: Iterator[_Span]) -> list[_Span]:
    """Overlapping spans joined; a joined span has the kind that was found first."""
    ranked = sorted(enumerate(spans), key=lambda item: item[1].start)
    merged: list[tuple[int, _Span]] = []
    for rank, span in ranked:
        if merged and span.start < merged[-1][1].end:
            last_rank, last = merged[-1]
            kind = last.kind if last_rank < rank else span.kind
            merged[-1] = (min(rank, last_rank), _Span(last.start, max(last.end, span.end), kind))
        else:
            merged.append((rank, span))
    return [span for _, span in merged]


def _replaced(text: str, spans: list[_Span]) -> str:
    parts, position = [], 0
    for start, end, kind in spans:
        parts += [text[position:start], f"[redacted:{kind}]"]
        position = end
    return "".join([*parts, text[position:]])


# --- what a reader sees -----------------------------------------------------------------------------------------

_INVISIBLE: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff"
)
_HIDDEN: Final = re.compile(
    rf"[{_INVISIBLE}]+"
    r"|&(?:amp;){0,8}(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});"
    r"|\\u00[0-9a-fA-F]{2}|\\x[2-7][0-9a-fA-F]|%[2-7][0-9A-Fa-f]"
    r"|\\{1,8}(?=[-_./+*~=:#@\"'!$&(){}\[\]<>|])|</?wbr\s{0,4}/?>"
)
#: One of them begins whatever hides in a text of ASCII letters.
_HIDING: Final = ("&", "\\", "%", "<")
_INVISIBLE_ONE: Final = re.compile(rf"[{_INVISIBLE}]+")


class _Seen:
    """A text as its reader sees it, with the way back to the offsets of what is written."""

    def __init__(self, text: str, seen_at: list[int], written_at: list[int]) -> None:
        self.text = text
        self._seen_at = seen_at
        self._written_at = written_at

    @classmethod
    def of(cls, written: str) -> "_Seen | None":
        """The seen form, or None where it is the written one."""
        parts, seen_at, written_at, position, length = [], [0], [0], 0, 0
        for match in _HIDDEN.finditer(written):
            visible = _visible(match.group())
            if visible == match.group():
                continue
            start, end = match.span()
            parts += [written[position:start], visible]
            length += start - position
            seen_at += [length, length + len(visible)]
            written_at += [start, end]
            length, position = length + len(visible), end
        if position == 0:
            return None
        return cls("".join([*parts, written[position:]]), seen_at, written_at)

    def start_of(self, seen: int) -> int:
        """Where the character at ``seen`` begins in the written text."""
        return self._back(bisect_right(self._seen_at, seen) - 1, seen)

    def end_of(self, seen: int) -> int:
        """Where the characters before ``seen`` end in the written text."""
        at = bisect_left(self._seen_at, seen)
        if at < len(self._seen_at) and self._seen_at[at] == seen:
            return self._written_at[at]
        return self._back(at - 1, seen)

    def _back(self, at: int, seen: int) -> int:
        return self._written_at[at] + seen - self._seen_at[at]


def _visible(hidden: str) -> str:
    """What one escape shows: its character, or nothing."""
    if hidden.startswith("&"):
        while (decoded := html.unescape(hidden)) != hidden:
            hidden = decoded
        return _INVISIBLE_ONE.sub("", hidden)
    if hidden.startswith(("\\u", "\\x", "%")):
        return chr(int(hidden.lstrip("\\ux%"), 16))
    return ""


# --- finding ----------------------------------------------------------------------------------------------------

#: Same length, so that offsets hold: look-alike quotes, spaces and full-width letters as ASCII.
_PLAIN: Final = (
    {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
    | dict.fromkeys(map(ord, "“”„‟«»″"), '"')
    | dict.fromkeys(map(ord, "‘’‚‛′"), "'")
    | dict.fromkeys(map(ord, "‐‑‒–—−"), "-")
    | dict.fromkeys([0xA0, 0x3000, *range(0x2000, 0x200B), 0x202F, 0x205F], " ")
)
_PEM_BEGIN: Final = r"----[- ]{0,2}BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?[- ]{0,2}----"
_PEM_END: Final = r"----[- ]{0,2}END [A-Z0-9 ]{0,40}KEY(?: BLOCK)?[- ]{0,2}----"
_PEM_LINES: Final = (
    r"(?:[\s\"'>+,*|]|\\[nrt]){0,16}[A-Za-z0-9+/=]{32,}(?:(?:[\s\"'>+,*|]|\\[nrt]){1,16}[A-Za-z0-9+/=]{4,})*"
)
_PUTTY: Final = r"PuTTY-User-Key-File-[0-9]"
_DATA_URL: Final = r";base64,[A-Za-z0-9+/]{48,}"


def _options() -> Any:
    options = re2.Options()
    options.max_mem = 64 << 20
    options.log_errors = False
    return options


@functools.cache
def _compiled(pattern: str) -> Any:
    if re2 is None:
        return re.compile(pattern.encode("ascii"))
    return re2.compile(pattern.encode("ascii"), _options())


_TOKENS: Final = tuple(
    _Rule(kind, reading, f"{before}(?:{pattern})")
    for reading, before, table in (
        ("whole", "", rules.STRONG),
        ("whole", r"\b", rules.BOUNDED),
        ("mixed", r"\b", rules.WEAK),
    )
    for kind, pattern in table
)
_CONTEXT: Final = tuple(_Rule(*rule) for rule in rules.CONTEXT)
_PATTERNS: Final = (*(rule.pattern for rule in (*_TOKENS, *_CONTEXT)), _PEM_BEGIN, _PUTTY)
_NOTHING_BUT_LAST: Final = [len(_PATTERNS)]


@functools.cache
def _all_at_once() -> Any:
    """One automaton of all patterns, and last one that matches every text."""
    together = re2.Set.SearchSet(_options())
    for pattern in (*_PATTERNS, ""):
        together.Add(pattern.encode("ascii"))
    together.Compile()
    return together


def _matching(plain: bytes) -> frozenset[str]:
    """The patterns that match somewhere in a text, found in one pass; most texts have none.

    A long text of random letters fills the automaton's memory again and again, so long texts are not asked about.
    """
    if re2 is None or len(plain) > _AT_ONCE:
        return frozenset(_PATTERNS)
    found = _all_at_once().Match(plain)
    if found == _NOTHING_BUT_LAST:
        return frozenset()
    if len(_PATTERNS) not in found:  # the automaton ran out of memory: every pattern is tried by itself
        return frozenset(_PATTERNS)
    return frozenset(_PATTERNS[at] for at in found if at < len(_PATTERNS))


def _ascii(text: str) -> bytes:
    """The text in bytes, one for each character."""
    return (text if text.isascii() else text.translate(_PLAIN)).encode("ascii", "replace")


def _scan(text: str) -> Iterator[_Span]:
    """Each secret of one reading; with a byte for each character an offset is the same in both."""
    plain = _ascii(text)
    matching = _matching(plain)
    if not matching:
        return
    yield from _private_keys(plain, matching)
    images = [match.span() for match in _compiled(_DATA_URL).finditer(plain)]
    for kind, reading, pattern in _TOKENS:
        for match in _compiled(pattern).finditer(plain) if pattern in matching else ():
            if _is_token(match.group().decode(), reading) and not _is_inside(
                images, match.start(), match.end()
            ):
                yield _Span(match.start(), match.end(), kind)
    for kind, reading, pattern in _CONTEXT:
        for match in _compiled(pattern).finditer(plain) if pattern in matching else ():
            group = next(index for index in range(1, 4) if match.group(index) is not None)
            start, end = match.span(group)
            before = plain[max(0, match.start() - 16) : start].decode()
            end = start + len(plain[start:end].rstrip(b".,;:!?*_")) if reading.startswith("bare") else end
            if _is_announced(plain[start:end].decode(), reading, before, plain[end : end + 1]):
                yield _Span(start, end, kind)


def _is_inside(images: list[tuple[int, int]], start: int, end: int) -> bool:
    """Whether a span lies in the base64 bytes of a ``data:`` URL, where any letters come up by chance."""
    at = bisect_right(images, (start, start)) - 1
    return at >= 0 and end <= images[at][1]


def _private_keys(plain: bytes, matching: frozenset[str]) -> Iterator[_Span]:
    """PEM, PGP, SSH and PuTTY private keys: whole where they end, else as far as key lines go."""
    if not matching & {_PEM_BEGIN, _PUTTY}:
        return
    begins = [match.span() for match in _compiled(_PEM_BEGIN).finditer(plain)]
    ends = [match.span() for match in _compiled(_PEM_END).finditer(plain)] if begins else []
    for start, after in begins:
        at = bisect_left(ends, (after, 0))
        if (
            at < len(ends)
            and ends[at][1] - start <= _PEM_LIMIT
            and _has_key_lines(plain[after : ends[at][0]])
        ):
            yield _Span(start, ends[at][1], "private-key")
        elif (
            lines := _compiled(_PEM_LINES).match(plain, after, min(len(plain), after + _PEM_LIMIT))
        ) is not None:
            yield _Span(start, lines.end(), "private-key")
    for match in _compiled(_PUTTY).finditer(plain):
        private = plain.find(b"Private-Lines:", match.end(), match.end() + _PEM_LIMIT)
        line_end = plain.find(b"\n", private, private + 80) if private >= 0 else -1
        if (
            line_end > 0
            and (
                lines := _compiled(_PEM_LINES).match(plain, line_end, min(len(plain), line_end + _PEM_LIMIT))
            )
            is not None
        ):
            yield _Span(match.start(), lines.end(), "private-key")


def _has_key_lines(body: bytes) -> bool:
    return b"BEGIN" not in body and re.search(rb"[A-Za-z0-9+/=]{16}", body) is not None


# --- judging a value --------------------------------------------------------------------------------------------

_BLANK: Final = re.compile(r"[xX*._-]{8,}$")
_HEX: Final = re.compile(r"[0-9a-f]+$|[0-9A-F]+$")
_DIGIT_EDGE: Final = re.compile(r"[A-Za-z](?=[0-9])|[0-9](?=[A-Za-z])")
_CASE_EDGE: Final = re.compile(r"[a-z](?=[A-Z])|[A-Z](?=[a-z])")
_SIGN: Final = re.compile(r"[!@#$%^&*?+~=/]")
_ATTRIBUTE: Final = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)+$")
_VARIABLE: Final = re.compile(
    r"\$[A-Za-z_{(]|%[A-Za-z_]+%$|%[({]|@[A-Za-z_]+@|[A-Z]+(?:_[A-Z]+)+$|[a-z]+(?:[_-][a-z]+)+$|--"
)
_SIGNS_OFF: Final = re.compile(r"[^A-Za-z]+")
_PATH: Final = re.compile(r"(?:[a-z]+:)?//|\.{0,2}/[\w.-]+/|[A-Za-z]:\\")


def _is_token(token: str, reading: str) -> bool:
    """A vendor's form is a token unless it is blanked out, a bare hash, or (weak forms) an identifier."""
    if _BLANK.search(token) or _HEX.match(token):
        return False
    return reading == "whole" or _is_mixed(token)


def _is_announced(value: str, reading: str, before: str, after: bytes) -> bool:
    """Whether a value that a name announces is a secret, read as ``reading`` says."""
    if _is_placeholder(value):
        return False
    if reading in ("any", "jwk"):
        return True
    if _ATTRIBUTE.match(value) and not _has_long_part(value):
        return False
    if reading == "header":
        return any(map(str.isdigit, value)) or len(_CASE_EDGE.findall(value)) >= 3
    if any(name in before.lower() for name in rules.PUBLIC_NAMES):
        return False
    if _PATH.match(value) or (after in (b"(", b"[") and reading.startswith("bare")):
        return False
    if reading.endswith("machine"):
        return len(value) >= (16 if reading == "bare-machine" else 10) and _is_mixed(value)
    return _is_password(value, bare=reading == "bare-password")


def _has_long_part(dotted: str) -> bool:
    """Whether a dotted name has a part that only a machine would write."""
    return any(len(part) >= 16 and _is_mixed(part) for part in dotted.split("."))


def _is_password(value: str, *, bare: bool) -> bool:
    letters, digits = any(map(str.isalpha, value)), any(map(str.isdigit, value))
    if not letters or not (digits or _SIGN.search(value)):
        return False
    if not bare:
        return True
    strong = (
        _SIGN.search(value) or len(_DIGIT_EDGE.findall(value)) >= 2 or len(_CASE_EDGE.findall(value)) >= 2
    )
    return digits and bool(strong)


def _is_mixed(value: str) -> bool:
    """Letters and digits alternate, as in what a machine made; an identifier with a version does not."""
    edges = len(_DIGIT_EDGE.findall(value))
    return edges >= 2 or (edges >= 1 and len(_CASE_EDGE.findall(value)) >= 4)


def _is_placeholder(value: str) -> bool:
    lowered = value.lower()
    return (
        _VARIABLE.match(value) is not None
        or len(set(value)) <= 2
        or any(word in lowered for word in rules.PLACEHOLDERS)
        or _SIGNS_OFF.sub("", lowered) in rules.NAMES_OF_SECRETS
    )
