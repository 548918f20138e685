"""`ResearchMiddleware`: an agent of LangChain or deepagents researches on the record."""

from typing import Any

import orjson

from researchdesk.graph.budget import Budget
from researchdesk.graph.middleware.offering import ToolsMiddleware
from researchdesk.graph.prompts import RULES, turn_view
from researchdesk.graph.tools import create_research_tools, research_sessions
from researchdesk.state.envelopes import seal
from researchdesk.state.gate import missing_for_report
from researchdesk.state.limits import CALLS_PER_TURN, LIMITS
from researchdesk.state.workspace import Workspace
from researchdesk.tools.door import Session
from researchdesk.tools.sources.gathering import Sources
from researchdesk.tools.supply import new_boundary
from researchdesk.tools.workspace import Desk

VIEW_TOKENS = 8_000
NOT_BEGUN = "No research is begun in this conversation. Where one is wanted, deep_research_start begins it."


class ResearchMiddleware(ToolsMiddleware):
    """Gives an agent the research tools, and tells it before each answer how the research stands.

    Each call is done once, whatever is run again: its identity is the id of the message that holds it and its own.

    Args:
        desk: where the research is recorded.
        session_id: the session; None takes the thread id, and ``{thread}`` in it stands for that id.
        sources: where it may search and read, such as ``desk.corpus_sources(["docs/"])``.
        investigation: also the tools for questions, notes and challenges.
        max_steps: how many answers of a turn may call these tools; 0 for as many as the scope of the research has.
    """

    def __init__(
        self,
        desk: Desk,
        *,
        session_id: str | None = None,
        sources: Sources | None = None,
        investigation: bool = True,
        max_steps: int = 0,
    ) -> None:
        tools = create_research_tools(desk, session_id, sources=sources, investigation=investigation)
        opener = research_sessions(desk, session_id, sources=sources, investigation=investigation)
        super().__init__(tools, opener, most_calls=CALLS_PER_TURN)
        self._max_steps = max_steps

    def most_steps(self, session: Session) -> int:
        """The ceiling that was given, or that of the research's scope."""
        run = session.run
        return self._max_steps or (run.limits if run else LIMITS["standard"]).step_cap

    def block(self, session: Session, state: Any) -> str:
        """The rules of research and the run as it stands, or that there is none."""
        workspace = session.workspace
        run = workspace.run
        if run is None:
            return NOT_BEGUN
        if run.stage == "completed":
            return f"The research of this conversation is completed; its report is {run.report_artifact_id}."
        view = seal(
            orjson.dumps(_view(session, workspace)).decode(),
            tag="research_workspace",
            boundary=new_boundary(),
        )
        return f"{RULES.format(calls=CALLS_PER_TURN)}\n\n{view}"


def _view(session: Session, workspace: Workspace) -> dict[str, Any]:
    if workspace.investigation is not None:
        return turn_view(session, workspace, Budget(), room=VIEW_TOKENS)
    run = workspace.run
    assert run is not None
    return {
        "objective": run.objective,
        "stage": run.stage,
        "sources": len(run.sources),
        "unmet": missing_for_report(workspace) if run.stage == "knowledge_base" else [],
    }
