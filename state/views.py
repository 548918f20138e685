"""What a run looks like from outside: the status that tools, command line and prompts show."""

from collections import Counter
from itertools import islice
from typing import Any

from researchdesk.state import events as ev
from researchdesk.state.investigation_views import counts
from researchdesk.state.limits import STATUS_ARTIFACTS
from researchdesk.state.run import ResearchRun, Section
from researchdesk.state.usage import usage_view
from researchdesk.state.workspace import Workspace

RECENT_REFS = 20


def status_view(workspace: Workspace, *, updated_at: str = "") -> dict[str, Any]:
    """The run's status as JSON values; bounded however large the run is.

    Shape: the keys of ``researchdesk status --json``; ``artifacts`` counts by role, ``recent_artifacts`` holds at
    most 100, newest first; a cost that is not known is null.
    """
    run = workspace.run
    assert run is not None
    assert workspace.session is not None
    return {
        "session_id": workspace.session.session_id,
        "objective": run.objective,
        "scope_level": run.scope_level,
        "template": run.template.name,
        "status": run.status,
        "stage": run.stage,
        "round": run.round,
        "stop_reason": run.stop_reason,
        "checklist": [_item(item.item_id, item.title, item.update) for item in run.checklist],
        **counts(workspace.investigation),
        "sources": len(run.sources),
        "domains": len({source.origin for source in run.fetched_sources}),
        "artifacts": dict(sorted(Counter(artifact.role for artifact in run.artifacts.values()).items())),
        "recent_artifacts": [_artifact(run, key) for key in islice(run.newest_artifacts, STATUS_ARTIFACTS)],
        "report_sections": [_section(section) for section in run.sections],
        "report_artifact_id": run.report_artifact_id,
        "handoff_artifact_id": run.handoff_artifact_id,
        "steps": run.step_count,
        "checkpoints": run.checkpoint_count,
        "blockers": blockers(run),
        "open_questions": list(run.checkpoint.open_questions) if run.checkpoint else [],
        "next_steps": list(run.checkpoint.next_steps) if run.checkpoint else [],
        "worker_run_ids": sorted({key for step in run.steps for key in step.worker_run_ids}),
        "inspected_refs": _recent_refs(run),
        **_spent(workspace),
        "updated_at": updated_at,
    }


def _spent(workspace: Workspace) -> dict[str, Any]:
    """What did not work, and what was used."""
    usage = usage_view(workspace.spending_so_far)
    return {
        "refused": dict(sorted(workspace.refused_by_code.items())),
        "model_calls": workspace.called,
        "cost_usd": usage.pop("cost_usd"),
        "tokens": usage,
    }


def _item(item_id: str, title: str, update: ev.ChecklistUpdated | None) -> dict[str, Any]:
    return {
        "item_id": item_id,
        "title": title,
        "status": update.status if update else "pending",
        "evidence_artifact_ids": list(update.evidence_artifact_ids) if update else [],
        "blocked_reason": update.blocked_reason if update else "",
    }


def _section(section: Section) -> dict[str, Any]:
    return {
        "key": section.key,
        "title": section.title,
        "status": section.status,
        "artifact_id": section.artifact_id,
    }


def _artifact(run: ResearchRun, key: str) -> dict[str, Any]:
    artifact = run.artifacts[key]
    return {
        "artifact_id": key,
        "role": artifact.role,
        "name": artifact.name,
        "summary": artifact.summary,
        "source_id": run.source_by_artifact.get(key) or "",
        "locator": artifact.locator,
        "chars": artifact.chars,
        "provenance": artifact.provenance,
    }


def blockers(run: ResearchRun) -> list[str]:
    """What holds the run up, in words."""
    found = [run.blocked_reason] if run.status == "blocked" and run.blocked_reason else []
    for item in run.checklist:
        if item.status == "blocked" and item.update:
            found.append(f"{item.title}: {item.update.blocked_reason}")
    found += [
        f"Step {s.step}: {s.blocked_reason}" for s in islice(run.steps, RECENT_REFS) if s.status == "blocked"
    ]
    return found


def _recent_refs(run: ResearchRun) -> list[dict[str, Any]]:
    refs = [
        {"step": step.step, "kind": ref.kind, "locator": ref.locator, "label": ref.label}
        for step in islice(run.steps, RECENT_REFS)
        for ref in step.inspected_refs
    ]
    return refs[:RECENT_REFS]
