"""Starting a run, showing where it stands, and sealing it."""

import orjson

from researchdesk.state import events as ev
from researchdesk.state import traces
from researchdesk.state.envelopes import seal
from researchdesk.state.errors import Refusal, UsageError
from researchdesk.state.gaps import gaps
from researchdesk.state.gate import missing_for_completion, needed_bodies
from researchdesk.state.ids import CallId, fold_objective
from researchdesk.state.limits import LIMITS
from researchdesk.state.templates import template_named
from researchdesk.state.views import status_view
from researchdesk.state.vocabulary import INVESTIGATION_LABEL
from researchdesk.state.workspace import Workspace
from researchdesk.tools.research.arguments import Complete, Start, Status
from researchdesk.tools.research.naming import resolve_artifact
from researchdesk.tools.running import open_run, started_run
from researchdesk.tools.spec import Bodies, Decision, Gathered, Need


def decide_start(workspace: Workspace, arguments: Start, gathered: Gathered, call: CallId) -> Decision:
    """Begin the session's one run."""
    if workspace.run is not None:
        raise Refusal(
            "already_started",
            f"This session researches already: '{workspace.run.objective[:120]}'. Call deep_research_status.",
        )
    try:
        template = template_named(arguments.template or "implementation")
    except UsageError as problem:
        raise Refusal("invalid_arguments", f"template: {problem}.") from None
    assert workspace.session is not None
    investigates = INVESTIGATION_LABEL in workspace.session.labels
    objective = fold_objective(arguments.objective)
    started = ev.ResearchStarted(
        objective=objective,
        scope_level=arguments.scope_level,
        template=template,
        limits=LIMITS[arguments.scope_level],
        notes_id=gathered.token if investigates else "",
    )
    items = ", ".join(part.key for part in template.checklist)
    sections = ", ".join(part.key for part in template.sections)
    return Decision(
        text=f"Research started ({arguments.scope_level}). Checklist: {items}. Report sections: {sections}.",
        events=(started, *(traces.of_start(objective) if investigates else ())),
        data={"template": template.name, "scope_level": arguments.scope_level},
        entity_type="research_run",
        entity_id=call.session,
    )


def decide_status(workspace: Workspace, arguments: Status, gathered: Gathered, call: CallId) -> Decision:
    """Show the run as it stands; nothing is recorded but the call."""
    started_run(workspace)
    view = status_view(workspace)
    del view["tokens"]["by_tool"]  # the longest part, and nothing that a model decides by
    body = orjson.dumps(view, option=orjson.OPT_INDENT_2).decode()
    sealed = seal(body, tag="research_workspace", boundary=gathered.boundary)
    return Decision(text=sealed, data={"stage": view["stage"], "status": view["status"]})


def complete_needs(workspace: Workspace, arguments: Complete, call: CallId) -> Need:
    """Every body that the run stands on is read again."""
    run = open_run(workspace)
    report, handoff = arguments.report_artifact_id, arguments.handoff_artifact_id
    purged = workspace.purged_artifacts
    return Bodies(artifact_ids=needed_bodies(run, report=report, handoff=handoff, purged=purged))


def decide_complete(workspace: Workspace, arguments: Complete, gathered: Gathered, call: CallId) -> Decision:
    """Seal the run, or list all that is missing."""
    run = open_run(workspace)
    report, handoff = arguments.report_artifact_id, arguments.handoff_artifact_id
    missing = [
        *missing_for_completion(
            workspace, report=report, handoff=handoff, texts=gathered.texts, problems=gathered.problems
        ),
        *_handoff_problems(arguments),
    ]
    if missing:
        raise Refusal(
            "incomplete", "The run cannot be completed yet:\n" + "\n".join(f"- {item}" for item in missing)
        )
    completed = ev.ResearchCompleted(
        report_artifact_id=resolve_artifact(run, report, "report_artifact_id").artifact_id,
        handoff_artifact_id=resolve_artifact(run, handoff, "handoff_artifact_id").artifact_id,
        implementation_tasks=tuple(arguments.implementation_tasks),
        recommended_issues=tuple(arguments.recommended_issues),
        recommended_pull_requests=tuple(arguments.recommended_pull_requests),
        verification_commands=tuple(arguments.verification_commands),
        gaps=gaps(workspace, report_text=gathered.texts[report]),
    )
    return Decision(
        text=f"The run is completed. Report {report}, {len(run.sources)} sources, {len(completed.gaps)} gaps listed.",
        events=(completed,),
        data={"report_artifact_id": report, "handoff_artifact_id": handoff, "gaps": list(completed.gaps)},
        entity_type="research_run",
        entity_id=call.session,
    )


def _handoff_problems(arguments: Complete) -> list[str]:
    """The structured handoff: work to do, and how to check it."""
    missing = []
    if not arguments.implementation_tasks:
        missing.append("implementation_tasks is empty; name at least one task or decision")
    if not arguments.recommended_issues and not arguments.recommended_pull_requests:
        missing.append("recommended_issues and recommended_pull_requests are both empty; fill at least one")
    if not arguments.verification_commands:
        missing.append("verification_commands is empty; say how the result is checked")
    return missing
