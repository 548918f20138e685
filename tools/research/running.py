"""Looking up the run and its artifacts, with a refusal that helps where they are missing."""

from researchdesk.state import events as ev
from researchdesk.state.errors import Refusal
from researchdesk.state.run import ResearchRun
from researchdesk.state.workspace import Workspace


def started_run(workspace: Workspace) -> ResearchRun:
    """The session's run, in any state.

    Raises:
        Refusal: ``not_started``.
    """
    if workspace.run is None:
        raise Refusal(
            "not_started", "No research is started in this session. Call deep_research_start first."
        )
    return workspace.run


def open_run(workspace: Workspace) -> ResearchRun:
    """The session's run while it takes changes.

    Raises:
        Refusal: ``not_started``, or ``completed`` when it is sealed.
    """
    run = started_run(workspace)
    if run.stage == "completed":
        raise Refusal(
            "completed",
            f"This run is completed; its report is {run.report_artifact_id}. Start a new session to go on.",
        )
    return run


def resolve_artifact(run: ResearchRun, key: str, field: str) -> ev.ArtifactRecorded:
    """The artifact of that id; a source id names its artifact.

    Raises:
        Refusal: ``unknown_artifact``; missing and foreign ones look the same.
    """
    source = run.sources.get(key)
    artifact = run.artifacts.get(source.artifact_id if source else key)
    if artifact is None:
        newest = [item for item, _ in zip(run.newest_artifacts, range(3), strict=False)]
        there = (
            f"the newest of its {len(run.artifacts)} are {', '.join(newest)}" if newest else "it has none yet"
        )
        raise Refusal("unknown_artifact", f"{field}: no artifact '{key}' in this run; {there}.")
    return artifact


def resolve_ids(run: ResearchRun, keys: list[str], field: str) -> tuple[str, ...]:
    """The artifact ids that ``keys`` name, each checked to be in the run."""
    return tuple(dict.fromkeys(resolve_artifact(run, key, field).artifact_id for key in keys))
