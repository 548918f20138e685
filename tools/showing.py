"""What a call makes visible on the desk, and what of it the desk keeps."""

from dataclasses import dataclass

from researchdesk.state.desk.effects import CallOutcome, DeskEffect, derive_effects
from researchdesk.state.desk.events import DeskEvent, EffectsDerived
from researchdesk.state.desk.panels import PANEL_TYPES, PanelType
from researchdesk.state.ids import CallId
from researchdesk.tools.results import ToolResult
from researchdesk.tools.spec import Decision, ToolSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Showing:
    """What is known of showing things: the types of panels, and what calls of a tool make visible."""

    panel_types: tuple[PanelType, ...] = PANEL_TYPES
    spec: ToolSpec | None = None

    def effects(self, call: CallId, tool: str, code: str, result: ToolResult) -> tuple[DeskEffect, ...]:
        """The effects of a call with this result: the same ones with the same ids whenever it is asked for."""
        outcome = CallOutcome(
            call=call,
            tool=tool,
            status=result.status,
            code=code,
            text=result.text,
            data=result.data,
            seq=result.seq,
        )
        derive = self.spec.effects if self.spec else None
        return derive_effects(outcome, panel_types=self.panel_types, derive=derive)


def desk_events(
    decision: Decision, effects: tuple[DeskEffect, ...], *, session_id: str
) -> tuple[DeskEvent, ...]:
    """What a decision does to the desk, the effects of a call that worked included."""
    if not effects or decision.status != "success":
        return decision.desk_events
    return (*decision.desk_events, EffectsDerived(session_id=session_id, effects=effects))
