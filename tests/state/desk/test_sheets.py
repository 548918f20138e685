"""A spreadsheet gives back every cell that was put into it, wherever it stands and whatever it holds."""

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from researchdesk.state.desk.a1 import MAX_COLUMNS, MAX_ROWS, Area, Ref, column_letters, parse_area, parse_ref
from researchdesk.state.desk.grids import canonical, read_grid, write_grid
from researchdesk.state.desk.sheets import (
    Block,
    Dimensions,
    dimensions,
    header_row,
    is_formula,
    preview,
    read_cells,
    read_range,
    set_cells,
)
from researchdesk.state.errors import Refusal

SHEET = 'name,score,note\nAda,3,"says ""hi"", twice"\nBob,,=SUM(B2:B3)\n'

cells = st.text(max_size=8) | st.text('a",\n\r\t= ;\x00', max_size=6)
grids = st.lists(st.lists(cells, max_size=5), max_size=6)


def trimmed(rows: list[list[str]]) -> dict[Ref, str]:
    """A grid as the cells of it that hold something."""
    return {Ref(y, x): cell for y, row in enumerate(rows) for x, cell in enumerate(row) if cell}


@given(grids)
def test_every_cell_comes_back_whatever_text_it_holds(rows: list[list[str]]) -> None:
    text = write_grid(rows)
    back = read_grid(text)
    assert trimmed(back) == trimmed(rows)
    assert write_grid(back) == text
    assert canonical(text) == text
    assert len({len(row) for row in back}) <= 1


@given(st.lists(st.lists(st.text(alphabet='a", \n=é'), min_size=1, max_size=4), max_size=5))
def test_the_reader_of_the_standard_library_sees_the_same_cells(rows: list[list[str]]) -> None:
    theirs = list(csv.reader(io.StringIO(write_grid(rows), newline=""), strict=True))
    assert theirs == read_grid(write_grid(rows))


@given(grids)
def test_what_the_writer_of_the_standard_library_writes_is_read_alike(rows: list[list[str]]) -> None:
    written = io.StringIO(newline="")
    csv.writer(written, quoting=csv.QUOTE_ALL).writerows(rows)
    assert trimmed(read_grid(written.getvalue())) == trimmed(rows)


@given(st.text('a",\n\r', max_size=20))
def test_any_text_is_one_canonical_sheet_or_refused(text: str) -> None:
    try:
        once = canonical(text)
    except Refusal as refused:
        assert refused.code == "invalid_arguments"
        return
    assert canonical(once) == once


@pytest.mark.parametrize(
    ("given_text", "expected"),
    [
        ("", ""), ("\n", ""), ("a", "a\n"), ("a,b\r\nc,d\r\n", "a,b\nc,d\n"), ("a\rb", "a\nb\n"),
        ("a,b\nc", "a,b\nc,\n"),
        ("a,,\n,,\n", "a\n"), ("a\n\nb\n", 'a\n""\nb\n'), ('"a"\n', "a\n"), ('say "hi",x\n', '"say ""hi""",x\n'),
        ('"two\nlines"', '"two\nlines"\n'), ('"a\rb"', '"a\rb"\n'), ("a,", "a\n"), (" a , b ", " a , b \n"),
    ],
)  # fmt: skip
def test_a_table_is_brought_into_its_one_form(given_text: str, expected: str) -> None:
    assert canonical(given_text) == expected


@pytest.mark.parametrize(
    ("text", "problem"),
    [('a\n"b', "row 2: a quote is never closed"), ('"a"b,c', "row 1: text after a closed quote")],
)
def test_a_broken_table_is_refused_with_its_row(text: str, problem: str) -> None:
    with pytest.raises(Refusal, match=problem) as refused:
        canonical(text)
    assert refused.value.code == "invalid_arguments"


def test_a_cell_has_no_length_that_is_too_long_for_the_reader() -> None:
    long = 'long "' * 100_000
    assert read_grid(write_grid([["a", long]])) == [["a", long]]


def test_a_table_of_too_many_cells_is_refused_before_it_is_filled_up() -> None:
    with pytest.raises(Refusal) as refused:
        canonical("," * 400_000 + "x\n" + "x\n" * 400_000)
    assert (refused.value.code, refused.value.text) == (
        "too_large",
        "A sheet of 400,001 rows and 400,001 columns is 160,000,800,001 cells; the limit is 500,000.",
    )


@pytest.mark.parametrize(
    ("text", "ref"),
    [
        ("A1", Ref(0, 0)), ("b2", Ref(1, 1)), ("$C$10", Ref(9, 2)), (" z1 ", Ref(0, 25)), ("AA1", Ref(0, 26)),
        ("XFD1048576", Ref(MAX_ROWS - 1, MAX_COLUMNS - 1)),
    ],
)  # fmt: skip
def test_a_cell_is_named_in_any_case_with_or_without_dollars(text: str, ref: Ref) -> None:
    assert parse_ref(text) == ref
    assert parse_ref(str(ref)) == ref


