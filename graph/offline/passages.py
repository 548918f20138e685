"""Markdown, reStructuredText or plain text as sentences that know their place and their heading.

Every sentence is an exact slice ``text[start:end]`` of what was given (code points), so that it can be
quoted. A table row is one sentence, or its widest cell where one cell holds nearly all its words.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape

LONGEST = 600
"""Sentences longer than this are cut at a clause, so that a quote stays readable."""

HEADING = re.compile(r"^ {0,3}(#{1,6})\s+(.+?)\s*#*$")
UNDERLINE = re.compile(r"^([=\-~^\"'*+#`])\1{2,}\s*$")
LIST_MARK = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)]|[a-z][.)]|>)\s+(?:\[[ xX]\]\s+)?")
FENCE = re.compile(r"^\s*(```|~~~)")
RULE_ROW = re.compile(r"^[\s|:+=\-]+$")
DIRECTIVE = re.compile(r"^\s*(\.\. |:[a-z-]+:(?=\s|$)|\[[^\]]+\]:\s)")
TAG = re.compile(r"</?[a-zA-Z][^<>]{0,300}>|<!--.*?-->", re.DOTALL)
EDGE = re.compile(r"(?:[\s|]|</?[a-zA-Z][^<>]{0,300}>)+")
ATTRIBUTES = re.compile(r"\{[:#.][^{}]*\}")
LINK = re.compile(r"!?\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\([^()\s]*(?:\([^()]*\)[^()\s]*)?(?:\s+\"[^\"]*\")?\)")
MARK = re.compile(r"\*\*|__|(?<!\w)[*_](?=\w)|(?<=[\w.!?])[*_](?!\w)|`+|:[a-z]+:(?=`)")
END = re.compile(
    r"[.!?][\"'”’)\]*_]{0,3}(?=\s+(?:[\"'“‘(\[*_`<]{1,3}[^\W_]|[^\W_a-z]))|[。！？｡]+[」』”’）]*"
)
ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|al|no|fig|sec|dr|mr|mrs|ms|prof|st|approx|resp|incl|ca|bzw|z\.B|d\.h|p|pp|vol"
    r"|ed|eds|inc|ltd|jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec)|(?<![\w.°])(?<!\d\s)(?<!\d\s°)[A-Z](?:\.[A-Z])*)\.$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """One quotable slice of a text.

    Args:
        text: exactly the slice ``[start:end]`` of the given text, without marks of lists around it.
        heading: headings above it, outermost first, joined by " › "; cleaned of Markdown.
        kind: ``prose``, ``row`` or ``code``.
    """

    text: str
    start: int
    end: int
    heading: str
    kind: str

    @property
    def clean(self) -> str:
        """The sentence as a person reads it: no links, tags or emphasis, white space folded."""
        return clean(self.text)


def clean(text: str) -> str:
    """Markdown noise removed and white space folded; for matching and for prose, never for quotes."""
    text = ATTRIBUTES.sub(" ", unescape(TAG.sub(" ", text)))
    text = LINK.sub(r"\1", text)
    text = LINK.sub(r"\1", text)
    return " ".join(MARK.sub("", text).split())


def sentences(text: str) -> list[Sentence]:
    """All sentences of a text in order; headings, rules, directives and empty cells are left out."""
    return [
        one
        for kind, start, end, heading in blocks(text)
        for one in split_block(text, kind, start, end, heading)
    ]


def blocks(text: str) -> Iterator[tuple[str, int, int, str]]:
    """``(kind, start, end, heading)`` of each paragraph, list item, table row and code block."""
    reader = BlockReader()
    for start, end in lines(text):
        yield from reader.read(text[start:end], start, end)
    yield from reader.flush()


def lines(text: str) -> Iterator[tuple[int, int]]:
    """Start and end (without the line break) of each line."""
    start = 0
    for line in text.splitlines(keepends=True):
        yield start, start + len(line.rstrip("\r\n"))
        start += len(line)


class BlockReader:
    """Gathers lines into blocks; keeps the headings above them."""

    def __init__(self) -> None:
        self.open: tuple[str, int, int, str] | None = None
        self.first_line = ""
        self.levels: list[tuple[int, str]] = []
        self.underlines: list[str] = []
        self.fence = ""
        self.comment = False

    @property
    def heading(self) -> str:
        return " › ".join(title for _, title in self.levels)

    def flush(self) -> Iterator[tuple[str, int, int, str]]:
        if self.open is not None:
            yield self.open
        self.open, self.first_line = None, ""

    def read(self, line: str, start: int, end: int) -> Iterator[tuple[str, int, int, str]]:
        if self.comment or "<!--" in line:
            yield from self.flush()
            self.comment = line.rfind("-->") < line.rfind("<!--") if "<!--" in line else "-->" not in line
        elif FENCE.match(line):
            yield from self.flush()
            self.fence = "" if self.fence else "```"
        elif self.fence:
            yield from self.add("code", start, end, line)
        elif found := HEADING.match(line):
            yield from self.flush()
            self.enter(len(found[1]), found[2])
        elif UNDERLINE.match(line):
            yield from self.underlined(line)
        elif not line.strip() or RULE_ROW.match(line) or DIRECTIVE.match(line):
            yield from self.flush()
        elif is_row(line):
            yield from self.flush()
            yield "row", start, end, self.heading
        else:
            mark = LIST_MARK.match(line)
            if mark or line.lstrip().startswith("<"):
                yield from self.flush()
            yield from self.add("prose", start + (mark.end() if mark else 0), end, line)

    def add(self, kind: str, start: int, end: int, line: str) -> Iterator[tuple[str, int, int, str]]:
        if self.open is not None and self.open[0] == kind:
            self.open = (kind, self.open[1], end, self.heading)
            self.first_line = ""
            return
        yield from self.flush()
        self.open, self.first_line = (kind, start, end, self.heading), line

    def underlined(self, line: str) -> Iterator[tuple[str, int, int, str]]:
        """A line of marks under one line of text makes it a heading; alone it is a rule."""
        title = self.first_line
        if self.open is None or not title or len(title) > 120:
            yield from self.flush()
            return
        self.open, self.first_line = None, ""
        mark = line[0]
        if mark not in self.underlines:
            self.underlines.append(mark)
        self.enter(self.underlines.index(mark) + 1, title)

    def enter(self, level: int, title: str) -> None:
        self.levels = [one for one in self.levels if one[0] < level][-2:]
        self.levels.append((level, clean(title)))


def is_row(line: str) -> bool:
    """True for a row of a Markdown table or of an HTML table cell on one line."""
    return line.count("|") >= 2 and (line.lstrip().startswith("|") or line.count(" | ") >= 2)


def split_block(text: str, kind: str, start: int, end: int, heading: str) -> Iterator[Sentence]:
    if kind == "row":
        spans = row_spans(text, start, end)
    elif kind == "code" or looks_like_code(text[start:end]):
        kind = "code"
        spans = [(start + a, start + b) for a, b in lines(text[start:end])]
    else:
        spans = list(prose_spans(text, start, end))
    for a, b in spans:
        for piece in shorten(text, *trim(text, a, b)):
            if any(char.isalnum() for char in text[piece[0] : piece[1]]):
                yield Sentence(text[piece[0] : piece[1]], piece[0], piece[1], heading, kind)


def row_spans(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The sentences of the widest cell where it holds most of the row's words, else the cells as one sentence."""
    cells = []
    at = start
    for part in text[start:end].split("|"):
        cells.append((at, at + len(part)))
        at += len(part) + 1
    words = [len(re.findall(r"[^\W\d_]{2,}", clean(text[a:b]))) for a, b in cells]
    widest = max(range(len(cells)), key=words.__getitem__)
    if words[widest] >= 6 and words[widest] >= 0.6 * sum(words):
        return list(prose_spans(text, *cells[widest]))
    filled = [(a, b) for a, b in cells if clean(text[a:b])]
    return [(filled[0][0], filled[-1][1])] if filled else []


