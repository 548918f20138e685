"""What the research graph and a user's own agent are offered: the ten of a research run, or its investigation too."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import researchdesk as rd
from researchdesk.graph.offering import offered
from researchdesk.state.vocabulary import INVESTIGATION_LABELS, RESEARCH_LABEL
from researchdesk.tools.registry import REGISTRY

from .scripted_model import ScriptedModel, says, sky

RESEARCH = list(REGISTRY.research_loop)
INVESTIGATIVE = list(REGISTRY.investigative_loop)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[rd.Desk]:
    with rd.open_desk(tmp_path / "home") as opened:
        yield opened


def start(desk: rd.Desk, **more: Any) -> rd.Session:
    """A session that an agent started with the tools it was given."""
    tools = {tool.name: tool for tool in rd.create_research_tools(desk, "mine", **more)}
    tools["deep_research_start"].invoke(
        {"objective": "Why is the sky blue?", "scope_level": "quick", "template": ""}
    )
    return desk.existing("mine")


def test_an_agent_of_ones_own_gets_the_ten_of_a_research_run(desk: rd.Desk) -> None:
    assert [tool.name for tool in rd.create_research_tools(desk)] == RESEARCH and len(RESEARCH) == 10
    session = start(desk)
    assert session.workspace.session is not None and session.workspace.session.labels == (RESEARCH_LABEL,)
    assert session.workspace.investigation is None
    assert [spec.name for spec in session.tools() if not spec.on_desk] == RESEARCH
    assert not [spec.name for spec in offered(session) if spec.on_desk]


def test_and_with_an_investigation_all_twenty_five(desk: rd.Desk) -> None:
    offered = [tool.name for tool in rd.create_research_tools(desk, investigation=True)]
    assert offered == INVESTIGATIVE and len(offered) == 25
    session = start(desk, investigation=True)
    assert session.workspace.session is not None and session.workspace.session.labels == INVESTIGATION_LABELS
    assert session.frontier.root.text == "Why is the sky blue?"
    assert [spec.name for spec in session.tools() if not spec.on_desk] == INVESTIGATIVE


def test_a_session_that_keeps_no_questions_is_not_changed_by_the_tools_for_them(desk: rd.Desk) -> None:
    session = start(desk)
    tools = {tool.name: tool for tool in rd.create_research_tools(desk, "mine", investigation=True)}
    told = tools["frontier_view"].invoke({})
    assert told == "frontier_view belongs to a root session with the label mode:investigation."
    assert session.workspace.investigation is None


def test_every_run_of_the_research_graph_is_an_investigation(desk: rd.Desk) -> None:
    silent = ScriptedModel(script=[says()] * 8)
    graph = rd.create_research_graph(desk, model=silent, sources=sky(), scope="quick")
    graph.invoke({"objective": "How wide must a widget be?"}, {"configurable": {"thread_id": "s1"}})
    session = desk.existing("s1")
    assert [spec.name for spec in session.tools() if not spec.on_desk] == INVESTIGATIVE
    assert session.frontier.root.text == "How wide must a widget be?"
