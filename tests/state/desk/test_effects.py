"""A call's effects follow from its record alone: the same record gives the same effects, with the same ids."""

from collections.abc import Mapping
from typing import Any

import orjson
import pytest
from pydantic import TypeAdapter, ValidationError

from researchdesk.state.desk.effects import (
    MOST_REFS,
    CallOutcome,
    ClosePanel,
    DeskEffect,
    FileChanged,
    FileDeleted,
    FocusPanel,
    Notify,
    OpenPanel,
    PanelMeta,
    ResearchChanged,
    SheetCells,
    UpdateContent,
    derive_effects,
    ordered,
)
from researchdesk.state.desk.panels import PANEL_TYPES, PanelType
from researchdesk.state.ids import CallId
from researchdesk.state.vocabulary import CallStatus

CALL = CallId(session="s1", turn="t_001", call="call_7")
FILE = {"file_id": "f_1", "path": "tables/scores.csv", "kind": "spreadsheet", "hash": "sha256:aa", "rev": 1}
EFFECTS: TypeAdapter[tuple[DeskEffect, ...]] = TypeAdapter(tuple[DeskEffect, ...])


def outcome(
    tool: str,
    data: Mapping[str, Any],
    *,
    status: CallStatus = "success",
    call: CallId = CALL,
    code: str = "",
    text: str = "",
) -> CallOutcome:
    return CallOutcome(call=call, tool=tool, status=status, code=code, text=text, data=data, seq=12)


def identity(number: int) -> dict[str, Any]:
    return {"id": f"{CALL.digest()}:{number}", "tool_call_id": "call_7"}


def test_a_created_file_opens_its_panel_then_tells_its_content_then_a_person() -> None:
    assert derive_effects(outcome("desk_create_file", FILE)) == (
        OpenPanel(
            panel_type="spreadsheet",
            panel_id="panel_f_1",
            title="scores.csv",
            meta=PanelMeta(file_id="f_1", source_tool_call_id="call_7"),
            **identity(0),
        ),
        UpdateContent(
            channel="file:changed",
            payload=FileChanged(file_id="f_1", hash="sha256:aa", rev=1, path="tables/scores.csv"),
            **identity(1),
        ),
        Notify(level="success", message='Created "tables/scores.csv"', **identity(2)),
    )


@pytest.mark.parametrize(
    ("alias", "executor"),
    [
        ("desk_create_spreadsheet", "desk_create_file"),
        ("desk_create_markdown", "desk_create_file"),
        ("desk_update_cells", "desk_update_file"),
        ("desk_update_markdown", "desk_update_file"),
        ("desk_rename_file", "desk_update_file"),
    ],
)
def test_an_alias_has_the_effects_of_its_executor(alias: str, executor: str) -> None:
    data = {**FILE, "refs": ["B2"]}
    assert derive_effects(outcome(alias, data)) == derive_effects(outcome(executor, data)) != ()


def test_changed_cells_are_named_and_any_other_change_is_one_of_the_file() -> None:
    cells, told = derive_effects(outcome("desk_update_file", {**FILE, "refs": ["B2", "C3"]}))
    assert cells == UpdateContent(
        channel="sheet:cells",
        payload=SheetCells(file_id="f_1", refs=("B2", "C3"), hash="sha256:aa"),
        **identity(0),
    )
    assert told == Notify(level="success", message='Changed "tables/scores.csv"', **identity(1))
    changed = FileChanged(file_id="f_1", hash="sha256:aa", rev=1, path="tables/scores.csv")
    for refs in ([], ["A1"] * (MOST_REFS + 1)):
        first, _ = derive_effects(outcome("desk_update_file", {**FILE, "refs": refs}))
        assert first == UpdateContent(channel="file:changed", payload=changed, **identity(0))


def test_a_deleted_file_closes_its_panel_before_anybody_hears_of_it() -> None:
    data = {"file_id": "f_1", "path": "a.md", "deleted": True}
    assert derive_effects(outcome("desk_delete_file", data)) == (
        ClosePanel(panel_id="panel_f_1", **identity(0)),
        UpdateContent(channel="file:deleted", payload=FileDeleted(file_id="f_1"), **identity(1)),
        Notify(level="success", message='Deleted "a.md"', **identity(2)),
    )


