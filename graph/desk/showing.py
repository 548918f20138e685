"""What a chat puts on the stream beside the ledger's events: effects on the desk, and which panels are worked on."""

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from pydantic import TypeAdapter
from pydantic.alias_generators import to_camel

from researchdesk.graph.driver import StreamEvent
from researchdesk.state.desk.desk_state import DeskState
from researchdesk.state.desk.effects import DeskEffect, ordered
from researchdesk.state.desk.naming import named_file
from researchdesk.state.errors import Refusal
from researchdesk.tools.door import ToolResult


def effect_events(results: Iterable[ToolResult]) -> Iterator[StreamEvent]:
    """An event for each effect of the calls of a turn, given in call order: all that is structural first.

    A receiver drops an ``id`` that it has seen.
    """
    for effect in ordered(result.effects for result in results):
        yield {"type": "desk.effect", **effect_json(effect)}


def effect_json(effect: DeskEffect) -> dict[str, Any]:
    """An effect as JSON for a client, names in camel case: ``{id, toolCallId, action, …}``."""
    return _camel(_adapter().dump_python(effect, mode="json"))  # type: ignore[no-any-return]


def active_events(
    desk: DeskState, session_id: str, *, tool_call_id: str, arguments: dict[str, Any], begins: bool
) -> Iterator[StreamEvent]:
    """An event for each open panel whose file a call works on, as the call begins or as it has ended."""
    name = arguments.get("file")
    if not isinstance(name, str):
        return
    try:
        file = named_file(desk, name)
    except Refusal:
        return
    for panel in desk.layout(session_id).showing(file.id):
        yield {
            "type": "desk.indicator",
            "panelId": panel.id,
            "fileId": file.id,
            "toolCallId": tool_call_id,
            "indicator": "ai-active" if begins else panel.indicator,
        }


def _camel(value: Any) -> Any:
    if isinstance(value, dict):
        return {to_camel(key): _camel(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_camel(item) for item in value]
    return value


@cache
def _adapter() -> TypeAdapter[DeskEffect]:
    return TypeAdapter(DeskEffect)
