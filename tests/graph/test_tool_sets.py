"""What the research graph and a user's own agent are offered: the investigative tools are not among it yet."""

from pathlib import Path

import researchdesk as rd
from researchdesk.tools.registry import REGISTRY

RESEARCH = list(REGISTRY.research_loop)


def test_the_research_graph_and_the_tools_for_agents_are_the_ten_of_before(tmp_path: Path) -> None:
    (tmp_path / "guide.md").write_text("# Guide\n\nThe widget must be at least 12 millimetres wide.\n")
    with rd.open_desk(tmp_path / "home") as desk:
        assert [tool.name for tool in rd.create_research_tools(desk, "mine")] == RESEARCH
        graph = rd.create_research_graph(
            desk, corpus=[tmp_path / "guide.md"], scope="quick", template="general"
        )
        graph.invoke({"objective": "How wide must a widget be?"}, {"configurable": {"thread_id": "s1"}})
        session = desk.existing("s1")
        assert [spec.name for spec in session.tools()] == RESEARCH
        assert session.workspace.investigation is None
        called = {str(row["name"]) for row in desk.ledger.query("SELECT DISTINCT name FROM tool_calls")}
        assert called <= set(RESEARCH) and len(RESEARCH) == 10
