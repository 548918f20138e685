"""Estimates against counts of real tokenizers, recorded once (``gpt-tokenizer``, special tokens taken as text)."""

import json
from pathlib import Path
from typing import Any

import pytest

from researchdesk.state.desk.estimate import cut, estimate, room
from researchdesk.state.desk.paging import page
from researchdesk.state.desk.prompt import PROMPT_TOKENS, desk_prompt
from researchdesk.state.tokens import estimate_tokens

from .crowded import SCRIPTS, crowded

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
OF_THE_DESK = [
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
    assert estimate(text) >= 0.9 * counted


@pytest.mark.parametrize("name", OF_THE_DESK)
def test_what_a_desk_mostly_holds_is_hardly_ever_estimated_too_low(name: str) -> None:
    text, counted = COUNTED[name]
    assert estimate(text) >= 0.96 * counted


@pytest.mark.parametrize("name", PROSE)
def test_plain_prose_is_not_estimated_far_too_high(name: str) -> None:
    text, counted = COUNTED[name]
    assert estimate(text) <= 1.6 * counted


def test_on_the_whole_the_estimate_is_a_quarter_too_high() -> None:
    ratios = [estimate(text) / counted for text, counted in COUNTED.values()]
    assert 1.1 < sum(ratios) / len(ratios) < 1.3
    assert sorted(ratios)[-8] < 1.8


def test_the_estimate_for_prompts_is_lower_than_this_where_this_matters() -> None:
    short = [
        name
        for name, (text, counted) in COUNTED.items()
        if estimate_tokens(text) < 0.9 * counted <= estimate(text)
    ]
    assert {"german capitals", "base64", "rare chinese characters", "spaced digits"} <= set(short)


@pytest.mark.parametrize(
    "name", ["csv of single digits", "simplified chinese", "german prose, more", "base64"]
)
def test_parts_that_fill_a_limit_by_estimate_stay_below_it_by_count(name: str) -> None:
    text, counted = COUNTED[name]
    part, more = cut(text, 100)
    assert more
    assert 40 < len(part) * counted / len(text) < 100  # the texts are alike throughout


def test_nothing_costs_nothing() -> None:
    assert estimate("") == 0
    assert page("", from_line=1, max_lines=0, limit=500).text == ""


CROWDED: list[dict[str, Any]] = json.loads(
    Path(__file__).with_name("prompt_counts.json").read_text(encoding="utf-8")
)["texts"]


@pytest.mark.parametrize("one", CROWDED, ids=[one["name"] for one in CROWDED])
def test_a_prompt_of_hundreds_of_long_names_keeps_its_limit_by_real_counts(one: dict[str, Any]) -> None:
    """Check 19 for names of random letters, each kind in a script of its own: prompts of `crowded`, counted."""
    counted = max(one["o200k_base"], one["cl100k_base"])
    assert counted <= PROMPT_TOKENS
    assert 0.9 * counted <= estimate(one["text"]) <= PROMPT_TOKENS
    now = desk_prompt(crowded(one["name"]))
    assert estimate(now) <= room(PROMPT_TOKENS)
    assert set(SCRIPTS[one["name"]]) & set(now)
