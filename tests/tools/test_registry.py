"""The sets of tools: the investigative loop has fifteen more, and nobody gets them without asking."""

import pytest

from researchdesk.state.vocabulary import INVESTIGATION_LABEL, INVESTIGATION_LABELS
from researchdesk.tools.registry import REGISTRY
from researchdesk.tools.workspace import Desk

RESEARCH = [
    "search_sources",
    "archive_source",
    "deep_research_start",
    "deep_research_save_artifact",
    "deep_research_read_artifact",
    "deep_research_update_checklist",
    "deep_research_record_step",
    "deep_research_checkpoint",
    "deep_research_status",
    "deep_research_complete",
]
INVESTIGATIVE = [
    "frontier_next",
    "frontier_view",
    "add_question",
    "retry_question",
    "resolve_question",
    "reopen_question",
    "set_priority",
    "prune_branch",
    "notes_read",
    "notes_append",
    "notes_update",
    "notes_scratch",
    "challenge",
    "record_challenge_result",
    "challenges_view",
]
DESK_READING = ["desk_list_files", "desk_read_file", "desk_read_context", "desk_search_content"]


def test_the_registry_knows_the_tools_of_the_investigative_loop() -> None:
    assert [spec.name for spec in REGISTRY.investigate] == INVESTIGATIVE
    assert list(REGISTRY.investigative_loop) == [*RESEARCH, *INVESTIGATIVE]


def test_the_tools_that_a_session_has_by_default_are_the_ten_of_a_research_run_and_reading_the_desk(
    desk: Desk,
) -> None:
    assert list(REGISTRY.research_loop) == RESEARCH
    assert [spec.name for spec in desk.session("s1").tools()] == [*RESEARCH, *DESK_READING]


@pytest.mark.parametrize("labels", [(INVESTIGATION_LABEL,), INVESTIGATION_LABELS])
def test_a_session_gets_them_by_its_label(desk: Desk, labels: tuple[str, ...]) -> None:
    names = [spec.name for spec in desk.session("s1", labels=labels).tools()]
    assert set(INVESTIGATIVE) <= set(names)
    assert [spec.name for spec in desk.existing("s1").tools()] == names
