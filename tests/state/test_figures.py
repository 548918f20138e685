"""A figure stands in its quote: in its unit, at least as precise as the claim, whatever way it is written."""

import pytest

from researchdesk.state.figures import states_figure

HELD = [
    ("at least 8 characters in length", "8", "characters"),
    ("at least eight characters", "8", "characters"),
    ("a 15-character password", "15", "characters"),
    ("8–64 characters", "8", "characters"),
    ("between 8 and 64 characters", "8", "character"),
    ("between 8 and 64 characters", "8-64", "characters"),
    ("1,503,221 people", "1.5 million", "people"),
    ("1 503 221 people", "1503221", "people"),
    ("weighs 1500 g", "1.5", "kg"),
    ("0.5 mg of it", "500", "µg"),
    ("12 percent of them", "12", "%"),
    ("12.3% of them", "12%", ""),
    ("12 percentage points more", "12", "percentage points"),
    ("8.4 km away", "8", "km"),
    ("costs $1.2bn", "1.2 billion", "USD"),
    ("costs $1.5m", "1.5 million", "$"),
    ("1.000,5 kg", "1000.5", "kg"),
    ("at −5 °C", "-5", "°"),
    ("twenty-one days", "21", "days"),
    ("three weeks", "21", "days"),
    ("In 2017, NIST said", "2017", ""),
    ("no limit at all", "no limit", ""),
]
NOT_HELD = [
    ("at least 8 characters", "9", "characters"),
    ("at least 8 digits", "8", "characters"),
    ("12 percent", "12", "percentage points"),
    ("12 percentage points", "12", "%"),
    ("about 1.5 million people", "1503221", "people"),
    ("5 mg", "5", "g"),
    ("5 mg", "5", "hours"),
    ("minus -5", "5", ""),
    ("15 of them", "1.5", ""),
    ("18 characters", "8", "characters"),
    ("8.6 km", "8", "km"),
    ("10 or 20 mg", "10", "kg"),
    ("8 and 60 characters", "8-64", "characters"),
    ("", "8", ""),
    ("a limit", "no limit", ""),
]


@pytest.mark.parametrize(("quote", "value", "unit"), HELD)
def test_a_quote_holds_the_figure(quote: str, value: str, unit: str) -> None:
    assert states_figure(quote, value, unit)


@pytest.mark.parametrize(("quote", "value", "unit"), NOT_HELD)
def test_a_quote_does_not_hold_another_figure(quote: str, value: str, unit: str) -> None:
    assert not states_figure(quote, value, unit)
