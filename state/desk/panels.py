"""Panel types: what a desk can show, and which kinds of files each shows; the list is open.

Who adds a type puts it before these and hands the whole to whatever derives effects:
``(PanelType(name="board", kinds=("spreadsheet",)), *PANEL_TYPES)``. Stored effects name types, so that a desk
which does not know one still reads them.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelType:
    """A kind of panel; ``kinds`` are those of the files it shows, none for a panel that shows no file."""

    name: str
    kinds: tuple[str, ...] = ()


PANEL_TYPES: Final = (
    PanelType(name="markdown", kinds=("markdown",)),
    PanelType(name="spreadsheet", kinds=("spreadsheet",)),
    PanelType(name="folder", kinds=("folder",)),
    PanelType(name="report"),
    PanelType(name="log"),
)


def panel_type_for(kind: str, types: tuple[PanelType, ...] = PANEL_TYPES) -> str:
    """The name of the first type that shows files of this kind; the kind itself where none does."""
    return next((panel.name for panel in types if kind in panel.kinds), kind)


def panel_of(file_id: str) -> str:
    """The id of the one panel that shows a file."""
    return f"panel_{file_id}"
