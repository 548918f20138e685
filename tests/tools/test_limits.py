"""Every bound of a run: reached, and refused one beyond."""

from typing import Any

import pytest

from researchdesk.state import events as ev
from researchdesk.state.ids import content_hash, numbered
from researchdesk.state.limits import (
    ARTIFACTS,
    BODY_CHARS,
    CHECKPOINT_CHARS,
    CHECKPOINT_ITEM_CHARS,
    CHECKPOINT_ITEMS,
    CHECKPOINTS,
    INSPECTED_REFS,
    LIST_ITEMS,
    LOCATOR_CHARS,
    NAME_CHARS,
    OBJECTIVE_CHARS,
    QUERY_CHARS,
    REFERENCES,
    STEP_CHARS,
    STEPS,
)
from researchdesk.state.workspace import IllegalTransition
from researchdesk.tools.workspace import Desk

from ..desks import STEP, Caller

SOURCE = {"role": "source", "name": "S", "content": "text", "locator": "file:x"}
CHECKPOINT = {"round": 0, "stage": "knowledge_base", "status": "active", "summary": "s"}
REF = {"kind": "file", "locator": "x", "label": "", "source_artifact_id": ""}
COMPLETE: dict[str, Any] = {}

BOUNDS: list[tuple[str, dict[str, Any], str, int]] = [
    ("deep_research_save_artifact", SOURCE, "name", NAME_CHARS),
    ("deep_research_save_artifact", SOURCE, "locator", LOCATOR_CHARS),
    ("deep_research_save_artifact", SOURCE, "summary", STEP_CHARS),
    ("deep_research_save_artifact", SOURCE, "content", BODY_CHARS),
    ("deep_research_checkpoint", CHECKPOINT, "summary", CHECKPOINT_CHARS),
    ("deep_research_record_step", STEP, "summary", STEP_CHARS),
    ("deep_research_record_step", STEP, "stopping_condition", STEP_CHARS),
    ("search_sources", {}, "query", QUERY_CHARS),
]


@pytest.mark.parametrize(("name", "arguments", "field", "limit"), BOUNDS)
def test_a_text_may_be_as_long_as_its_limit_and_no_longer(
    research: Caller, name: str, arguments: dict[str, Any], field: str, limit: int
) -> None:
    research.start()
    fits = research(name, **{**arguments, field: "é" * limit})
    assert fits.data.get("code") in (None, "search_unavailable")
    beyond = research(name, **{**arguments, field: "é" * (limit + 1)})
    assert beyond.data["code"] == "invalid_arguments"
    assert field in beyond.text or f"{limit:,}" in beyond.text


@pytest.mark.parametrize(
    ("name", "arguments", "field", "item", "limit"),
    [
        ("deep_research_checkpoint", CHECKPOINT, "next_steps", "n", CHECKPOINT_ITEMS),
        ("deep_research_checkpoint", CHECKPOINT, "open_questions", "q", CHECKPOINT_ITEMS),
        ("deep_research_checkpoint", CHECKPOINT, "artifact_ids", "s_001", REFERENCES),
        ("deep_research_record_step", STEP, "keywords", "k", LIST_ITEMS),
        ("deep_research_record_step", STEP, "ignored_paths", "p", LIST_ITEMS),
        ("deep_research_record_step", STEP, "evidence_artifact_ids", "s_001", REFERENCES),
        ("deep_research_record_step", STEP, "worker_run_ids", "w", REFERENCES),
        ("deep_research_record_step", STEP, "inspected_refs", REF, INSPECTED_REFS),
    ],
)
def test_a_list_may_hold_as_many_as_its_limit_and_no_more(
    research: Caller, name: str, arguments: dict[str, Any], field: str, item: Any, limit: int
) -> None:
    research.start()
    research.source()
    research.ok(name, **{**arguments, field: [item] * limit})
    beyond = research(name, **{**arguments, field: [item] * (limit + 1)})
    assert beyond.data["code"] == "invalid_arguments"
    assert field in beyond.text and str(limit) in beyond.text


