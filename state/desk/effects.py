"""Desk effects: what a tool call makes visible on the desk, derived from its record and stored beside it.

An effect is *structural* (a panel opens, takes the focus, closes), *content* (a channel says what changed) or a
notice. ``id`` is ``<digest of the call's identity>:<n>``: the same call always gives the same effects with the same
ids, and a receiver drops an id that it has seen. ``tool_call_id`` is empty where a person caused it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Annotated, Any, Final, Literal

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass as checked_dataclass

from researchdesk.state.desk.labels import MESSAGE_CHARS, label, quoted
from researchdesk.state.desk.panels import PANEL_TYPES, PanelType, panel_of, panel_type_for
from researchdesk.state.desk.paths import name_of
from researchdesk.state.ids import CallId
from researchdesk.state.vocabulary import CallStatus

STRICT = ConfigDict(extra="forbid")
MOST_REFS: Final = 100
"""Where more cells change at once, the file is said to have changed."""
Level = Literal["info", "success", "warning"]


@checked_dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class PanelMeta:
    """What a panel stands on: its file, and the call that opened it; empty where there is none."""

    file_id: str = ""
    source_tool_call_id: str = ""


@checked_dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class FileChanged:
    """``file:changed``: a file has another content or name; ``path`` is where it is now."""

    file_id: str
    hash: str
    rev: int
    path: str = ""


@checked_dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class SheetCells:
    """``sheet:cells``: these cells of a spreadsheet changed, and nothing else in it."""

    file_id: str
    refs: tuple[str, ...]
    hash: str


@checked_dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class FileDeleted:
    """``file:deleted``: a file is gone from the desk."""

    file_id: str


@checked_dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class ResearchChanged:
    """``research:changed``: a research session went on, up to this sequence."""

    run_id: str
    seq: int


Channel = Literal["file:changed", "sheet:cells", "file:deleted", "research:changed"]
Payload = FileChanged | SheetCells | FileDeleted | ResearchChanged
CHANNELS: Final[Mapping[Channel, type[Payload]]] = {
    "file:changed": FileChanged,
    "sheet:cells": SheetCells,
    "file:deleted": FileDeleted,
    "research:changed": ResearchChanged,
}
"""Each channel and what is published on it."""


@checked_dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class OpenPanel:
    """A panel opens and takes the focus; one that is open only takes the focus."""

    action: Literal["openPanel"] = "openPanel"
    id: str
    tool_call_id: str
    panel_type: str
    panel_id: str
    title: str
    meta: PanelMeta = PanelMeta()


@checked_dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class FocusPanel:
    """An open panel takes the focus."""

    action: Literal["focusPanel"] = "focusPanel"
    id: str
    tool_call_id: str
    panel_id: str


@checked_dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class ClosePanel:
    """A panel closes."""

    action: Literal["closePanel"] = "closePanel"
    id: str
    tool_call_id: str
    panel_id: str


@checked_dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class UpdateContent:
    """Those who listen on the channel learn what changed."""

    action: Literal["updateContent"] = "updateContent"
    id: str
    tool_call_id: str
    channel: Channel
    payload: Payload

    def __post_init__(self) -> None:
        if not isinstance(self.payload, CHANNELS[self.channel]):
            raise ValueError(f"no {type(self.payload).__name__} is published on {self.channel}")


@checked_dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class Notify:
    """A person is told something, in passing."""

    action: Literal["notify"] = "notify"
    id: str
    tool_call_id: str
    level: Level
    message: str


Structural = OpenPanel | FocusPanel | ClosePanel
DeskEffect = Annotated[
    OpenPanel | FocusPanel | ClosePanel | UpdateContent | Notify, Field(discriminator="action")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOutcome:
    """What is on record of a call that ended: who asked for what, how it came out, and what a program got.

    ``seq`` is the session's sequence after the call; ``data`` has the shape of the tool's result.
    """

    call: CallId
    tool: str
    status: CallStatus
    code: str = ""
    text: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    seq: int = 0


def derive_effects(
    outcome: CallOutcome,
    *,
    panel_types: tuple[PanelType, ...] = PANEL_TYPES,
    derive: "Callable[[Making], Iterable[DeskEffect]] | None" = None,
) -> tuple[DeskEffect, ...]:
    """What the call makes visible, in the order in which it happens.

    A call that failed gives one warning and nothing else; one that waits for a person gives nothing before it is
    decided, so that a call never has effects twice.

    Args:
        panel_types: those that are known, in the order in which they are asked whether they show a file.
        derive: what a tool that is none of ours makes visible when it worked.
    """
    made = Making(outcome, panel_types)
    if outcome.status == "error":
        return (made.notify("warning", outcome.text or f"{outcome.tool} failed ({outcome.code})"),)
    if outcome.status == "pending":
        return ()
    own = _BY_TOOL.get(outcome.tool, _research if not outcome.tool.startswith("desk_") else _nothing)
    return tuple((derive or own)(made))


def ordered(batches: Iterable[tuple[DeskEffect, ...]]) -> tuple[DeskEffect, ...]:
    """The effects of a turn's calls, given in call order: all that is structural first, then the others."""
    effects = tuple(chain.from_iterable(batches))
    structural = (effect for effect in effects if isinstance(effect, Structural))
    return (*structural, *(effect for effect in effects if not isinstance(effect, Structural)))


