"""Tables of figures and their bars, for every benchmark script that is held to some."""

import argparse
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A figure and what it may be at most, or at least."""

    name: str
    value: float
    bar: float
    least: bool = False
    unit: str = "×"

    @property
    def reached(self) -> bool:
        """Whether the figure is within its bar."""
        return self.value >= self.bar if self.least else self.value <= self.bar


def add_no_fail(parser: argparse.ArgumentParser) -> None:
    """The option of every script that fails where a bar is missed."""
    parser.add_argument("--no-fail", action="store_true", help="end with 0 where a bar is missed, too")


def show(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print one table."""
    table = Table(*columns, title=title, title_justify="left")
    for row in rows:
        table.add_row(*row)
    Console().print(table)


def judge(bars: Sequence[Bar], *, no_fail: bool) -> None:
    """Print the figures beside their bars, and end the process with 1 where one is missed."""
    rows = []
    for bar in bars:
        sign = "≥" if bar.least else "≤"
        limit = f"{sign} {bar.bar:g} {bar.unit}"
        rows.append((bar.name, limit, f"{bar.value:.3g} {bar.unit}", "yes" if bar.reached else "NO"))
    show("bars", ("", "bar", "reached", "met"), rows)
    if not no_fail and not all(bar.reached for bar in bars):
        sys.exit(1)


def finish(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], bars: Sequence[Bar], *, no_fail: bool
) -> None:
    """One table, then the bars; as `judge`."""
    show(title, columns, rows)
    judge(bars, no_fail=no_fail)
