r"""The notes as Markdown, and back: the one place that fixes their grammar.

```
# Notes

## Verified                          the seven sections in their fixed order, each with its heading

### c_001                            one record: its id, then one field a line; empty fields are left out
- text: Passwords have at least 8 characters.
- kind: figure
- status: VERIFIED
- value: 8
- unit: characters
- supports: s_001 a_4f1c 120..171    a link: stance, source, artifact, where the quote stands
- quote: at least 8 characters       the quote of the link before it
- repeats: s_002                     the declaration of the link before it

## Scratch

free text to the end of the file, which ends with one line feed more
```

A value stands on one line. A backslash, a line feed, control and direction characters, and white space at either
end are written ``\\``, ``\n`` and ``\uXXXX``, so that no text can end its line and begin a record. Claims stand in the
section of their status, those that have fallen among the contradictions; records in the order of their ids. A line
that is nothing of this is refused with its number. `parse` is the exact inverse of `render`.
"""

from __future__ import annotations  # the persistent maps are generic for type checkers only

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import MISSING, dataclass, field, fields
from itertools import chain
from typing import Any, Generic, TypeVar, get_args

from rpds import HashTrieMap

from researchdesk.state.claims import Assumption, Claim, Contradiction, Datapoint, Gap, Link, Source
from researchdesk.state.errors import Refusal
from researchdesk.state.ids import numbered
from researchdesk.state.notes import Notes, Record, section_of
from researchdesk.state.tokens import estimate_tokens
from researchdesk.state.vocabulary import NotesSection, Stance

Given = TypeVar("Given")
Made = TypeVar("Made")
TITLE = "# Notes"
SECTIONS: tuple[NotesSection, ...] = get_args(NotesSection)
STANCES: tuple[Stance, ...] = get_args(Stance)
PROBLEMS_SHOWN = 20
_KINDS: dict[str, type[Record]] = {
    "c": Claim,
    "d": Datapoint,
    "con": Contradiction,
    "as": Assumption,
    "gap": Gap,
    "s": Source,
}
# The lines of a record in their order; every attribute but the id and a claim's links.
_FIELDS: dict[type[Record], tuple[str, ...]] = {
    Claim: ("text", "kind", "status", "value", "unit", "question_id", "scope", "check", "note"),
    Datapoint: ("label", "value", "unit", "as_of", "about"),
    Contradiction: ("claim_id", "other_id", "differs", "status", "note"),
    Assumption: ("text", "question_id"),
    Gap: ("text", "question_id"),
    Source: (
        "title",
        "url",
        "artifact_id",
        "domain",
        "origin",
        "fetched",
        "readable",
        "near_duplicates",
        "note",
    ),
}
# What no record of a kind is without, so that it is written even when it is empty.
_NEEDED = {kind: {found.name for found in fields(kind) if found.default is MISSING} for kind in _FIELDS}
_BOOLEANS = {"yes": True, "no": False}
_HEADING = re.compile(r"### ((c|d|con|as|gap|s)_\d{3,})")
_FIELD = re.compile(r"- ([a-z_]+): (.*)", re.DOTALL)
_LINK = re.compile(r"(\S+) (\S+) (\d+)\.\.(\d+)")
_UNSAFE = re.compile(
    r"[\\\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]|^\s|\s$"
)
_ESCAPE = re.compile(r"\\(?:(\\)|(n)|u([0-9a-f]{4})|(.?))", re.DOTALL)


def render(notes: Notes) -> str:
    """The notes as Markdown; the same notes always give the same text."""
    blocks: dict[NotesSection, list[str]] = {section: [] for section in SECTIONS}
    for placed in _placed(notes):
        blocks[placed.section].append(placed.block)
    parts = [TITLE, *(part for name in SECTIONS[:-1] for part in (f"## {name}", *blocks[name])), "## Scratch"]
    return "\n\n".join(parts) + (f"\n\n{notes.scratch}\n" if notes.scratch else "\n")


def token_estimate(notes: Notes) -> int:
    """Estimated tokens of the rendered notes."""
    return estimate_tokens(render(notes))


@dataclass(frozen=True, slots=True)
class _Placed:
    """A record with the section and the lines in which it stands."""

    section: NotesSection
    record: Record
    block: str


class _Kept(Generic[Given, Made]):
    """A function that remembers what it made of an object, which is held so that its id stays its own.

    A version of the notes shares most records and most kinds of records with the one before; hashing them to find
    that out would cost as much as writing them again.
    """

    def __init__(self, make: Callable[[Given], Made], *, most: int) -> None:
        self._make, self._most = make, most
        self._made: dict[int, tuple[Given, Made]] = {}

    def __call__(self, given: Given) -> Made:
        known = self._made.get(id(given))
        if known is not None:
            return known[1]
        if len(self._made) >= self._most:
            self._made.clear()
        made = self._make(given)
        self._made[id(given)] = (given, made)
        return made


