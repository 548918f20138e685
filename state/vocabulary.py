"""The closed vocabularies of a run; database checks and tool schemas use these same words."""

from collections.abc import Collection
from typing import Literal, get_args

from researchdesk.state.errors import UsageError

Stage = Literal["knowledge_base", "report_writing", "completed"]
RunStatus = Literal["active", "blocked", "completed"]
ScopeLevel = Literal["quick", "standard", "deep"]
ArtifactRole = Literal["source", "evidence_note", "outline", "report_section", "report", "handoff"]
Provenance = Literal["fetched", "supplied", "written", "code"]
ChecklistStatus = Literal["pending", "in_progress", "blocked", "completed", "skipped"]
StepKind = Literal["local_exploration", "web_research"]
StepStatus = Literal["completed", "blocked", "stopped"]
RefKind = Literal["file", "symbol", "config", "test", "runtime", "url"]
SectionStatus = Literal["pending", "drafted", "completed"]
StopReason = Literal[
    "budget_tokens",
    "budget_usd",
    "wall_time",
    "step_cap",
    "no_progress",
    "loop",
    "model_unavailable",
    "user_stopped",
]
CallStatus = Literal["success", "pending", "error"]
Profile = Literal["explore", "desk"]
Capability = Literal["read", "record", "create", "write"]
ActionClass = Literal["navigational", "additive", "destructive"]

QuestionKind = Literal["objective", "question", "hypothesis"]
QuestionStatus = Literal["pending", "in_progress", "blocked", "resolved", "unresolvable", "pruned"]
Trigger = Literal[
    "created",
    "selected",
    "dependency_blocked",
    "dependency_unblocked",
    "dependency_added",
    "resolved",
    "attempts_exhausted",
    "reopened",
    "pruned",
    "reprioritized",
]
Actor = Literal["agent", "code", "user"]
AttemptKind = Literal["search", "challenge", "fetch"]
ClaimKind = Literal["fact", "figure", "quote", "inference"]
ClaimStatus = Literal["UNVERIFIED", "VERIFIED", "REFUTED", "RETRACTED"]
Stance = Literal["supports", "refutes", "mentions"]
ContradictionStatus = Literal["open", "explained"]
TargetKind = Literal["claim", "question_answer", "conclusion"]
Strategy = Literal[
    "direct_negation",
    "counterexample",
    "alternative_explanation",
    "boundary_condition",
    "primary_source",
    "newer_evidence",
    "method_critique",
]
ChallengeStatus = Literal["open", "closed"]
Outcome = Literal["survived", "weakened", "refuted", "inconclusive"]
Cause = Literal["evidence", "infrastructure"]
NotesReason = Literal["notes_append", "notes_update", "notes_scratch", "consolidation", "restore"]
NotesSection = Literal[
    "Verified", "Unverified", "Contradictions", "Datapoints", "Sources", "Assumptions & gaps", "Scratch"
]

STAGES: tuple[Stage, ...] = get_args(Stage)
SETTLED: frozenset[ChecklistStatus] = frozenset({"completed", "skipped"})
RESEARCH_LABEL = "mode:deep_research"
INVESTIGATION_LABEL = "mode:investigation"
INVESTIGATION_LABELS = (RESEARCH_LABEL, INVESTIGATION_LABEL)

# What a session may do: research records into the ledger and reads; only a desk session changes files.
PROFILES: dict[Profile, frozenset[Capability]] = {
    "explore": frozenset({"read", "record"}),
    "desk": frozenset({"read", "create", "write"}),
}


def one_of(name: str, given: object, known: Collection[str]) -> None:
    """Check that an option has one of the words that there are for it.

    Raises:
        UsageError: it has another one.
    """
    if given not in known:
        raise UsageError(f"{name}={given!r}: there are {', '.join(map(repr, known))}")
