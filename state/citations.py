"""Citations in a written body: which ids it cites, what it quotes, and which sentences owe a citation.

A body cites by id in square brackets, ``[s_003]`` or ``[s_003, s_004]``; code renders numbers and references
later. A quotation stands in double quotation marks before the citation of its source.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_ID = r"[sc]_\d{3,}"
CITATION = re.compile(rf"\[({_ID}(?:\s*[,;]\s*{_ID})*)\]")
NOT_SOURCED = " *(not sourced)*"
SHORTEST_QUOTATION = 12

_MARK = re.compile(r"[\"“”„«»]")
_LIST_MARK = re.compile(r"^\s*(?:[-*+>]|\d+[.)])\s+")
_QUOTED = re.compile(r"“([^”]+)”|„([^“”]+)[“”]|«([^»]+)»|\"([^\"]+)\"")
# A citation or the mark right behind the full stop still belongs to the sentence.
_SENTENCE_END = re.compile(
    rf"(?<=[.!?。！？])[\"”’»)\]*_]*(?:\s+{CITATION.pattern})*(?:\s+\*\(not sourced\)\*)?"
    r"\s+(?!\[[sc]_\d|\*\(not sourced\)\*)|\n"
)
_ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|etc|cf|vs|al|fig|no|sec|resp|approx)\.", re.IGNORECASE)
_FENCE = re.compile(r"^(```|~~~)")
_FIGURE = re.compile(r"\d")
_NOT_PROSE = re.compile(r"^\s*(#|\||```|~~~|---|\*\*\*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotation:
    """Words in quotation marks before a citation.

    ``whole`` runs from the first mark to the last, since a quoted text may hold marks of its own; ``parts`` are
    the pairs of marks one by one. Either the whole stands in a cited source, or each part does.
    """

    whole: str
    parts: tuple[str, ...]
    cites: tuple[str, ...]


def cited_ids(body: str) -> tuple[str, ...]:
    """Every id that the body cites, in order of first use."""
    return tuple(dict.fromkeys(key for match in CITATION.finditer(body) for key in _ids(match.group(1))))


def _ids(group: str) -> list[str]:
    return re.findall(_ID, group)


def quotations(body: str) -> tuple[Quotation, ...]:
    """The quotations of a body that stand before a citation in the same line, and the ids cited for them."""
    return tuple(found for line in body.splitlines() for found in _quotations_of_line(line))


def _quotations_of_line(line: str) -> Iterator[Quotation]:
    before = 0
    for match in CITATION.finditer(line):
        stretch, cites = line[before : match.start()], tuple(_ids(match.group(1)))
        before = match.end()
        pairs = [_inside(pair) for pair in _QUOTED.finditer(stretch)]
        marks = [place.start() for place in _MARK.finditer(stretch)]
        whole = stretch[marks[0] + 1 : marks[-1]] if marks else ""
        if _long(whole):
            yield Quotation(whole=whole, parts=tuple(text for text in pairs if _long(text)), cites=cites)


def _inside(pair: re.Match[str]) -> str:
    return next(part for part in pair.groups() if part)


def _long(text: str) -> bool:
    return len(text.strip()) >= SHORTEST_QUOTATION


def sentences(body: str) -> Iterator[tuple[int, int]]:
    """The spans of a body's prose sentences, list items included; headings, tables and code are left out."""
    fenced = False
    offset = 0
    for line in body.splitlines(keepends=True):
        if _FENCE.match(line.strip()):
            fenced = not fenced
        elif not fenced and line.strip() and not _NOT_PROSE.match(line):
            yield from _sentences_of_line(line.rstrip("\n"), offset)
        offset += len(line)


def _sentences_of_line(line: str, offset: int) -> Iterator[tuple[int, int]]:
    marker = _LIST_MARK.match(line)
    start = marker.end() if marker else 0
    for match in _SENTENCE_END.finditer(_without_quotations(line), start):
        if line[start : match.start()].strip():
            yield offset + start, offset + match.start() + len(match.group().rstrip())
        start = match.end()
    if line[start:].strip():
        yield offset + start, offset + len(line.rstrip())


def _without_quotations(line: str) -> str:
    """The line with quoted words blanked out, so that a full stop inside them ends no sentence."""
    blank = list(_ABBREVIATION.sub(lambda match: "_" * len(match.group()), line))
    spans = [pair.span() for pair in _QUOTED.finditer(line)]
    before = 0
    for match in CITATION.finditer(line):
        marks = [before + place.start() for place in _MARK.finditer(line[before : match.start()])]
        if len(marks) > 1 and line[marks[-1] + 1 : match.start()].strip(" .,;:") == "":
            spans.append((marks[0], marks[-1]))
        before = match.end()
    for first, last in spans:
        blank[first + 1 : last - 1] = "_" * max(0, last - first - 2)
    return "".join(blank)


def owes_citation(sentence: str) -> bool:
    """Whether a sentence holds a figure, a date or a quotation and no citation."""
    if CITATION.search(sentence) or NOT_SOURCED.strip() in sentence:
        return False
    return bool(_FIGURE.search(sentence)) or any(_long(_inside(pair)) for pair in _QUOTED.finditer(sentence))


def unsourced(body: str) -> tuple[str, ...]:
    """The sentences of a body that owe a citation."""
    return tuple(body[start:end] for start, end in sentences(body) if owes_citation(body[start:end]))


def mark_unsourced(body: str) -> str:
    """The body with each sentence that owes a citation visibly marked."""
    parts: list[str] = []
    before = 0
    for start, end in sentences(body):
        if owes_citation(body[start:end]):
            parts += [body[before:end], NOT_SOURCED]
            before = end
    return "".join([*parts, body[before:]])