def _placed(notes: Notes) -> Iterator[_Placed]:
    """All records in the order in which they are written."""
    kinds: tuple[HashTrieMap[str, Any], ...] = (
        notes.claims,
        notes.contradictions,
        notes.datapoints,
        notes.sources,
        notes.assumptions,
        notes.gaps,
    )
    return chain.from_iterable(_placed_kind(records) for records in kinds)


def _by_number(record: Record) -> int:
    return int(record.id.rpartition("_")[2])


def _lines_of(record: Record) -> str:
    values = ((name, getattr(record, name)) for name in _FIELDS[type(record)])
    needed = _NEEDED[type(record)]
    lines = [
        f"- {name}: {_written(value)}" for name, value in values if value not in ("", ()) or name in needed
    ]
    if isinstance(record, Claim):
        lines += [line for link in record.links for line in _link_lines(link)]
    return "\n".join([f"### {record.id}\n", *lines])


def _placed_records(records: HashTrieMap[str, Any]) -> tuple[_Placed, ...]:
    """The records of one kind in the order of their ids."""
    return tuple(
        _Placed(_section_for(record), record, _block(record))
        for record in sorted(records.values(), key=_by_number)
    )


_block = _Kept(_lines_of, most=8192)
_placed_kind = _Kept(_placed_records, most=64)


def _link_lines(link: Link) -> Iterator[str]:
    yield f"- {link.stance}: {link.source_id} {link.artifact_id} {link.quote_start}..{link.quote_end}"
    if link.quote:
        yield f"- quote: {_written(link.quote)}"
    if link.quotes_other_source:
        yield f"- repeats: {_written(link.quotes_other_source)}"


def _written(value: str | bool | tuple[str, ...]) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(value) if isinstance(value, tuple) else _UNSAFE.sub(_escaped, value)


def _escaped(match: re.Match[str]) -> str:
    letter = match[0]
    return {"\\": "\\\\", "\n": "\\n"}.get(letter) or f"\\u{ord(letter):04x}"


def _read(written: str) -> str:
    return _ESCAPE.sub(_unescaped, written)


def _unescaped(match: re.Match[str]) -> str:
    if match[4] is not None:
        raise ValueError(f"unknown escape '{match[0]}'")
    if match[1]:
        return "\\"
    return "\n" if match[2] else chr(int(match[3], 16))


def parse(text: str) -> Notes:
    """The notes that a text holds.

    Raises:
        Refusal: ``notes_unreadable``, with the number of each line that is not of the grammar.
    """
    head, mark, scratch = text.partition("\n## Scratch\n")
    reader = _Reader()
    if not mark:
        reader.refuse(head.count("\n") + 1, "the section Scratch is missing")
    for number, line in enumerate(head.split("\n"), start=1):
        reader.take(number, line)
    reader.end()
    if scratch and not (scratch.startswith("\n") and scratch.endswith("\n") and len(scratch) > 2):
        reader.refuse(head.count("\n") + 3, "scratch text stands between one empty line and one line feed")
    notes = reader.notes(scratch[1:-1])
    if reader.problems:
        told = "; ".join(f"line {line}: {problem}" for line, problem in reader.problems[:PROBLEMS_SHOWN])
        raise Refusal("notes_unreadable", f"the notes cannot be read: {told}")
    return notes


@dataclass(slots=True)
class _Open:
    """The record that is being read."""

    id: str
    kind: type[Record]
    line: int
    section: str
    values: dict[str, Any] = field(default_factory=dict)
    links: list[dict[str, Any]] = field(default_factory=list)


