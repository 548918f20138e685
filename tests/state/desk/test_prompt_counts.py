"""Prompts of crowded desks against counts of real tokenizers, recorded once as those of `tests.state.test_tokens`."""

import json
from pathlib import Path
from typing import Any

import pytest

from researchdesk.state.desk.prompt import PROMPT_TOKENS, desk_prompt
from researchdesk.state.tokens import estimate_tokens, room

from .crowded import SCRIPTS, crowded

CROWDED: list[dict[str, Any]] = json.loads(
    Path(__file__).with_name("prompt_counts.json").read_text(encoding="utf-8")
)["texts"]


@pytest.mark.parametrize("one", CROWDED, ids=[one["name"] for one in CROWDED])
def test_a_prompt_of_hundreds_of_long_names_keeps_its_limit_by_real_counts(one: dict[str, Any]) -> None:
    """Check 19 for names of random letters, each kind in a script of its own: prompts of `crowded`, counted."""
    counted = max(one["o200k_base"], one["cl100k_base"])
    assert counted <= PROMPT_TOKENS
    assert 0.9 * counted <= estimate_tokens(one["text"]) <= PROMPT_TOKENS
    now = desk_prompt(crowded(one["name"]))
    assert estimate_tokens(now) <= room(PROMPT_TOKENS)
    assert set(SCRIPTS[one["name"]]) & set(now)
