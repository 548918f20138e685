"""What can happen to a session or a desk: the closed set of events, validated once when they are written.

An event is a fact in the past tense. The ledger wraps each in an envelope (stream, sequence, time, hash);
what stands here is its payload. Long texts are not held inline: a `Stowed` names their blob.
"""

import functools
from typing import Literal

from pydantic import ConfigDict, TypeAdapter
from pydantic.dataclasses import dataclass

from researchdesk.state.desk.events import DESK_EVENT_TYPES, DeskEvent
from researchdesk.state.investigation_events import (
    AssumptionRecorded as AssumptionRecorded,
)
from researchdesk.state.investigation_events import (
    AttemptRecorded as AttemptRecorded,
)
from researchdesk.state.investigation_events import (
    ChallengeRecorded as ChallengeRecorded,
)
from researchdesk.state.investigation_events import (
    ClaimRecorded as ClaimRecorded,
)
from researchdesk.state.investigation_events import (
    ClaimSourceRecorded as ClaimSourceRecorded,
)
from researchdesk.state.investigation_events import (
    ContradictionRecorded as ContradictionRecorded,
)
from researchdesk.state.investigation_events import (
    DatapointRecorded as DatapointRecorded,
)
from researchdesk.state.investigation_events import (
    DependencyRecorded as DependencyRecorded,
)
from researchdesk.state.investigation_events import (
    GapRecorded as GapRecorded,
)
from researchdesk.state.investigation_events import (
    InvestigationEvent as InvestigationEvent,
)
from researchdesk.state.investigation_events import (
    NotesVersionRecorded as NotesVersionRecorded,
)
from researchdesk.state.investigation_events import (
    QuestionRecorded as QuestionRecorded,
)
from researchdesk.state.investigation_events import (
    ScratchSet as ScratchSet,
)
from researchdesk.state.investigation_events import (
    SourceNoted as SourceNoted,
)
from researchdesk.state.limits import Limits
from researchdesk.state.prices import Price
from researchdesk.state.templates import Template
from researchdesk.state.vocabulary import (
    ArtifactRole,
    CallStatus,
    ChecklistStatus,
    Profile,
    Provenance,
    RefKind,
    ScopeLevel,
    SectionStatus,
    Stage,
    StepKind,
    StepStatus,
    StopReason,
)

