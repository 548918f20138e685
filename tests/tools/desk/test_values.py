"""Formulas are computed as spreadsheets do, and one that cannot be harms nobody."""

import importlib.util
import subprocess
from typing import Any

import pytest

from researchdesk.state.desk.grids import read_grid, write_grid
from researchdesk.state.errors import Unavailable, UsageError
from researchdesk.tools.desk.values import values_of


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        ("=B1+B2", "5.5"), ("=SUM(B1:B3)", "5.5"), ("=AVERAGE(B:B)", "2.75"), ("=1/0", "#DIV/0!"),
        ("=NOPE(1)", "#NAME?"), ("=B9", "0"), ("=D1", "#CIRC!"), ("=Other!A1", "#REF!"), ('=B3&"!"', "Ada!"),
        ('=IF(B1>2,"high","low")', "high"), ("=C1+1", "2024-02-01"), ("=VLOOKUP(9,B1:C2,2,FALSE)", "#N/A"),
        ("=LEN(C2)", "2"), ("=C3", "=x"), ("=B1>B2", "TRUE"), ("=SUM(B1", "3"), ("=", "="),
    ],
)  # fmt: skip
def test_a_formula_has_the_value_that_a_spreadsheet_shows(formula: str, value: str) -> None:
    sheet = [["a", "3", "2024-01-31", formula], ["b", "2.5", "名前", ""], ["c", "Ada", "'=x", ""]]
    expected = [row.copy() for row in sheet]
    expected[0][3] = value
    assert values_of(write_grid(sheet)) == expected


def test_cells_that_are_no_formulas_stay_as_they_are_and_need_no_library(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    text = 'n,007\n"1,50",2024-01-31\n'
    assert values_of(text) == read_grid(text)
    assert values_of("") == []


def test_a_formula_that_breaks_the_library_breaks_nothing_else() -> None:
    with pytest.raises(Unavailable, match="broke down"):
        values_of(f"={'(' * 5_000}1{')' * 5_000}\n")
    assert values_of("1,=A1*2\n") == [["1", "2"]]


def test_formulas_that_take_too_long_are_given_up() -> None:
    slow = write_grid([["1", f"=SUMPRODUCT(C1:C1048576*D1:D1048576)+{n}"] for n in range(200)])
    with pytest.raises(
        Unavailable, match=r"The 200 formulas took longer than 1 seconds; use smaller ranges\."
    ):
        values_of(slow, seconds=1)


def test_a_long_chain_of_formulas_is_computed() -> None:
    chain = write_grid([["1"], *([f"=A{row}+1"] for row in range(1, 20_000))])
    assert values_of(chain)[-1] == ["20000"]


def test_a_lone_half_of_a_character_is_no_reason_to_fail() -> None:
    assert values_of("\ud800,=1+1\n") == [["\ud800", "2"]]


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Any] = []
    monkeypatch.setattr(subprocess, "run", started.append)
    monkeypatch.setattr("researchdesk.tools.desk.values.find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"Values of formulas need the extra 'sheets': pip install"):
        values_of("=1\n")
    assert started == []
