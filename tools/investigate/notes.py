"""The four tools of the notes: reading, noting, changing a record, and the scratch text."""

from collections.abc import Iterable
from dataclasses import replace
from typing import get_args

from researchdesk.state import claims
from researchdesk.state.claims import Claim, quoted
from researchdesk.state.envelopes import seal
from researchdesk.state.errors import Refusal
from researchdesk.state.frontier import question_of
from researchdesk.state.ids import CallId, numbered
from researchdesk.state.investigation import Changed, Investigation
from researchdesk.state.limits import READ_CHARS_DEFAULT, Limits
from researchdesk.state.notes import (
    Entry,
    NewAssumption,
    NewClaim,
    NewContradiction,
    NewDatapoint,
    NewGap,
    Notes,
    SourceNote,
    append,
    set_scratch,
)
from researchdesk.state.notes_grammar import SECTIONS, ids_by_section, record_text, section_text
from researchdesk.state.notes_update import Change, update
from researchdesk.state.outcomes import refute_claim
from researchdesk.state.verification import lacks
from researchdesk.state.vocabulary import ClaimKind
from researchdesk.state.workspace import Workspace
from researchdesk.tools.investigate import arguments as args
from researchdesk.tools.investigate.deciding import decided, opened, seen
from researchdesk.tools.spec import Bodies, Decision, Gathered, Need

IDS_SHOWN = 60
CUT = "\n\n(cut here; read single records by their ids)"


def decide_read(workspace: Workspace, a: args.NotesRead, gathered: Gathered, call: CallId) -> Decision:
    """Show a section of the notes, one record, or what there is."""
    now, limits = seen(workspace)
    text = _asked(now, a.section, limits)
    if len(text) > READ_CHARS_DEFAULT:
        text = text[:READ_CHARS_DEFAULT] + CUT
    sealed = seal(text, tag="investigation_notes", boundary=gathered.boundary)
    return Decision(text=sealed, data={"section": a.section}, entity_type="notes", entity_id=a.section)


def _asked(now: Investigation, wanted: str, limits: Limits) -> str:
    notes = now.notes
    if not wanted:
        return _overview(notes)
    section = next((name for name in SECTIONS if name.casefold() == wanted.casefold()), None)
    if section is not None:
        return section_text(notes, [section])
    text = record_text(notes, wanted)
    if text is None:
        raise Refusal(
            "unknown_record", f"no section and no record '{wanted[:80]}'; sections are {', '.join(SECTIONS)}"
        )
    claim = notes.claims.get(wanted)
    return text if claim is None else f"{text}\n\n({_standing(now, claim, limits)})"


def _overview(notes: Notes) -> str:
    lines = []
    for section, ids in ids_by_section(notes).items():
        hidden = len(ids) - IDS_SHOWN
        more = f" and {hidden} earlier" if hidden > 0 else ""
        lines.append(f"{section}: {', '.join(ids[-IDS_SHOWN:]) or 'nothing'}{more}")
    return "\n".join([*lines, f"Scratch: {len(notes.scratch):,} characters"])


def _standing(now: Investigation, claim: Claim, limits: Limits) -> str:
    """A claim's status, and what it lacks to be VERIFIED."""
    status = f"{claim.id} is {claim.status}"
    if claim.status != "UNVERIFIED":
        return status
    missing = lacks(claim, now.notes.sources, now.challenges, limits)
    return (
        f"{status}; to be VERIFIED it {'; it '.join(missing)}" if missing else f"{status} and may be VERIFIED"
    )


# -- links ------------------------------------------------------------------------------------------------------


def _quoted_artifacts(workspace: Workspace, links: Iterable[args.Link]) -> Bodies:
    now, _ = opened(workspace)
    known = (now.notes.sources.get(link.source_id) for link in links if link.quote)
    return Bodies(artifact_ids=tuple(dict.fromkeys(source.artifact_id for source in known if source)))


def _link(notes: Notes, link: args.Link, gathered: Gathered) -> claims.Link:
    """The link with its quote found in the archived text."""
    source = notes.sources.get(link.source_id)
    if source is None:
        have = f"it has s_001..{numbered('s', len(notes.sources))}" if len(notes.sources) else "it has none"
        raise Refusal("unknown_source", f"no source '{link.source_id}' in this run; {have}")
    if source.artifact_id in gathered.problems:
        raise Refusal("integrity", gathered.problems[source.artifact_id])
    text = gathered.texts.get(source.artifact_id, "")
    return quoted(source, text, link.quote, stance=link.stance, quotes_other_source=link.quotes_other_source)


# -- noting -----------------------------------------------------------------------------------------------------


def append_needs(workspace: Workspace, a: args.NotesAppend, call: CallId) -> Need:
    """The archived texts that the entries quote."""
    return _quoted_artifacts(workspace, (link for entry in a.entries for link in entry.links))


def decide_append(workspace: Workspace, a: args.NotesAppend, gathered: Gathered, call: CallId) -> Decision:
    """Note claims and other records, all or none."""
    now, limits = opened(workspace)
    if not a.entries:
        raise Refusal("invalid_arguments", "entries: it is empty. Give at least one.")
    entries = tuple(_entry(now, entry, gathered, number) for number, entry in enumerate(a.entries, start=1))
    noted = append(now.notes, a.section, entries)
    after = replace(now, notes=noted.notes)
    told = [_noted(after, key, limits) for key in noted.ids]
    return decided(
        now,
        Changed(investigation=after, told=tuple(told)),
        kind="notes",
        key=noted.ids[0],
        data={"ids": list(noted.ids)},
        reason="notes_append",
    )


