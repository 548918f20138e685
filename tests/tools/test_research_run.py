"""A run from its question to its sealed report: stages, gates, steps, and what a restart finds."""

from collections.abc import Callable
from typing import Any

import orjson
import pytest

from researchdesk.state import events as ev
from researchdesk.state.envelopes import open_envelope
from researchdesk.tools.workspace import Desk, open_desk

from ..desks import CHECKLIST, HANDOFF, SECTION, SECTIONS, SKY, Caller

STEP: dict[str, Any] = {
    "kind": "local_exploration",
    "status": "completed",
    "objective": "find the entry points",
    "summary": "there are two",
    "roots": ["src"],
    "stopping_condition": "all of src was read",
    "expected_evidence": "a list of entry points",
}


def status_of(research: Caller) -> dict[str, Any]:
    """What deep_research_status shows, taken out of its envelope."""
    envelope = open_envelope(research.ok("deep_research_status").text)
    assert envelope is not None
    view: dict[str, Any] = orjson.loads(envelope.body)
    return view


def test_a_run_goes_through_both_stages_to_its_end_with_the_eight_tools(desk: Desk, research: Caller) -> None:
    research.start("Why  is\nthe sky blue?", template="implementation")
    assert research.session.run is not None
    assert research.session.run.objective == "Why is the sky blue?"
    source = research.source()
    note = research.save("evidence_note", SECTION)
    research.ok("deep_research_read_artifact", artifact_id=note)
    research.ok("deep_research_record_step", **STEP, evidence_artifact_ids=[note])
    research.checkpoint(round=1)
    research.save("outline", "First scattering, then the sea [s_001].")
    research.settle_checklist(note)
    research.checkpoint(round=2, stage="report_writing")
    for key in SECTIONS:
        research.section(key, status="drafted")
        research.section(key)
    report = research.save("report", "")
    handoff = research.save("handoff", "Go on [s_001].")
    assert status_of(research)["stage"] == "report_writing"
    research.complete(report, handoff)
    view = status_of(research)
    assert (view["status"], view["stage"], view["round"]) == ("completed", "completed", 2)
    assert (view["report_artifact_id"], view["handoff_artifact_id"]) == (report, handoff)
    assert view["artifacts"] == {
        "evidence_note": 1,
        "handoff": 1,
        "outline": 1,
        "report": 1,
        "report_section": 10,
        "source": 1,
    }
    run = research.session.run
    assert run is not None
    assert run.artifacts[note].source_artifact_ids == (source,)
    assert desk.verify().ok


def test_the_tools_before_the_start_and_the_start_twice_are_refused(research: Caller) -> None:
    for name, arguments in (
        ("deep_research_status", {}),
        ("deep_research_read_artifact", {"artifact_id": "s_001"}),
        ("deep_research_save_artifact", {"role": "source", "name": "S", "content": "x", "locator": "file:x"}),
        ("deep_research_complete", {}),
    ):
        assert research.refused(name, **arguments) == "not_started"
    research.start()
    assert research.refused("deep_research_start", objective="x", scope_level="deep") == "already_started"


@pytest.mark.parametrize("role", ["evidence_note", "outline", "report", "handoff", "report_section"])
def test_a_derived_artifact_without_an_archived_source_is_refused(research: Caller, role: str) -> None:
    research.start()
    more = (
        {"report_section_key": "conclusion", "report_section_status": "drafted"}
        if role == "report_section"
        else {}
    )
    call = {"role": role, "name": "N", "content": "no source", **more}
    assert research.refused("deep_research_save_artifact", **call) == "no_source_reference"
    research.source()
    assert research.refused("deep_research_save_artifact", **call) == "no_source_reference"
    note = research.save("evidence_note", SECTION)
    assert (
        research.refused("deep_research_save_artifact", **call, source_artifact_ids=[note]) == "not_a_source"
    )
    research.ok("deep_research_save_artifact", **call, source_artifact_ids=["s_001"])


def test_rounds_and_stages_never_go_back(research: Caller) -> None:
    research.start()
    research.source()
    research.checkpoint(round=3)
    research.checkpoint(round=3)
    before = research.session.run
    back = {"round": 2, "stage": "knowledge_base", "status": "active", "summary": "s"}
    assert research.refused("deep_research_checkpoint", **back) == "round_regression"
    assert research.refused("deep_research_checkpoint", **{**back, "round": -1}) == "round_regression"
    research.checkpoint(round=4, stage="report_writing")
    stage = {"round": 5, "stage": "knowledge_base", "status": "active", "summary": "s"}
    assert research.refused("deep_research_checkpoint", **stage) == "stage_regression"
    assert before is not None and research.session.run is not None
    assert (before.round, research.session.run.round) == (3, 4)


