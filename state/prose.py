"""A written body as its sentences: prose, list items, block quotes and table rows, each with its span.

Line breaks inside a paragraph mean nothing, a full stop inside quotation marks or an abbreviation ends nothing.
Headings and code are no statements.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Kind = Literal["prose", "quote", "row"]

_FENCE = re.compile(r"^\s*(```|~~~)")
_HEADING = re.compile(r"^\s{0,3}(#{1,6}\s|(?:[-*_]\s*){3,}$)")
_ROW = re.compile(r"^\s*\|")
_RULED = re.compile(r"^\s*\|?[\s:|-]*-[\s:|-]*$")
_QUOTE = re.compile(r"^\s{0,3}>\s?")
_LIST_MARK = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")
_ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|etc|cf|vs|al|fig|no|sec|resp|approx)\.", re.IGNORECASE)
_PAIRED = re.compile(
    r"[“‟❝][^”❞]*[”❞]|„[^“”]*[“”]|«[^»]*»|»[^«]*«|‹[^›]*›|「[^」]*」|『[^』]*』|〝[^〞]*〞|＂[^＂]*＂|<q>.*?</q>|\"[^\"]*\""
)
_TAIL = r"\[[sc]_\d{3,}[^\]]*\]"
# A citation or the mark right behind the full stop still belongs to the sentence.
_SENTENCE_END = re.compile(
    rf"(?<=[.!?])[\"”’»)\]*_]*(?:\s+{_TAIL})*(?:\s+\*\(not sourced\)\*)?\s+(?!\[[sc]_\d|\*\(not sourced\)\*)"
    rf"|(?<=[。！？])[”’」』）]*(?:\s*{_TAIL})*(?:\s+\*\(not sourced\)\*)?\s*(?!\[[sc]_\d|\s*\*\(not sourced\)\*)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A statement of a body: ``text`` has blanks for line breaks and quote marks, so offsets stay the body's own."""

    start: int
    end: int
    kind: Kind
    text: str


def sentences(body: str) -> Iterator[Sentence]:
    """The statements of a body in order."""
    for block in _blocks(body):
        if block.kind != "prose":
            yield block
            continue
        yield from _sentences_of(block)


def _sentences_of(block: Sentence) -> Iterator[Sentence]:
    marker = _LIST_MARK.match(block.text)
    start = marker.end() if marker else 0
    for match in _SENTENCE_END.finditer(_without_quotations(block.text), start):
        yield from _sentence(block, start, match.start() + len(match.group().rstrip()))
        start = match.end()
    yield from _sentence(block, start, len(block.text))


def _sentence(block: Sentence, start: int, end: int) -> Iterator[Sentence]:
    text = block.text[start:end].rstrip()
    start += len(text) - len(text.lstrip())
    if text.strip():
        first = block.start + start
        yield Sentence(start=first, end=first + len(text.strip()), kind="prose", text=text.strip())


def _without_quotations(text: str) -> str:
    """The text with quoted words and abbreviations blanked out, so that their full stops end no sentence."""
    blank = _ABBREVIATION.sub(lambda match: "_" * len(match.group()), text)
    for pair in _PAIRED.finditer(text):
        first, last = pair.span()
        blank = blank[: first + 1] + "_" * max(0, last - first - 2) + blank[last - 1 :]
    return blank


def _blocks(body: str) -> Iterator[Sentence]:
    """Runs of lines that belong together; headings, rules, code and the heads of tables are left out."""
    fenced = False
    waiting: Sentence | None = None
    offset = 0
    lines = body.splitlines(keepends=True)
    for number, line in enumerate(lines):
        start, offset = offset, offset + len(line)
        if _FENCE.match(line) or fenced:
            fenced = fenced != bool(_FENCE.match(line))
            kind: Kind | None = None
        else:
            kind = _kind(line, lines[number + 1] if number + 1 < len(lines) else "")
        if waiting and (
            kind != waiting.kind or kind == "row" or (kind == "prose" and _LIST_MARK.match(line))
        ):
            yield _stripped(waiting)
            waiting = None
        if kind is not None:
            shown = _shown(line, kind)
            begun = waiting or Sentence(start=start, end=start, kind=kind, text="")
            waiting = Sentence(start=begun.start, end=offset, kind=kind, text=begun.text + shown)
    if waiting:
        yield _stripped(waiting)


def _kind(line: str, following: str) -> Kind | None:
    if not line.strip() or _HEADING.match(line):
        return None
    if _ROW.match(line):
        return None if _RULED.match(line) or (_RULED.match(following) and _ROW.match(following)) else "row"
    return "quote" if _QUOTE.match(line) else "prose"


def _shown(line: str, kind: Kind) -> str:
    if kind == "quote":
        line = _QUOTE.sub(lambda match: " " * len(match.group()), line)
    return "".join(" " if letter in "\r\n\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029" else letter for letter in line)


def _stripped(block: Sentence) -> Sentence:
    end = len(block.text.rstrip())
    return Sentence(start=block.start, end=block.start + end, kind=block.kind, text=block.text[:end])
