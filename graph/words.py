"""What a person reads about a run instead of its codes: how it stands, why it stopped, what an event was."""

from typing import assert_never

from researchdesk.graph.plain import one_line
from researchdesk.state import events as ev
from researchdesk.state.desk import events as dv
from researchdesk.state.investigation_texts import checked_text as checked_text
from researchdesk.state.investigation_texts import independence_text as independence_text
from researchdesk.state.investigation_texts import lacking_text as lacking_text
from researchdesk.state.locators import path_of
from researchdesk.state.run import ResearchRun
from researchdesk.state.vocabulary import ClaimStatus, QuestionStatus

STOP_WORDS = {
    "budget_tokens": "its token budget was spent",
    "budget_usd": "its money budget was spent",
    "wall_time": "its time was over",
    "step_cap": "it had made as many model requests as it may",
    "no_progress": "the model brought nothing new",
    "loop": "the model repeated itself",
    "model_unavailable": "the model could not be reached",
    "user_stopped": "it was told to stop",
}
BUDGET_OPTIONS = {
    "step_cap": "--max-steps",
    "budget_tokens": "--budget-tokens",
    "budget_usd": "--budget-usd",
    "wall_time": "--wall-seconds",
}
STAGE_WORDS = {
    "knowledge_base": "gathering",
    "report_writing": "writing the report",
    "completed": "completed",
    "": "no research",
}
QUESTION_WORDS: dict[QuestionStatus, str] = {
    "pending": "not begun",
    "in_progress": "in work",
    "blocked": "blocked",
    "resolved": "answered",
    "unresolvable": "could not be answered",
    "pruned": "dropped",
}
CLAIM_WORDS: dict[ClaimStatus, str] = {
    "VERIFIED": "verified",
    "UNVERIFIED": "not verified",
    "REFUTED": "refuted",
    "RETRACTED": "withdrawn",
}
OUTCOME_WORDS = {"infrastructure": "could not be searched"}
"""For those of `state.investigation_views.outcomes` that say too little."""


def file_name(locator: str) -> str:
    """The last part of a locator: what a document without a title is called."""
    return path_of(locator.partition("?")[0].rstrip("/:").rpartition("/")[2])


def outcome(run: ResearchRun) -> str:
    """``completed``, ``partial`` (completed after a breaker stopped it), ``blocked`` or ``unfinished``."""
    if run.status == "completed":
        return "partial" if run.stop_reason else "completed"
    return "blocked" if run.status == "blocked" else "unfinished"


def outcome_text(run: ResearchRun) -> str:
    """The outcome with its reason, in one line."""
    found = outcome(run)
    if found == "partial":
        why = STOP_WORDS.get(run.stop_reason or "", run.stop_reason or "")
        return one_line(f"partial: the research was stopped early because {why} ({run.stop_detail})")
    if found == "blocked":
        return one_line(f"blocked: {run.blocked_reason or 'no reason was given'}")
    if found == "unfinished":
        return f"not finished: {STAGE_WORDS.get(run.stage, run.stage)}"
    return found


def resume_advice(run: ResearchRun) -> str:
    """With what a blocked run has to be resumed, or it ends the same way; "" where that is not known."""
    if run.status != "blocked":
        return ""
    if option := BUDGET_OPTIONS.get(run.stop_reason or ""):
        return f"with a larger {option}, or it ends the same way"
    if run.stop_reason == "model_unavailable":
        return "when the model's provider answers, or with another model (--model SPEC)"
    if not run.searches and not run.stop_reason:
        return "when its providers answer, or with others (--web NAMES) or documents (--corpus PATH)"
    if not run.sources:
        return "with other documents (--corpus PATH) or providers (--web NAMES), or it ends the same way"
    return ""


def model_text(model: str) -> str:
    """Which model that is, in words that say so when it is none."""
    if not model:
        return "not recorded"
    return "no language model (the embedded rules)" if model == "offline" else one_line(model)


def describe(event: ev.AnyEvent, *, limit: int = 100) -> str:
    """What an event was about, on one line of at most ``limit`` characters."""
    return one_line(_about(event), limit=limit)


def _about(event: ev.AnyEvent) -> str:
    match event:
        case ev.SessionOpened():
            return f"session {event.session_id}, profile {event.profile}"
        case ev.RunConfigured():
            return f"model {event.model}, corpus {', '.join(event.corpus) or 'none'}"
        case ev.ResearchStarted():
            return f"{event.scope_level}, {event.template.name}: {event.objective}"
        case ev.ArtifactRecorded():
            section = f" {event.report_section_key} {event.report_section_status}"
            return f"{event.artifact_id} {event.role}{section.rstrip()}: {event.name}"
        case ev.SourceRecorded():
            title = event.title or file_name(event.url) or "untitled"
            return f"{event.source_id} {title} ({event.url or event.artifact_id})"
        case ev.SearchRecorded():
            return f"“{event.query}”: {len(event.documents)} of {event.total} documents"
        case ev.ChecklistUpdated():
            return f"{event.item_id} {event.status} {event.blocked_reason}"
        case ev.StepRecorded():
            return f"step {event.step} {event.kind} {event.status}: {event.summary}"
        case ev.CheckpointRecorded():
            return f"round {event.round}, {STAGE_WORDS[event.stage]}, {event.status}: {event.summary}"
        case (
            ev.ResearchStopped()
            | ev.ResearchBlocked()
            | ev.ResearchResumed()
            | ev.ResearchCompleted()
            | ev.ArtifactPurged()
            | ev.ModelCalled()
            | ev.ModelAnswered()
            | ev.ModelFailed()
            | ev.CallRecorded()
            | ev.CallSettled()
            | ev.MessageReceived()
            | ev.HandoffDrafted()
        ):
            return _about_machinery(event)
        case (
            dv.FileCreated()
            | dv.FileChanged()
            | dv.ProposalMade()
            | dv.ProposalApproved()
            | dv.ProposalRejected()
            | dv.ProposalLapsed()
            | dv.ProposalExecuted()
            | dv.ProposalFailed()
            | dv.EffectsDerived()
        ):
            return _about_desk(event)
        case _:
            return _about_investigation(event)


