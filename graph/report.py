"""The report of one run as a value, read from the ledger: what every format of it is rendered from."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

from researchdesk.graph.plain import markdown_text, readable
from researchdesk.graph.report_findings import NO_FINDINGS, Findings, findings
from researchdesk.graph.words import file_name, outcome, outcome_text, resume_advice
from researchdesk.state import events as ev
from researchdesk.state.citations import CITATION, cited_ids, mark_unsourced
from researchdesk.state.citing import cited_sources
from researchdesk.state.errors import NotFound
from researchdesk.state.gaps import gaps as found_gaps
from researchdesk.state.run import ResearchRun, Section
from researchdesk.state.usage import usage_view
from researchdesk.state.workspace import Workspace
from researchdesk.tools.door import Session
from researchdesk.tools.workspace import Desk

SHORT_HASH = 12
_CITATIONS = re.compile(rf"{CITATION.pattern}(?:[ \t]*{CITATION.pattern})*")
_ESCAPED_CITATIONS = re.compile(_CITATIONS.pattern.replace(r"\[", r"\\\[").replace(r"\]", r"\\\]"))
_ESCAPED_STRONG = re.compile(r"(?<!\w)\\\*\\\*(?=\w)([^*\\]+)(?<=\w)\\\*\\\*(?!\w)")
_MAKES_A_LINK = re.compile(r"(?<!\\)\](?=[(:])")
DAGGER = "†"
"""Stands after the numbers of a claim that is not VERIFIED."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A source as the report names it; ``number`` is 0 where the report does not cite it."""

    number: int
    source_id: str
    artifact_id: str
    title: str
    """Empty where the source has none."""
    locator: str
    publisher: str
    domain: str
    read_at: str
    """ISO 8601; when a supplied text was saved."""
    media_type: str
    chars: int
    text_hash: str
    raw_hash: str
    supplied: bool
    purged: bool

    @property
    def short_hash(self) -> str:
        """The first hex digits of the archived text's hash."""
        return self.text_hash.partition(":")[2][:SHORT_HASH]


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """A verified quotation: its place in the archived text (code points) and the words there."""

    section: str
    """Key of the section that quotes, or empty for a report that was not written by sections."""
    source_id: str
    start: int
    end: int
    text: str | None
    """None when the source was purged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportSection:
    """A section as it is stored: Markdown that cites by id."""

    key: str
    title: str
    status: str
    artifact_id: str
    text: str
    cited: tuple[str, ...]
    """The sources and claims that it cites, in order of first use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HandoffList:
    """One of the four structured lists that a report ends with."""

    key: str
    title: str
    items: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A run's report.

    ``body`` is the stored Markdown that cites by id; `numbered` puts numbers in their place. ``outcome`` is
    ``completed``, ``partial``, ``blocked`` or ``unfinished``; the last two are drafts of the sections so far.
    """

    session_id: str
    objective: str
    outcome: str
    outcome_text: str
    stop_reason: str
    scope: str
    template: str
    model: str
    started_at: str
    ended_at: str
    artifact_id: str
    body: str
    sections: tuple[ReportSection, ...]
    references: tuple[Reference, ...]
    """In the order of their numbers."""
    uncited: tuple[Reference, ...]
    quotes: tuple[Quote, ...]
    gaps: tuple[str, ...]
    handoff: tuple[HandoffList, ...]
    findings: Findings
    usage: Mapping[str, Any]
    """What the run used, in the form of `state.usage.usage_view`."""

    @property
    def sources(self) -> tuple[Reference, ...]:
        """Every source of the run, cited or not, in the order of its id."""
        return tuple(sorted((*self.references, *self.uncited), key=lambda ref: int(ref.source_id[2:])))

    @property
    def origins(self) -> int:
        """Publishers of the sources that were fetched."""
        return len({ref.publisher for ref in self.sources if not ref.supplied})

    @property
    def behind(self) -> frozenset[str]:
        """The sources behind its quotations and the claims that it cites; others it only names."""
        claimed = (key for claim in self.findings.claims.values() if claim.cited for key in claim.source_ids)
        return frozenset((*claimed, *(quote.source_id for quote in self.quotes)))

    @property
    def marks(self) -> bool:
        """Whether it cites a claim that is not VERIFIED, so that its daggers need a legend."""
        return any(found.cited and not found.verified for found in self.findings.claims.values())

    def numbered(self, text: str) -> str:
        """The text with numbers in place of cited ids, and a dagger after those of claims that are not VERIFIED.

        ``[s_004, s_001]`` becomes ``[1, 2]``; ``[c_012]`` the numbers of that claim's sources, like ``[3, 4]†``.
        Citations that follow each other become one where their mark is the same.
        """
        numbers = self._numbers()
        return _CITATIONS.sub(lambda group: self._citations(CITATION.findall(group[0]), numbers), text)

    def shown(self, text: str, *, limit: int = 0) -> str:
        """A written text as Markdown on one line: its citations as numbers, links by their words, **strong** words."""
        words = _ESCAPED_STRONG.sub(r"**\g<1>**", markdown_text(readable(text), limit=limit))
        cited = _ESCAPED_CITATIONS.sub(lambda found: self.numbered(found[0].replace("\\", "")), words)
        return _MAKES_A_LINK.sub(r"]\\", cited)

    def numbers_of(self, ids: Iterable[str]) -> str:
        """The numbers of sources and claims as a reader sees them, like ``[1, 2]``; "" for none."""
        shown = self._shown(ids, self._numbers())
        return f"[{', '.join(shown)}]" if shown else ""

    def sources_of(self, ids: Iterable[str]) -> tuple[str, ...]:
        """The sources that those ids lead to, each once; what leads to none, like a claim without any, stays."""
        found: dict[str, None] = {}
        for key in ids:
            claim = self.findings.claims.get(key)
            found |= dict.fromkeys((claim.source_ids if claim else ()) or (key,))
        return tuple(found)

    def _numbers(self) -> dict[str, int]:
        return {ref.source_id: ref.number for ref in self.references}

    def _citations(self, groups: Iterable[str], numbers: Mapping[str, int]) -> str:
        marked = ((self._mark(cites), cites) for cites in map(cited_ids, (f"[{group}]" for group in groups)))
        return " ".join(
            f"[{', '.join(self._shown((key for _, cites in same for key in cites), numbers))}]{mark}"
            for mark, same in groupby(marked, key=itemgetter(0))
        )

    def _mark(self, cites: Iterable[str]) -> str:
        return DAGGER if any(self.findings.unverified(key) for key in cites) else ""

    def _shown(self, cites: Iterable[str], numbers: Mapping[str, int]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(str(numbers.get(key, key)) for key in self.sources_of(cites)))


def read_report(desk: Desk, session_id: str = "") -> Report:
    """The report of a run, or the draft of one whose sections were begun.

    Raises:
        NotFound: no such session, no research in it, or nothing of the report is written; the message says why.
        IntegrityError: a stored body is not what was recorded.
    """
    session = desk.existing(session_id)
    workspace = session.workspace
    run = workspace.run
    if run is None:
        raise NotFound(f"session '{session.id}' holds no research, so it has no report")
    read = _reader(session, workspace)
    sections = tuple(_section(run, section, read) for section in run.sections)
    body = _body(session.id, run, sections, read)
    handoff = _handoff(run)
    cites = cited_ids("\n\n".join([body, *(item for part in handoff for item in part.items)]))
    found = _findings(desk, session.id, workspace, cites)
    numbers = _numbers(run, workspace, [*cites, *_contradicting(found)])
    references = [_reference(desk, session.id, workspace, s, numbers) for s in run.all_sources]
    return Report(
        session_id=session.id,
        objective=run.objective,
        outcome=outcome(run),
        outcome_text=outcome_text(run),
        stop_reason=run.stop_reason or "",
        scope=run.scope_level,
        template=run.template.name,
        model=workspace.config.model if workspace.config else "",
        started_at=_time(desk, session, run.created_seq),
        ended_at=_time(desk, session, _end_seq(desk, session)),
        artifact_id=run.report_artifact_id,
        body=body,
        sections=sections,
        references=tuple(sorted((r for r in references if r.number), key=lambda r: r.number)),
        uncited=tuple(r for r in references if not r.number),
        quotes=tuple(_quotes(run, read)),
        gaps=_gaps(run, workspace, body),
        handoff=handoff,
        findings=found,
        usage=usage_view(workspace.spending_so_far),
    )


def read_sources(desk: Desk, session_id: str = "") -> tuple[Reference, ...]:
    """Every source of a run in the order of its id, whether or not there is a report that cites it.

    Raises:
        NotFound: no such session, or no research in it.
    """
    session = desk.existing(session_id)
    workspace = session.workspace
    if workspace.run is None:
        raise NotFound(f"session '{session.id}' holds no research, so it has no sources")
    return tuple(_reference(desk, session.id, workspace, source, {}) for source in workspace.run.all_sources)


Read = Callable[[str], str | None]


def _reader(session: Session, workspace: Workspace) -> Read:
    """Reads the text of an artifact, once; None when it was purged."""
    known: dict[str, str | None] = {}

    def read(artifact_id: str) -> str | None:
        if artifact_id not in known:
            assert workspace.run is not None
            key = workspace.run.artifacts[artifact_id].content_hash
            gone = artifact_id in workspace.purged_artifacts
            known[artifact_id] = None if gone else session.records.text(key)
        return known[artifact_id]

    return read


def _section(run: ResearchRun, section: Section, read: Read) -> ReportSection:
    text = read(section.artifact_id) or "" if section.artifact_id else ""
    return ReportSection(
        key=section.key,
        title=section.title,
        status=section.status,
        artifact_id=section.artifact_id,
        text=mark_unsourced(text),
        cited=cited_ids(text),
    )


def _body(session_id: str, run: ResearchRun, sections: tuple[ReportSection, ...], read: Read) -> str:
    if run.report_artifact_id:
        body = read(run.report_artifact_id)
        if body is None:
            raise NotFound(f"the report of session '{session_id}' was purged")
        return body
    written = [section for section in sections if section.text.strip()]
    if not written:
        raise NotFound(
            f"session '{session_id}' has no report yet, nor a section of one: it is {outcome_text(run)}. "
            f"`researchdesk status {session_id}` shows how far it is; `researchdesk resume {session_id}` takes it up"
            f"{f' {advice}' if (advice := resume_advice(run)) else ''}"
        )
    return "\n\n".join(f"## {section.title}\n\n{section.text.strip()}" for section in written) + "\n"


def _numbers(run: ResearchRun, workspace: Workspace, cites: Iterable[str]) -> dict[str, int]:
    """A number for each cited source, in the order of first use."""
    held = workspace.investigation
    known = [key for key in cites if key in run.sources or (held and key in held.notes.claims)]
    cited = cited_sources(known, held.notes if held else None, run)
    return {key: number for number, key in enumerate(cited, start=1)}


def _contradicting(found: Findings) -> Iterable[str]:
    """What the report's list of contradictions cites."""
    return (key for record in found.contradictions for key in (record.claim_id, record.other_id))


