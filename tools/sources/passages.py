"""Passages: the pieces of a text that are searched, at most 700 characters, cut where the text has joints.

A passage never crosses a heading. A table row, a list item and a line of code are kept whole where they fit;
a long paragraph is cut after a sentence.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from researchdesk.tools.sources.markup import Heading, Line, front_matter_end, headings_of, lines_of

MAX_PASSAGE = 700

_ROW = re.compile(r"\s*(?:\||[-*+] |\d{1,3}[.)] |>)")
_SENTENCE_END = re.compile(r"[.!?][\"'”’)\]*_]*\s+|[。！？；]")
_SPACE = re.compile(r"\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """``text[start:end]`` (code points), with the headings above it from the top, joined by `` > ``."""

    start: int
    end: int
    heading: str


def passages(text: str, *, media_type: str) -> Iterator[Passage]:
    """Cut a text; together the passages hold all of it but headings, front matter and white space."""
    headings = headings_of(text, media_type=media_type)
    position = front_matter_end(text) if media_type == "text/markdown" else 0
    above: list[Heading] = []
    for heading in [*headings, None]:
        end = heading.start if heading else len(text)
        path = " > ".join(upper.title for upper in above if upper.title)
        pieces = list(_packed(text, position, end))
        if not pieces and above and not (heading and heading.level > above[-1].level):
            pieces = [(above[-1].start, above[-1].end)]  # a heading with nothing under it is content itself
        for first, last in pieces:
            yield Passage(start=first, end=last, heading=path)
        if heading:
            above = [*(upper for upper in above if upper.level < heading.level), heading]
            position = heading.end


def _packed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Join neighbouring units while they fit."""
    first = last = -1
    for low, high in _units(text, start, end):
        if first >= 0 and high - first > MAX_PASSAGE:
            yield first, last
            first = -1
        first, last = (low if first < 0 else first), high
    if first >= 0:
        yield first, last


def _units(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Give what is not cut without need: paragraphs, rows, items; longer ones in pieces."""
    block: list[Line] = []
    for line in lines_of(text[start:end]):
        blank = not line.text.strip()
        if block and (blank or _ROW.match(line.text)):
            yield from _unit(text, block)
            block = []
        if not blank:
            block.append(Line(line.text, start + line.start))
    if block:
        yield from _unit(text, block)


def _unit(text: str, block: list[Line]) -> Iterator[tuple[int, int]]:
    end = block[-1].start + len(block[-1].text.rstrip())
    start = _skip_space(text, block[0].start, end)
    while end - start > MAX_PASSAGE:
        cut = _cut(text, start)
        yield start, start + len(text[start:cut].rstrip())
        start = _skip_space(text, cut, end)
    if end > start:
        yield start, end


def _skip_space(text: str, start: int, end: int) -> int:
    found = _SPACE.match(text, start, end)
    return found.end() if found else start


def _cut(text: str, start: int) -> int:
    """Give the last joint within reach: after a sentence, else after a line, else a word, else anywhere."""
    window = text[start : start + MAX_PASSAGE]
    sentences = [joint.end() for joint in _SENTENCE_END.finditer(window)]
    for joint in (*sentences[-1:], window.rfind("\n") + 1, window.rfind(" ") + 1):
        if joint > MAX_PASSAGE // 3:
            return start + joint
    return start + MAX_PASSAGE
