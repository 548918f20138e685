"""Programs as text: only what they say in comments and documentation can be quoted, and the name it stands under."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from researchdesk.graph.offline.passages import Sentence, lines, prose_spans, trim

EXTENSIONS = """py pyi js mjs cjs ts tsx jsx java kt kts scala go rs c h cc cpp cxx hpp cs rb php swift m sh bash zsh
    ps1 sql lua pl r jl ex exs erl hs ml clj dart vue css scss toml ini cfg yaml yml json"""
PROGRAMS = frozenset(EXTENSIONS.split())
COMMENT = re.compile(r"^\s*(?:#+|//+!?|--+|;+|\*(?!/)|/\*+)\s+(?=\S)")
MARKS = re.compile(r"^\s*(?:[rRbBuUfF]{0,2}(?:\"\"\"|'''))?\s*")
NAME = re.compile(
    r"^\s*(?:export |public |private |static |async |pub )*(?:def|class|func|function|fn|interface|struct|trait|enum)"
    r"\s+(\w+)"
)
CODE_LINE = re.compile(
    r"^\s*(?:(?:async )?def |class |import |from \S+ import|return\b|raise |assert |yield |elif |else:|try:|except"
    r"|with \S+\(|@\w|>>>)|[=({\[,:;\\]\s*$|\w\(|^\W|[{}=\[\]]|\w\.\w+\(|^\s*[\"'].*[\"'],?\s*$|\"\s*:|\":"
)
LEAST_WORDS = 5
NOTHING = 1_000
ARGUMENT = re.compile(r"^\s*[\w, *]+: \S")
"""A line of documentation that begins the description of an argument."""


def is_program(locator: str) -> bool:
    """True for a file of source code or settings, by its extension."""
    return PurePosixPath(locator).suffix.lstrip(".").lower() in PROGRAMS


def code_sentences(text: str) -> list[Sentence]:
    """Sentences of comments and documentation, as exact slices; the heading is the name of what they stand in."""
    return [
        Sentence(text[a:b], a, b, heading, "prose")
        for start, end, heading in spoken_blocks(text)
        for a, b in (trim(text, *span) for span in prose_spans(text, start, end))
        if len(text[a:b].split()) >= LEAST_WORDS and text[a:b].rstrip("\"'")[-1:] in ".!?。"
    ]


def spoken_blocks(text: str) -> Iterator[tuple[int, int, str]]:
    """``(start, end, name)`` of runs of lines that read as prose; a comment of several lines is left out."""
    heading, block, comments, described = "", None, 0, NOTHING
    for start, end in [*lines(text), (len(text), len(text))]:
        line = text[start:end]
        mark = COMMENT.match(line)
        prose = reads_as_prose(line[mark.end() :] if mark else line)
        if prose and ARGUMENT.match(line):
            prose, described = False, indent(line)
        elif not line.strip() or indent(line) <= described:
            described = NOTHING
        # A description of an argument goes on where it is indented further.
        prose = prose and described == NOTHING
        if mark or comments or not prose:
            if block is not None and comments < 2:
                yield (*block, heading)
            block = None
        comments = comments + 1 if mark else 0
        if named := NAME.match(line):
            heading = named[1]
        if prose:
            first = start + (mark.end() if mark else MARKS.match(line).end())  # type: ignore[union-attr]
            last = start + len(line.rstrip().removesuffix('"""').removesuffix("'''").rstrip())
            block = (block[0] if block else first, last)


def indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def reads_as_prose(line: str) -> bool:
    """True for a line of words: code has marks that prose has not."""
    bare = MARKS.sub("", line, count=1).rstrip().removesuffix('"""').removesuffix("'''")
    bare = re.sub(r"`[^`]*`", "x", bare)
    spans = re.sub(r"\([^()]*\)", "x", bare)
    if re.search(r"\w\((?!s\))", bare):
        return False
    return (
        bool(re.match(r"[^\W_]", bare.lstrip("`\"'(“*- ")))
        and not CODE_LINE.search(spans)
        and " " in bare.strip()
    )
