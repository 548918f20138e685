"""Citations in a written body: which ids it cites, what it quotes, and which statements owe a citation.

A body cites by id in square brackets: a source ``[s_003]``, a claim of the notes ``[c_012]``, or several,
``[s_003, c_012]``; code renders numbers and references later. What stands in quotation marks, or in a block quote, is
a quotation of what its sentence cites (`state.citing` says which sources that is).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from researchdesk.state.prose import Sentence, sentences

_ID = r"[sc]_\d{3,}"
CITATION = re.compile(rf"\[({_ID}(?:\s*[,;]\s*{_ID})*)\]")
NOT_SOURCED = " *(not sourced)*"
SHORTEST_QUOTATION = 12

_MARK = re.compile(r"[\"“”„‟«»‹›「」『』〝〞＂❝❞]|</?q>", re.IGNORECASE)
_QUOTED = re.compile(
    r"[“‟❝]([^”❞]+)[”❞]|„([^“”]+)[“”]|«([^»]+)»|»([^«]+)«|‹([^›]+)›|「([^」]+)」|『([^』]+)』|〝([^〞]+)〞"
    r"|＂([^＂]+)＂|<q>(.+?)</q>|\"([^\"]+)\"",
    re.IGNORECASE,
)
_QUOTING = re.compile(rf"{_MARK.pattern}|['‘’]|^\s*>", re.IGNORECASE | re.MULTILINE)
_SINGLE = re.compile(r"(?<!\w)[‘'](?=\S)((?:[^‘’']|(?<=\w)[’'](?=\w)){12,}?)(?<=\S)[’'](?!\w)")
_OPEN = re.compile(r"(?<!\d)\"")  # a digit before it makes inches of it
_ATTRIBUTION = re.compile(r"\s[—–-]{1,2}\s[^.!?]{0,120}$")
_FIGURE = re.compile(r"\d")


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotation:
    """Quoted words and the ids that their sentence cites, the nearest first.

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


@lru_cache(maxsize=4)  # a body is looked at when it is planned for, decided on and anchored
def quotations(body: str) -> tuple[Quotation, ...]:
    """The quotations of a body whose sentence cites something."""
    if _QUOTING.search(body) is None:
        return ()
    return tuple(found for sentence in sentences(body) for found in _quotations_of(sentence))


def _quotations_of(sentence: Sentence) -> Iterator[Quotation]:
    groups = list(CITATION.finditer(sentence.text))
    if not groups:
        return
    if sentence.kind == "quote":
        whole = _block_quotation(sentence.text)
        yield Quotation(whole=whole, parts=(), cites=cited_ids(sentence.text))
        return
    before = 0
    for place in range(len(groups) + 1):
        end = groups[place].start() if place < len(groups) else len(sentence.text)
        found = _quoted(sentence.text[before:end])
        if found is not None:
            nearest = [*groups[place : place + 1], *groups[max(0, place - 1) : place], *groups]
            cites = dict.fromkeys(key for group in nearest for key in _ids(group.group(1)))
            yield Quotation(whole=found[0], parts=found[1], cites=tuple(cites))
        before = groups[place].end() if place < len(groups) else end


def _block_quotation(text: str) -> str:
    """The words of a block quote, without citation, attribution and marks around it."""
    words = " ".join(CITATION.sub(" ", text).split()).rstrip()
    return _ATTRIBUTION.sub("", words).strip().strip('"“”„«»').strip()


def _quoted(stretch: str) -> tuple[str, tuple[str, ...]] | None:
    """The quoted words of a stretch without citations: whole and in parts; None where nothing is quoted."""
    parts = [text for pair in _QUOTED.finditer(stretch) if _long(text := _inside(pair))]
    parts += [text for pair in _SINGLE.finditer(stretch) if _long(text := pair.group(1))]
    marks = [place.span() for place in _MARK.finditer(stretch)]
    whole = stretch[marks[0][1] : marks[-1][0]] if len(marks) > 1 else ""
    straight = [place.start() for place in _OPEN.finditer(stretch)]
    if len(straight) % 2 and stretch.count('"') % 2 and _long(stretch[straight[-1] + 1 :]):
        parts.append(stretch[straight[-1] + 1 :])  # never closed: it quotes to the end
    if not parts and not _long(whole):
        return None
    return (whole if _long(whole) else parts[0]), tuple(parts)


def _inside(pair: re.Match[str]) -> str:
    return next(part for part in pair.groups() if part)


def _long(text: str) -> bool:
    return len(text.strip()) >= SHORTEST_QUOTATION


def owes_citation(sentence: Sentence) -> bool:
    """Whether a statement holds a figure, a date or a quotation and no citation."""
    text = sentence.text
    if CITATION.search(text) or NOT_SOURCED.strip() in text:
        return False
    return sentence.kind == "quote" or bool(_FIGURE.search(text)) or _quoted(text) is not None


def unsourced(body: str) -> tuple[str, ...]:
    """The statements of a body that owe a citation."""
    return tuple(" ".join(s.text.split()) for s in sentences(body) if owes_citation(s))


def mark_unsourced(body: str) -> str:
    """The body with each statement that owes a citation visibly marked."""
    parts: list[str] = []
    before = 0
    for sentence in sentences(body):
        if owes_citation(sentence):
            end = sentence.end
            if sentence.kind == "row" and body[:end].endswith("|"):
                end -= 1  # inside the last cell, or the table breaks
            parts += [body[before:end], NOT_SOURCED]
            before = end
    return "".join([*parts, body[before:]])
