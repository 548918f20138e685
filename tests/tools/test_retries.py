"""The identity of a call: the same call again changes nothing, another one under its id is refused."""

import threading
from typing import Any

import pytest

from researchdesk.state.errors import Conflict, Refusal
from researchdesk.tools.workspace import Desk, open_desk

from ..desks import HANDOFF, SECTION, SKY, STEP, Caller

SOURCE = {"role": "source", "name": "S", "content": SKY, "locator": "https://sky.org/", "summary": "blue"}
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("deep_research_save_artifact", SOURCE),
    ("deep_research_read_artifact", {"artifact_id": "s_001"}),
    ("deep_research_update_checklist", {"item_id": "core_flow", "status": "in_progress"}),
    ("deep_research_record_step", STEP),
    ("deep_research_checkpoint", {"round": 1, "stage": "knowledge_base", "status": "active", "summary": "s"}),
    ("deep_research_status", {}),
    ("search_sources", {"query": "sky"}),
    ("archive_source", {"locator": "https://nowhere.org/"}),
    ("deep_research_complete", {}),
    ("no_such_tool", {"x": 1}),
]


@pytest.mark.parametrize(("name", "arguments"), CALLS)
def test_a_retried_call_gives_the_recorded_result_and_no_event(
    research: Caller, name: str, arguments: dict[str, Any]
) -> None:
    research.start()
    research.source()
    first = research(name, **arguments)
    events = research.session.events()
    again = research.session.call(name, arguments, tool_call_id=research.last)
    assert (again.text, again.data, again.status, again.seq) == (
        first.text,
        first.data,
        first.status,
        first.seq,
    )
    assert (first.replayed, again.replayed) == (False, True)
    assert research.session.events() == events


@pytest.mark.parametrize(
    "change",
    [
        {"name": "T"},
        {"summary": "red"},
        {"content": SKY + "!"},
        {"locator": "https://sky.org/2"},
        {"role": "evidence_note"},
        {"source_artifact_ids": ["s_001"]},
        {"report_section_key": "conclusion"},
        {"report_section_status": "drafted"},
    ],
)
def test_a_reused_id_with_another_artifact_is_a_conflict(research: Caller, change: dict[str, Any]) -> None:
    research.start()
    research.ok("deep_research_save_artifact", **SOURCE)
    before = research.session.events()
    with pytest.raises(Conflict, match=research.last):
        research.session.call("deep_research_save_artifact", {**SOURCE, **change}, tool_call_id=research.last)
    assert research.session.events() == before


def test_an_id_is_unique_across_all_tools(research: Caller) -> None:
    research.start()
    used = research.last
    for name, arguments in CALLS:
        with pytest.raises(Conflict, match="was recorded as deep_research_start"):
            research.session.call(name, arguments, tool_call_id=used)
    assert research.session.workspace.seq == 3


def test_left_out_arguments_are_the_same_as_their_zero_values(research: Caller) -> None:
    research.start()
    research.ok("deep_research_save_artifact", **SOURCE)
    spelled = {**SOURCE, "source_artifact_ids": [], "report_section_key": "", "report_section_status": ""}
    again = research.session.call("deep_research_save_artifact", spelled, tool_call_id=research.last)
    assert again.replayed


def test_retries_stay_safe_after_the_run_is_completed(research: Caller) -> None:
    research.start()
    research.checkpoint()
    checkpoint = research.last
    report, handoff = research.write_all()
    research.complete(report, handoff)
    events = research.session.events()
    same = {"round": 1, "stage": "knowledge_base", "status": "active", "summary": "so far"}
    assert research.session.call("deep_research_checkpoint", same, tool_call_id=checkpoint).replayed
    sealed = {"report_artifact_id": report, "handoff_artifact_id": handoff, **HANDOFF}
    again = research.session.call("deep_research_complete", sealed, tool_call_id=research.last)
    assert again.replayed and again.status == "success"
    with pytest.raises(Conflict):
        research.session.call(
            "deep_research_complete", {**sealed, "recommended_issues": ["x"]}, tool_call_id=research.last
        )
    assert research.session.events() == events


def test_the_same_id_in_another_session_is_another_call(desk: Desk, research: Caller) -> None:
    research.start()
    other = Caller(desk.session("s2"))
    other.start()
    first, second = research.source(), other.source()
    assert first != second
    assert [len(s.events()) for s in (research.session, other.session)] == [6, 6]


def test_a_retry_in_another_process_gives_the_recorded_result(desk: Desk, research: Caller) -> None:
    research.start()
    with open_desk(desk.home) as other:
        again = other.existing("s1").call(
            "deep_research_start",
            {"objective": "Why is the sky blue?", "scope_level": "quick"},
            tool_call_id=research.last,
        )
    assert again.replayed


@pytest.mark.parametrize("bad", ["", " ", "a b", "-x", "x" * 129, "é", "a/b", "AKIAIOSFODNN7EXAMPLE"])
def test_an_id_without_a_usable_form_is_refused_before_anything_is_recorded(
    research: Caller, bad: str
) -> None:
    with pytest.raises(Refusal, match="tool_call_id"):
        research.session.call("deep_research_status", {}, tool_call_id=bad)
    assert research.session.workspace.seq == 1


def test_a_refused_call_leaves_one_record_and_the_run_as_it_was(research: Caller) -> None:
    research.start()
    before = research.session.workspace
    research.refused("deep_research_save_artifact", role="evidence_note", name="N", content="x [s_001]")
    after = research.session.workspace
    assert after.run == before.run
    assert after.seq == before.seq + 1
    assert dict(after.refused_by_code.items()) == {"unknown_citation": 1}
    assert list(research.session.records.ledger.body_hashes()) != []


def test_the_body_of_an_artifact_goes_with_an_event_that_the_rules_refuse(research: Caller) -> None:
    research.start()
    from researchdesk.state import events as ev
    from researchdesk.state.workspace import IllegalTransition

    with pytest.raises(IllegalTransition):
        research.session.record(
            [ev.CheckpointRecorded(round=-5, stage="knowledge_base", status="active", summary="s")],
            bodies={"sha256:" + "0" * 64: b"left over"},
        )
    assert list(research.session.records.ledger.body_hashes()) == []


def test_two_threads_with_one_call_do_it_once(research: Caller) -> None:
    research.start()
    research.ok("deep_research_save_artifact", **SOURCE)
    barrier = threading.Barrier(4)
    results = []

    def work() -> None:
        barrier.wait()
        results.append(
            research.session.call(
                "deep_research_save_artifact",
                {"role": "evidence_note", "name": "N", "content": SECTION},
                tool_call_id="shared",
            )
        )

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(result.replayed for result in results) == [False, True, True, True]
    assert len({result.text for result in results}) == 1
    assert research.session.run is not None and len(research.session.run.artifacts) == 2
