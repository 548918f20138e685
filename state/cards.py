"""What a notebook shows of a session and of its run: what they are about, and how they stand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

from researchdesk.state.desk.markup import card
from researchdesk.state.investigation_texts import checked_text, lacking_text
from researchdesk.state.investigation_views import counts, lacking

if TYPE_CHECKING:
    from researchdesk.state.run import ResearchRun
    from researchdesk.state.workspace import Workspace


def run_card(run: ResearchRun) -> str:
    """A run: its objective, its stage, and what it holds."""
    return card("Research run", _run_fields(run))


def session_card(session_id: str, workspace: Workspace) -> str:
    """A session: its run with questions, claims and challenges, or what it is open for."""
    opened = workspace.session
    fields = {
        "user": opened.user if opened else "",
        "labels": ", ".join(opened.labels) if opened and workspace.run is None else "",
        "profile": opened.profile if opened and workspace.run is None else "",
        "forked from": f"{opened.forked_from}, event {opened.forked_seq}"
        if opened and opened.forked_from
        else "",
        **(_run_fields(workspace.run) if workspace.run else {}),
        **_investigated(workspace),
        "events": f"{workspace.seq:,}",
        "model requests": f"{workspace.called:,}",
    }
    return card(f"Session {session_id}", fields)


def _run_fields(run: ResearchRun) -> dict[str, str]:
    origins = len({source.origin for source in run.fetched_sources})
    stopped = f", stopped early: {run.stop_reason}" if run.stop_reason else ""
    written = [f"{section.title} ({section.status})" for section in run.sections]
    return {
        "objective": run.objective,
        "scope": f"{run.scope_level}, template {run.template.name}",
        "status": f"{run.status}, stage {run.stage}, round {run.round}{stopped}",
        "blocked by": run.blocked_reason,
        "sources": f"{len(run.sources)}, fetched from {origins} publisher{'' if origins == 1 else 's'}",
        "sections": ", ".join(written),
        "report": run.report_artifact_id,
    }


def _investigated(workspace: Workspace) -> dict[str, str]:
    if workspace.run is None or workspace.investigation is None:
        return {}
    found = counts(workspace.investigation)
    missing = lacking_text(asdict(lacking(workspace.investigation, workspace.run.limits)))
    return {
        "questions": _counted(found["questions"]),
        "claims": "; ".join(filter(None, (checked_text(found["coverage"]), missing))),
        "challenges": _counted(found["challenges"]),
    }


def _counted(found: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in found.items() if count)
