"""The values of a sheet's formulas, computed beside the process that asks.

The calculating library is native code that a formula can crash (thousands of brackets) or keep busy for minutes, so
it works in a process of its own that is ended after some seconds.
"""

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from researchdesk.state.desk.grids import Row, read_grid
from researchdesk.state.desk.sheets import is_formula
from researchdesk.state.errors import Unavailable, UsageError

INSTALL: Final = "Values of formulas need the extra 'sheets': pip install 'researchdesk[sheets]'."
SECONDS: Final = 10
MAX_MEMORY: Final = 2_000_000_000

_WORKER: Final = Path(__file__).with_name("computing.py")


def values_of(text: str, *, seconds: float = SECONDS) -> list[Row]:
    """The rows of a sheet with each formula replaced by its value as a spreadsheet shows it.

    An error is its name, like ``#DIV/0!`` or ``#CIRC!``; every other cell is its raw text. Dates of the clock are UTC.

    Raises:
        UsageError: there are formulas and the extra ``sheets`` is not installed.
        Unavailable: computing took too long or broke down.
    """
    rows = read_grid(text)
    formulas = [(y, x) for y, row in enumerate(rows) for x, cell in enumerate(row) if is_formula(cell)]
    if not formulas:
        return rows
    if find_spec("ironcalc") is None:
        raise UsageError(INSTALL)
    values = _computed(rows, formulas, seconds=seconds)
    for (y, x), value in zip(formulas, values, strict=True):
        rows[y][x] = value
    return rows


def _computed(rows: list[Row], formulas: list[tuple[int, int]], *, seconds: float) -> list[str]:
    try:
        done = subprocess.run(
            [sys.executable, "-P", str(_WORKER), str(MAX_MEMORY)],
            input=json.dumps({"rows": rows, "formulas": formulas}),
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=seconds,
        )
    except subprocess.TimeoutExpired:
        raise Unavailable(
            f"The {len(formulas):,} formulas took longer than {seconds:g} seconds; use smaller ranges."
        ) from None
    if done.returncode != 0:
        raise Unavailable(
            "The formulas could not be computed: the calculation broke down. Look for one nested very deep."
        )
    values: list[str] = json.loads(done.stdout)
    return values
