"""Looking up the run of a session, with a refusal that helps where there is none or it is sealed."""

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
