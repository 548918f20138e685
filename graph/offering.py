"""Which tools a turn offers to the model: those of its stage, and note tools alone when notes are due.

Where the run was started with desk tools, those that read the desk's files stand beside them. The session permits more
than that; a call of a tool that was not offered is still decided by the door.
"""

from researchdesk.graph.extraction import must_note
from researchdesk.state.run import ResearchRun
from researchdesk.state.unsettled import open_inquiry
from researchdesk.state.vocabulary import SETTLED
from researchdesk.state.workspace import Workspace
from researchdesk.tools.door import Session
from researchdesk.tools.registry import REGISTRY
from researchdesk.tools.spec import ToolSpec

READ = "deep_research_read_artifact"
NOTING = frozenset({"notes_read", "notes_append", "notes_update", "notes_scratch", READ})
INQUIRY = frozenset(spec.name for spec in (*REGISTRY.sources, *REGISTRY.investigate)) | {READ}
GATHERING = INQUIRY | {"deep_research_checkpoint"}
WRITING = frozenset(
    {"deep_research_save_artifact", READ, "notes_read", "notes_update", "deep_research_complete"}
)
SETTLING = frozenset({"deep_research_update_checklist"})
DESK = frozenset(REGISTRY.desk_set("general"))
"""Of these a research session has those that read."""


def offered(session: Session) -> list[ToolSpec]:
    """The tools of the next turn, in the order in which the session has them."""
    workspace = session.workspace
    run = workspace.run
    if run is None:
        return []
    if run.stage == "knowledge_base":
        names = NOTING if must_note(workspace) else GATHERING
    else:
        names = _writing(workspace, run)
    if workspace.config is not None and workspace.config.desk_tools:
        names |= DESK
    return [spec for spec in session.tools() if spec.name in names]


def _writing(workspace: Workspace, run: ResearchRun) -> frozenset[str]:
    """The tools of writing, and those for what is open again, such as a question that a refuted claim reopened."""
    names = WRITING
    if any(item.status not in SETTLED for item in run.checklist):
        names |= SETTLING
    if workspace.investigation and open_inquiry(workspace.investigation, run):
        names |= INQUIRY
    return names