def looks_like_code(block: str) -> bool:
    """True where marks of code outnumber what prose has."""
    marks = sum(block.count(mark) for mark in "{};=<>()[]_/\\")
    return marks > 0.08 * max(len(block), 1) and "](" not in block


def prose_spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    at = start
    for found in END.finditer(text, start, end):
        if found[0][0] == "." and ABBREVIATION.search(
            text[max(start, found.start() - 12) : found.start() + 1]
        ):
            continue
        yield at, found.end()
        at = found.end()
    yield at, end


def trim(text: str, start: int, end: int) -> tuple[int, int]:
    """Without white space, list marks and HTML tags at the ends."""
    while True:
        head = EDGE.match(text, start, end)
        start = head.end() if head else start
        mark = LIST_MARK.match(text[start : min(end, start + 12)])
        if mark is None:
            break
        start += mark.end()
    while end > start and (text[end - 1] in "| \t\r\n>"):
        opened = text.rfind("<", start, end)
        if text[end - 1] != ">":
            end -= 1
        elif opened >= start and TAG.fullmatch(text, opened, end):
            end = opened
        else:
            break
    return start, end


def shorten(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A span as it is, or in pieces of at most ``LONGEST`` characters cut at a clause."""
    while end - start > LONGEST:
        cuts = [found.end() for found in re.finditer(r"[;:,，；、]\s*|\s+", text[start : start + LONGEST])]
        strong = [found.end() for found in re.finditer(r"[;；]\s+|\.\s+", text[start : start + LONGEST])]
        cut = start + (strong or cuts or [LONGEST])[-1]
        yield trim(text, start, cut)
        start = cut
    yield trim(text, start, end)
