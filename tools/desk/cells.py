"""A cell between its raw text on the desk and its typed value in a workbook; there and back is the same text.

What reads as a number or a date on the desk is one in the workbook. Exceptions are numbers in exponent form, which
come back in the form of Python, and formulas that were held back, which come back as texts.
"""

import re
from datetime import date, datetime, time, timedelta
from typing import Any, Final

from researchdesk.state.desk.sheets import is_formula

_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,14})(?:\.([0-9]{1,12}))?")
_EXPONENT: Final = re.compile(r"-?[1-9](?:\.[0-9]{1,14})?[eE][+-]?[0-9]{1,2}")
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MOMENT: Final = re.compile(_DAY.pattern + r" [0-9]{2}:[0-9]{2}:[0-9]{2}")
_DECIMALS: Final = re.compile(r"0\.(0{1,12})")
#: A text that would be taken for a formula stands behind an apostrophe, and one that begins so behind one more.
_HELD_TEXT: Final = re.compile("'+=.", re.DOTALL)
#: What a workbook writes as ``_x0007_``; without it XML could not hold them, or would change them.
_UNWRITABLE: Final = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")
_ESCAPED: Final = re.compile("_x([0-9A-Fa-f]{4})_")
_CONTROL: Final = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
#: Days before this one have other numbers in other programs.
_FIRST_DAY: Final = date(1900, 3, 1)
#: Formulas that fetch, send or run something, or read another file.
_REACHING_OUT: Final = re.compile(
    r"\b(?:WEBSERVICE|FILTERXML|HYPERLINK|IMAGE|RTD|CALL|REGISTER(?:\.ID)?|EXEC|DDE\w*|IMPORT\w+|CUBE\w+|SQL\.REQUEST"
    r"|STOCKHISTORY|PY|COPILOT)\s*\(|\||\[[^\]]*\]|\\\\|://|\bfile:",
    re.IGNORECASE,
)


def imported(cell: Any) -> str:
    """The raw text of a cell of a workbook."""
    value = cell.value
    match value:
        case bool():
            return "TRUE" if value else "FALSE"
        case int() | float():
            return _number_text(value, cell.number_format or "")
        case datetime() if value.time() == time() and "h" not in (cell.number_format or "").lower():
            return value.date().isoformat()
        case datetime():
            return value.isoformat(sep=" ", timespec="seconds")
        case date() | time():
            return value.isoformat()
        case timedelta():
            return _duration_text(value)
        case str() if cell.data_type == "f":
            return value
        case str():
            text = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), value)
            return f"'{text}" if _HELD_TEXT.match(f"'{text}") else text
        case _:
            return str(getattr(value, "text", None) or "")


def exported(sheet: Any, raw: str) -> tuple[Any, bool]:
    """A cell of a workbook for a raw text, and whether it is all that the text says: a formula held back is not."""
    from openpyxl.cell import WriteOnlyCell

    if not raw:
        return None, True
    if is_formula(raw):
        live = not _REACHING_OUT.search(raw) and not _CONTROL.search(raw)
        cell = WriteOnlyCell(
            sheet, _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", raw) if live else written(raw)
        )
        cell.data_type = "f" if live else "s"
        return cell, live
    value, number_format = _typed(raw)
    cell = WriteOnlyCell(sheet, written(raw) if value is None else value)
    if value is None:
        cell.data_type = "s"
    if number_format:
        cell.number_format = number_format
    return cell, True


def written(raw: str) -> str:
    """A raw text as a workbook writes it."""
    text = raw[1:] if _HELD_TEXT.match(raw) else raw
    return _UNWRITABLE.sub(
        lambda found: f"_x{ord(found.group()):04X}_", _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)
    )


def _typed(raw: str) -> tuple[Any, str]:
    """The value that a raw text stands for and the format that shows it so; None for a text."""
    if raw in ("TRUE", "FALSE"):
        return raw == "TRUE", ""
    number = _NUMBER.fullmatch(raw)
    if number and raw != "-0" and len(raw.strip("-").replace(".", "").lstrip("0")) <= 15:
        decimals = number[1]
        return (float(raw), f"0.{'0' * len(decimals)}") if decimals else (int(raw), "")
    if _EXPONENT.fullmatch(raw):
        return float(raw), "0.00E+00"
    try:
        if _DAY.fullmatch(raw) and date.fromisoformat(raw) >= _FIRST_DAY:
            return date.fromisoformat(raw), "yyyy-mm-dd"
        if _MOMENT.fullmatch(raw) and datetime.fromisoformat(raw).date() >= _FIRST_DAY:
            return datetime.fromisoformat(raw), "yyyy-mm-dd hh:mm:ss"
    except ValueError:  # no such day
        pass
    return None, ""


def _number_text(value: float, number_format: str) -> str:
    decimals = _DECIMALS.fullmatch(number_format)
    if decimals:
        shown = f"{value:.{len(decimals[1])}f}"
        if float(shown) == value:
            return shown
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(value)


def _duration_text(value: timedelta) -> str:
    """``[h]:mm:ss``, as spreadsheets show it."""
    seconds = round(value.total_seconds())
    sign, seconds = ("-" if seconds < 0 else ""), abs(seconds)
    return f"{sign}{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
