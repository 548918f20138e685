"""One research run as a value: its stages, artifacts, checklist, steps, sections and completion.

The rules that hold whatever tool asked are here: what was recorded in the ledger can only be what these
transitions allow, so a damaged or forged event is refused when it is folded.
"""

from __future__ import annotations  # the persistent maps are generic for type checkers only

from dataclasses import dataclass, field
from typing import assert_never

from rpds import HashTrieMap
from rpds import List as Stack

from researchdesk.state import events as ev
from researchdesk.state.cards import run_card
from researchdesk.state.copying import changed
from researchdesk.state.ids import numbered
from researchdesk.state.limits import ARTIFACTS, CHECKPOINTS, STEPS, Limits
from researchdesk.state.step_rules import require_whole_step, require_whole_update
from researchdesk.state.templates import Template
from researchdesk.state.vocabulary import (
    SETTLED,
    STAGES,
    RunStatus,
    ScopeLevel,
    SectionStatus,
    Stage,
    StopReason,
)

RunEvent = (
    ev.ArtifactRecorded
    | ev.SourceRecorded
    | ev.SearchRecorded
    | ev.ChecklistUpdated
    | ev.StepRecorded
    | ev.CheckpointRecorded
    | ev.ResearchStopped
    | ev.ResearchBlocked
    | ev.ResearchResumed
    | ev.ResearchCompleted
)
SECTION_ORDER: tuple[SectionStatus, ...] = ("pending", "drafted", "completed")
POSITIONS_KEPT = 12
RANK_DAMPING = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class ChecklistItem:
    """An area that has to be settled, with what settled or blocks it."""

    item_id: str
    title: str
    update: ev.ChecklistUpdated | None = None
    updated_seq: int = 0

    @property
    def status(self) -> str:
        """The item's status; ``pending`` before the first update."""
        return self.update.status if self.update else "pending"


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A required report section and the artifact that holds its newest text."""

    key: str
    title: str
    status: SectionStatus = "pending"
    artifact_id: str = ""
    updated_seq: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """A place in a document that a search pointed to; ``rank`` counts from 1 in that search."""

    start: int
    query: str
    rank: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Lead:
    """A document that searches found: its best hit, and where else they pointed."""

    best: ev.Found
    query: str
    order: int
    positions: tuple[Position, ...]

    @property
    def score(self) -> float:
        """Reciprocal rank over all searches: scores of different searches cannot be compared, ranks can."""
        return sum(1 / (RANK_DAMPING + place.rank) for place in self.positions)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResearchRun:
    """The state of one run."""

    objective: str
    scope_level: ScopeLevel
    template: Template
    limits: Limits
    created_seq: int
    notes_id: str = ""
    stage: Stage = "knowledge_base"
    status: RunStatus = "active"
    round: int = 0
    stop_reason: StopReason | None = None
    stop_detail: str = ""
    blocked_reason: str = ""
    artifacts: HashTrieMap[str, ev.ArtifactRecorded] = field(default_factory=HashTrieMap)
    newest_artifacts: Stack[str] = field(default_factory=Stack)
    sources: HashTrieMap[str, ev.SourceRecorded] = field(default_factory=HashTrieMap)
    source_by_url: HashTrieMap[str, str] = field(default_factory=HashTrieMap)
    source_by_artifact: HashTrieMap[str, str] = field(default_factory=HashTrieMap)
    searches: Stack[ev.SearchRecorded] = field(default_factory=Stack)
    leads: HashTrieMap[str, Lead] = field(default_factory=HashTrieMap)
    checklist: tuple[ChecklistItem, ...]
    steps: Stack[ev.StepRecorded] = field(default_factory=Stack)
    step_count: int = 0
    checkpoint: ev.CheckpointRecorded | None = None
    checkpoint_count: int = 0
    sections: tuple[Section, ...]
    outline_artifact_id: str = ""
    report_artifact_id: str = ""
    handoff_artifact_id: str = ""
    completion: ev.ResearchCompleted | None = None

    @property
    def fetched_sources(self) -> tuple[ev.SourceRecorded, ...]:
        """Sources whose bytes a fetcher read, in the order of their ids."""
        return tuple(s for s in self.all_sources if s.receipt is not None)

    @property
    def all_sources(self) -> tuple[ev.SourceRecorded, ...]:
        """Every source in the order of its id."""
        return tuple(self.sources[numbered("s", n)] for n in range(1, len(self.sources) + 1))

    def _repr_html_(self) -> str:
        return run_card(self)

    def section(self, key: str) -> Section | None:
        """The required section of that key, or None."""
        return next((s for s in self.sections if s.key == key), None)

    def artifact_of(self, kind: str, key: str) -> str:
        """The id of the artifact that an entity of that kind and id is or archives; empty where it is none."""
        if kind == "source" and key in self.sources:
            return self.sources[key].artifact_id
        return key if kind == "artifact" and key in self.artifacts else ""

    def by_role(self, role: str) -> tuple[ev.ArtifactRecorded, ...]:
        """The artifacts of one role, oldest first."""
        found = [self.artifacts[key] for key in self.newest_artifacts if self.artifacts[key].role == role]
        return tuple(reversed(found))


def start_run(event: ev.ResearchStarted, *, seq: int) -> ResearchRun:
    """The run right after it began with the event at ``seq``."""
    return ResearchRun(
        objective=event.objective,
        scope_level=event.scope_level,
        template=event.template,
        limits=event.limits,
        created_seq=seq,
        notes_id=event.notes_id,
        checklist=tuple(
            ChecklistItem(item_id=p.key, title=p.title, updated_seq=seq) for p in event.template.checklist
        ),
        sections=tuple(Section(key=p.key, title=p.title, updated_seq=seq) for p in event.template.sections),
    )


def evolve_run(run: ResearchRun, event: RunEvent, *, seq: int) -> ResearchRun:
    """The run after one more event, which stands at ``seq``.

    Raises:
        ValueError, Refusal: the event cannot follow; the message says why.
    """
    _require(run.stage != "completed", "the run is completed and takes no further events")
    match event:
        case ev.ArtifactRecorded():
            return _record_artifact(run, event, seq=seq)
        case ev.SourceRecorded():
            return _record_source(run, event)
        case ev.SearchRecorded():
            return _record_search(run, event)
        case ev.ChecklistUpdated():
            return _update_checklist(run, event, seq=seq)
        case ev.StepRecorded():
            return _record_step(run, event)
        case ev.CheckpointRecorded():
            return _record_checkpoint(run, event)
        case ev.ResearchStopped():
            return changed(run, stop_reason=event.reason, stop_detail=event.detail)
        case ev.ResearchBlocked():
            return changed(run, status="blocked", blocked_reason=event.reason)
        case ev.ResearchResumed():
            return changed(run, status="active", blocked_reason="", stop_reason=None, stop_detail="")
        case ev.ResearchCompleted():
            return _complete(run, event)
    assert_never(event)


def _require(condition: bool, problem: str) -> None:
    if not condition:
        raise ValueError(problem)


def _require_artifacts(run: ResearchRun, ids: tuple[str, ...]) -> None:
    for key in ids:
        _require(key in run.artifacts, f"no artifact '{key}' in this run")


def _record_artifact(run: ResearchRun, event: ev.ArtifactRecorded, *, seq: int) -> ResearchRun:
    _require(event.artifact_id not in run.artifacts, f"artifact '{event.artifact_id}' exists already")
    _require(len(run.artifacts) < ARTIFACTS, f"the run holds {ARTIFACTS} artifacts, no more fit")
    _require(
        event.role == "source" or bool(event.source_artifact_ids),
        f"a derived artifact ({event.role}) cites no source artifact",
    )
    for key in event.source_artifact_ids:
        parent = run.artifacts.get(key)
        _require(parent is not None and parent.role == "source", f"'{key}' is no archived source of this run")
    run = changed(
        run,
        artifacts=run.artifacts.insert(event.artifact_id, event),
        newest_artifacts=run.newest_artifacts.push_front(event.artifact_id),
    )
    match event.role:
        case "report_section":
            return _record_section(run, event, seq=seq)
        case "outline":
            return changed(run, outline_artifact_id=event.artifact_id)
        case "report":
            return changed(run, report_artifact_id=event.artifact_id)
        case "handoff":
            return changed(run, handoff_artifact_id=event.artifact_id)
        case _:
            return run


def _record_section(run: ResearchRun, event: ev.ArtifactRecorded, *, seq: int) -> ResearchRun:
    section = run.section(event.report_section_key)
    _require(section is not None, f"the template has no section '{event.report_section_key}'")
    _require(bool(event.report_section_status), "a report section needs a status")
    assert section is not None
    assert event.report_section_status
    _require(
        SECTION_ORDER.index(event.report_section_status) >= SECTION_ORDER.index(section.status),
        f"section '{section.key}' is {section.status} and does not go back to {event.report_section_status}",
    )
    updated = changed(
        section, status=event.report_section_status, artifact_id=event.artifact_id, updated_seq=seq
    )
    return changed(run, sections=tuple(updated if s.key == section.key else s for s in run.sections))


def _record_source(run: ResearchRun, event: ev.SourceRecorded) -> ResearchRun:
    artifact = run.artifacts.get(event.artifact_id)
    _require(
        artifact is not None and artifact.role == "source", f"'{event.artifact_id}' is no source artifact"
    )
    _require(event.artifact_id not in run.source_by_artifact, f"'{event.artifact_id}' is a source already")
    expected = numbered("s", len(run.sources) + 1)
    _require(event.source_id == expected, f"source id '{event.source_id}' is not the next one, {expected}")
    by_url = run.source_by_url
    # A supplied text must not stand in for what a fetcher would read.
    if event.receipt is not None and event.url not in by_url:
        by_url = by_url.insert(event.url, event.source_id)
    return changed(
        run,
        sources=run.sources.insert(event.source_id, event),
        source_by_url=by_url,
        source_by_artifact=run.source_by_artifact.insert(event.artifact_id, event.source_id),
    )


def _record_search(run: ResearchRun, event: ev.SearchRecorded) -> ResearchRun:
    leads = run.leads
    for rank, hit in enumerate(event.hits, start=1):
        known = leads.get(hit.locator)
        place = Position(start=hit.start, query=event.query, rank=rank)
        if known is None:
            lead = Lead(best=hit, query=event.query, order=len(leads), positions=(place,))
        else:
            better = rank < min(place.rank for place in known.positions)
            lead = changed(
                known,
                best=hit if better else known.best,
                query=event.query if better else known.query,
                positions=(*known.positions, place)[:POSITIONS_KEPT],
            )
        leads = leads.insert(hit.locator, lead)
    return changed(run, searches=run.searches.push_front(event), leads=leads)


def _update_checklist(run: ResearchRun, event: ev.ChecklistUpdated, *, seq: int) -> ResearchRun:
    item = next((item for item in run.checklist if item.item_id == event.item_id), None)
    _require(item is not None, f"no checklist item '{event.item_id}'")
    assert item is not None
    _require(
        item.status not in SETTLED or item.status == event.status,
        f"checklist item '{item.item_id}' is {item.status} and stays so",
    )
    _require_artifacts(run, event.evidence_artifact_ids)
    require_whole_update(event)
    return changed(
        run,
        checklist=tuple(
            changed(i, update=event, updated_seq=seq) if i.item_id == event.item_id else i
            for i in run.checklist
        ),
    )


def _record_step(run: ResearchRun, event: ev.StepRecorded) -> ResearchRun:
    _require(event.step == run.step_count + 1 <= STEPS, f"step {event.step} follows {run.step_count}")
    _require_artifacts(run, event.evidence_artifact_ids)
    looked_at = (ref.source_artifact_id for ref in event.inspected_refs)
    _require_artifacts(run, tuple(key for key in looked_at if key))
    require_whole_step(event)
    return changed(run, steps=run.steps.push_front(event), step_count=event.step)


def _record_checkpoint(run: ResearchRun, event: ev.CheckpointRecorded) -> ResearchRun:
    _require(run.checkpoint_count < CHECKPOINTS, f"the run holds {CHECKPOINTS} checkpoints, no more fit")
    _require(event.round >= run.round, f"round {event.round} is before round {run.round}")
    _require(
        STAGES.index(event.stage) >= STAGES.index(run.stage),
        f"stage {event.stage} is before stage {run.stage}",
    )
    _require_artifacts(run, event.artifact_ids)
    return changed(
        run,
        round=event.round,
        stage=event.stage,
        status=event.status,
        blocked_reason=event.summary if event.status == "blocked" else "",
        checkpoint=event,
        checkpoint_count=run.checkpoint_count + 1,
    )


def _complete(run: ResearchRun, event: ev.ResearchCompleted) -> ResearchRun:
    unsettled = [item.item_id for item in run.checklist if item.status not in SETTLED]
    _require(not unsettled, f"checklist items are open: {', '.join(unsettled)}")
    open_sections = [section.key for section in run.sections if section.status != "completed"]
    _require(not open_sections, f"report sections are open: {', '.join(open_sections)}")
    _require(bool(run.sources), "no source is archived")
    for role, key in (("report", event.report_artifact_id), ("handoff", event.handoff_artifact_id)):
        artifact = run.artifacts.get(key)
        _require(artifact is not None and artifact.role == role, f"'{key}' is no {role} of this run")
    return changed(
        run,
        stage="completed",
        status="completed",
        completion=event,
        report_artifact_id=event.report_artifact_id,
        handoff_artifact_id=event.handoff_artifact_id,
    )