def _findings(desk: Desk, session_id: str, workspace: Workspace, cites: tuple[str, ...]) -> Findings:
    if workspace.investigation is None or workspace.run is None:
        return NO_FINDINGS
    rows = desk.ledger.query(
        "SELECT question_id, reason FROM frontier_transitions "
        "WHERE session_id = ? AND trigger NOT IN ('created', 'reprioritized') ORDER BY question_id, seq",
        (session_id,),
    )
    reasons = {str(row["question_id"]): str(row["reason"]) for row in rows}
    return findings(workspace.investigation, workspace.run, cited=cites, reasons=reasons)


def _reference(
    desk: Desk, session_id: str, workspace: Workspace, source: ev.SourceRecorded, numbers: dict[str, int]
) -> Reference:
    assert workspace.run is not None
    artifact, receipt = workspace.run.artifacts[source.artifact_id], source.receipt
    return Reference(
        number=numbers.get(source.source_id, 0),
        source_id=source.source_id,
        artifact_id=source.artifact_id,
        title=source.title or file_name(source.url or artifact.locator),
        locator=source.url or artifact.locator,
        publisher=source.origin,
        domain=source.domain,
        read_at=receipt.fetched_at if receipt else _saved_at(desk, session_id, source.artifact_id),
        media_type=receipt.media_type if receipt else "",
        chars=artifact.chars,
        text_hash=artifact.content_hash,
        raw_hash=receipt.raw_hash if receipt else "",
        supplied=receipt is None,
        purged=source.artifact_id in workspace.purged_artifacts,
    )


