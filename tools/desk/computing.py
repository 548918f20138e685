"""The worker of `values`: a sheet comes in as JSON, the values of its formulas go out; run as a script."""

import json
import sys
from typing import Any

import ironcalc


def main() -> None:
    """Compute what stands on the standard input, within the memory that the first argument allows."""
    _bound_memory(int(sys.argv[1]))
    asked = json.load(sys.stdin)
    model = ironcalc.create("sheet", "en", "UTC", "en")
    formulas = {tuple(place) for place in asked["formulas"]}
    for y, row in enumerate(asked["rows"]):
        for x, cell in enumerate(row):
            if cell:
                _enter(model, y, x, cell, is_formula=(y, x) in formulas)
    model.evaluate()
    values = [_value(model, y, x) for y, x in asked["formulas"]]
    sys.stdout.write(json.dumps(values))


def _enter(model: Any, y: int, x: int, cell: str, *, is_formula: bool) -> None:
    text = cell.encode("utf-8", "replace").decode("utf-8")
    try:
        model.set_user_input(0, y + 1, x + 1, text)
    except ironcalc.WorkbookError:
        model.update_cell_with_text(0, y + 1, x + 1, "#ERROR!" if is_formula else text)


def _value(model: Any, y: int, x: int) -> str:
    return str(model.get_formatted_cell_value(0, y + 1, x + 1))


def _bound_memory(limit: int) -> None:
    try:
        import resource
    except ImportError:  # not on every system
        return
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


if __name__ == "__main__":
    main()
