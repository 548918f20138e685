"""What an application adds to its desk, and what it cannot add."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import Field

import researchdesk as rd
from researchdesk.tools.spec import Arguments, Decision, DeskRead, ToolSpec


class CountFiles(Arguments):
    folder: str = Field(description="The folder; empty for the whole desk.")


class WithoutDescription(Arguments):
    folder: str


def decide_count(workspace: Any, arguments: CountFiles, gathered: Any, call: Any) -> Decision:
    return Decision(text=f"{sum(1 for _ in gathered.desk.state.live)} files", data={})


COUNT = ToolSpec(
    name="count_files",
    description="Count the files.",
    arguments=CountFiles,
    capability="read",
    action_class="navigational",
    decide=decide_count,
    needs=lambda workspace, arguments, call: DeskRead(),
    effects=lambda made: (made.notify("info", made.outcome.text),),
    on_desk=True,
    root_only=False,
)


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        (replace(COUNT, name="desk_read_file"), "no tool can be added as 'desk_read_file'"),
        (replace(COUNT, name="Count files"), "no tool can be added as 'Count files'"),
        (replace(COUNT, capability="write", action_class="additive"), "which a person has to approve"),
        (replace(COUNT, action_class="destructive"), "which a person has to approve"),
        (replace(COUNT, arguments=WithoutDescription), "a description is missing"),
    ],
)
def test_what_cannot_be_added_is_refused_and_nothing_is(tmp_path: Path, spec: ToolSpec, said: str) -> None:
    with rd.open_desk(tmp_path) as desk:
        with pytest.raises(rd.UsageError, match=said):
            desk.extend(tools=[COUNT, spec])
        assert "count_files" not in desk.every_tool and "count_files" not in desk.desk_set()


def test_an_added_tool_is_called_like_any_other_and_needs_the_right_to_it(tmp_path: Path) -> None:
    with rd.open_desk(tmp_path) as desk:
        desk.extend(tools=[COUNT])
        desk.files.put("a.md", actor="human:ann")
        session = desk.session("chat", labels=(), profile="desk")
        done = session.call("count_files", {"folder": ""}, tool_call_id="c1")
        assert (done.status, done.text) == ("success", "1 files")
        assert [effect.action for effect in done.effects] == ["notify"]
        assert session.call("count_files", {"folder": ""}, tool_call_id="c1").effects == done.effects
        assert desk.log("chat").rows[0].who.strip() == "count_files"
        assert desk.desk_set("typed")["count_files"] is COUNT
        assert desk.verify().ok
    with rd.open_desk(tmp_path) as plain:  # a program that knows nothing of it reads what was recorded
        missing = plain.existing("chat").call("count_files", {"folder": ""}, tool_call_id="c2")
        assert missing.data["code"] == "unknown_tool" and plain.verify().ok


def test_an_added_panel_type_takes_over_what_it_shows(tmp_path: Path) -> None:
    with rd.open_desk(tmp_path) as desk:
        desk.extend(
            panel_types=[rd.PanelType(name="grid", kinds=("spreadsheet",)), rd.PanelType(name="clock")]
        )
        session = desk.session("chat", labels=(), profile="desk")
        made = {"path": "a.csv", "kind": "spreadsheet", "content": "a\n"}
        for number, (tool, arguments) in enumerate(
            [
                ("desk_create_file", made),
                ("desk_manage_panel", {"op": "close", "target": "a.csv"}),
                ("desk_manage_panel", {"op": "open", "target": "a.csv"}),
                ("desk_manage_panel", {"op": "open", "target": "clock"}),
            ]
        ):
            assert session.call(tool, arguments, tool_call_id=f"c{number}").status == "success"
        assert [panel.type for panel in desk.panels("chat").panels] == ["grid", "clock"]