def _quotes(run: ResearchRun, read: Read) -> Iterable[Quote]:
    """The quotations of the report: by section where there are sections, else of the report as a whole."""
    artifacts = [(s.key, run.artifacts[s.artifact_id]) for s in run.sections if s.artifact_id]
    if not artifacts and run.report_artifact_id:
        artifacts = [("", run.artifacts[run.report_artifact_id])]
    for key, artifact in artifacts:
        for anchor in artifact.quotes:
            text = read(run.sources[anchor.source_id].artifact_id)
            yield Quote(
                section=key,
                source_id=anchor.source_id,
                start=anchor.start,
                end=anchor.end,
                text=None if text is None else text[anchor.start : anchor.end],
            )


def _gaps(run: ResearchRun, workspace: Workspace, body: str) -> tuple[str, ...]:
    if run.completion:
        return run.completion.gaps
    return found_gaps(workspace, report_text=body)


def _handoff(run: ResearchRun) -> tuple[HandoffList, ...]:
    done = run.completion
    return tuple(
        HandoffList(key=part.key, title=part.title, items=getattr(done, part.key) if done else ())
        for part in run.template.handoff
    )


def _time(desk: Desk, session: Session, seq: int) -> str:
    rows = desk.ledger.query("SELECT ts FROM events WHERE stream = ? AND seq = ?", (session.stream, seq))
    return str(rows[0]["ts"]) if rows else ""


def _end_seq(desk: Desk, session: Session) -> int:
    """The event that completed the run, or its newest one."""
    rows = desk.ledger.query(
        "SELECT coalesce(max(CASE WHEN type = 'research_completed' THEN seq END), max(seq)) AS seq "
        "FROM events WHERE stream = ?",
        (session.stream,),
    )
    return int(str(rows[0]["seq"]))


def _saved_at(desk: Desk, session_id: str, artifact_id: str) -> str:
    rows = desk.ledger.query(
        "SELECT created_at FROM artifacts WHERE session_id = ? AND id = ?", (session_id, artifact_id)
    )
    return str(rows[0]["created_at"]) if rows else ""
