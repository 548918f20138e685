"""What a call makes visible on the desk, and what of it the desk keeps."""

from collections.abc import Mapping
from dataclasses import dataclass

import orjson

from researchdesk.state import events as ev
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

    def effects(self, outcome: CallOutcome) -> tuple[DeskEffect, ...]:
        """The effects of a call."""
        derive = self.spec.effects if self.spec else None
        return derive_effects(outcome, panel_types=self.panel_types, derive=derive)


def effects_of(
    call: CallId, record: ev.CallRecorded, text: str, *, seq: int, showing: Showing
) -> tuple[DeskEffect, ...]:
    """The effects of a call that is recorded like this, with this text, at ``seq`` of its session."""
    outcome = CallOutcome(
        call=call,
        tool=record.name,
        status=record.status,
        code=record.code,
        text=text,
        data=orjson.loads(record.data),
        seq=seq,
    )
    return showing.effects(outcome)


def effects_of_row(row: Mapping[str, str], result: ToolResult, *, showing: Showing) -> tuple[DeskEffect, ...]:
    """The effects of a recorded call again: the same ones with the same ids."""
    outcome = CallOutcome(
        call=CallId(session=row["session_id"], turn=row["turn_id"], call=row["id"]),
        tool=row["name"],
        status=result.status,
        code=row["code"],
        text=result.text,
        data=result.data,
        seq=result.seq,
    )
    return showing.effects(outcome)


def desk_events(
    decision: Decision, effects: tuple[DeskEffect, ...], *, session_id: str
) -> tuple[DeskEvent, ...]:
    """What a decision does to the desk, the effects of a call that worked included."""
    if not effects or decision.status != "success":
        return decision.desk_events
    return (*decision.desk_events, EffectsDerived(session_id=session_id, effects=effects))