STRICT = ConfigDict(extra="forbid")
SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class Stowed:
    """A text that stands inline when short and in the blob store, by hash, when long or removable."""

    inline: str = ""
    hash: str = ""
    chars: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class SessionOpened:
    """A session began: who may do what in it."""

    session_id: str
    labels: tuple[str, ...] = ()
    user: str = ""
    parent: str = ""
    profile: Profile = "explore"
    continues: str = ""
    """The research session whose handoff this session takes up, or empty."""
    forked_from: str = ""
    """The session whose first ``forked_seq`` events this one holds, or empty."""
    forked_seq: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class RunConfigured:
    """The options a run was started or resumed with, so that a later resume needs none."""

    corpus: tuple[str, ...] = ()
    web: tuple[str, ...] = ()
    """Names of the search providers of the web; without one nothing of the web is read."""
    dense: bool = False
    """Whether the corpus is searched by meaning too."""
    origin_by: str = "auto"
    model: str = "offline"
    max_steps: int = 0
    budget_tokens: int = 0
    wall_seconds: int = 0
    budget_usd: str = ""
    """A decimal number; empty for no limit."""
    price: Price | None = None
    """What the model costs; None where that is not known."""
    desk: bool = False
    """Whether the files of the desk are searched and read, too."""
    desk_tools: bool = False
    """Whether a run also offers the tools that read the files of the desk."""


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class ResearchStarted:
    """A run began; always the first and only one of its session."""

    objective: str
    scope_level: ScopeLevel
    template: Template
    limits: Limits
    notes_id: str = ""
    """Names the file that the notes are worked on in; 32 hex digits, empty for a run without one."""


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class QuoteAnchor:
    """Where a quotation of a written artifact stands in the archived text of its source (code points)."""

    source_id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class ArtifactRecorded:
    """A body was archived or written; it lies in the blob store under ``content_hash``."""

    artifact_id: str
    role: ArtifactRole
    name: str
    summary: str
    locator: str
    content_hash: str
    chars: int
    provenance: Provenance
    source_artifact_ids: tuple[str, ...] = ()
    report_section_key: str = ""
    report_section_status: SectionStatus | Literal[""] = ""
    cited: tuple[str, ...] = ()
    quotes: tuple[QuoteAnchor, ...] = ()
    redactions: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class PageMark:
    """A titled stretch of an archived text (code points); ``page`` is 0 where there are no pages."""

    title: str
    start: int
    end: int
    page: int


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class Receipt:
    """What a fetch really read: written by the fetcher, never by a model."""

    requested: str
    locator: str
    redirects: tuple[str, ...]
    status: int
    media_type: str
    charset: str
    extractor: str
    extractor_version: str
    fetched_at: str
    raw_hash: str
    raw_bytes: int
    raw_kept: bool
    text_hash: str
    title: str | None
    sections: tuple[PageMark, ...]
    redactions: int
    readable: bool
    note: str
    etag: str = ""
    last_modified: str = ""
    """By these two a server tells whether a page is still the same; as it sent them, empty where it did not."""


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class SourceRecorded:
    """An artifact became a source of the investigation, with where it comes from."""

    source_id: str
    artifact_id: str
    url: str
    domain: str
    origin: str
    origin_reason: str
    title: str | None
    receipt: Receipt | None
    """None for a source that was supplied instead of fetched."""
    signature: str = ""
    """Of its text, by `state.independence.signature`; empty where the text is too short or was not signed."""
    near_duplicates: tuple[str, ...] = ()
    """Earlier sources with nearly the same text."""


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class Found:
    """One hit of a search: a passage of a document that could be archived; only a document's best has a snippet.

    ``address`` is where the document is read, "" where its locator says it.
    """

    locator: str
    title: str | None
    origin: str
    snippet: str
    start: int
    score: float
    address: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class SearchRecorded:
    """A search ran; ``hits`` may be empty, which is an answer and no failure.

    ``provider`` names all that answered, joined by ``, ``; ``failed`` has name and code of those that did not.
    ``asked`` has name and words of those to whom ``query`` was too long.
    """

    query: str
    provider: str
    hits: tuple[Found, ...]
    total: int
    failed: tuple[tuple[str, str], ...] = ()
    asked: tuple[tuple[str, str], ...] = ()

    @property
    def documents(self) -> tuple[Found, ...]:
        """The best hit of each document, best first."""
        best: dict[str, Found] = {}
        for hit in self.hits:
            best.setdefault(hit.locator, hit)
        return tuple(best.values())


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class ChecklistUpdated:
    """A checklist item got a status, with the evidence or the reason that status asks for."""

    item_id: str
    status: ChecklistStatus
    evidence_artifact_ids: tuple[str, ...] = ()
    blocked_reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class InspectedRef:
    """Something a step looked at."""

    kind: RefKind
    locator: str
    label: str = ""
    source_artifact_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class StepRecorded:
    """A bounded piece of local or web work ended."""

    step: int
    kind: StepKind
    status: StepStatus
    objective: str
    summary: str
    roots: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    ignored_paths: tuple[str, ...] = ()
    stopping_condition: str = ""
    expected_evidence: str = ""
    evidence_artifact_ids: tuple[str, ...] = ()
    inspected_refs: tuple[InspectedRef, ...] = ()
    worker_run_ids: tuple[str, ...] = ()
    blocked_reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class CheckpointRecorded:
    """Progress was marked; round and stage never go back."""

    round: int
    stage: Literal["knowledge_base", "report_writing"]
    status: Literal["active", "blocked"]
    summary: str
    open_questions: tuple[str, ...] = ()
    next_steps: tuple[str, ...] = ()
    artifact_ids: tuple[str, ...] = ()
    task_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class ResearchStopped:
    """A breaker ended the gathering, and the report has to be written from what there is."""

    reason: StopReason
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class ResearchBlocked:
    """The run cannot go on for now; it can be resumed."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class ResearchResumed:
    """A blocked run was taken up again."""


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class ResearchCompleted:
    """The run is sealed: its report, its structured handoff and the gaps that code found."""

    report_artifact_id: str
    handoff_artifact_id: str
    implementation_tasks: tuple[str, ...] = ()
    recommended_issues: tuple[str, ...] = ()
    recommended_pull_requests: tuple[str, ...] = ()
    verification_commands: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class ArtifactPurged:
    """Somebody had an artifact's text removed for good; its record and its hashes stay as a tombstone."""

    artifact_id: str
    hashes: tuple[str, ...]
    """Bodies that nothing in the session stands on any more; one that another artifact shares is not among them."""
    actor: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class ModelCalled:
    """A model is about to be asked: written before the request, so that the budget counts a lost answer."""

    ordinal: int
    model: str
    stage: Stage | Literal["chat"]
    request_digest: str
    input_tokens: int
    """Estimated tokens of the prompt and the tool schemas."""


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class AskedCall:
    """One tool call of a model's answer, cleaned; ``arguments`` is canonical JSON."""

    id: str
    name: str
    arguments: Stowed
    problem: str = ""
    """Why the call could not be read (bad JSON, say); the door refuses it with this text."""
    chars: int = 0
    """Length of its arguments as JSON, long texts included: its share of what the answer cost."""


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class ModelAnswered:
    """A model's answer, recorded before any of its calls run; its turn is open until each has a record."""

    ordinal: int
    turn_id: str
    message_id: str
    text: Stowed
    calls: tuple[AskedCall, ...]
    request_digest: str
    input_tokens: int
    output_tokens: int
    usage_reported: bool
    """False when the provider gave no usage and the tokens are estimates."""
    finish_reason: str = ""
    cleaned: int = 0
    """Characters that had to be replaced."""
    dropped_calls: int = 0
    """Calls that were repeated or too many."""
    cached_tokens: int = 0
    """Part of the input that the provider read from its cache."""
    written_tokens: int = 0
    """Part of the input that the provider put into its cache."""
    reasoning_tokens: int = 0
    """Part of the output that was thinking."""


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class ModelFailed:
    """A model could not be asked or gave nothing usable."""

    ordinal: int
    code: str
    detail: str
    charged: bool = True
    """False where the provider refused the request, so that it costs nothing."""
    wait_seconds: float = 0.0
    """How long it is waited before the model is asked again; 0 where it is not, or at once."""


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class CallRecorded:
    """A tool call ended; a second call with its identity gets this result again."""

    turn_id: str
    tool_call_id: str
    name: str
    input_digest: str
    arguments: Stowed
    status: CallStatus
    code: str
    text: Stowed
    data: str
    """Canonical JSON of what a program gets beside the text."""
    entity_type: str = ""
    entity_id: str = ""
    duration_ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class CallSettled:
    """A call that waited for a person's decision ended."""

    turn_id: str
    tool_call_id: str
    status: Literal["success", "error"]
    code: str
    text: Stowed
    data: str
    """Canonical JSON; takes the place of what the record of the call said."""
    recorded_at: str
    """When the call was recorded: its row keeps that time."""


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class MessageReceived:
    """Somebody wrote to the session's model."""

    message_id: str
    text: Stowed
    context: str = ""
    """What stood open on the desk when it was sent (`state.desk.context`)."""


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class HandoffDrafted:
    """A prompt was prepared for a new task; nobody has sent it."""

    draft_id: str
    from_session: str
    prompt: str


