"""The panels of a session: what stands open, and opening, focusing and closing it."""

from typing import Any

from researchdesk.state import events as ev
from researchdesk.state.desk.context import context_from
from researchdesk.state.desk.desk_state import DeskState
from researchdesk.state.desk.files import DeskFile
from researchdesk.state.desk.layout import PanelLayout
from researchdesk.state.desk.naming import fitted_label, named_file, shown
from researchdesk.state.desk.panels import PanelType, panel_of, panel_type_for
from researchdesk.state.desk.paths import name_of
from researchdesk.state.desk.prompt import desk_context
from researchdesk.state.desk.viewing import view_of
from researchdesk.state.errors import Refusal
from researchdesk.state.ids import CallId
from researchdesk.state.limits import RESULT_TOKENS
from researchdesk.state.workspace import Workspace
from researchdesk.tools.desk.arguments import ManagePanel, ReadContext
from researchdesk.tools.spec import Decision, Gathered

PANELS_SHOWN = 12


def decide_context(
    workspace: Workspace, arguments: ReadContext, gathered: Gathered, call: CallId
) -> Decision:
    """Tell what is open, focused and selected, what waits for a person, and what was decided of late."""
    assert gathered.desk is not None
    desk = gathered.desk.state
    view = view_of(desk, call.session, selection=_selection(workspace))
    layout = view.panels
    return Decision(
        text=desk_context(view, limit=RESULT_TOKENS),
        data={
            "panels": [
                {
                    "id": panel.id,
                    "type": panel.type,
                    "title": panel.title,
                    "file_id": panel.file_id,
                    "indicator": panel.indicator,
                }
                for panel in layout.newest[:PANELS_SHOWN]
            ],
            "open_panels": len(layout.panels),
            "focused": layout.focused,
            "selection": view.focus.selection,
            "pending": [made.proposal_id for made in view.pending[:PANELS_SHOWN]],
            "decided": [made.proposal_id for made in view.decisions[:PANELS_SHOWN]],
        },
    )


def _selection(workspace: Workspace) -> str:
    """What was selected when the last message was sent."""
    heard = (entry for entry in reversed(workspace.chat.entries) if isinstance(entry, ev.MessageReceived))
    message = next(heard, None)
    return context_from(message.context).selection if message else ""


def decide_panel(workspace: Workspace, arguments: ManagePanel, gathered: Gathered, call: CallId) -> Decision:
    """Open, focus or close a panel of the session."""
    assert gathered.desk is not None
    desk, target = gathered.desk.state, arguments.target.strip()
    if not target:
        raise Refusal("invalid_arguments", "target: it is empty. Name a file, a panel or a type of panel.")
    layout = desk.layout(call.session)
    if arguments.op == "open":
        data = _to_open(desk, layout, target, gathered.desk.panel_types)
    else:
        data = _open_panel(desk, layout, target)
    done = {"open": "Opened", "focus": "Focused", "close": "Closed"}[arguments.op]
    return Decision(
        text=f"{done} {data['panel_type']} panel {fitted_label(data['panel_id'])} {shown(data['title'])}.",
        data={"op": arguments.op, **data},
        entity_type="desk.panel",
        entity_id=data["panel_id"],
    )


def _to_open(
    desk: DeskState, layout: PanelLayout, target: str, types: tuple[PanelType, ...]
) -> dict[str, Any]:
    """The panel that shows a file, one that is open already, or one of a type that shows no file."""
    if any(panel.id == target for panel in layout.panels):
        return _open_panel(desk, layout, target)
    bare = next((kind.name for kind in types if kind.name == target and not kind.kinds), "")
    file = _file(desk, target)
    if bare and file is None:
        return {"panel_id": bare, "panel_type": bare, "title": bare}
    file = file or named_file(desk, target.removeprefix("panel_"))
    return {
        "panel_id": panel_of(file.id),
        "panel_type": panel_type_for(file.kind, types),
        "title": name_of(file.path),
        "file_id": file.id,
        "path": file.path,
        "kind": file.kind,
    }


def _open_panel(desk: DeskState, layout: PanelLayout, target: str) -> dict[str, Any]:
    file = _file(desk, target)
    names = (target, panel_of(file.id)) if file else (target,)
    panel = next((panel for panel in layout.newest if panel.id in names), None) or next(
        (panel for panel in layout.newest if panel.type == target), None
    )
    if panel is None:
        is_open = ", ".join(fitted_label(panel.id, tokens=20) for panel in layout.newest[:PANELS_SHOWN])
        raise Refusal("not_found", f"No panel of {shown(target)} is open. Open are: {is_open or 'none'}.")
    return {
        "panel_id": panel.id,
        "panel_type": panel.type,
        "title": panel.title,
        **({"file_id": panel.file_id} if panel.file_id else {}),
    }


def _file(desk: DeskState, target: str) -> DeskFile | None:
    found = desk.files.get(target) or desk.at_path(target)
    return None if found is None or found.deleted else found
