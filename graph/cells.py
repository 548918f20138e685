"""Values of a query's rows as texts for a table or CSV, and as JSON."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from itertools import count
from typing import Any

import orjson

from researchdesk.state.texts import cut

_LARGEST = 2**63


def texts(row: Sequence[Any], *, limit: int = 0) -> list[str]:
    """The values of a row as texts; NULL is empty. ``limit`` is for the characters of each, 0 for no limit."""
    shown = [_text(value) for value in row]
    return [cut(text, limit) for text in shown] if limit else shown


def _text(value: Any) -> str:
    match value:
        case None:
            return ""
        case str():
            return value
        case bool():
            return str(value).lower()
        case Decimal():
            return _plain(value)
        case int() | float():
            return str(value)
    plain = _json_value(value)
    return plain if isinstance(plain, str) else orjson.dumps(plain).decode()


def _plain(value: Decimal) -> str:
    return f"{value.normalize():f}" if value.is_finite() else str(value)


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """The rows as CSV with a head."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(texts(row) for row in rows)
    return written.getvalue()


def named_rows(
    columns: Sequence[str], types: Sequence[str], rows: Iterable[Sequence[Any]]
) -> list[dict[str, Any]]:
    """The rows as JSON objects; columns of the type JSON are parsed, a name that comes again gets a number."""
    names = _unique(columns)
    parsed = [kind == "JSON" for kind in types]
    return [
        {
            name: _parsed(value) if is_json and isinstance(value, str) else _json_value(value)
            for name, is_json, value in zip(names, parsed, row, strict=True)
        }
        for row in rows
    ]


def _parsed(text: str) -> Any:
    """What a JSON text holds; the text itself where that cannot be written as JSON again: too deep, or too large."""
    try:
        value = orjson.loads(text)
        orjson.dumps([{"value": value}])
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        return text
    return value


def _unique(names: Sequence[str]) -> list[str]:
    taken, found = set(names), list[str]()
    for name in names:
        numbered = (f"{name}_{number}" for number in count(1))
        own = next(other for other in numbered if other not in taken) if name in found else name
        taken.add(own)
        found.append(own)
    return found


def _json_value(value: Any) -> Any:
    match value:
        case None | bool() | str() | float():
            return value
        case int():
            return value if -_LARGEST <= value < _LARGEST else str(value)
        case Decimal():
            return float(value)
        case datetime() | date() | time():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case bytes():
            return value.hex()
        case Mapping():
            return {_text(key): _json_value(item) for key, item in value.items()}
        case list() | tuple():
            return [_json_value(item) for item in value]
        case _:
            return str(value)
