"""What is written to a person's terminal: results to stdout, progress to stderr, and nothing that acts there."""

import io
import sys
from collections.abc import Collection, Iterable, Sequence
from typing import IO, Any, cast

import orjson
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from researchdesk.graph.plain import one_line, plain, plain_json
from researchdesk.graph.streams import Unbreakable, write_out

_WIDE = 100_000


def note(text: str) -> None:
    """A line for the person, on stderr; lost where it cannot be written."""
    print(plain(text), file=Unbreakable(sys.stderr), flush=True)


def result(text: str) -> None:
    """The command's result, on stdout; control characters are left out. Raises as `write_out`."""
    shown = plain(text)
    write_out(shown if shown.endswith("\n") else f"{shown}\n")


def result_json(value: Any, *, line: bool = False) -> None:
    """The command's result as a JSON document, or as one of many JSON lines. Raises as `write_out`."""
    options = orjson.OPT_APPEND_NEWLINE if line else orjson.OPT_APPEND_NEWLINE | orjson.OPT_INDENT_2
    write_out(plain_json(orjson.dumps(value, option=options).decode()))


def result_table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], *, prose: Collection[str] = ()
) -> None:
    """A table on stdout; on a terminal the ``prose`` columns are folded, where a program reads it none is."""
    terminal = sys.stdout.isatty()
    table = Table(box=box.SIMPLE_HEAD if terminal else None, pad_edge=False, show_edge=False)
    for name in columns:
        table.add_column(name, no_wrap=name not in prose, overflow="fold")
    for row in rows:
        table.add_row(*(Text(one_line(cell)) for cell in row))
    show(table)


def show(renderable: Any) -> None:
    """A rich renderable on stdout; where a program reads it, lines are as wide as they need to be."""
    write_out(_rendered(renderable, terminal=sys.stdout.isatty()))


def show_note(renderable: Any) -> None:
    """A rich renderable for the person, on stderr; lost where it cannot be written."""
    print(
        _rendered(renderable, terminal=sys.stderr.isatty()), end="", file=Unbreakable(sys.stderr), flush=True
    )


def _rendered(renderable: Any, *, terminal: bool) -> str:
    rendered = io.StringIO()
    width = None if terminal else _WIDE
    Console(file=rendered, force_terminal=terminal, width=width, markup=False, emoji=False).print(renderable)
    text = rendered.getvalue()
    return text if terminal else "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def progress_console() -> Console:
    """Where a live view of progress is drawn: the terminal that stderr is."""
    return Console(file=cast(IO[str], Unbreakable(sys.stderr)), markup=False, emoji=False, highlight=False)


def clear() -> None:
    """Empty the terminal that stdout is."""
    Console(file=sys.stdout).clear()
