"""A user's own template, from registering it to its report."""

from pathlib import Path

import pytest

import researchdesk as rd
from researchdesk.state.templates import Part

HANDOFF = tuple(
    Part(key=key, title=title)
    for key, title in (
        ("implementation_tasks", "Do"),
        ("recommended_issues", "Ask"),
        ("recommended_pull_requests", "Change"),
        ("verification_commands", "Check"),
    )
)


def template(name: str, *keys: str) -> rd.Template:
    sections = tuple(Part(key=key, title=key.replace("_", " ").capitalize()) for key in keys)
    return rd.Template(
        name=name, checklist=(Part(key="read", title="Read"),), sections=sections, handoff=HANDOFF
    )


@pytest.mark.parametrize(
    "keys", [("answer",), ("answer", "rest"), ("one", "two", "three"), ("a", "b", "c", "d", "e", "f")]
)
def test_the_offline_model_fills_any_template_without_repeating_itself(
    tmp_path: Path, keys: tuple[str, ...]
) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "guide.md").write_text("# Widget guide\n\nThe widget must be at least 12 millimetres wide.\n")
    (docs / "standard.md").write_text(
        "# Widget standard\n\nA widget shall be at least 10 millimetres wide.\n"
    )
    own = template(f"own{len(keys)}", *keys)
    rd.register_template(own)
    with rd.open_desk(tmp_path / "home") as desk:
        ended = rd.run_research(
            desk, "How wide must a widget be?", corpus=[docs], scope="quick", template=own.name
        )
        run = desk.existing(ended.session_id).run
        assert run is not None
        assert (ended.status, ended.stop_reason) == ("completed", None)
        first = desk.records.text(run.artifacts[run.sections[0].artifact_id].content_hash)
        assert '"The widget must be at least 12 millimetres wide." [c_' in first
        assert len({run.artifacts[section.artifact_id].content_hash for section in run.sections}) == len(keys)


@pytest.mark.parametrize(
    ("key", "title"), [("my item!", "Fine"), ("", "Fine"), ("fine", " "), ("fine", "x" * 121)]
)
def test_a_template_that_no_tool_could_name_is_refused(key: str, title: str) -> None:
    broken = rd.Template(
        name="broken",
        checklist=(Part(key="read", title="Read"),),
        sections=(Part(key=key, title=title),),
        handoff=HANDOFF,
    )
    with pytest.raises(rd.UsageError, match="broken"):
        rd.register_template(broken)