def test_the_report_may_not_be_written_before_a_source_is_archived(research: Caller) -> None:
    research.start()
    arguments = {"round": 1, "stage": "report_writing", "status": "active", "summary": "s"}
    assert research.refused("deep_research_checkpoint", **arguments) == "not_ready"


def test_a_blocked_checkpoint_says_why_and_an_active_one_lifts_it(research: Caller) -> None:
    research.start()
    research.checkpoint(status="blocked", summary="the library is closed")
    assert status_of(research)["blockers"] == ["the library is closed"]
    research.checkpoint(summary="it opened")
    view = status_of(research)
    assert (view["status"], view["blockers"]) == ("active", [])


@pytest.mark.parametrize(
    ("update", "code"),
    [
        ({"status": "completed"}, "no_evidence"),
        ({"status": "completed", "evidence_artifact_ids": ["a_none"]}, "unknown_artifact"),
        ({"status": "blocked"}, "no_reason"),
        ({"status": "skipped"}, "no_reason"),
        ({"status": "in_progress", "blocked_reason": "because"}, "invalid_arguments"),
        ({"status": "finished"}, "invalid_arguments"),
        ({"status": "in_progress", "item_id": "nothing"}, "invalid_arguments"),
    ],
)
def test_a_checklist_status_asks_for_its_evidence_or_its_reason(
    research: Caller, update: dict[str, Any], code: str
) -> None:
    research.start()
    arguments = {"item_id": "boundaries", **update}
    assert research.refused("deep_research_update_checklist", **arguments) == code
    assert status_of(research)["checklist"][2]["status"] == "pending"


@pytest.mark.parametrize("settled", ["completed", "skipped"])
def test_a_settled_checklist_item_stays_settled(research: Caller, settled: str) -> None:
    research.start()
    source = research.source()
    details = {"evidence_artifact_ids": [source]} if settled == "completed" else {"blocked_reason": "moot"}
    research.ok("deep_research_update_checklist", item_id="core_flow", status=settled, **details)
    for other in ("pending", "in_progress"):
        refused = research.refused("deep_research_update_checklist", item_id="core_flow", status=other)
        assert refused == "item_settled"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"roots": []}, "invalid_arguments"),
        ({"kind": "web_research"}, "invalid_arguments"),
        ({"stopping_condition": ""}, "invalid_arguments"),
        ({"expected_evidence": " "}, "invalid_arguments"),
        ({"evidence_artifact_ids": []}, "no_evidence"),
        ({"status": "blocked"}, "no_reason"),
        ({"blocked_reason": "but it worked"}, "invalid_arguments"),
        ({"evidence_artifact_ids": ["a_0"]}, "unknown_artifact"),
        (
            {"inspected_refs": [{"kind": "file", "locator": "", "label": "", "source_artifact_id": ""}]},
            "invalid_arguments",
        ),
        (
            {"inspected_refs": [{"kind": "file", "locator": "x", "label": "", "source_artifact_id": "s_9"}]},
            "unknown_artifact",
        ),
    ],
)
def test_a_step_without_its_bounds_is_refused(research: Caller, changes: dict[str, Any], code: str) -> None:
    research.start()
    source = research.source()
    arguments = {**STEP, "evidence_artifact_ids": [source], **changes}
    assert research.refused("deep_research_record_step", **arguments) == code
    assert research.session.run is not None and research.session.run.step_count == 0


def test_a_step_keeps_what_it_looked_at_who_worked_and_what_ended_it(desk: Desk, research: Caller) -> None:
    research.start()
    source = research.source()
    refs = [
        {"kind": kind, "locator": f"{kind}:main", "label": "entry", "source_artifact_id": "s_001"}
        for kind in ("file", "symbol", "config", "test", "runtime", "url")
    ]
    research.ok(
        "deep_research_record_step",
        **STEP | {"kind": "web_research", "roots": [], "keywords": ["sky blue"], "ignored_paths": ["dist"]},
        evidence_artifact_ids=["s_001"],
        inspected_refs=refs,
        worker_run_ids=["worker-7"],
    )
    research.ok("deep_research_record_step", **STEP | {"status": "blocked"}, blocked_reason="no key")
    research.ok("deep_research_record_step", **STEP | {"status": "stopped"})
    (row,) = desk.ledger.query("SELECT * FROM research_steps WHERE step = 1")
    assert row["stopping_condition"] == "all of src was read"
    assert (row["evidence"], row["worker_run_ids"]) == (f'["{source}"]', '["worker-7"]')
    assert len(desk.ledger.query("SELECT * FROM inspected_refs")) == 6
    view = status_of(research)
    assert view["worker_run_ids"] == ["worker-7"]
    assert [ref["kind"] for ref in view["inspected_refs"]] == [ref["kind"] for ref in refs]
    assert view["blockers"] == ["Step 2: no key"]


