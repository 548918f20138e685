"""Proposals that can no longer run, though nobody has decided them yet: no later one is built on them."""

from collections.abc import Callable
from typing import Any

import pytest

from researchdesk.tools.workspace import Desk

from .conftest import ANN, Clock, Model

TEXT = "one\ntwo\n"


def change(version: str, /, file: str = "plan.md", **more: Any) -> dict[str, Any]:
    return {"file": file, "base_version": version, "mode": "append", **more}


def save(desk: Desk, clock: Clock) -> None:
    there = desk.files.get("plan.md")
    desk.files.save(there.id, "mine\n", actor=ANN, if_match=there.content_hash)


def move(desk: Desk, clock: Clock) -> None:
    desk.files.rename("plan.md", "moved.md", actor=ANN)


def wait_too_long(desk: Desk, clock: Clock) -> None:
    clock.forward(days=7, seconds=1)


@pytest.mark.parametrize("overtake", [save, move, wait_too_long])
def test_a_change_proposed_after_one_was_overtaken_stands_on_the_file_as_it_is(
    desk: Desk, model: Model, clock: Clock, overtake: Callable[[Desk, Clock], None]
) -> None:
    version = model.create("plan.md", TEXT)
    first = model.propose("desk_update_file", **change(version, content="three\n"))
    second = model.propose("desk_update_file", **change(version, content="four\n"))
    overtake(desk, clock)
    (there,) = desk.files.listed()
    third = model.propose("desk_update_file", **change(there.content_hash, there.path, content="five\n"))
    assert third.data["depends_on"] == ""
    assert (third.data["path"], third.data["base_version"]) == (there.path, there.content_hash)
    before = desk.files.read(there.id)
    assert model.approve(third).status == "executed"
    assert desk.files.read(there.id) == f"{before}five\n"
    assert model.approve(first).status in ("stale", "expired")
    assert desk.proposal(second.data["proposal_id"]).status == "stale"


def test_a_deletion_that_nobody_decided_in_time_does_not_hold_up_what_comes_after_it(
    desk: Desk, model: Model, clock: Clock
) -> None:
    version = model.create("plan.md", TEXT)
    model.propose("desk_delete_file", file="plan.md", base_version=version)
    wait_too_long(desk, clock)
    assert (
        model.approve(model.propose("desk_update_file", **change(version, content="x"))).status == "executed"
    )


def test_cells_that_others_left_alone_are_still_built_on(desk: Desk, model: Model) -> None:
    version = model.create("a.csv", "a,b\n1,2\n")
    cells = {"file": "a.csv", "mode": "set_cells"}
    first = model.propose(
        "desk_update_file", **cells, base_version=version, cells=[{"ref": "A2", "value": "9"}]
    )
    there = desk.files.save("a.csv", "a,b\n1,3\n", actor=ANN, if_match=version)
    second = model.propose(
        "desk_update_file", **cells, base_version=there.content_hash, cells=[{"ref": "A1", "value": "x"}]
    )
    assert second.data["depends_on"] == first.data["proposal_id"]
    desk.files.save("a.csv", "a,b\n7,3\n", actor=ANN, if_match=there.content_hash)
    third = model.propose(
        "desk_update_file", **cells, base_version=model.version("a.csv"), cells=[{"ref": "B1", "value": "y"}]
    )
    assert third.data["depends_on"] == ""
    assert model.approve(third).status == "executed"
    assert desk.files.read("a.csv") == "a,y\n7,3\n"
    assert model.approve(first).status == "stale"