@dataclass(slots=True)
class _Reader:
    """Reads line by line; problems are collected, so that a person sees them all at once."""

    problems: list[tuple[int, str]] = field(default_factory=list)
    records: dict[str, Record] = field(default_factory=dict)
    sections: list[str] = field(default_factory=list)
    open: _Open | None = None

    def refuse(self, line: int, problem: str) -> None:
        self.problems.append((line, problem))

    def take(self, number: int, line: str) -> None:
        if (number == 1 and line == TITLE) or not line:
            return
        if line.startswith("## "):
            self._section(number, line[3:])
        elif heading := _HEADING.fullmatch(line):
            self._begin(number, heading)
        elif self.open is not None and (found := _FIELD.fullmatch(line)):
            try:
                self._field(self.open, found[1], found[2])
            except ValueError as problem:
                self.refuse(number, str(problem))
        else:
            self.refuse(number, f"unknown line {line[:60]!r}")

    def _section(self, number: int, name: str) -> None:
        self.end()
        expected = SECTIONS[len(self.sections)] if len(self.sections) < len(SECTIONS) - 1 else "Scratch"
        if name != expected:
            self.refuse(number, f"section {name[:60]!r} where {expected!r} is due")
        self.sections.append(name)

    def _begin(self, number: int, heading: re.Match[str]) -> None:
        self.end()
        if heading[1] in self.records:
            self.refuse(number, f"{heading[1]} stands there already")
        section = self.sections[-1] if self.sections else ""
        self.open = _Open(id=heading[1], kind=_KINDS[heading[2]], line=number, section=section)

    def _field(self, record: _Open, name: str, written: str) -> None:
        if record.kind is Claim and name in STANCES:
            record.links.append(_link_start(name, written))
        elif record.links and name in ("quote", "repeats"):
            key = {"quote": "quote", "repeats": "quotes_other_source"}[name]
            if key in record.links[-1]:
                raise ValueError(f"a second {name} of one link")
            record.links[-1][key] = _read(written)
        elif name not in _FIELDS[record.kind] or record.links:
            raise ValueError(f"unknown field '{name}' of {record.id}")
        elif name in record.values:
            raise ValueError(f"a second {name} of {record.id}")
        else:
            record.values[name] = _value(name, written)

    def end(self) -> None:
        """Close the record that is being read."""
        record, self.open = self.open, None
        if record is None:
            return
        if record.links:
            record.values["links"] = tuple(Link(**link) for link in record.links)
        try:
            made = record.kind(id=record.id, **record.values)
        except (TypeError, ValueError) as problem:
            told = " ".join(str(problem).split())[:160]
            self.refuse(record.line, f"{record.id} is incomplete or holds a word that is not known ({told})")
            return
        if _section_for(made) != record.section:
            self.refuse(record.line, f"{record.id} does not belong into section {record.section!r}")
        self.records[record.id] = made

    def notes(self, scratch: str) -> Notes:
        """All that was read."""
        if len(self.sections) != len(SECTIONS) - 1:
            self.refuse(
                1, f"the notes have {len(self.sections)} sections before Scratch, not {len(SECTIONS) - 1}"
            )
        return Notes(
            claims=self._numbered("c", Claim),
            datapoints=self._numbered("d", Datapoint),
            contradictions=self._numbered("con", Contradiction),
            assumptions=self._numbered("as", Assumption),
            gaps=self._numbered("gap", Gap),
            sources=self._numbered("s", Source),
            scratch=scratch,
        )

    def _numbered(self, prefix: str, kind: type[Record]) -> Any:
        found = {key: record for key, record in self.records.items() if type(record) is kind}
        wanted = [numbered(prefix, n) for n in range(1, len(found) + 1)]
        for key in (key for key in wanted if key not in found):
            self.refuse(1, f"{key} is missing")
        return HashTrieMap(found)


def _link_start(stance: str, written: str) -> dict[str, Any]:
    place = _LINK.fullmatch(written)
    if place is None:
        raise ValueError(f"a link is 'source artifact start..end', not {written[:60]!r}")
    return {
        "stance": stance,
        "source_id": place[1],
        "artifact_id": place[2],
        "quote_start": int(place[3]),
        "quote_end": int(place[4]),
    }


def _value(name: str, written: str) -> Any:
    if name in ("fetched", "readable"):
        if written not in _BOOLEANS:
            raise ValueError(f"{name} is yes or no")
        return _BOOLEANS[written]
    return tuple(written.split(", ")) if name == "near_duplicates" else _read(written)


def _section_for(record: Record) -> NotesSection:
    match record:
        case Claim():
            return section_of(record)
        case Contradiction():
            return "Contradictions"
        case Datapoint():
            return "Datapoints"
        case Source():
            return "Sources"
        case Assumption() | Gap():
            return "Assumptions & gaps"


def record_text(notes: Notes, key: str) -> str | None:
    """One record, as it stands in the whole text; None where there is no such record."""
    return next((placed.block for placed in _placed(notes) if placed.record.id == key), None)


def ids_by_section(notes: Notes) -> dict[NotesSection, list[str]]:
    """The ids of the records that stand in each section but the scratch text, which has none."""
    found: dict[NotesSection, list[str]] = {section: [] for section in SECTIONS[:-1]}
    for placed in _placed(notes):
        found[placed.section].append(placed.record.id)
    return found


def section_text(notes: Notes, sections: Iterable[NotesSection]) -> str:
    """Some sections of the notes, as they stand in the whole text."""
    wanted = set(sections)
    blocks = [
        "\n\n".join([f"## {name}", *(placed.block for placed in _placed(notes) if placed.section == name)])
        for name in SECTIONS[:-1]
        if name in wanted
    ]
    if "Scratch" in wanted:
        blocks.append("\n\n".join(["## Scratch", *([notes.scratch] if notes.scratch else [])]))
    return "\n\n".join(blocks)
