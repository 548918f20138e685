"""Headings, titles and front matter of Markdown and reStructuredText, with where they stand."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape

from researchdesk.tools.sources.ports import Section

_MARKDOWN = (
    *("text/markdown", "text/html", "application/x-ipynb+json"),
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
)
_ATX = re.compile(r" {0,3}(#{1,6})(?![^ \t])")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*")
_RST_LINE = re.compile(r"([=\-~^\"'`#*+.:_])\1{2,}[ \t]*")
_NO_PARAGRAPH = re.compile(r"\s*(?:[|>#]|[-*+] |\d+[.)] |$)")
_TAG = re.compile(r"<[^<>]{0,500}>")
_IMAGE = re.compile(r"!\[[^\[\]]{0,500}\]\([^()]{0,1000}\)")
_LINK = re.compile(r"\[([^\[\]]{0,500})\]\([^()]{0,1000}\)")
_ATTRIBUTES = re.compile(r"\{[#.:][^{}]{0,200}\}")
_MAX_HEADING = 1_000
_FRONT_KEY = re.compile(r"([A-Za-z][A-Za-z0-9_-]*)[ \t]*[:=](.*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """One heading: its level from 1, its words without markup, and where its line(s) start and end."""

    level: int
    title: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Line:
    """One line without its newline, and where it starts."""

    text: str
    start: int

    @property
    def end(self) -> int:
        """Where the line ends, its newline not included."""
        return self.start + len(self.text)


def lines_of(text: str) -> Iterator[Line]:
    """Give the lines of a text; only ``\\n`` ends one."""
    start = 0
    for line in text.split("\n"):
        yield Line(line, start)
        start += len(line) + 1


def markdown_headings(text: str) -> Iterator[Heading]:
    """Give the headings outside code fences and front matter, in order."""
    body = front_matter_end(text)
    fence = ""
    before = previous = Line("", 0)
    for line in lines_of(text):
        opened = _FENCE.match(line.text) if "`" in line.text or "~" in line.text else None
        if opened and (not fence or (opened[1].startswith(fence) and not line.text[opened.end() :].strip())):
            fence = "" if fence else opened[1]
        elif not fence and line.start >= body:
            heading = _atx(line) or _setext(before, previous, line)
            if heading is not None:
                yield heading
        before, previous = previous, line


def rst_headings(text: str) -> Iterator[Heading]:
    """Give the underlined titles of reStructuredText, levels in order of first use."""
    levels: dict[str, int] = {}
    previous = Line("", 0)
    for line in lines_of(text):
        title = previous.text.strip()
        underline = _RST_LINE.fullmatch(line.text)
        if (
            underline
            and title
            and len(line.text.strip()) >= len(title)
            and not _RST_LINE.fullmatch(previous.text)
        ):
            level = levels.setdefault(underline[1], len(levels) + 1)
            yield Heading(level=level, title=title, start=previous.start, end=line.end)
        previous = line


def headings_of(text: str, *, media_type: str) -> list[Heading]:
    """Give the headings of an extracted text by the markup that its extractor writes; none for other types."""
    if media_type == "text/x-rst":
        return list(rst_headings(text))
    return list(markdown_headings(text)) if media_type in _MARKDOWN else []


def sections_of(headings: list[Heading], *, length: int) -> tuple[Section, ...]:
    """Give the stretch from each heading to the next, the last one to the end of the text."""
    ends = [*(heading.start for heading in headings[1:]), length]
    return tuple(
        Section(title=heading.title, start=heading.start, end=end, page=0)
        for heading, end in zip(headings, ends, strict=False)
    )


def front_matter(text: str) -> dict[str, str]:
    """Give the plain ``key: value`` lines of a leading ``---`` (or ``+++``) block; nested values are passed over."""
    found: dict[str, str] = {}
    for line in text[: front_matter_end(text)].split("\n")[1:-1]:
        if pair := _FRONT_KEY.fullmatch(line):
            value = pair[2].strip()
            if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
                value = value[1:-1]
            found.setdefault(pair[1].lower(), value)
    return found


def front_matter_end(text: str) -> int:
    """Give the offset behind the front matter, 0 where there is none."""
    mark = text[:4].rstrip("\n")
    if mark not in ("---", "+++") or text[3:4] != "\n":
        return 0
    end = text.find(f"\n{mark}\n", 3, 20_000)
    return end + 5 if end >= 0 else 0


def title_of(text: str, headings: list[Heading]) -> str | None:
    """Give the title that a text states: front matter ``title:``, else its first heading, else None."""
    stated = front_matter(text).get("title", "").strip()
    return stated or next((heading.title for heading in headings if heading.title), None)


def plain(markup: str) -> str:
    """Give the words of one line of Markdown without tags, links, emphasis and attributes."""
    markup = markup[:_MAX_HEADING]
    words = _ATTRIBUTES.sub("", _TAG.sub("", _LINK.sub(r"\1", _IMAGE.sub("", markup))))
    return " ".join(
        unescape(words).replace("**", "").replace("__", "").replace("`", "").replace("\\", "").split()
    )


def _atx(line: Line) -> Heading | None:
    if "#" not in line.text[:4]:
        return None
    match = _ATX.match(line.text)
    if match is None:
        return None
    words = line.text[match.end() :].strip()
    bare = words.rstrip("#")  # a closing run of # stands apart from the words
    title = bare if not bare or bare[-1] in " \t" else words
    return Heading(level=len(match[1]), title=plain(title), start=line.start, end=line.end)


def _setext(before: Line, previous: Line, line: Line) -> Heading | None:
    """Read a one-line paragraph with an underline as a heading."""
    if line.text.lstrip()[:1] not in ("=", "-") or before.text.strip() or _NO_PARAGRAPH.match(previous.text):
        return None
    match = _UNDERLINE.fullmatch(line.text)
    if match is None or len(match[1]) < 2:
        return None
    level = 1 if match[1][0] == "=" else 2
    return Heading(level=level, title=plain(previous.text), start=previous.start, end=line.end)
