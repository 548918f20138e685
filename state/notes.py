"""The notes: every record of an investigation beside its questions and challenges, as one immutable value.

Ids are given by code, in order. A record changes only through `update`; text goes out and in through
`state.notes_grammar`.
"""

from __future__ import annotations  # the persistent maps are generic for type checkers only

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from rpds import HashTrieMap

from researchdesk.state.claims import (
    Assumption,
    Claim,
    Contradiction,
    Datapoint,
    Gap,
    Link,
    Source,
    check_figure,
)
from researchdesk.state.errors import Refusal
from researchdesk.state.ids import numbered
from researchdesk.state.limits import NOTE_CHARS, SCRATCH_CHARS
from researchdesk.state.vocabulary import ClaimKind, NotesSection

Record = Claim | Datapoint | Contradiction | Assumption | Gap | Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Notes:
    """All records by id, and the free text of the scratch section."""

    claims: HashTrieMap[str, Claim] = field(default_factory=HashTrieMap)
    datapoints: HashTrieMap[str, Datapoint] = field(default_factory=HashTrieMap)
    contradictions: HashTrieMap[str, Contradiction] = field(default_factory=HashTrieMap)
    assumptions: HashTrieMap[str, Assumption] = field(default_factory=HashTrieMap)
    gaps: HashTrieMap[str, Gap] = field(default_factory=HashTrieMap)
    sources: HashTrieMap[str, Source] = field(default_factory=HashTrieMap)
    scratch: str = ""

    @property
    def all_claims(self) -> Iterator[Claim]:
        """The claims in the order of their ids."""
        return (self.claims[numbered("c", n)] for n in range(1, len(self.claims) + 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class NewClaim:
    """A claim to be noted."""

    text: str
    kind: ClaimKind = "fact"
    value: str = ""
    unit: str = ""
    question_id: str = ""
    check: str = ""
    note: str = ""
    links: tuple[Link, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDatapoint:
    """A datapoint to be noted; ``about`` is a claim's or a source's id."""

    label: str
    value: str
    unit: str = ""
    as_of: str = ""
    about: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewContradiction:
    """A contradiction to be noted; ``other_id`` is a claim's or a source's id."""

    claim_id: str
    other_id: str
    differs: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NewAssumption:
    """An assumption to be noted."""

    text: str
    question_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewGap:
    """A gap to be noted."""

    text: str
    question_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceNote:
    """A note on a source that is archived already; sources themselves come in by archiving."""

    source_id: str
    note: str


Entry = NewClaim | NewDatapoint | NewContradiction | NewAssumption | NewGap | SourceNote
# VERIFIED is reached by challenges alone, and Scratch is written whole.
ACCEPTED: dict[NotesSection, tuple[type[Entry], ...]] = {
    "Verified": (),
    "Unverified": (NewClaim,),
    "Contradictions": (NewContradiction,),
    "Datapoints": (NewDatapoint,),
    "Sources": (SourceNote,),
    "Assumptions & gaps": (NewAssumption, NewGap),
    "Scratch": (),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """The notes after an operation, and the ids of the records that it made or changed."""

    notes: Notes
    ids: tuple[str, ...]


def claim_of(notes: Notes, claim_id: str) -> Claim:
    """The claim of that id.

    Raises:
        Refusal: ``unknown_claim``, with the ids that exist.
    """
    found = notes.claims.get(claim_id)
    if found is None:
        many = len(notes.claims)
        have = f"it has c_001..{numbered('c', many)}" if many else "it has none"
        raise Refusal("unknown_claim", f"no claim '{claim_id}' in this run; {have}")
    return found


def append(notes: Notes, section: NotesSection, entries: tuple[Entry, ...]) -> Noted:
    """The notes with new records; all or, when one is refused, none.

    Raises:
        Refusal: ``wrong_section``, ``unknown_claim``, ``unknown_source``, ``figure_not_quoted`` or
            ``invalid_arguments``.
    """
    ids: list[str] = []
    for entry in entries:
        if not isinstance(entry, ACCEPTED[section]):
            where = next(name for name, kinds in ACCEPTED.items() if type(entry) in kinds)
            raise Refusal("wrong_section", f"{section} takes no such entry; it belongs to {where}")
        notes, key = _append_one(notes, entry)
        ids.append(key)
    return Noted(notes=notes, ids=tuple(ids))


def _append_one(notes: Notes, entry: Entry) -> tuple[Notes, str]:
    match entry:
        case NewClaim():
            return _append_claim(notes, entry)
        case NewDatapoint():
            _check_text("label", entry.label)
            _check_text("value", entry.value)
            if entry.about:
                _check_record(notes, entry.about)
            key = numbered("d", len(notes.datapoints) + 1)
            datapoint = Datapoint(
                id=key,
                label=entry.label,
                value=entry.value,
                unit=entry.unit,
                as_of=entry.as_of,
                about=entry.about,
            )
            return put(notes, datapoint), key
        case NewContradiction():
            return _append_contradiction(notes, entry)
        case NewAssumption():
            _check_text("text", entry.text)
            key = numbered("as", len(notes.assumptions) + 1)
            return put(notes, Assumption(id=key, text=entry.text, question_id=entry.question_id)), key
        case NewGap():
            _check_text("text", entry.text)
            key = numbered("gap", len(notes.gaps) + 1)
            return put(notes, Gap(id=key, text=entry.text, question_id=entry.question_id)), key
        case SourceNote():
            _check_source(notes, entry.source_id)
            return put(notes, replace(notes.sources[entry.source_id], note=entry.note)), entry.source_id


def _append_claim(notes: Notes, entry: NewClaim) -> tuple[Notes, str]:
    _check_text("text", entry.text)
    for link in entry.links:
        _check_source(notes, link.source_id)
    key = numbered("c", len(notes.claims) + 1)
    claim = Claim(
        id=key,
        text=entry.text.strip(),
        kind=entry.kind,
        value=entry.value,
        unit=entry.unit,
        question_id=entry.question_id,
        check=entry.check,
        note=entry.note,
        links=tuple(dict.fromkeys(entry.links)),
    )
    check_figure(claim)
    return put(notes, claim), key


def _append_contradiction(notes: Notes, entry: NewContradiction) -> tuple[Notes, str]:
    _check_text("differs", entry.differs)
    claim_of(notes, entry.claim_id)
    if entry.other_id == entry.claim_id:
        raise Refusal(
            "invalid_arguments", f"{entry.claim_id} cannot contradict itself; name another claim or a source"
        )
    _check_record(notes, entry.other_id)
    key = numbered("con", len(notes.contradictions) + 1)
    record = Contradiction(id=key, claim_id=entry.claim_id, other_id=entry.other_id, differs=entry.differs)
    return put(notes, record), key


def _check_text(name: str, text: str) -> None:
    if not text.strip() or len(text) > NOTE_CHARS:
        raise Refusal("invalid_arguments", f"{name}: it needs 1 to {NOTE_CHARS:,} characters")


def _check_source(notes: Notes, source_id: str) -> None:
    if source_id not in notes.sources:
        many = len(notes.sources)
        have = f"it has s_001..{numbered('s', many)}" if many else "it has none"
        raise Refusal("unknown_source", f"no source '{source_id}' in this run; {have}")


def _check_record(notes: Notes, key: str) -> None:
    if key.startswith("s_"):
        _check_source(notes, key)
    else:
        claim_of(notes, key)


def set_scratch(notes: Notes, text: str) -> Notes:
    """The notes with another scratch text.

    Raises:
        Refusal: ``too_long``.
    """
    if len(text) > SCRATCH_CHARS:
        raise Refusal(
            "too_long",
            f"scratch: it has {len(text):,} characters, the limit is {SCRATCH_CHARS:,}; shorten it",
        )
    return replace(notes, scratch=text)


def section_of(claim: Claim) -> NotesSection:
    """The section that a claim stands in; what has fallen stands among the contradictions."""
    match claim.status:
        case "VERIFIED":
            return "Verified"
        case "UNVERIFIED":
            return "Unverified"
        case "REFUTED" | "RETRACTED":
            return "Contradictions"


def put(notes: Notes, record: Record) -> Notes:
    """The notes with a record put in, new or in place of what it was; nothing else is checked."""
    match record:
        case Claim():
            return replace(notes, claims=notes.claims.insert(record.id, record))
        case Datapoint():
            return replace(notes, datapoints=notes.datapoints.insert(record.id, record))
        case Contradiction():
            return replace(notes, contradictions=notes.contradictions.insert(record.id, record))
        case Assumption():
            return replace(notes, assumptions=notes.assumptions.insert(record.id, record))
        case Gap():
            return replace(notes, gaps=notes.gaps.insert(record.id, record))
        case Source():
            return replace(notes, sources=notes.sources.insert(record.id, record))
