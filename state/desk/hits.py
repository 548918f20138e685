"""What a search over the desk's files found."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class DeskHit:
    """A place in a file: its line (from 1), or the cell of a spreadsheet, and the words around the match."""

    file_id: str
    path: str
    version: str
    """The content's hash."""
    line: int
    snippet: str
    ref: str = ""
    """The cell, as ``B2``; empty in a document."""
