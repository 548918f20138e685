"""The documents say what the code does."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.pages import done_as_written

from researchdesk.graph.tools import create_desk_tools
from researchdesk.stores.mirror.schema import VIEWS
from researchdesk.tools.sources.providers.naming import _MAKERS, PROVIDER_NAMES

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate_tables", ROOT / "docs" / "generate_tables.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_of_tables_is_the_one_that_the_schema_generates(generator: ModuleType) -> None:
    assert (ROOT / "docs" / "tables.md").read_text(encoding="utf-8") == generator.page(), (
        "run `python docs/generate_tables.py`"
    )


def test_the_example_of_an_own_agent_runs_as_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (ROOT / "docs" / "investigation.md").read_text(encoding="utf-8")
    example, *_ = re.findall(r"(?<!-->\n)```python\n(.*?)```", page, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    found: dict[str, Any] = {}
    exec(compile(example, "investigation.md", "exec"), found)
    with found["desk"] as desk:
        session = desk.existing("mine")
        assert session.frontier.root.status == "resolved"
        assert [(claim.id, len(claim.links)) for claim in session.claims] == [("c_001", 1)]
        assert [made.outcome for made in session.challenges] == ["survived"]
    said = capsys.readouterr().out
    assert (
        "Work on it itself now: search, note, challenge and resolve it." in said and "-- challenge\n" in said
    )


def test_the_page_of_the_desk_is_done_as_it_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with done_as_written("desk.md", tmp_path)["desk"] as desk:
        assert [(made.status, made.decided_by) for made in desk.proposals()] == [
            ("executed", "human:ann")
        ] * 2
        assert desk.verify().ok


def test_the_page_about_adding_to_the_desk_is_done_as_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = done_as_written("extending.md", tmp_path)
    with found["desk"] as desk:
        again = found["session"].call(
            "board_create", {"path": "launch.csv", "columns": ["todo", "done"]}, tool_call_id="call_1"
        )
        assert again.replayed and again.effects == found["made"].effects
        assert desk.files.read("launch.csv") == "todo,done\n"
        assert "board_create" in {tool.name for tool in create_desk_tools(desk, "chat")}
        assert desk.verify().ok


def test_the_example_of_approvals_shows_how_three_proposals_went(tmp_path: Path) -> None:
    script = ROOT / "examples" / "desk_approvals.py"
    command = [sys.executable, "-P", str(script), str(tmp_path)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    log = said.partition("\nThe log:\n")[2].partition("\n\n")[0]
    assert [line.split(" | ")[:4] for line in log.splitlines()] == [
        ["human:ann", "notes.md", "", "-"],
        ["desk_create_file", "budget.csv", "success", "-"],
        ["desk_update_file", "budget.csv", "executed", "human:ann"],
        ["desk_update_file", "budget.csv", "rejected", "human:ann"],
        ["desk_delete_file", "notes.md", "stale", "human:ann"],
        ["human:ann", "notes.md", "", "-"],
    ]
    why = [line.split(" | ")[4] for line in log.splitlines()[3:]]
    assert why[2] == "saved notes.md"
    assert why[0] == "That is too much fun."
    assert re.fullmatch(r'"notes\.md" changed after it was proposed: [0-9a-f]{8} is [0-9a-f]{8} now', why[1])
    assert said.endswith("rent,950\nfood,300\n\nnotes.md, revision 2:\n# Notes\n\nThe landlord agreed.\n\n")


def test_the_page_about_looking_back_runs_as_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with done_as_written("time_travel.md", tmp_path)["desk"] as desk:
        assert {summary.session_id for summary in desk.sessions()} == {"lamp-again", "lamp"}
        assert desk.verify().ok


def test_the_page_about_agents_at_a_desk_runs_as_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (ROOT / "docs" / "desk_agents.md").read_text(encoding="utf-8")
    blocks = re.findall(r"(?<!-->\n)```python\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == 3
    monkeypatch.chdir(tmp_path)
    found: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, "desk_agents.md", "exec"), found)
    with found["desk"] as desk:
        assert desk.files.read("notes/plan.md") == "# Plan\n\nBuy bread.\nBuy milk.\n"
        assert desk.verify().ok
    said = capsys.readouterr().out
    assert "Buy bread." in said and "requires_approval" in said and 'markdown "notes/plan.md"' in said


def test_the_page_of_the_mirror_runs_as_it_stands_and_has_every_view(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with done_as_written("mirror.md", tmp_path)["desk"] as desk:
        assert desk.verify().ok
    page = (ROOT / "docs" / "mirror.md").read_text(encoding="utf-8")
    headings = re.findall(r"^### (.+)$", page, re.MULTILINE)
    assert tuple(name for heading in headings for name in heading.split(", ")) == VIEWS


def test_the_page_of_sources_names_every_provider_with_its_key() -> None:
    page = (ROOT / "docs" / "sources.md").read_text(encoding="utf-8")
    rows = {row.split("`")[1]: row for row in page.splitlines() if row.startswith("| `")}
    assert tuple(rows) == PROVIDER_NAMES
    for name, provider in _MAKERS.items():
        assert (getattr(provider, "variable", "") or "none") in rows[name]


def test_the_readme_names_the_rooms_that_exist() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    rooms = sorted(link.name for link in (ROOT / ".src" / "researchdesk").iterdir() if link.is_symlink())
    assert rooms == ["evals", "graph", "state", "stores", "tools"]
    assert all(f"| `{room}/` |" in readme for room in rooms)
