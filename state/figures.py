"""Whether a number that a claim states stands in a quotation, aware of units, rounding and magnitudes.

A claim may round what its quotation says (``1.5 million`` for ``1,503,221``), never the other way round. Units of one
kind are converted (``1.5 kg`` is ``1500 g``); a unit that is not known here has to stand in the quotation as a word.
"""

import re
import unicodedata
from dataclasses import dataclass, replace
from decimal import Decimal

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
)
_NAMES = (*_SMALL.split(), "seventeen", "eighteen", "nineteen")
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
NUMBER_WORDS = {name: n for n, name in enumerate(_NAMES)} | {
    name: 10 * n for n, name in enumerate(_TENS.split(), start=2)
}
MAGNITUDES = {
    "hundred": 2, "thousand": 3, "k": 3, "million": 6, "millions": 6, "mn": 6, "mio": 6, "billion": 9, "billions": 9,
    "bn": 9, "trillion": 12, "trillions": 12, "tn": 12,
}  # fmt: skip
# Unit: its kind, and how many of the kind's base unit it is. Case counts only where two units differ by it.
UNITS: dict[str, tuple[str, Decimal]] = {
    name: (kind, Decimal(factor))
    for kind, units in {
        "share": {"% percent pct": "1", "‰ permille": "0.1"},
        "points": {"pp": "1"},
        "mass": {
            "kg kilogram kilograms": "1000", "g gram grams": "1", "mg milligram milligrams": "0.001",
            "µg μg ug mcg microgram micrograms": "0.000001", "t tonne tonnes": "1000000",
            "lb lbs pound pounds": "453.59237", "oz ounce ounces": "28.349523125",
        },
        "length": {
            "km kilometre kilometres kilometer kilometers": "1000", "m metre metres meter meters": "1",
            "cm centimetre centimetres centimeter centimeters": "0.01",
            "mm millimetre millimetres millimeter millimeters": "0.001", "nm nanometre nanometres nanometer": "1e-9",
            "µm μm um micrometre micrometer micrometers": "1e-6", "mile miles mi": "1609.344",
            "ft foot feet": "0.3048", "inch inches": "0.0254",
        },
        "time": {
            "s sec secs second seconds": "1", "ms millisecond milliseconds": "0.001", "min mins minute minutes": "60",
            "h hr hrs hour hours": "3600", "day days d": "86400", "week weeks": "604800",
        },
        "long time": {"month months": "1", "year years yr yrs": "12", "decade decades": "120"},
        "volume": {"l litre litres liter liters": "1", "ml millilitre milliliter milliliters": "0.001", "dl": "0.1"},
        "data": {
            "bit bits": "1", "byte bytes b": "8", "kb kilobyte kilobytes": "8e3", "mb megabyte megabytes": "8e6",
            "gb gigabyte gigabytes": "8e9", "tb terabyte terabytes": "8e12", "kib": "8192", "mib": "8388608",
            "gib": "8589934592",
        },
        "power": {"w watt watts": "1", "kw kilowatt kilowatts": "1e3", "mw megawatt megawatts": "1e6", "gw": "1e9"},
        "energy": {"kwh": "1", "mwh": "1e3", "gwh": "1e6", "twh": "1e9"},
        "dollars": {"$ usd dollar dollars us$": "1"}, "euros": {"€ eur euro euros": "1"},
        "pounds sterling": {"£ gbp": "1"}, "yen": {"¥ jpy yen": "1"},
    }.items()
    for names, factor in units.items()
    for name in names.split()
}  # fmt: skip
POWER_DIGITS = 3
_SIGN = r"(?<![\w.)])[-−]\s?"
_GROUPED = r"\d{1,3}(?:[,\u00a0\u202f\u2009' ]\d{3})+(?!\d)(?:[.]\d+)?"
_NUMBER = rf"(?:{_SIGN})?(?:{_GROUPED}|\d+(?:[.,]\d+)*)(?:[eE][-+]?\d+)?"
_WORDS = "|".join(sorted([*NUMBER_WORDS], key=len, reverse=True))
_TENS_WORDS = "|".join(_TENS.split())
# In plain letters (?a:…), or "ſeven" and "fıve" were found where case does not count, and meant nothing afterwards.
_FIGURE = re.compile(
    rf"(?P<before>[$€£¥]|US\$)?\s?(?P<number>{_NUMBER}|\b(?a:(?:(?:{_TENS_WORDS})[- ])?(?:{_WORDS}))\b)"
    rf"(?:[\s-]?(?P<magnitude>{'|'.join(sorted(MAGNITUDES, key=len, reverse=True))})\b)?"
    r"(?:\s?(?P<after>per\s?cent(?:age points?)?|percentage points?|[%‰°$€£¥]|[^\W\d_]+[²³]?))?",
    re.IGNORECASE,
)
_RANGE = re.compile(r"\s*(?:[-–—]|to|and|or)\s*(?=\d)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A number as a text states it: its value, the size of its last place, and the word for its unit."""

    value: Decimal
    place: Decimal
    unit: str


def figures(text: str) -> tuple[Figure, ...]:
    """Every number of a text; one whose separators can be read in two ways comes twice."""
    return tuple(reading for readings in _readings_of(text) for reading in readings)


def _readings_of(text: str) -> list[list[Figure]]:
    found: list[list[Figure]] = []
    matches = list(_FIGURE.finditer(text))
    for n, match in enumerate(matches):
        unit = _unit_of(match)
        following = matches[n + 1] if n + 1 < len(matches) else None
        if following is not None and (not unit or unit in ("to", "and", "or")):
            joined = _RANGE.fullmatch(text[match.end("number") : following.start("number")])
            unit = _unit_of(following) if joined else unit
        power = Decimal(10) ** _power(match)
        readings = _values(match["number"])
        found.append(
            [Figure(value=value * power, place=place * power, unit=unit) for value, place in readings]
        )
    return found


def _power(match: re.Match[str]) -> int:
    if match["before"] and (match["after"] or "").lower() in ("m", "b"):  # $1.5m is no length
        return 6 if match["after"].lower() == "m" else 9
    return MAGNITUDES.get((match["magnitude"] or "").lower(), 0)


def _unit_of(match: re.Match[str]) -> str:
    raw = (match["before"] or match["after"] or "").lower()
    return _unit_word(raw)


def _unit_word(raw: str) -> str:
    squeezed = raw.replace(" ", "")
    if squeezed.startswith("percentagepoint"):
        return "pp"
    return "%" if squeezed == "percent" else raw


def _values(number: str) -> list[tuple[Decimal, Decimal]]:
    lowered = number.lower()
    if lowered[-1].isalpha():
        return [(Decimal(sum(NUMBER_WORDS[part] for part in re.split(r"[- ]", lowered))), Decimal(1))]
    plain = re.sub(r"[\s'\u00a0\u202f\u2009]", "", unicodedata.normalize("NFKC", lowered).replace("−", "-"))
    return [(value, Decimal((0, (1,), int(value.as_tuple().exponent)))) for value in _readings(plain)]


def _readings(plain: str) -> list[Decimal]:
    body, _, power = plain.partition("e")
    if len(power.lstrip("+-")) > POWER_DIGITS:
        return []  # beyond what decimals reckon with
    tail = f"e{power}" if power else ""
    readings = []
    if re.fullmatch(r"-?\d{1,3}(,\d{3})+(\.\d+)?", body):
        readings.append(body.replace(",", ""))
    elif re.fullmatch(r"-?\d{1,3}(\.\d{3})+(,\d+)?", body):
        readings.append(body.replace(".", "").replace(",", "."))
    if re.fullmatch(r"-?\d+([.,]\d+)?", body):
        readings.append(body.replace(",", "."))
    return [Decimal(reading + tail) for reading in dict.fromkeys(readings)]


def states_figure(quote: str, value: str, unit: str = "") -> bool:
    """Whether the quotation holds every number of ``value``, in ``unit`` where one is given.

    A value without any number in it, ``none`` say, is held where its words stand in the quotation.
    """
    stated = _readings_of(value)
    if not stated:
        return _has_words(quote, value)
    held = figures(quote)
    return all(
        any(_covers(found, _with_unit(reading, unit), quote) for reading in readings for found in held)
        for readings in stated
    )


def _with_unit(figure: Figure, unit: str) -> Figure:
    cleaned = " ".join(unit.lower().split())
    return replace(figure, unit=_unit_word(cleaned)) if cleaned else figure


def _covers(found: Figure, claimed: Figure, quote: str) -> bool:
    known, other = UNITS.get(claimed.unit), UNITS.get(found.unit)
    if known is None:
        named = not claimed.unit or _has_words(quote, claimed.unit)
        return named and (other is None or not claimed.unit) and _rounds_to(found.value, found.place, claimed)
    if other is None or other[0] != known[0]:
        return False
    scale = other[1] / known[1]
    return _rounds_to(found.value * scale, found.place * scale, claimed)


def _rounds_to(value: Decimal, place: Decimal, claimed: Figure) -> bool:
    """Whether the claim states the value, or rounds it to its own last place."""
    if value == claimed.value:
        return True
    return place < claimed.place and abs(value - claimed.value) <= claimed.place / 2


def _has_words(quote: str, words: str) -> bool:
    have = {_one(word) for word in re.findall(r"\w+|[^\w\s]", quote.casefold())}
    return all(_one(word) in have for word in re.findall(r"\w+|[^\w\s]", words.casefold()))


def _one(word: str) -> str:
    return word.removesuffix("s") if len(word) > 3 else word
