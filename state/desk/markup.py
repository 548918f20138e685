"""What a notebook shows of a desk: tables and diffs as HTML without a script, an id or anything from elsewhere.

Colours are those of the page it stands in, tints let its background through: so it is read in light and dark themes.
"""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import islice
from typing import Final

from researchdesk.state.desk.labels import label, visible

ROWS_SHOWN: Final = 100
_CELL: Final = "text-align:left;vertical-align:top;padding:.15em .8em .15em 0"
_HEAD: Final = f"{_CELL};opacity:.7;border-bottom:1px solid rgba(128,128,128,.5)"
_BOX: Final = (
    "margin:.4em 0;padding:.4em .6em;border-left:3px solid rgba(128,128,128,.5);font-family:monospace;"
    "white-space:pre-wrap;overflow-wrap:anywhere;color:inherit;background:none"
)
_QUIET: Final = "opacity:.7"
_TINTS: Final = {
    "+": "background:rgba(46,160,67,.22)",
    "-": "background:rgba(248,81,73,.22)",
    **dict.fromkeys("@…\\", _QUIET),
}


def shown(text: str, limit: int = 300) -> str:
    """A text on one line, cut and escaped; what nobody sees in it, or what turns a line around, is visible."""
    return escape(label(text, limit))


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, caption: str = "") -> str:
    """Rows of texts under their names: the first `ROWS_SHOWN`, and how many more there are."""
    waiting = iter(rows)
    first = list(islice(waiting, ROWS_SHOWN))
    hidden = sum(1 for _ in waiting)
    more = f'<div style="{_QUIET}">and {hidden:,} more</div>' if hidden else ""
    title = f'<caption style="text-align:left">{shown(caption)}</caption>' if caption else ""
    head = "".join(f'<th style="{_HEAD}">{shown(name)}</th>' for name in columns)
    body = "".join(f"<tr>{_cells(row)}</tr>" for row in first)
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def card(title: str, fields: Mapping[str, str], *, diff: str = "") -> str:
    """One thing: its title, what is known of it (what is empty is left out), and how it changes a file."""
    rows = "".join(f"<tr>{_cells((name, value))}</tr>" for name, value in fields.items() if value)
    table = f"<table><tbody>{rows}</tbody></table>"
    return f"<div><strong>{shown(title)}</strong>{table}{diff_block(diff) if diff else ''}</div>"


def diff_block(diff: str) -> str:
    """A diff of `state.desk.diffs`, with what comes and what goes tinted."""
    lines = diff.removesuffix("\n").split("\n")
    heads = 2 if lines[0].startswith("--- ") else 0
    tinted = [_line(line, quiet=at < heads) for at, line in enumerate(lines)]
    return f'<pre style="{_BOX}">{"".join(tinted)}</pre>'


def _line(line: str, *, quiet: bool) -> str:
    style = _QUIET if quiet else _TINTS.get(line[:1], "")
    return f'<span style="display:block;{style}">{escape(visible(line)) or " "}</span>'


def _cells(row: Sequence[str]) -> str:
    return "".join(f'<td style="{_CELL}">{shown(cell)}</td>' for cell in row)
