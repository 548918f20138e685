"""Estimates against counts of real tokenizers, recorded once (``gpt-tokenizer``, special tokens taken as text)."""

import json
from pathlib import Path
from typing import Any

import pytest

from researchdesk.state.desk.paging import page
from researchdesk.state.tokens import cut, estimate_tokens

RECORDED: list[dict[str, Any]] = json.loads(
    Path(__file__).with_name("token_counts.json").read_text(encoding="utf-8")
)["texts"]
COUNTED = {one["name"]: (one["text"], max(one["o200k_base"], one["cl100k_base"])) for one in RECORDED}
PROSE = [
    "english prose",
    "english prose, more",
    "german prose",
    "german prose, more",
    "french prose",
    "spanish prose",
]
OF_DESKS = [
    name
    for name in COUNTED
    if name.startswith(("csv", "json", "emoji", "python", "sql", "markdown", "german"))
    or name
    in ("simplified chinese", "traditional chinese", "japanese", "korean", "rust code", "typescript code")
]


def test_there_are_many_kinds_of_text() -> None:
    assert len(COUNTED) == 151
    assert {len(text) >= 10 and len(text) <= 4_000 for text, _ in COUNTED.values()} == {True}


@pytest.mark.parametrize("name", COUNTED)
def test_no_kind_of_text_is_estimated_at_less_than_nine_tenths(name: str) -> None:
    text, counted = COUNTED[name]
    assert estimate_tokens(text) >= 0.9 * counted


@pytest.mark.parametrize("name", OF_DESKS)
def test_what_a_desk_mostly_holds_is_hardly_ever_estimated_too_low(name: str) -> None:
    text, counted = COUNTED[name]
    assert estimate_tokens(text) >= 0.96 * counted


@pytest.mark.parametrize("name", PROSE)
def test_plain_prose_is_not_estimated_far_too_high(name: str) -> None:
    text, counted = COUNTED[name]
    assert estimate_tokens(text) <= 1.6 * counted


def test_on_the_whole_the_estimate_is_a_quarter_too_high() -> None:
    ratios = [estimate_tokens(text) / counted for text, counted in COUNTED.values()]
    assert 1.1 < sum(ratios) / len(ratios) < 1.3
    assert sorted(ratios)[-8] < 1.8


@pytest.mark.parametrize(
    "name", ["csv of single digits", "simplified chinese", "german prose, more", "base64"]
)
def test_parts_that_fill_a_limit_by_estimate_stay_below_it_by_count(name: str) -> None:
    text, counted = COUNTED[name]
    part, more = cut(text, 100)
    assert more
    assert 40 < len(part) * counted / len(text) < 100  # the texts are alike throughout


def test_nothing_costs_nothing() -> None:
    assert estimate_tokens("") == 0
    assert page("", from_line=1, max_lines=0, limit=500).text == ""
