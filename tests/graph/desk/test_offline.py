"""A chat with the embedded model: it answers by rules and says that no language model is used."""

from typing import Any

import pytest

import researchdesk as rd
from researchdesk.graph.offline.desk import BY_RULES

from .chats import thread


@pytest.fixture
def library(desk: rd.Desk) -> rd.Desk:
    desk.files.put("notes/plan.md", "# Plan\n\nBuy milk and bread.\n", actor="human:ann")
    desk.files.put("scores.csv", "Name,Score\nAnn,3\n", actor="human:ann")
    return desk


@pytest.mark.parametrize(
    ("asked", "called", "told"),
    [
        ("Which files are there?", ["desk_list_files"], 'markdown "notes/plan.md"'),
        ("Please read notes/plan.md to me.", ["desk_read_file"], "Buy milk and bread."),
        ('What is in "scores.csv"?', ["desk_read_file"], "Ann,3"),
        ("Where does it say bread?", ["desk_search_content"], '"notes/plan.md"'),
        ('What does "missing.md" say?', ["desk_read_file"], 'No file "missing.md"'),
        ("the of and", [], "Ask for a file by its path"),
    ],
)
def test_it_lists_reads_and_searches(library: rd.Desk, asked: str, called: list[str], told: str) -> None:
    graph = rd.create_desk_graph(library)
    given: Any = {"messages": [("user", asked)]}
    answer = graph.invoke(given, thread())["messages"][-1].content
    assert answer.startswith(BY_RULES) and told in answer
    rows = library.ledger.query("SELECT name FROM tool_calls ORDER BY seq")
    assert [row["name"] for row in rows] == called
    assert library.existing("chat").workspace.cost == 0