def test_completion_lists_everything_that_is_missing_at_once(research: Caller) -> None:
    research.start()
    refused = research("deep_research_complete")
    assert refused.data["code"] == "incomplete"
    wanted = [
        *(f"checklist item '{item}' is pending" for item in CHECKLIST),
        *(f"report section '{key}' is pending" for key in SECTIONS),
        "not in stage report_writing",
        "no source is archived",
        "report_artifact_id",
        "handoff_artifact_id",
        "implementation_tasks is empty",
        "recommended_issues and recommended_pull_requests are both empty",
        "verification_commands is empty",
    ]
    assert [item for item in wanted if item not in refused.text] == []


@pytest.mark.parametrize("missing", ["implementation_tasks", "recommended_issues", "verification_commands"])
def test_completion_without_a_structured_handoff_is_refused(research: Caller, missing: str) -> None:
    research.start()
    report, handoff = research.write_all()
    arguments = {"report_artifact_id": report, "handoff_artifact_id": handoff, **HANDOFF, missing: []}
    assert missing in research("deep_research_complete", **arguments).text
    assert research.session.run is not None and research.session.run.status == "active"
    if missing == "recommended_issues":
        arguments["recommended_pull_requests"] = ["a patch"]
        research.ok("deep_research_complete", **arguments)


def test_an_open_checklist_item_or_section_alone_holds_completion_up(research: Caller) -> None:
    research.start()
    source = research.source()
    research.checkpoint(stage="report_writing")
    for item in CHECKLIST[:-1]:
        research.ok(
            "deep_research_update_checklist", item_id=item, status="completed", evidence_artifact_ids=[source]
        )
    for key in SECTIONS[:-1]:
        research.section(key)
    research.section(SECTIONS[-1], status="drafted")
    report = research.save("report", "All of it [s_001].")
    handoff = research.save("handoff", "Go on [s_001].")
    call = {"report_artifact_id": report, "handoff_artifact_id": handoff, **HANDOFF}
    text = research("deep_research_complete", **call).text
    assert text.splitlines()[1:] == [
        "- checklist item 'verification_evidence' is pending; complete it with evidence or skip it",
        "- report section 'verification' is drafted; save it with status completed",
    ]
    assert (
        research.refused("deep_research_save_artifact", role="report", name="R", content="")
        == "sections_open"
    )
    research.ok(
        "deep_research_update_checklist",
        item_id=CHECKLIST[-1],
        status="skipped",
        blocked_reason="nothing runs",
    )
    research.section(SECTIONS[-1])
    done = research.ok("deep_research_complete", **call)
    assert "Verification evidence: skipped, nothing runs" in done.data["gaps"]


def test_report_and_handoff_have_to_be_what_they_are_called(research: Caller) -> None:
    research.start()
    report, handoff = research.write_all()
    text = research(
        "deep_research_complete", report_artifact_id=handoff, handoff_artifact_id=report, **HANDOFF
    ).text
    assert f"report_artifact_id '{handoff}' has role handoff, not report" in text
    assert f"handoff_artifact_id '{report}' has role report, not handoff" in text


def test_a_completed_section_does_not_go_back_to_drafted(research: Caller) -> None:
    research.start()
    research.source()
    research.section("conclusion")
    again = {"role": "report_section", "name": "N", "content": SECTION, "report_section_key": "conclusion"}
    refused = research.refused("deep_research_save_artifact", **again, report_section_status="drafted")
    assert refused == "section_regression"
    research.section("conclusion", content=f"Better. {SECTION}")


def test_a_completed_section_that_cites_nothing_is_refused(research: Caller) -> None:
    research.start()
    source = research.source()
    section = {"role": "report_section", "name": "N", "content": "Because.", "source_artifact_ids": [source]}
    key = {"report_section_key": "conclusion"}
    research.ok("deep_research_save_artifact", **section, **key, report_section_status="drafted")
    call = {**section, **key, "report_section_status": "completed"}
    assert research.refused("deep_research_save_artifact", **call) == "uncited"


def test_a_section_that_repeats_another_is_refused(research: Caller) -> None:
    research.start()
    research.write_all()
    repeated = {"role": "report_section", "name": "V", "content": f"About conclusion. {SECTION}"}
    status = {"report_section_key": "verification", "report_section_status": "completed"}
    assert research.refused("deep_research_save_artifact", **repeated, **status) == "repeated"


