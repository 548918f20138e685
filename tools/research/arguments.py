"""The argument schemas of the eight research tools; "", [] and 0 mean that a property is not used."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from researchdesk.state.limits import INSPECTED_REFS, READ_CHARS, READ_CHARS_DEFAULT
from researchdesk.state.vocabulary import (
    ArtifactRole,
    ChecklistStatus,
    RefKind,
    ScopeLevel,
    StepKind,
    StepStatus,
)
from researchdesk.tools.fields import (
    Body,
    CheckpointList,
    CheckpointText,
    Id,
    Ids,
    Locator,
    Name,
    StepList,
    StepText,
    Summary,
    items_at_most,
)
from researchdesk.tools.spec import Arguments


class Start(Arguments):
    objective: str = Field(description="The question to research, 1 to 2,000 characters.")
    scope_level: ScopeLevel = Field(description="How far to go.")
    template: Name = Field(
        description="implementation, general, or another registered template; empty: implementation."
    )


class SaveArtifact(Arguments):
    role: ArtifactRole = Field(description="What the body is.")
    name: Name = Field(description="A short title, 1 to 240 characters.")
    content: Body = Field(
        description="Markdown. Cite sources or claims by id after each statement, like [s_003] or [c_012]. Words in "
        "double quotation marks before a citation have to stand exactly in that source, or in one that the claim "
        "links. Leave empty with role report to have the report assembled from the completed sections."
    )
    summary: Summary = Field(description="One or two sentences on what it says; may be empty.")
    locator: Locator = Field(
        description="Where a source can be inspected; required with role source, else empty."
    )
    source_artifact_ids: Ids = Field(
        description="The source artifacts (a_... or s_...) that this body draws on; required for every role but source."
    )
    report_section_key: Id = Field(description="With role report_section: the section's key, else empty.")
    report_section_status: str = Field(
        description="With role report_section: drafted or completed, else empty."
    )


class ReadArtifact(Arguments):
    artifact_id: Id = Field(description="The artifact (a_...) or source (s_...) to read.")
    offset_chars: int = Field(description="Where to begin, in characters; 0 for the beginning.")
    max_chars: int = Field(
        description=f"How much to return, at most {READ_CHARS:,} characters; 0 for {READ_CHARS_DEFAULT:,}."
    )


class UpdateChecklist(Arguments):
    item_id: Id = Field(description="The checklist item.")
    status: ChecklistStatus = Field(description="Its new status; completed and skipped are final.")
    evidence_artifact_ids: Ids = Field(
        description="Artifacts that settle it; required with status completed."
    )
    blocked_reason: StepText = Field(description="Required with status blocked or skipped, else empty.")


class Inspected(Arguments):
    kind: RefKind = Field(description="What was looked at.")
    locator: Locator = Field(description="Where it is.")
    label: Name = Field(description="A short label; may be empty.")
    source_artifact_id: Id = Field(description="The source artifact it was archived as, or empty.")


class RecordStep(Arguments):
    kind: StepKind = Field(description="local_exploration needs roots, web_research needs keywords.")
    status: StepStatus = Field(description="completed needs evidence, blocked needs a reason.")
    objective: StepText = Field(description="What the step was to find out.")
    summary: StepText = Field(description="What it found.")
    roots: StepList = Field(description="Folders or entry points explored.")
    keywords: StepList = Field(description="Queries used.")
    ignored_paths: StepList = Field(description="What was left out on purpose.")
    stopping_condition: StepText = Field(description="What ended the step.")
    expected_evidence: StepText = Field(description="What evidence it was to bring.")
    evidence_artifact_ids: Ids = Field(description="Artifacts that it brought.")
    inspected_refs: Annotated[list[Inspected], AfterValidator(items_at_most(INSPECTED_REFS))] = Field(
        description=f"What was looked at, at most {INSPECTED_REFS}."
    )
    worker_run_ids: Ids = Field(description="Ids of workers that took part; may be empty.")
    blocked_reason: StepText = Field(description="Required with status blocked, else empty.")


class Checkpoint(Arguments):
    round: int = Field(description="The round that ended; never less than the last one.")
    stage: Literal["knowledge_base", "report_writing"] = Field(
        description="The stage from here on; never back."
    )
    status: Literal["active", "blocked"] = Field(description="blocked when the run cannot go on.")
    summary: CheckpointText = Field(description="What the round brought.")
    open_questions: CheckpointList = Field(description="What is still open.")
    next_steps: CheckpointList = Field(description="What comes next.")
    artifact_ids: Ids = Field(description="Artifacts of this round.")


class Status(Arguments):
    pass


class Complete(Arguments):
    report_artifact_id: Id = Field(description="The final report's artifact.")
    handoff_artifact_id: Id = Field(description="The handoff's artifact.")
    implementation_tasks: StepList = Field(description="Tasks (or decisions) that follow from the report.")
    recommended_issues: StepList = Field(description="Issues (or follow-up questions) to open.")
    recommended_pull_requests: StepList = Field(description="Pull requests (or changes) to propose.")
    verification_commands: StepList = Field(description="Commands (or checks) that verify the result.")
