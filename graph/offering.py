"""Which tools a turn offers to the model: those of its stage, and note tools alone when notes are due.

The session permits more than that; a call of a tool that was not offered is still decided by the door.
"""

from researchdesk.graph.extraction import must_note
from researchdesk.state.vocabulary import SETTLED
from researchdesk.tools.door import Session
from researchdesk.tools.registry import REGISTRY
from researchdesk.tools.spec import ToolSpec

READ = "deep_research_read_artifact"
NOTING = frozenset({"notes_read", "notes_append", "notes_update", "notes_scratch", READ})
GATHERING = frozenset(
    {
        *(spec.name for spec in REGISTRY.sources),
        *(spec.name for spec in REGISTRY.investigate),
        READ,
        "deep_research_checkpoint",
    }
)
WRITING = frozenset(
    {"deep_research_save_artifact", READ, "notes_read", "notes_update", "deep_research_complete"}
)
SETTLING = frozenset({"deep_research_update_checklist"})


def offered(session: Session) -> list[ToolSpec]:
    """The tools of the next turn, in the order in which the session has them."""
    workspace = session.workspace
    run = workspace.run
    if run is None:
        return []
    if run.stage == "knowledge_base":
        names = NOTING if must_note(workspace) else GATHERING
    else:
        is_open = any(item.status not in SETTLED for item in run.checklist)
        names = WRITING | SETTLING if is_open else WRITING
    return [spec for spec in session.tools() if spec.name in names]