def test_a_report_that_cites_nothing_is_refused_and_one_older_than_a_section_says_so(
    research: Caller,
) -> None:
    research.start()
    report, handoff = research.write_all()
    source = research.session.workspace.run
    assert source is not None
    bare = research.save(
        "report", "Hello world, nothing here.", source_artifact_ids=[source.all_sources[0].artifact_id]
    )
    call = {"handoff_artifact_id": handoff, **HANDOFF}
    assert "cites nothing" in research("deep_research_complete", report_artifact_id=bare, **call).text
    research.section("verification", content=f"Checked anew. {SECTION}")
    research.ok("deep_research_save_artifact", role="report", name="R", content="")
    research.section("conclusion", content=f"Checked once more. {SECTION}")
    done = research.ok("deep_research_complete", report_artifact_id=report, **call)
    assert "The report was saved before the last change of a section" in done.data["gaps"]


def test_a_completed_run_takes_nothing_more_and_can_still_be_read(desk: Desk, research: Caller) -> None:
    report, _ = research.finish()
    before = research.session.run
    changes: list[tuple[str, dict[str, Any]]] = [
        ("deep_research_save_artifact", {"role": "source", "name": "S", "content": SKY, "locator": "file:a"}),
        (
            "deep_research_checkpoint",
            {"round": 9, "stage": "report_writing", "status": "active", "summary": "s"},
        ),
        ("deep_research_update_checklist", {"item_id": "core_flow", "status": "in_progress"}),
        ("deep_research_record_step", {**STEP, "evidence_artifact_ids": [report]}),
        ("deep_research_complete", {}),
        ("search_sources", {"query": "sky"}),
        ("archive_source", {"locator": "file:b"}),
    ]
    for name, arguments in changes:
        assert research.refused(name, **arguments) == "completed"
    assert research.session.run == before
    research.ok("deep_research_read_artifact", artifact_id=report)
    research.ok("deep_research_status")
    assert desk.verify().ok


def test_a_restart_finds_the_run_as_it_was_at_every_step(desk: Desk, research: Caller) -> None:
    def reopened(view: Callable[[Caller], object]) -> bool:
        with open_desk(desk.home) as other:
            return view(Caller(other.existing("s1"))) == view(research)

    research.start()
    research.source()
    assert reopened(lambda caller: caller.session.workspace)
    report, handoff = research.write_all()
    assert reopened(lambda caller: caller.session.workspace)
    with open_desk(desk.home) as other:
        Caller(other.existing("s1")).session.call(
            "deep_research_complete",
            {"report_artifact_id": report, "handoff_artifact_id": handoff, **HANDOFF},
            tool_call_id="from_elsewhere",
        )
    assert research.session.run is not None and research.session.run.status == "completed"
    assert reopened(lambda caller: caller.session.workspace)


def test_a_status_is_bounded_however_large_the_run(research: Caller) -> None:
    research.start()
    for n in range(105):
        research.source(f"text {n}", locator=f"file:{n}", name=f"S{n}")
    view = status_of(research)
    assert view["sources"] == 105
    assert [item["name"] for item in view["recent_artifacts"]] == [f"S{n}" for n in range(104, 4, -1)]


def test_what_was_not_done_is_listed_with_the_report(research: Caller) -> None:
    research.start()
    research.source()
    research.session.record([ev.ResearchStopped(reason="step_cap", detail="40 of 40 answers")])
    research.refused("archive_source", locator="https://nowhere.org/")
    research.refused("search_sources", query="sky")
    report, handoff = research.write_all()
    sealed = research.complete(report, handoff)
    assert list(sealed.data["gaps"]) == [
        "The research was stopped early (step_cap): 40 of 40 answers",
        "1 × fetch_unsafe",
        "1 × search_unavailable",
        "Supplied, not fetched by this program: s_001",
    ]
    assert status_of(research)["stop_reason"] == "step_cap"


def test_the_general_template_has_its_own_sections_and_asks_for_them(research: Caller) -> None:
    started = research.start(template="general")
    assert "key_takeaways" in started.text and "primary_sources" in started.text
    assert research.refused("deep_research_update_checklist", item_id="core_flow", status="pending") == (
        "invalid_arguments"
    )
    assert [section["key"] for section in status_of(research)["report_sections"]] == [
        "key_takeaways",
        "background",
        "findings",
        "disagreements_and_gaps",
        "recommendations",
    ]


def test_a_template_that_is_not_registered_is_refused_with_those_there_are(research: Caller) -> None:
    refused = research("deep_research_start", objective="Why?", scope_level="quick", template="poem")
    assert (refused.data["code"], "general, implementation" in refused.text) == ("invalid_arguments", True)