def _noted(after: Investigation, key: str, limits: Limits) -> str:
    claim = after.notes.claims.get(key)
    return f"Noted {key}" if claim is None else f"Noted. {_standing(after, claim, limits)}"


def _entry(now: Investigation, entry: args.Entry, gathered: Gathered, number: int) -> Entry:
    """An entry as the notes take it; what its kind has no use for has to be empty."""
    if entry.question_id:
        question_of(now.frontier, entry.question_id)
    _check_unused(entry, number)
    match entry.kind:
        case "claim":
            return NewClaim(
                text=entry.text,
                kind=_claim_kind(entry.claim_kind, number),
                value=entry.value,
                unit=entry.unit,
                question_id=entry.question_id or now.frontier.current_id,
                links=tuple(_link(now.notes, link, gathered) for link in entry.links),
            )
        case "datapoint":
            return NewDatapoint(
                label=entry.text,
                value=entry.value,
                unit=entry.unit,
                as_of=entry.as_of,
                about=entry.about[0] if entry.about else "",
            )
        case "contradiction":
            claim_id, other_id = entry.about
            return NewContradiction(claim_id=claim_id, other_id=other_id, differs=entry.text)
        case "assumption":
            return NewAssumption(text=entry.text, question_id=entry.question_id)
        case "gap":
            return NewGap(text=entry.text, question_id=entry.question_id)
        case "source":
            return SourceNote(source_id=entry.about[0], note=entry.text)


_USED = {
    "claim": {"claim_kind", "value", "unit", "question_id", "links"},
    "datapoint": {"value", "unit", "as_of", "about"},
    "contradiction": {"about"},
    "assumption": {"question_id"},
    "gap": {"question_id"},
    "source": {"about"},
}
_ABOUT = {"datapoint": (0, 1), "contradiction": (2, 2), "source": (1, 1)}
_OPTIONAL = ("claim_kind", "value", "unit", "as_of", "question_id", "about", "links")


def _check_unused(entry: args.Entry, number: int) -> None:
    where = f"entries.{number - 1}"
    unused = [name for name in _OPTIONAL if getattr(entry, name) and name not in _USED[entry.kind]]
    if unused:
        raise Refusal(
            "invalid_arguments", f"{where}: a {entry.kind} has no {', '.join(unused)}; leave it empty"
        )
    least, most = _ABOUT.get(entry.kind, (0, 0))
    if not least <= len(entry.about) <= most:
        wanted = f"{least}" if least == most else f"{least} or {most}"
        raise Refusal(
            "invalid_arguments", f"{where}.about: a {entry.kind} names {wanted} ids, given {len(entry.about)}"
        )


def _claim_kind(given: str, number: int) -> ClaimKind:
    kinds: tuple[ClaimKind, ...] = get_args(ClaimKind)
    kind = next((kind for kind in kinds if kind == (given or "fact")), None)
    if kind is None:
        raise Refusal(
            "invalid_arguments",
            f"entries.{number - 1}.claim_kind: '{given[:40]}' is none of {', '.join(kinds)}",
        )
    return kind


# -- changing ---------------------------------------------------------------------------------------------------


def update_needs(workspace: Workspace, a: args.NotesUpdate, call: CallId) -> Need:
    """The archived texts that the further links quote."""
    return _quoted_artifacts(workspace, a.change.add_links)


def decide_update(workspace: Workspace, a: args.NotesUpdate, gathered: Gathered, call: CallId) -> Decision:
    """Change a record; a refuted claim takes with it what stands on it."""
    now, limits = opened(workspace)
    links = tuple(_link(now.notes, link, gathered) for link in a.change.add_links)
    change = Change(
        status=a.change.status,
        text=a.change.text,
        scope=a.change.scope,
        add_links=links,
        reason=a.change.reason,
    )
    changed = _changed(now, a.id, change, limits)
    return decided(now, changed, kind="notes", key=a.id, reason="notes_update")


def _changed(now: Investigation, key: str, change: Change, limits: Limits) -> Changed:
    if change.status == "REFUTED" and key.startswith("c_"):
        return _refuted(now, key, change, limits)
    notes = update(now.notes, key, change, challenges=now.challenges, limits=limits)
    after = replace(now, notes=notes)
    claim = notes.claims.get(key)
    told = f"Changed {key}" if claim is None else f"Changed. {_standing(after, claim, limits)}"
    return Changed(investigation=after, told=(told,))


def _refuted(now: Investigation, key: str, change: Change, limits: Limits) -> Changed:
    rest = replace(change, status="")
    if rest.text or rest.scope or rest.add_links:
        notes = update(now.notes, key, rest, challenges=now.challenges, limits=limits)
        now = replace(now, notes=notes)
    by = next((link.source_id for link in change.add_links if link.stance == "refutes"), "")
    return refute_claim(now, key, change.reason, by=by, limits=limits)


def decide_scratch(workspace: Workspace, a: args.NotesScratch, gathered: Gathered, call: CallId) -> Decision:
    """Replace the scratch text."""
    now, _ = opened(workspace)
    after = replace(now, notes=set_scratch(now.notes, a.text))
    told = (f"Scratch holds {len(a.text):,} characters",)
    return decided(
        now, Changed(investigation=after, told=told), kind="notes", key="Scratch", reason="notes_scratch"
    )
