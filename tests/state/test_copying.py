"""Copies that were made without `__init__` are what `dataclasses.replace` makes, and as closed."""

import copy
from dataclasses import FrozenInstanceError, dataclass, replace

import pytest

from researchdesk.state.copying import changed, maker
from researchdesk.state.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    name: str
    value: tuple[int, ...] = ()
    kind: str = "x"


def test_a_changed_copy_is_what_replace_makes_and_leaves_the_first_alone() -> None:
    first = Place(name="a", value=(1,))
    second = changed(first, value=(2,), name="b")
    assert second == replace(first, value=(2,), name="b") == Place(name="b", value=(2,))
    assert (type(second), first) == (Place, Place(name="a", value=(1,)))
    assert changed(Workspace(), seq=3) == replace(Workspace(), seq=3)


def test_a_copy_is_a_value_like_any_other() -> None:
    made = maker(Place)("a", (1,), kind="y")
    assert made == Place(name="a", value=(1,), kind="y")
    assert len({made, changed(made, kind="y"), copy.copy(made)}) == 1
    with pytest.raises(FrozenInstanceError):
        made.name = "b"


def test_a_field_that_is_not_there_cannot_be_changed() -> None:
    with pytest.raises(TypeError, match="Place has no field colour"):
        changed(Place(name="a"), colour="red")  # type: ignore[call-arg]
