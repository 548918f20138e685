"""Envelopes: text from outside, shown to a model between two lines that this text cannot forge.

```
<research_artifact boundary="k3v…" id="a_01">
the body, in which the name of any envelope is broken: </r(x!)esearch_artifact>
</research_artifact boundary="k3v…">
```

The boundary is made anew for each read by whoever calls. What looks like an envelope's tag inside the body, in any
script, escape or spelling, gets the mark ``(x!)`` after the first letter of its name: nothing is deleted, since a
deletion can join what is left to a new tag. The mark can be taken out again, so a body comes back exactly.
"""

import html
import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

from researchdesk.state.lookalikes import SIGNS, looks

#: Names that open or close an envelope here or in the prompts of common models; ``_`` and ``-`` are the same.
ENVELOPE_TAGS: Final = frozenset({
    "research_workspace", "research_artifact", "research_status", "research_notes", "research_source",
    "research_handoff", "investigation_workspace", "investigation_notes", "search_results", "search_result",
    "tool_result", "tool_results", "tool_response", "tool_output", "tool_call", "tool_calls", "tool_use", "tool_error",
    "desk_data", "desk_file", "desk_panel", "desk_proposal", "source_text", "source_page", "quoted_text", "web_page",
    "untrusted_text", "untrusted_content", "untrusted_data", "function_result", "function_results", "function_call",
    "function_calls", "function_response", "system_prompt", "system_message", "system_reminder", "system_note",
    "system_instruction", "system_instructions", "developer_message", "user_message", "user_input", "assistant_message",
    "im_start", "im_end", "start_header_id", "end_header_id", "begin_of_text", "end_of_text", "end_of_turn",
    "start_of_turn", "system", "assistant", "developer", "human", "instructions", "endoftext",
})  # fmt: skip

#: First words of names that are this package's own, so that they mean an envelope without a bracket too.
_OUR_WORDS: Final = ("research", "investigation", "desk")
_MARK: Final = "(x!)"
_OWN_MARK: Final = re.compile(r"\((x+)!\)")
_TAG: Final = re.compile(r"[a-z][a-z0-9_-]{1,63}")
_BOUNDARY_DIGITS: Final = 24
_BOUNDARY: Final = re.compile(r"[A-Za-z0-9_-]{8,128}")
_ATTRIBUTE: Final = re.compile(r' ([a-z][a-z0-9_]{0,63})="([^"<>\n]*)"')
_OPENING: Final = re.compile(
    r'<([a-z][a-z0-9_-]{1,63}) boundary="([A-Za-z0-9_-]{8,128})"((?: [a-z][a-z0-9_]*="[^"<>\n]*")*)>\n'
)
_UNPRINTABLE: Final = re.compile(
    r"[\x00-\x1f\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f"
    r"\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff\ud800-\udfff\U000e0000-\U000e0fff]"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """What an envelope holds; ``body`` is the text as it was before it was sealed."""

    tag: str
    boundary: str
    attributes: dict[str, str]
    body: str


def boundary_of(number: int) -> str:
    """A boundary for a number; of digits alone, so that each costs as many tokens as any other."""
    return f"{number % 10**_BOUNDARY_DIGITS:0{_BOUNDARY_DIGITS}}"


def seal(body: str, *, tag: str, boundary: str, **attributes: str | int) -> str:
    """``body`` in an envelope ``<tag boundary="…" …>`` whose closing line it cannot contain.

    Args:
        body: any text; kept character by character but for the marks.
        tag: name of the envelope, ``[a-z][a-z0-9_-]+``; broken inside the body also where the registry lacks it.
        boundary: 8 to 128 of ``[A-Za-z0-9_-]``, random, made for this read and not before the body.
        attributes: shown in the opening line, escaped, white space folded, what is not printable as U+FFFD; names
            ``[a-z][a-z0-9_]*``.

    Raises:
        ValueError: the tag, the boundary or an attribute's name has another form, or the body holds the boundary.
    """
    if not _TAG.fullmatch(tag) or not _BOUNDARY.fullmatch(boundary):
        raise ValueError(f"no envelope with tag {tag!r} and boundary {boundary!r}: wrong form")
    if boundary in body:
        raise ValueError("the boundary stands in the body; make a new one")
    shown = "".join(f' {name}="{_attribute(name, value, tag)}"' for name, value in attributes.items())
    return f'<{tag} boundary="{boundary}"{shown}>\n{_broken(body, tag)}\n</{tag} boundary="{boundary}">'


def open_envelope(text: str) -> Opened | None:
    """The envelope that ``text`` is, whole; None for any other text."""
    opening = _OPENING.match(text)
    if opening is None:
        return None
    tag, boundary, shown = opening.groups()
    closing = f'\n</{tag} boundary="{boundary}">'
    if not text.endswith(closing) or len(text) < opening.end() + len(closing):
        return None
    attributes = {name: _mended(html.unescape(value)) for name, value in _ATTRIBUTE.findall(shown)}
    body = _mended(text[opening.end() : -len(closing)])
    return Opened(tag=tag, boundary=boundary, attributes=attributes, body=body)


def unseal(sealed: str, boundary: str) -> str:
    """The body that was sealed with ``boundary``.

    Raises:
        ValueError: this is no envelope, or one with another boundary.
    """
    opened = open_envelope(sealed)
    if opened is None or opened.boundary != boundary:
        raise ValueError("no envelope with this boundary")
    return opened.body


def printable(text: str) -> str:
    """``text`` on one line: white space folded, what no font shows or what turns a line around as U+FFFD."""
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", " ".join(text.split()))


def _attribute(name: str, value: str | int, tag: str) -> str:
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,63}", name):
        raise ValueError(f"no attribute name: {name!r}")
    return printable(html.escape(_broken(str(value), tag), quote=True))