def test_a_list_item_has_its_own_limit(research: Caller) -> None:
    research.start()
    research.ok("deep_research_checkpoint", **CHECKPOINT, next_steps=["n" * CHECKPOINT_ITEM_CHARS])
    long = {**CHECKPOINT, "next_steps": ["n" * (CHECKPOINT_ITEM_CHARS + 1)]}
    assert research.refused("deep_research_checkpoint", **long) == "invalid_arguments"


def test_an_objective_is_counted_after_its_white_space_is_folded(research: Caller) -> None:
    too_long = {"objective": "w" * (OBJECTIVE_CHARS + 1), "scope_level": "quick"}
    assert research.refused("deep_research_start", **too_long) == "invalid_arguments"
    assert (
        research.refused("deep_research_start", objective=" \n ", scope_level="quick") == "invalid_arguments"
    )
    research.start("  " + "w" * OBJECTIVE_CHARS + "  \n")
    assert research.session.run is not None and len(research.session.run.objective) == OBJECTIVE_CHARS


def fill(research: Caller, events: list[ev.Event]) -> None:
    """Record many events at once, as only the run's own machinery can."""
    research.session.record(events, bodies={content_hash(b"x"): b"x"})


def artifacts(count: int) -> list[ev.Event]:
    made: list[ev.Event] = []
    for n in range(count):
        made.append(
            ev.ArtifactRecorded(
                artifact_id=f"a_{n}",
                role="source",
                name="S",
                summary="",
                locator="file:x",
                content_hash=content_hash(b"x"),
                chars=1,
                provenance="supplied",
            )
        )
        made.append(
            ev.SourceRecorded(
                source_id=numbered("s", n + 1),
                artifact_id=f"a_{n}",
                url=f"file:{n}",
                domain="",
                origin="supplied",
                origin_reason="",
                title=None,
                receipt=None,
            )
        )
    return made


def test_a_run_holds_two_thousand_artifacts_and_not_one_more(desk: Desk, research: Caller) -> None:
    research.start()
    fill(research, artifacts(ARTIFACTS - 1))
    research.source()
    refused = research("deep_research_save_artifact", **SOURCE)
    assert (refused.data["code"], "2,000" in refused.text) == ("limit_reached", True)
    note = {"role": "evidence_note", "name": "N", "content": "x [s_001]"}
    assert research.refused("deep_research_save_artifact", **note) == "limit_reached"
    with pytest.raises(IllegalTransition, match="2000"):
        fill(research, [ev.ArtifactRecorded(**{**_fields(artifacts(1)[0]), "artifact_id": "a_more"})])
    research.ok("deep_research_status")
    assert desk.verify().ok


def _fields(event: ev.Event) -> dict[str, Any]:
    return {name: getattr(event, name) for name in type(event).__dataclass_fields__}


def test_a_run_holds_five_hundred_steps_and_not_one_more(research: Caller) -> None:
    research.start()
    steps: list[ev.Event] = [
        ev.StepRecorded(
            step=n,
            kind="web_research",
            status="stopped",
            objective="o",
            summary="s",
            keywords=("k",),
            stopping_condition="c",
            expected_evidence="e",
        )
        for n in range(1, STEPS)
    ]
    fill(research, steps)
    research.ok("deep_research_record_step", **STEP)
    assert research.refused("deep_research_record_step", **STEP) == "limit_reached"


def test_a_run_holds_five_hundred_checkpoints_and_not_one_more(research: Caller) -> None:
    research.start()
    mark = ev.CheckpointRecorded(round=0, stage="knowledge_base", status="active", summary="s")
    fill(research, [mark] * (CHECKPOINTS - 1))
    research.ok("deep_research_checkpoint", **CHECKPOINT)
    assert research.refused("deep_research_checkpoint", **CHECKPOINT) == "limit_reached"