Event = (
    SessionOpened
    | RunConfigured
    | ResearchStarted
    | ArtifactRecorded
    | SourceRecorded
    | SearchRecorded
    | ChecklistUpdated
    | StepRecorded
    | CheckpointRecorded
    | ResearchStopped
    | ResearchBlocked
    | ResearchResumed
    | ResearchCompleted
    | ArtifactPurged
    | ModelCalled
    | ModelAnswered
    | ModelFailed
    | CallRecorded
    | CallSettled
    | MessageReceived
    | HandoffDrafted
    | InvestigationEvent
)
"""What happens to a session."""
AnyEvent = Event | DeskEvent
"""What any stream of a ledger may hold."""

# The six names of the research contract keep their prefix; the others say what they are.
EVENT_TYPES: dict[str, type[AnyEvent]] = {
    "session_opened": SessionOpened,
    "run_configured": RunConfigured,
    "research_started": ResearchStarted,
    "research_artifact_recorded": ArtifactRecorded,
    "source_recorded": SourceRecorded,
    "search_recorded": SearchRecorded,
    "research_checklist_updated": ChecklistUpdated,
    "research_step_recorded": StepRecorded,
    "research_checkpoint_recorded": CheckpointRecorded,
    "research_stopped": ResearchStopped,
    "research_blocked": ResearchBlocked,
    "research_resumed": ResearchResumed,
    "research_completed": ResearchCompleted,
    "artifact_purged": ArtifactPurged,
    "model_called": ModelCalled,
    "model_answered": ModelAnswered,
    "model_failed": ModelFailed,
    "call_recorded": CallRecorded,
    "call_settled": CallSettled,
    "message_received": MessageReceived,
    "handoff_drafted": HandoffDrafted,
    "question_recorded": QuestionRecorded,
    "dependency_recorded": DependencyRecorded,
    "attempt_recorded": AttemptRecorded,
    "claim_recorded": ClaimRecorded,
    "claim_source_recorded": ClaimSourceRecorded,
    "datapoint_recorded": DatapointRecorded,
    "contradiction_recorded": ContradictionRecorded,
    "assumption_recorded": AssumptionRecorded,
    "gap_recorded": GapRecorded,
    "source_noted": SourceNoted,
    "scratch_set": ScratchSet,
    "challenge_recorded": ChallengeRecorded,
    "notes_version_recorded": NotesVersionRecorded,
    **DESK_EVENT_TYPES,
}
EVENT_NAMES: dict[type[AnyEvent], str] = {kind: name for name, kind in EVENT_TYPES.items()}


def event_from_json(type_name: str, payload: bytes | str) -> AnyEvent:
    """The event that was stored under ``type_name``.

    Raises:
        ValueError: the type is unknown or the payload has not its shape.
    """
    return _adapter(type_name).validate_json(payload)


@functools.cache
def _adapter(type_name: str) -> TypeAdapter[AnyEvent]:
    kind = EVENT_TYPES.get(type_name)
    if kind is None:
        raise ValueError(f"unknown event type '{type_name}'")
    return TypeAdapter(kind)
