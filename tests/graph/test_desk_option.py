"""The desk's files as an option of a run: searched and cited, remembered by a resume, refused where there is none."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import researchdesk as rd
from researchdesk.graph.cli import app
from researchdesk.graph.options import RunOptions, remembered_options, sources_of

SKY = (
    "# The colour of the sky\n\nThe sky is blue because the air scatters blue light more than red light. "
    "Blue light has a wavelength of 450 nanometres.\n"
)


def home_with_a_file(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    with rd.open_desk(home) as desk:
        desk.files.put("notes/sky.md", SKY, actor="human:ann")
    return home


def test_a_run_cites_a_file_of_the_desk_and_a_resume_remembers_it(tmp_path: Path) -> None:
    home = home_with_a_file(tmp_path)
    with rd.open_desk(home) as desk:
        result = rd.run_research(
            desk, "Why is the sky blue?", desk_files=True, scope="quick", template="general", session_id="s"
        )
        assert result.status == "completed"
        session = desk.existing("s")
        assert session.run is not None
        assert [source.url for source in session.run.all_sources] == ["desk:notes/sky.md"]
        assert {step.kind for step in session.run.steps} == {"local_exploration"}
        options = remembered_options(session)
        assert options.desk
        assert [provider.name for provider in sources_of(desk, options).providers] == ["desk"]
        assert sources_of(desk, RunOptions()).providers == ()
        assert desk.verify().problems == ()


def test_the_command_line_takes_the_desk_and_names_its_files_in_the_report(tmp_path: Path) -> None:
    home = home_with_a_file(tmp_path)
    words = ["run", "Why is the sky blue?", "--desk", "--scope", "quick", "--template", "general"]
    done = CliRunner().invoke(app, [*words, "--home", str(home)])
    assert done.exit_code == 0, done.output
    assert re.search(r"notes/sky\.md", done.stdout)
    again = CliRunner().invoke(app, ["resume", "--home", str(home)])
    assert again.exit_code == 0 and "notes/sky.md" in again.stdout


def test_a_desk_without_files_is_nothing_to_search(tmp_path: Path) -> None:
    with rd.open_desk(tmp_path / "home") as desk:
        with pytest.raises(rd.UsageError, match="nothing in the desk can be read"):
            rd.run_research(desk, "Why is the sky blue?", desk_files=True)
        assert desk.sessions() == []
