"""Creating files: at once, without a proposal, once for each identity, and never over what is there."""

from collections.abc import Mapping
from typing import Any

import pytest

from researchdesk.state.desk.layout import PanelLayout
from researchdesk.tools.workspace import Desk, open_desk

from ...desks import Caller
from .conftest import Model

CSV = "Name,Score\nAda,3\n"


def panels(layout: PanelLayout) -> list[tuple[str, str, str]]:
    return [(panel.type, panel.title, panel.indicator) for panel in layout.panels]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("desk_create_file", {"kind": "spreadsheet", "content": CSV}),
        ("desk_create_spreadsheet", {"content": CSV}),
    ],
)
def test_a_spreadsheet_is_there_at_once_and_its_panel_opens(
    desk: Desk, model: Model, tool: str, arguments: Mapping[str, Any]
) -> None:
    """Check 1: the file, no proposal, three effects in their order, an open panel that is marked."""
    made = model.ok(tool, path="data/scores.csv", **arguments)
    (file,) = desk.files.listed()
    assert (file.path, file.kind, file.rev, file.created_by) == (
        "data/scores.csv",
        "spreadsheet",
        1,
        "agent:s1",
    )
    assert (file.id, file.content_hash) == (made.data["file_id"], made.data["version"])
    assert desk.files.read("data/scores.csv") == CSV
    assert desk.proposals() == []
    assert [effect.action for effect in made.effects] == ["openPanel", "updateContent", "notify"]
    layout = desk.panels("s1")
    assert panels(layout) == [("spreadsheet", "scores.csv", "ai-modified")]
    assert layout.focused == layout.panels[0].id
    assert desk.ledger.query("SELECT name, entity_type, entity_id, status FROM tool_calls") == [
        {"name": tool, "entity_type": "desk.file", "entity_id": file.id, "status": "success"}
    ]


def test_the_same_call_again_makes_no_second_file(desk: Desk, model: Model) -> None:
    """Check 15: a node that is executed again, here or in another process, gets the first result."""
    arguments = {"path": "a.md", "kind": "markdown", "content": "# A"}
    first = model.ok("desk_create_file", **arguments)
    with open_desk(desk.home) as other:
        replays = [
            model.again(1, "desk_create_file", **arguments),
            Model(other).again(1, "desk_create_file", **arguments),
        ]
    for again in replays:
        assert again.replayed
        assert (again.text, again.data, again.effects) == (first.text, first.data, first.effects)
    assert [file.path for file in desk.files.listed()] == ["a.md"]
    assert len(desk.panels("s1").panels) == 1


def test_a_call_that_fails_warns_and_does_nothing_else(desk: Desk, model: Model) -> None:
    """Check 16: one notice, and the status is error in the result, the ledger and the log."""
    model.create("a.md", "mine")
    before = desk.panels("s1")
    failed = model("desk_create_file", path="A.MD", kind="markdown", content="other")
    (file,) = desk.files.listed()
    assert (failed.status, failed.data["code"]) == ("error", "exists")
    assert failed.text == f'"a.md" already exists (id {file.id}). Use desk_update_file.'
    assert [(effect.action, effect.level) for effect in failed.effects] == [("notify", "warning")]
    assert desk.panels("s1") == before
    assert desk.files.read("a.md") == "mine"
    rows = desk.ledger.query("SELECT status, code FROM tool_calls WHERE id = 'c2'")
    assert rows == [{"status": "error", "code": "exists"}]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"path": "a.md/b.md", "kind": "markdown"}, "exists"),
        ({"path": "sub", "kind": "folder"}, "exists"),
        ({"path": "../x.md", "kind": "markdown"}, "bad_path"),
        ({"path": "", "kind": "markdown"}, "bad_path"),
        ({"path": "new", "kind": "folder", "content": "x"}, "invalid_arguments"),
        ({"path": "new.csv", "kind": "spreadsheet", "content": '"open'}, "invalid_arguments"),
        ({"path": "new.csv", "kind": "spreadsheet", "content": "x\n" * 200_000 + ",,x"}, "too_large"),
        ({"path": "new.md", "kind": "text"}, "invalid_arguments"),
        ({"path": "x" * 500, "kind": "markdown"}, "invalid_arguments"),
    ],
)
def test_what_cannot_be_created_is_refused_with_a_reason(
    desk: Desk, model: Model, arguments: Mapping[str, Any], code: str
) -> None:
    model.create("a.md")
    model.create("sub/b.md")
    assert model.refused("desk_create_file", **arguments) == code
    assert [file.path for file in desk.files.listed()] == ["a.md", "sub/b.md"]


def test_a_secret_that_a_model_writes_does_not_get_onto_the_desk(desk: Desk, model: Model) -> None:
    model.create("keys.md", "key AKIAIOSFODNN7EXAMPLE here")
    assert desk.files.read("keys.md") == "key [redacted:aws-access-key] here"


READING = {"desk_list_files", "desk_read_file", "desk_read_context", "desk_search_content"}
CHANGING = {"desk_create_file", "desk_update_file", "desk_delete_file", "desk_manage_panel"}
NARROW = {"desk_create_markdown", "desk_update_cells", "desk_rename_file"}


def test_a_session_that_explores_only_reads_the_desk(desk: Desk) -> None:
    explorer, worker = (
        Caller(desk.session("e", labels=())),
        Caller(desk.session("d", labels=(), profile="desk")),
    )
    assert {spec.name for spec in explorer.session.tools()} == READING
    assert {spec.name for spec in worker.session.tools()} == READING | CHANGING
    for tool in CHANGING | NARROW:
        arguments = {"path": "x", "kind": "markdown", "op": "open", "mode": "append", "target": "x"}
        taken = explorer.session.specs[tool].arguments.model_fields
        given = {name: value for name, value in arguments.items() if name in taken}
        assert explorer.refused(tool, **given) == "not_permitted"
    assert desk.files.listed() == [] and desk.proposals() == []
    explorer.ok("desk_list_files")