@pytest.mark.parametrize(
    "text", ["", "A", "1", "A0", "A01", "XFE1", "A1048577", "A٣", "Ａ1", "R1C1", "Sheet1!A1", "A1:", ":A1", "A:C",
             "A1:B2:C3", "1:2", "A-1", "$$A1", "A1 B2", "A1,B2"]
)  # fmt: skip
def test_what_names_no_cell_and_no_range_is_refused(text: str) -> None:
    with pytest.raises(Refusal) as refused:
        parse_area(text)
    assert (refused.value.code, refused.value.text) == (
        "bad_range",
        f'"{text}" is not a cell or range like B2 or A1:C20.',
    )


def test_a_range_may_begin_at_any_corner() -> None:
    for text in ("A1:C20", "C20:A1", "a20:c1", "$C$1:$A$20"):
        assert parse_area(text) == Area(Ref(0, 0), Ref(19, 2))
    assert [str(parse_area(text)) for text in ("c20:a1", "b2", "B2:B2")] == ["A1:C20", "B2", "B2"]


@given(st.integers(0, MAX_COLUMNS - 1))
def test_the_letters_of_a_column_lead_back_to_it(column: int) -> None:
    assert parse_ref(f"{column_letters(column)}1").column == column


def test_a_sheet_tells_its_size_and_its_header() -> None:
    assert (dimensions(SHEET), str(dimensions(SHEET))) == (Dimensions(3, 3), "A1:C3")
    assert header_row(SHEET) == ("name", "score", "note")
    assert (dimensions(""), str(dimensions("")), header_row("")) == (Dimensions(0, 0), "empty", ())


@pytest.mark.parametrize(
    ("area", "block"),
    [
        ("B2", Block(Area(Ref(1, 1), Ref(1, 1)), (("3",),))),
        ("b1:c2", Block(Area(Ref(0, 1), Ref(1, 2)), (("score", "note"), ("3", 'says "hi", twice')))),
        ("C3:XFD1048576", Block(Area(Ref(2, 2), Ref(2, 2)), (("=SUM(B2:B3)",),))),
        ("D1", Block(None, ())),
        ("A4:C9", Block(None, ())),
    ],
)
def test_a_range_is_read_as_far_as_the_sheet_goes(area: str, block: Block) -> None:
    assert read_range(SHEET, area) == block


def test_the_whole_sheet_is_read_as_the_text_that_it_is() -> None:
    assert read_range(SHEET, "").text == SHEET
    assert read_range("", "").text == ""
    assert read_range("", "A1") == Block(None, ())


def test_cells_are_set_and_the_sheet_grows_and_shrinks_with_them() -> None:
    assert set_cells("", [("b2", "x")]) == ",\n,x\n"
    assert set_cells("a,b\nc,d\n", [("B2", "=A1"), ("$D$1", "far")]) == "a,b,,far\nc,=A1,,\n"
    assert set_cells("a,b\nc,d\n", [("B1", ""), ("B2", "")]) == "a\nc\n"
    assert set_cells("a\n", [("XFD1048576", "")]) == "a\n"


def test_a_cell_far_away_is_refused_before_the_sheet_grows() -> None:
    with pytest.raises(Refusal, match=r"is 17,179,869,184 cells; the limit is 500,000\.") as refused:
        set_cells("a\n", [("XFD1048576", "x")])
    assert refused.value.code == "too_large"


@pytest.mark.parametrize(
    ("changes", "code", "text"),
    [
        ([("A1:B2", "x")], "bad_range", '"A1:B2" is a range; name each cell alone, like B2.'),
        ([("B", "x")], "bad_range", '"B" is not a cell or range like B2 or A1:C20.'),
        ([("B2", "x"), ("$b$2", "y")], "invalid_arguments", "cells: B2 is there twice. Send each cell once."),
    ],
)
def test_cells_that_cannot_be_set_are_refused(changes: list[tuple[str, str]], code: str, text: str) -> None:
    with pytest.raises(Refusal) as refused:
        set_cells(SHEET, changes)
    assert (refused.value.code, refused.value.text) == (code, text)


@settings(max_examples=50)
@given(grids, st.dictionaries(st.builds(Ref, st.integers(0, 9), st.integers(0, 9)), cells, max_size=5))
def test_after_setting_cells_those_hold_the_new_text_and_all_others_the_old(
    rows: list[list[str]], changes: dict[Ref, str]
) -> None:
    text = set_cells(write_grid(rows), [(str(ref), value) for ref, value in changes.items()])
    held = {ref: value for ref, value in (trimmed(rows) | changes).items() if value}
    assert trimmed(read_grid(text)) == held
    area = [Ref(y, x) for y in range(10) for x in range(10)]
    assert read_cells(text, map(str, area)) == {str(ref): held.get(ref, "") for ref in area}


def test_a_look_at_a_large_sheet_is_bounded_and_says_what_it_leaves_out() -> None:
    text = write_grid([[f"{x}-{y}" + "z" * 99 for x in range(20)] for y in range(1_000)])
    shown = preview(text, rows=2, columns=2, cell_chars=6)
    assert shown == "0-0zz…,1-0zz…\n0-1zz…,1-1zz…\n… 998 more rows, 18 more columns\n"
    assert preview(SHEET, rows=2, columns=3).endswith('twice"\n… 1 more row\n')
    assert preview(SHEET) == SHEET
    assert preview("") == ""


def test_a_formula_begins_with_an_equals_sign() -> None:
    assert [is_formula(cell) for cell in ("=A1", "=", "", " =A1", "'=A1", "+A1")] == [True, *[False] * 5]
