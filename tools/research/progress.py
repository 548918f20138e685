"""Recording progress: the checklist, bounded steps, and checkpoints that never go back."""

from researchdesk.state import events as ev
from researchdesk.state.errors import Refusal
from researchdesk.state.gate import missing_for_report
from researchdesk.state.ids import CallId
from researchdesk.state.limits import CHECKPOINTS, STEPS
from researchdesk.state.run import ResearchRun
from researchdesk.state.step_rules import require_whole_step, require_whole_update
from researchdesk.state.vocabulary import SETTLED, STAGES
from researchdesk.state.workspace import Workspace
from researchdesk.tools.research.arguments import Checkpoint, Inspected, RecordStep, UpdateChecklist
from researchdesk.tools.research.naming import resolve_ids
from researchdesk.tools.running import open_run
from researchdesk.tools.spec import Decision, Gathered


def decide_checklist(
    workspace: Workspace, arguments: UpdateChecklist, gathered: Gathered, call: CallId
) -> Decision:
    """Give a checklist item a status."""
    run = open_run(workspace)
    item = next((item for item in run.checklist if item.item_id == arguments.item_id), None)
    if item is None:
        keys = ", ".join(item.item_id for item in run.checklist)
        raise Refusal("invalid_arguments", f"item_id: no item '{arguments.item_id}'; this run has {keys}.")
    if item.status in SETTLED and item.status != arguments.status:
        raise Refusal("item_settled", f"Item '{item.item_id}' is {item.status} and stays so.")
    evidence = resolve_ids(run, arguments.evidence_artifact_ids, "evidence_artifact_ids")
    update = ev.ChecklistUpdated(
        item_id=item.item_id,
        status=arguments.status,
        evidence_artifact_ids=evidence,
        blocked_reason=arguments.blocked_reason,
    )
    require_whole_update(update)
    others = [i.item_id for i in run.checklist if i.status not in SETTLED and i.item_id != item.item_id]
    still = others if arguments.status in SETTLED else [*others, item.item_id]
    return Decision(
        text=f"Checklist item '{item.item_id}' is {arguments.status}. Open: {', '.join(still) or 'none'}.",
        events=(update,),
        data={"item_id": item.item_id, "status": arguments.status, "open": still},
        entity_type="checklist_item",
        entity_id=item.item_id,
    )


def decide_step(workspace: Workspace, arguments: RecordStep, gathered: Gathered, call: CallId) -> Decision:
    """Record a bounded local or web step."""
    run = open_run(workspace)
    if run.step_count >= STEPS:
        raise Refusal("limit_reached", f"The run holds {STEPS} steps and takes no more. Write the report.")
    evidence = resolve_ids(run, arguments.evidence_artifact_ids, "evidence_artifact_ids")
    step = ev.StepRecorded(
        step=run.step_count + 1,
        kind=arguments.kind,
        status=arguments.status,
        objective=arguments.objective,
        summary=arguments.summary,
        roots=tuple(arguments.roots),
        keywords=tuple(arguments.keywords),
        ignored_paths=tuple(arguments.ignored_paths),
        stopping_condition=arguments.stopping_condition,
        expected_evidence=arguments.expected_evidence,
        evidence_artifact_ids=evidence,
        inspected_refs=tuple(_inspected(run, ref) for ref in arguments.inspected_refs),
        worker_run_ids=tuple(arguments.worker_run_ids),
        blocked_reason=arguments.blocked_reason,
    )
    require_whole_step(step)
    return Decision(
        text=f"Recorded step {step.step} ({step.kind}, {step.status}).",
        events=(step,),
        data={"step": step.step, "status": step.status},
        entity_type="research_step",
        entity_id=str(step.step),
    )


def _inspected(run: ResearchRun, ref: Inspected) -> ev.InspectedRef:
    source = resolve_ids(run, [ref.source_artifact_id], "inspected_refs")[0] if ref.source_artifact_id else ""
    return ev.InspectedRef(kind=ref.kind, locator=ref.locator, label=ref.label, source_artifact_id=source)


def decide_checkpoint(
    workspace: Workspace, arguments: Checkpoint, gathered: Gathered, call: CallId
) -> Decision:
    """Mark progress; the only way from the knowledge base to the report."""
    run = open_run(workspace)
    if run.checkpoint_count >= CHECKPOINTS:
        raise Refusal("limit_reached", f"The run holds {CHECKPOINTS} checkpoints and takes no more.")
    if not arguments.summary:
        raise Refusal("invalid_arguments", "summary: it is empty; say what the round brought.")
    if arguments.round < run.round:
        raise Refusal("round_regression", f"round: {arguments.round} is before round {run.round}.")
    if STAGES.index(arguments.stage) < STAGES.index(run.stage):
        raise Refusal("stage_regression", f"stage: the run is in {run.stage} and does not go back.")
    if arguments.stage == "report_writing" and run.stage == "knowledge_base":
        _require_ready(workspace)
    checkpoint = ev.CheckpointRecorded(
        round=arguments.round,
        stage=arguments.stage,
        status=arguments.status,
        summary=arguments.summary,
        open_questions=tuple(arguments.open_questions),
        next_steps=tuple(arguments.next_steps),
        artifact_ids=resolve_ids(run, arguments.artifact_ids, "artifact_ids"),
    )
    return Decision(
        text=f"Checkpoint {run.checkpoint_count + 1}: round {arguments.round}, stage {arguments.stage}, "
        f"{arguments.status}.",
        events=(checkpoint,),
        data={"round": arguments.round, "stage": arguments.stage, "status": arguments.status},
        entity_type="checkpoint",
        entity_id=str(run.checkpoint_count + 1),
    )


def _require_ready(workspace: Workspace) -> None:
    if missing := missing_for_report(workspace):
        listed = "\n".join(f"- {item}" for item in missing)
        raise Refusal("not_ready", f"The report cannot be written yet:\n{listed}")