def _broken(text: str, tag: str) -> str:
    """``text`` without anything that looks like an envelope's tag, marks of its own made longer first."""
    text = _OWN_MARK.sub(r"(x\1!)", text)
    while cuts := _cuts(text, tag):
        places = [0, *sorted(cuts), len(text)]
        text = _MARK.join(text[start:end] for start, end in pairwise(places))
    return text


def _cuts(text: str, tag: str) -> set[int]:
    """Where marks have to go: inside each name, and behind each escape of a text that has too many layers of them."""
    cuts: set[int] = set()
    for seen in (looks(text), looks(text, hasty=True)):
        if not seen.settled:
            cuts |= {match.end() for match in re.finditer(r"[&%\\=+]", text)}
        for match in _names(tag).finditer(seen.text):
            first, last = match.span(match.lastindex or 0)
            inside = (end for end in seen.ends[first:last] if end < seen.ends[last - 1])
            cuts.add(next(inside, seen.starts[first]))
    return cuts


def _mended(text: str) -> str:
    """The text before `_broken`."""
    return _OWN_MARK.sub(lambda found: f"({found.group(1)[1:]}!)" if len(found.group(1)) > 1 else "", text)


@lru_cache(maxsize=64)
def _names(tag: str) -> re.Pattern[str]:
    """Matches a name where it looks like a tag; the last group that took part begins at the name's first letter.

    Behind a bracket the letters may be apart (blanks, signs, line ends); elsewhere a name of our own is found as it is
    written, with ``_`` or ``-`` between its words, also backwards, as a mark for right-to-left text would show it.
    """
    split = {tuple(re.split(r"[_-]+", name)) for name in (*ENVELOPE_TAGS, tag)}
    words = sorted(split, key=lambda name: (-len(name), name))
    apart = "|".join(_apart("".join(name)) + ("" if len(name) > 1 else "(?![a-z0-9_.-])") for name in words)
    ours = {*_OUR_WORDS, re.split(r"[_-]+", tag)[0]}
    long = [name for name in words if len(name) > 1 and name[0] in ours]
    mirrored = [tuple(word[::-1] for word in reversed(name)) for name in long]
    joined = "|".join(r"[_-]{1,3}".join(map(_letters, name)) for name in (*long, *mirrored))
    return re.compile(rf"<[^a-z<]*?({apart})|({joined})")


def _apart(name: str) -> str:
    return r"[^a-z0-9@!|$+]{0,16}".join(SIGNS[letter] for letter in name)


def _letters(word: str) -> str:
    return "".join(SIGNS[letter] for letter in word)