def _about_desk(event: dv.DeskEvent) -> str:
    match event:
        case dv.FileCreated():
            return f"{event.file_id} {event.kind} {event.path} by {event.actor}"
        case dv.FileChanged():
            return f"{event.file_id} {event.op} {event.path} by {event.actor}"
        case dv.ProposalMade():
            return f"{event.proposal_id} to {event.verb} {event.path} ({event.tool})"
        case dv.ProposalApproved():
            return f"{event.proposal_id} by {event.actor}"
        case dv.ProposalRejected() | dv.ProposalLapsed():
            return f"{event.proposal_id} by {event.actor}: {event.reason}"
        case dv.ProposalExecuted():
            return event.proposal_id
        case dv.ProposalFailed():
            return f"{event.proposal_id}: {event.error}"
        case dv.EffectsDerived():
            return f"session {event.session_id}: {', '.join(effect.action for effect in event.effects)}"
    assert_never(event)


def _about_investigation(event: ev.InvestigationEvent) -> str:
    match event:
        case ev.QuestionRecorded():
            return f"{event.question.id} {event.question.status} ({event.transition.trigger}): {event.question.text}"
        case ev.DependencyRecorded():
            return f"{event.question_id} waits for {event.depends_on}"
        case ev.AttemptRecorded():
            return f"{event.attempt.question_id} {event.attempt.kind} “{event.attempt.query}”: {event.attempt.outcome}"
        case ev.ClaimRecorded():
            return f"{event.claim.id} {event.claim.status}: {event.claim.text}"
        case ev.ClaimSourceRecorded():
            return f"{event.link.source_id} {event.link.stance} {event.claim_id}: “{event.link.quote}”"
        case ev.DatapointRecorded():
            return f"{event.datapoint.id} {event.datapoint.label}: {event.datapoint.value} {event.datapoint.unit}"
        case ev.ContradictionRecorded():
            record = event.contradiction
            return f"{record.id} {record.claim_id} against {record.other_id}: {record.differs}"
        case ev.AssumptionRecorded():
            return f"{event.assumption.id}: {event.assumption.text}"
        case ev.GapRecorded():
            return f"{event.gap.id}: {event.gap.text}"
        case ev.SourceNoted():
            return f"{event.source_id}: {event.note}"
        case ev.ScratchSet():
            return f"{len(event.text)} characters"
        case ev.ChallengeRecorded():
            made = event.challenge
            return f"{made.id} {made.outcome or made.status} on {made.target_id} by {made.strategy}: {made.negation}"
        case ev.NotesVersionRecorded():
            return event.reason
    assert_never(event)


def _about_machinery(
    event: ev.ResearchStopped
    | ev.ResearchBlocked
    | ev.ResearchResumed
    | ev.ResearchCompleted
    | ev.ArtifactPurged
    | ev.ModelCalled
    | ev.ModelAnswered
    | ev.ModelFailed
    | ev.CallRecorded
    | ev.CallSettled
    | ev.MessageReceived
    | ev.HandoffDrafted,
) -> str:
    match event:
        case ev.ResearchStopped():
            return f"{event.reason}: {event.detail}"
        case ev.ResearchBlocked():
            return event.reason
        case ev.ResearchResumed():
            return "the run goes on"
        case ev.ResearchCompleted():
            return f"report {event.report_artifact_id}, {len(event.gaps)} gaps"
        case ev.ArtifactPurged():
            return f"{event.artifact_id} by {event.actor}: {event.reason}"
        case ev.ModelCalled():
            return f"request {event.ordinal} to {event.model}, about {event.input_tokens:,} tokens"
        case ev.ModelAnswered():
            names = ", ".join(call.name for call in event.calls) or "no tool call"
            return f"{event.turn_id}: {names}"
        case ev.ModelFailed():
            again = f", asked again in {event.wait_seconds:.3g} s" if event.wait_seconds else ""
            return f"{event.code}{again}: {event.detail}"
        case ev.CallRecorded():
            return f"{event.name} {event.entity_id} {event.status} {event.code}"
        case ev.CallSettled():
            return f"call {event.tool_call_id} {event.status} {event.code}"
        case ev.MessageReceived():
            return event.text.inline or f"{event.text.chars:,} characters"
        case ev.HandoffDrafted():
            return f"{event.draft_id} from {event.from_session}"
    assert_never(event)
