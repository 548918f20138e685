"""Argument types that carry their bounds: the rule is checked here, the schema stays plain for every provider."""

import unicodedata
from collections.abc import Callable
from typing import Annotated, Any

from pydantic import AfterValidator

from researchdesk.state.errors import Refusal
from researchdesk.state.limits import (
    BODY_CHARS,
    CHECKPOINT_CHARS,
    CHECKPOINT_ITEM_CHARS,
    CHECKPOINT_ITEMS,
    LIST_ITEMS,
    LOCATOR_CHARS,
    NAME_CHARS,
    QUERY_CHARS,
    REFERENCES,
    STEP_CHARS,
)
from researchdesk.state.names import clean_id


def at_most(limit: int) -> Callable[[str], str]:
    """A check that a text, in NFC and without outer white space, has at most ``limit`` characters."""

    def check(value: str) -> str:
        text = (value if value.isascii() else unicodedata.normalize("NFC", value)).strip()
        if len(text) > limit:
            raise ValueError(f"it has {len(text):,} characters, the limit is {limit:,}")
        return text

    return check


def body_at_most(limit: int) -> Callable[[str], str]:
    """Like `at_most`, for a body that is kept exactly as it was given."""

    def check(value: str) -> str:
        if len(value) > limit:
            raise ValueError(f"it has {len(value):,} characters, the limit is {limit:,}")
        return value

    return check


def items_at_most(limit: int) -> Callable[[list[Any]], list[Any]]:
    """A check that a list holds at most ``limit`` items, none of them twice."""

    def check(values: list[Any]) -> list[Any]:
        if len(values) > limit:
            raise ValueError(f"it has {len(values)} items, the limit is {limit}")
        return values

    return check


def _id_or_empty(value: str) -> str:
    if not value:
        return ""
    try:
        return clean_id(value, "id")
    except Refusal as refusal:
        raise ValueError(refusal.text) from None


def _no_blank(values: list[str]) -> list[str]:
    if any(not value for value in values):
        raise ValueError("an item is empty")
    return values


def _distinct(values: list[str]) -> list[str]:
    return list(dict.fromkeys(values))


Name = Annotated[str, AfterValidator(at_most(NAME_CHARS))]
Locator = Annotated[str, AfterValidator(at_most(LOCATOR_CHARS))]
Query = Annotated[str, AfterValidator(at_most(QUERY_CHARS))]
Summary = Annotated[str, AfterValidator(at_most(STEP_CHARS))]
Body = Annotated[str, AfterValidator(body_at_most(BODY_CHARS))]
Id = Annotated[str, AfterValidator(_id_or_empty)]
Ids = Annotated[
    list[Id], AfterValidator(items_at_most(REFERENCES)), AfterValidator(_no_blank), AfterValidator(_distinct)
]
StepText = Annotated[str, AfterValidator(at_most(STEP_CHARS))]
StepList = Annotated[list[StepText], AfterValidator(items_at_most(LIST_ITEMS)), AfterValidator(_no_blank)]
CheckpointText = Annotated[str, AfterValidator(at_most(CHECKPOINT_CHARS))]
CheckpointItem = Annotated[str, AfterValidator(at_most(CHECKPOINT_ITEM_CHARS))]
CheckpointList = Annotated[
    list[CheckpointItem], AfterValidator(items_at_most(CHECKPOINT_ITEMS)), AfterValidator(_no_blank)
]
