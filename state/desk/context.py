"""The context of a message: what was open, focused and selected on the desk when it was sent, bounded."""

from functools import cache

import orjson
from pydantic import ConfigDict, TypeAdapter
from pydantic.dataclasses import dataclass as checked_dataclass

from researchdesk.state.desk.labels import label
from researchdesk.state.desk.layout import Indicator, Panel, PanelLayout

STRICT = ConfigDict(extra="forbid")
MOST_PANELS_KEPT = 40
SELECTION_CHARS = 200


@checked_dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class PanelSeen:
    """A panel as it stood when the message was sent."""

    id: str
    type: str
    title: str
    file_id: str = ""
    indicator: Indicator = "none"


@checked_dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class MessageContext:
    """What a person saw when they sent a message; ``more`` panels were open besides."""

    panels: tuple[PanelSeen, ...] = ()
    focused: str = ""
    selection: str = ""
    more: int = 0


def context_of(layout: PanelLayout, selection: str = "") -> MessageContext:
    """The context that a layout is: the focused panel first, then the newest; names and selection cut."""
    kept = tuple(_seen(panel) for panel in layout.newest[:MOST_PANELS_KEPT])
    return MessageContext(
        panels=kept,
        focused=label(layout.focused),
        selection=label(selection, SELECTION_CHARS),
        more=len(layout.panels) - len(kept),
    )


def context_text(context: MessageContext) -> str:
    """The context as canonical JSON, at most 40,000 characters where `context_of` made it."""
    return orjson.dumps(_adapter().dump_python(context), option=orjson.OPT_SORT_KEYS).decode()


def context_from(text: str) -> MessageContext:
    """The context that was written as ``text``; an empty text is a message without one.

    Raises:
        ValueError: the text has not that shape.
    """
    return _adapter().validate_json(text) if text else MessageContext()


def _seen(panel: Panel) -> PanelSeen:
    return PanelSeen(
        id=label(panel.id),
        type=label(panel.type),
        title=label(panel.title),
        file_id=label(panel.file_id),
        indicator=panel.indicator,
    )


@cache
def _adapter() -> TypeAdapter[MessageContext]:
    return TypeAdapter(MessageContext)