class Making:
    """Makes the effects of one call, each with its number; ``data`` is what the call gave."""

    def __init__(self, outcome: CallOutcome, panel_types: tuple[PanelType, ...]) -> None:
        self.outcome = outcome
        self.data = outcome.data
        self._panel_types = panel_types
        self._made = 0
        self._call = outcome.call.call

    def _next_id(self) -> str:
        number, self._made = self._made, self._made + 1
        return f"{self.outcome.call.digest()}:{number}"

    def open(self, *, panel_id: str, title: str, panel_type: str = "") -> OpenPanel:
        """A panel opens; by default one of the type that shows files of the kind that ``data`` names."""
        file_id = self.data.get("file_id", "")
        return OpenPanel(
            panel_type=panel_type or panel_type_for(self.data.get("kind", ""), self._panel_types),
            panel_id=panel_id,
            title=label(title),
            meta=PanelMeta(file_id=file_id, source_tool_call_id=self._call),
            id=self._next_id(),
            tool_call_id=self._call,
        )

    def focus(self, panel_id: str) -> FocusPanel:
        """An open panel takes the focus."""
        return FocusPanel(panel_id=panel_id, id=self._next_id(), tool_call_id=self._call)

    def close(self, panel_id: str) -> ClosePanel:
        """An open panel closes."""
        return ClosePanel(panel_id=panel_id, id=self._next_id(), tool_call_id=self._call)

    def update(self, payload: Payload) -> UpdateContent:
        """Those who listen on the payload's channel are told."""
        channel = next(channel for channel, kind in CHANNELS.items() if isinstance(payload, kind))
        return UpdateContent(channel=channel, payload=payload, id=self._next_id(), tool_call_id=self._call)

    def notify(self, level: Level, message: str) -> Notify:
        """A person is told something, on one line."""
        return Notify(
            level=level, message=label(message, MESSAGE_CHARS), id=self._next_id(), tool_call_id=self._call
        )


def _created(made: Making) -> Iterator[DeskEffect]:
    data = made.data
    yield made.open(panel_id=panel_of(data["file_id"]), title=name_of(data["path"]))
    yield made.update(_changed(data))
    yield made.notify("success", f"Created {quoted(data['path'])}")


def _updated(made: Making) -> Iterator[DeskEffect]:
    data = made.data
    refs = tuple(data.get("refs", ()))
    named = 0 < len(refs) <= MOST_REFS
    cells = SheetCells(file_id=data["file_id"], refs=refs, hash=data["hash"])
    yield made.update(cells if named else _changed(data))
    yield made.notify("success", f"Changed {quoted(data['path'])}")


def _deleted(made: Making) -> Iterator[DeskEffect]:
    data = made.data
    yield made.close(panel_of(data["file_id"]))
    yield made.update(FileDeleted(file_id=data["file_id"]))
    yield made.notify("success", f"Deleted {quoted(data['path'])}")


def _managed(made: Making) -> Iterator[DeskEffect]:
    data = made.data
    match data["op"]:
        case "open":
            yield made.open(panel_id=data["panel_id"], title=data["title"], panel_type=data["panel_type"])
        case "focus":
            yield made.focus(data["panel_id"])
        case "close":
            yield made.close(data["panel_id"])


def _research(made: Making) -> Iterator[DeskEffect]:
    yield made.update(ResearchChanged(run_id=made.outcome.call.session, seq=made.outcome.seq))


def _nothing(_: Making) -> Iterator[DeskEffect]:
    yield from ()


def _changed(data: Mapping[str, Any]) -> FileChanged:
    return FileChanged(file_id=data["file_id"], hash=data["hash"], rev=data["rev"], path=data["path"])


_BY_TOOL: Final[Mapping[str, Callable[[Making], Iterator[DeskEffect]]]] = {
    **dict.fromkeys(("desk_create_file", "desk_create_markdown", "desk_create_spreadsheet"), _created),
    **dict.fromkeys(
        ("desk_update_file", "desk_update_markdown", "desk_update_cells", "desk_rename_file"), _updated
    ),
    "desk_delete_file": _deleted,
    "desk_manage_panel": _managed,
}