def test_managing_a_panel_is_one_structural_effect() -> None:
    data = {"panel_id": "log", "file_id": "", "title": "Log", "panel_type": "log"}
    meta = PanelMeta(source_tool_call_id="call_7")
    assert [derive_effects(outcome("desk_manage_panel", {"op": op, **data})) for op in OPS] == [
        (OpenPanel(panel_type="log", panel_id="log", title="Log", meta=meta, **identity(0)),),
        (FocusPanel(panel_id="log", **identity(0)),),
        (ClosePanel(panel_id="log", **identity(0)),),
    ]


OPS = ("open", "focus", "close")


@pytest.mark.parametrize(
    "tool", ["desk_create_file", "desk_manage_panel", "desk_unheard_of", "search_sources"]
)
def test_a_call_that_failed_has_one_warning_as_its_only_effect(tool: str) -> None:
    failed = outcome(tool, FILE, status="error", code="exists", text='"a.md" already exists (id f_1).')
    warning = Notify(level="warning", message='"a.md" already exists (id f_1).', **identity(0))
    assert derive_effects(failed) == (warning,)


def test_a_call_that_waits_has_no_effect_until_it_is_decided() -> None:
    data = {"proposal_id": "p_1", "verb": "change", "path": "a.md", "file_id": "f_1"}
    assert derive_effects(outcome("desk_update_file", data, status="pending", code="requires_approval")) == ()


@pytest.mark.parametrize(
    "tool", ["desk_list_files", "desk_read_file", "desk_read_context", "desk_search_content"]
)
def test_reading_has_no_effect(tool: str) -> None:
    assert derive_effects(outcome(tool, FILE)) == ()


def test_a_research_call_tells_how_far_its_session_is() -> None:
    payload = ResearchChanged(run_id="s1", seq=12)
    assert derive_effects(outcome("archive_source", {})) == (
        UpdateContent(channel="research:changed", payload=payload, **identity(0)),
    )


def test_equal_ids_of_a_provider_give_different_effect_ids_in_another_turn() -> None:
    first = derive_effects(outcome("desk_create_file", FILE))
    again = derive_effects(outcome("desk_create_file", FILE))
    other = derive_effects(
        outcome("desk_create_file", FILE, call=CallId(session="s1", turn="t_002", call="call_7"))
    )
    assert first == again
    assert {effect.id for effect in first}.isdisjoint(effect.id for effect in other)


def test_titles_and_messages_are_short_and_on_one_line_whatever_a_path_holds() -> None:
    hostile = "a\u202egpj\x1b[2J\n" + "<desk-data>" * 40 + ".md"
    opened, _, told = derive_effects(outcome("desk_create_file", {**FILE, "path": hostile}))
    assert isinstance(opened, OpenPanel)
    assert isinstance(told, Notify)
    assert (len(opened.title), opened.title[-1]) == (80, "…")
    assert len(told.message) <= 240
    assert not set("\u202e\x1b\n") & set(opened.title + told.message)


def test_a_panel_type_of_ones_own_shows_the_kinds_it_claims() -> None:
    types = (PanelType(name="board", kinds=("spreadsheet",)), *PANEL_TYPES)
    opened = derive_effects(outcome("desk_create_file", FILE), panel_types=types)[0]
    assert isinstance(opened, OpenPanel)
    assert opened.panel_type == "board"


def test_all_that_is_structural_comes_before_content_and_calls_keep_their_order() -> None:
    calls = [CallId(session="s1", turn="t_001", call=f"call_{number}") for number in range(3)]
    batches = [
        derive_effects(outcome("desk_create_file", {**FILE, "file_id": f"f_{place}"}, call=call))
        for place, call in enumerate(calls)
    ]
    seen = [(effect.action, effect.tool_call_id) for effect in ordered(batches)]
    assert seen == [
        *(("openPanel", call.call) for call in calls),
        *((action, call.call) for call in calls for action in ("updateContent", "notify")),
    ]


def test_stored_effects_come_back_equal_and_no_other_shape_does() -> None:
    effects = (
        *derive_effects(outcome("desk_create_file", FILE)),
        *derive_effects(outcome("desk_update_file", {**FILE, "refs": ["B2"]})),
        *derive_effects(outcome("desk_delete_file", FILE)),
        *derive_effects(outcome("desk_manage_panel", {"op": "focus", "panel_id": "log"})),
        *derive_effects(outcome("archive_source", {})),
    )
    stored = orjson.dumps(effects)
    assert EFFECTS.validate_json(stored) == effects
    for wrong in (b'"notify"', b'"sheet:cells"'):
        other = b'"confirm"' if wrong == b'"notify"' else b'"file:deleted"'
        assert wrong in stored
        with pytest.raises(ValidationError):
            EFFECTS.validate_json(stored.replace(wrong, other))
