"""The panels of a desk and which of them has the focus: an immutable value that effects lead from one to the next."""

from dataclasses import dataclass
from typing import Final, Literal, assert_never

from researchdesk.state.copying import changed
from researchdesk.state.desk.effects import (
    ClosePanel,
    DeskEffect,
    FileChanged,
    FileDeleted,
    FocusPanel,
    Notify,
    OpenPanel,
    PanelMeta,
    ResearchChanged,
    SheetCells,
    UpdateContent,
)
from researchdesk.state.desk.labels import label
from researchdesk.state.desk.paths import name_of

Indicator = Literal["none", "unsaved", "saving", "error", "ai-active", "ai-modified"]

MOST_PANELS: Final = 200
SEEN_EFFECTS: Final = 1_024
"""How many effects a layout remembers: more than the 1,000 that a receiver which comes back is sent again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """An open panel; ``indicator`` is what its tab shows beside the title."""

    id: str
    type: str
    title: str
    meta: PanelMeta
    indicator: Indicator = "none"

    @property
    def file_id(self) -> str:
        """The file that the panel shows; empty where it shows none."""
        return self.meta.file_id


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelLayout:
    """The open panels, oldest first; ``focused`` is the id of one of them, empty only where there is none."""

    panels: tuple[Panel, ...] = ()
    focused: str = ""
    seen: tuple[str, ...] = ()
    """The ids of the last `SEEN_EFFECTS` effects that came, oldest first."""

    @property
    def newest(self) -> tuple[Panel, ...]:
        """The panels with the focused one first, then the newest."""
        first = self.panel(self.focused)
        others = tuple(panel for panel in reversed(self.panels) if panel is not first)
        return (first, *others) if first else others

    def panel(self, panel_id: str) -> Panel | None:
        """The open panel of this id."""
        return next((panel for panel in self.panels if panel.id == panel_id), None)

    def showing(self, file_id: str) -> tuple[Panel, ...]:
        """The open panels that show a file."""
        return tuple(panel for panel in self.panels if file_id and panel.file_id == file_id)


def apply(layout: PanelLayout, effect: DeskEffect, *, by_person: bool = False) -> PanelLayout:
    """The layout after one more effect; the same one, where its id has been seen.

    Opening an open panel focuses it; focusing or closing one that is not open changes nothing. A tool that changes a
    panel's file marks the panel ``ai-modified``, and a person who focuses it takes the mark away.
    """
    if effect.id in layout.seen:
        return layout
    return changed(_applied(layout, effect, by_person), seen=(*layout.seen, effect.id)[-SEEN_EFFECTS:])


def _applied(layout: PanelLayout, effect: DeskEffect, by_person: bool) -> PanelLayout:
    match effect:
        case OpenPanel():
            if layout.panel(effect.panel_id) is None:
                layout = _opened(layout, effect)
            return _focused(layout, effect.panel_id, by_person)
        case FocusPanel():
            return _focused(layout, effect.panel_id, by_person)
        case ClosePanel():
            return _closed(layout, effect.panel_id)
        case UpdateContent():
            return _updated(layout, effect, by_person)
        case Notify():
            return layout
    assert_never(effect)


def _opened(layout: PanelLayout, effect: OpenPanel) -> PanelLayout:
    if len(layout.panels) >= MOST_PANELS:
        oldest = next(panel for panel in layout.panels if panel.id != layout.focused)
        layout = _closed(layout, oldest.id)
    panel = Panel(id=effect.panel_id, type=effect.panel_type, title=label(effect.title), meta=effect.meta)
    return changed(layout, panels=(*layout.panels, panel))


def _focused(layout: PanelLayout, panel_id: str, by_person: bool) -> PanelLayout:
    panel = layout.panel(panel_id)
    if panel is None:
        return layout
    layout = changed(layout, focused=panel_id)
    if by_person and panel.indicator == "ai-modified":
        return _with(layout, changed(panel, indicator="none"))
    return layout


def _closed(layout: PanelLayout, panel_id: str) -> PanelLayout:
    """The layout without a panel; the focus that it had goes to its neighbour, the older one first."""
    panel = layout.panel(panel_id)
    if panel is None:
        return layout
    place = layout.panels.index(panel)
    panels = (*layout.panels[:place], *layout.panels[place + 1 :])
    if layout.focused != panel_id:
        return changed(layout, panels=panels)
    return changed(layout, panels=panels, focused=panels[max(0, place - 1)].id if panels else "")


def _updated(layout: PanelLayout, effect: UpdateContent, by_person: bool) -> PanelLayout:
    payload = effect.payload
    match payload:
        case ResearchChanged():
            return layout
        case FileDeleted():
            for panel in layout.showing(payload.file_id):
                layout = _closed(layout, panel.id)
            return layout
        case FileChanged() | SheetCells():
            for panel in layout.showing(payload.file_id):
                layout = _with(layout, _refreshed(panel, payload, by_person))
            return layout
    assert_never(payload)


def _refreshed(panel: Panel, payload: FileChanged | SheetCells, by_person: bool) -> Panel:
    path = payload.path if isinstance(payload, FileChanged) else ""
    title = label(name_of(path)) if path else panel.title
    return changed(panel, title=title, indicator=panel.indicator if by_person else "ai-modified")


def _with(layout: PanelLayout, panel: Panel) -> PanelLayout:
    panels = tuple(panel if old.id == panel.id else old for old in layout.panels)
    return changed(layout, panels=panels)
