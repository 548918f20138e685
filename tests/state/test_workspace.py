"""The laws of the fold: replay is incremental, every prefix is legal, deciding changes nothing."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from researchdesk.state import events as ev
from researchdesk.state.errors import Refusal
from researchdesk.state.ids import CallId, artifact_id, content_hash, numbered
from researchdesk.state.limits import LIMITS
from researchdesk.state.rows import NO_ROWS, RowChange, Stamp, row_digest, rows, shift_digest
from researchdesk.state.tables import TABLES
from researchdesk.state.templates import GENERAL, IMPLEMENTATION
from researchdesk.state.workspace import IllegalTransition, Workspace, evolve, fold
from researchdesk.stores.codec import encode_event
from researchdesk.tools.registry import REGISTRY
from researchdesk.tools.spec import Gathered
from researchdesk.tools.validation import checked, filled

OPENED = ev.SessionOpened(session_id="s1", labels=("mode:deep_research",))
STARTED = ev.ResearchStarted(
    objective="Why?", scope_level="quick", template=IMPLEMENTATION, limits=LIMITS["quick"]
)
ANCHOR = "the words of the source"
BODY = f"Here are {ANCHOR}, and more."
Step = tuple[str, dict[str, Any]]

names = st.sampled_from(["A note", "Ünïcode 語", "x" * 240, " "])
ids = st.sampled_from(["s_001", "s_002", "a_missing", ""])
bodies = st.sampled_from([BODY, f'It says "{ANCHOR}" [s_001].', "In 1990 [s_002].", "no citation", " "])


def step(tool: str, /, **arguments: st.SearchStrategy[Any]) -> st.SearchStrategy[Step]:
    return st.fixed_dictionaries(arguments).map(lambda made: (tool, made))


def some(strategy: st.SearchStrategy[str]) -> st.SearchStrategy[list[str]]:
    return st.lists(strategy.filter(bool), max_size=2)


steps: st.SearchStrategy[Step] = st.one_of(
    step(
        "deep_research_save_artifact",
        role=st.just("source"),
        name=names,
        content=bodies,
        locator=st.sampled_from(["https://a.org/x", "file:///tmp/x", "symbol main", ""]),
    ),
    step(
        "deep_research_save_artifact",
        role=st.sampled_from(["evidence_note", "outline", "report", "handoff"]),
        name=names,
        content=bodies,
        source_artifact_ids=some(ids),
    ),
    step(
        "deep_research_save_artifact",
        role=st.just("report_section"),
        name=names,
        content=bodies,
        source_artifact_ids=some(ids),
        report_section_key=st.sampled_from([part.key for part in IMPLEMENTATION.sections]),
        report_section_status=st.sampled_from(["drafted", "completed"]),
    ),
    step(
        "deep_research_update_checklist",
        item_id=st.sampled_from([part.key for part in IMPLEMENTATION.checklist]),
        status=st.sampled_from(["pending", "in_progress", "blocked", "completed", "skipped"]),
        evidence_artifact_ids=some(ids),
        blocked_reason=st.sampled_from(["", "because"]),
    ),
    step(
        "deep_research_record_step",
        kind=st.sampled_from(["local_exploration", "web_research"]),
        status=st.sampled_from(["completed", "blocked", "stopped"]),
        objective=st.just("o"),
        summary=st.just("s"),
        roots=st.just(["r"]),
        keywords=st.just(["k"]),
        stopping_condition=st.just("c"),
        expected_evidence=st.just("e"),
        evidence_artifact_ids=some(ids),
        blocked_reason=st.sampled_from(["", "why"]),
    ),
    step(
        "deep_research_checkpoint",
        round=st.integers(-1, 4),
        stage=st.sampled_from(["knowledge_base", "report_writing"]),
        status=st.sampled_from(["active", "blocked"]),
        summary=st.sampled_from(["so far", ""]),
        artifact_ids=some(ids),
    ),
    step("deep_research_complete", report_artifact_id=ids, handoff_artifact_id=ids),
    step("deep_research_status"),
)


def play(script: list[Step]) -> list[ev.Event]:
    """The events that the tools decide on, one call after the other; a refused call adds none."""
    happened: list[ev.Event] = [OPENED, STARTED]
    workspace = fold(happened)
    texts: dict[str, str] = {}
    for n, (name, arguments) in enumerate(script):
        call = CallId(session="s1", turn="", call=f"c{n}")
        spec = REGISTRY.investigative_loop[name]
        try:
            parsed = checked(spec, filled(spec, arguments))
            gathered = Gathered(boundary="b" * 16, texts=texts)
            spec.needs(workspace, parsed, call)
            decision = spec.decide(workspace, parsed, gathered, call)
        except Refusal:
            assert workspace == fold(happened), "refusing changed the state"
            continue
        assert workspace == fold(happened), "deciding changed the state"
        assert decision == spec.decide(workspace, parsed, gathered, call), "deciding is not a function"
        for key, body in decision.bodies.items():
            texts |= {a.artifact_id: body.decode() for a in decision.events if _is_of(a, key)}  # type: ignore[union-attr]
        happened += decision.events
        workspace = fold(decision.events, workspace)
    return happened


def _is_of(event: ev.Event, key: str) -> bool:
    return isinstance(event, ev.ArtifactRecorded) and event.content_hash == key


@settings(max_examples=60)
@given(script=st.lists(steps, max_size=25))
def test_what_the_tools_decide_is_legal_at_every_step_and_replays_to_the_same_state(
    script: list[Step],
) -> None:
    happened = play(script)
    whole = fold(happened)
    for cut in range(1, len(happened) + 1):
        prefix = fold(happened[:cut])
        assert prefix.seq == cut
        if cut in (1, len(happened) // 2, len(happened)):
            assert fold(happened[cut:], prefix) == whole
    again = [ev.event_from_json(ev.EVENT_NAMES[type(event)], encode_event(event)) for event in happened]
    assert again == happened
    assert fold(cast(list[ev.Event], again)) == whole


@settings(max_examples=60)
@given(script=st.lists(steps, max_size=25))
def test_the_digest_in_step_with_the_rows_is_the_digest_over_all_rows(script: list[Step]) -> None:
    workspace, digest = Workspace(), NO_ROWS
    kept: dict[tuple[str, Any], Any] = {}
    for seq, event in enumerate(play(script), start=1):
        after = evolve(workspace, event)
        changes = rows(event, workspace, after, Stamp(seq=seq, ts="t"))
        for change in changes:
            assert change.new is not None and len(change.new) == len(TABLES[change.table].columns)
            key = (change.table, change.key)
            assert kept.get(key) == change.old, "a change names the row that stood there"
            kept[key] = change.new
        digest, workspace = shift_digest(digest, changes), after
    total = sum(row_digest(table, row) for (table, _), row in kept.items())
    assert digest == f"{total % (1 << 256):064x}"


@given(order=st.permutations(range(6)))
def test_the_digest_over_rows_does_not_depend_on_their_order(order: list[int]) -> None:
    changes = tuple(RowChange(table="searches", new=("s", n, "q")) for n in range(6))
    assert shift_digest(NO_ROWS, tuple(changes[n] for n in order)) == shift_digest(NO_ROWS, changes)


@given(script=st.lists(steps, max_size=20))
@settings(max_examples=40)
def test_rounds_and_stages_only_grow(script: list[Step]) -> None:
    order = ("knowledge_base", "report_writing", "completed")
    workspace = Workspace()
    seen: tuple[int, int] = (0, 0)
    for event in play(script):
        workspace = evolve(workspace, event)
        if workspace.run is not None:
            now = (workspace.run.round, order.index(workspace.run.stage))
            assert now[0] >= seen[0] and now[1] >= seen[1]
            seen = now


# -- events that cannot follow ------------------------------------------------------------------------------------


def source(n: int = 1) -> list[ev.Event]:
    key = artifact_id(CallId(session="s1", turn="", call=f"c{n}"))
    return [
        ev.ArtifactRecorded(
            artifact_id=key,
            role="source",
            name="S",
            summary="",
            locator="file:x",
            content_hash=content_hash(b"x"),
            chars=1,
            provenance="supplied",
        ),
        ev.SourceRecorded(
            source_id=numbered("s", n),
            artifact_id=key,
            url=f"file:{n}",
            domain="",
            origin="supplied",
            origin_reason="",
            title=None,
            receipt=None,
        ),
    ]


ARTIFACT, SOURCE = source()
assert isinstance(ARTIFACT, ev.ArtifactRecorded) and isinstance(SOURCE, ev.SourceRecorded)
NOTE = replace(
    ARTIFACT,
    artifact_id="a_note",
    role="evidence_note",
    locator="",
    source_artifact_ids=(ARTIFACT.artifact_id,),
    provenance="written",
)
SOURCES = (ARTIFACT, SOURCE)
TWIN = replace(ARTIFACT, artifact_id="a_twin")
PURGED = ev.ArtifactPurged(
    artifact_id=ARTIFACT.artifact_id, hashes=(ARTIFACT.content_hash,), actor="human:me", reason="law"
)
MARK = ev.CheckpointRecorded(round=2, stage="report_writing", status="active", summary="s")
STEP = ev.StepRecorded(
    step=1,
    kind="web_research",
    status="stopped",
    objective="o",
    summary="s",
    keywords=("k",),
    stopping_condition="c",
    expected_evidence="e",
)
ASKED = ev.ModelCalled(ordinal=1, model="m", stage="knowledge_base", request_digest="d", input_tokens=5)
ANSWERED = ev.ModelAnswered(
    ordinal=1,
    turn_id="t_1",
    message_id="m_1",
    text=ev.Stowed(),
    calls=(ev.AskedCall(id="c1", name="x", arguments=ev.Stowed(inline="{}")),),
    request_digest="d",
    input_tokens=5,
    output_tokens=2,
    usage_reported=True,
)
FAILED = ev.ModelFailed(ordinal=1, code="transient", detail="no answer")
ASKED_AGAIN = replace(ASKED, ordinal=2)
AGAIN_ANSWERED = replace(ANSWERED, calls=())
RECORD = ev.CallRecorded(
    turn_id="t_1",
    tool_call_id="c1",
    name="x",
    input_digest="d",
    arguments=ev.Stowed(),
    status="success",
    code="",
    text=ev.Stowed(),
    data="{}",
)


@pytest.mark.parametrize(
    ("before", "event"),
    [
        ([], STARTED),
        ([], ARTIFACT),
        ([OPENED], OPENED),
        ([OPENED], ARTIFACT),
        ([OPENED], MARK),
        ([OPENED, STARTED], STARTED),
        ([OPENED, STARTED], NOTE),
        ([OPENED, STARTED, ARTIFACT], ARTIFACT),
        ([OPENED, STARTED, ARTIFACT], replace(NOTE, source_artifact_ids=())),
        (
            [OPENED, STARTED, ARTIFACT, NOTE],
            replace(NOTE, artifact_id="a_2", source_artifact_ids=("a_note",)),
        ),
        ([OPENED, STARTED], SOURCE),
        ([OPENED, STARTED, ARTIFACT, SOURCE], SOURCE),
        ([OPENED, STARTED, ARTIFACT], replace(SOURCE, source_id="s_002")),
        ([OPENED, STARTED, ARTIFACT, NOTE], replace(SOURCE, artifact_id="a_note")),
        ([OPENED, STARTED, MARK], replace(MARK, round=1)),
        ([OPENED, STARTED, MARK], replace(MARK, stage="knowledge_base")),
        ([OPENED, STARTED], replace(MARK, artifact_ids=("a_none",))),
        ([OPENED, STARTED], replace(STEP, step=2)),
        ([OPENED, STARTED, STEP], STEP),
        ([OPENED, STARTED], replace(STEP, keywords=())),
        ([OPENED, STARTED], replace(STEP, kind="local_exploration")),
        ([OPENED, STARTED], replace(STEP, status="completed")),
        ([OPENED, STARTED], replace(STEP, status="blocked")),
        ([OPENED, STARTED], replace(STEP, blocked_reason="why")),
        ([OPENED, STARTED], replace(STEP, stopping_condition="")),
        ([OPENED, STARTED], replace(STEP, inspected_refs=(ev.InspectedRef(kind="file", locator=""),))),
        (
            [OPENED, STARTED],
            replace(
                STEP,
                inspected_refs=(ev.InspectedRef(kind="file", locator="x", source_artifact_id="a_none"),),
            ),
        ),
        ([OPENED, STARTED], replace(STEP, evidence_artifact_ids=("a_none",))),
        ([OPENED, STARTED], ev.ChecklistUpdated(item_id="nothing", status="pending")),
        ([OPENED, STARTED], ev.ChecklistUpdated(item_id="core_flow", status="completed")),
        ([OPENED, STARTED], ev.ChecklistUpdated(item_id="core_flow", status="skipped")),
        ([OPENED, STARTED], ev.ResearchCompleted(report_artifact_id="r", handoff_artifact_id="h")),
        ([OPENED, STARTED], ev.ChecklistUpdated(item_id="core_flow", status="pending", blocked_reason="r")),
        ([OPENED, STARTED], ev.ResearchResumed()),
        ([OPENED, STARTED, ev.ResearchBlocked(reason="r"), ev.ResearchResumed()], ev.ResearchResumed()),
        ([OPENED, STARTED, ASKED, FAILED, ASKED_AGAIN, AGAIN_ANSWERED], ev.ResearchResumed()),
        ([OPENED], PURGED),
        ([OPENED, STARTED], PURGED),
        ([OPENED, STARTED, *SOURCES], replace(PURGED, artifact_id="a_none")),
        ([OPENED, STARTED, *SOURCES, TWIN], PURGED),
        ([OPENED, STARTED, *SOURCES, PURGED], PURGED),
        ([OPENED, STARTED, *SOURCES], replace(PURGED, hashes=(content_hash(b"never named"),))),
        ([OPENED], FAILED),
        ([OPENED, ASKED], replace(FAILED, ordinal=2)),
        ([OPENED, ASKED, FAILED], FAILED),
        ([OPENED, ASKED, ANSWERED], FAILED),
        ([OPENED], ANSWERED),
        ([OPENED], replace(ASKED, ordinal=2)),
        ([OPENED, ASKED, ANSWERED], replace(ASKED, ordinal=2)),
        ([OPENED, ASKED, ANSWERED], replace(ANSWERED, ordinal=2)),
        ([OPENED, ASKED], replace(ANSWERED, calls=ANSWERED.calls * 2)),
        ([OPENED, ASKED, ANSWERED], replace(RECORD, turn_id="t_2")),
        ([OPENED, ASKED, ANSWERED], replace(RECORD, tool_call_id="c2")),
        ([OPENED, ASKED, ANSWERED, RECORD], RECORD),
    ],
)
def test_an_event_that_cannot_follow_is_refused_and_the_state_stays(
    before: list[ev.Event], event: ev.Event
) -> None:
    workspace = fold(before)
    with pytest.raises(IllegalTransition):
        evolve(workspace, event)
    assert workspace == fold(before)


def _settled(template: Any) -> list[ev.Event]:
    done: list[ev.Event] = [replace(STARTED, template=template), ARTIFACT, SOURCE, MARK]
    done += [
        ev.ChecklistUpdated(item_id=p.key, status="skipped", blocked_reason="no") for p in template.checklist
    ]
    done += [
        replace(
            NOTE,
            artifact_id=f"a_{p.key}",
            role="report_section",
            report_section_key=p.key,
            report_section_status="completed",
        )
        for p in template.sections
    ]
    done.append(replace(NOTE, artifact_id="a_report", role="report"))
    done.append(replace(NOTE, artifact_id="a_handoff", role="handoff"))
    return [OPENED, *done]


@pytest.mark.parametrize("template", [IMPLEMENTATION, GENERAL], ids=lambda t: t.name)
def test_a_completed_run_is_terminal(template: Any) -> None:
    done = ev.ResearchCompleted(report_artifact_id="a_report", handoff_artifact_id="a_handoff")
    sealed = fold([*_settled(template), done])
    assert sealed.run is not None and sealed.run.status == "completed"
    for event in (*source(2), NOTE, MARK, STEP, done, ev.ResearchBlocked(reason="r"), ev.ResearchResumed()):
        with pytest.raises(IllegalTransition, match="completed"):
            evolve(sealed, event)


@pytest.mark.parametrize(
    "drop",
    [
        lambda e: isinstance(e, ev.ChecklistUpdated) and e.item_id == "boundaries",
        lambda e: isinstance(e, ev.ArtifactRecorded) and e.report_section_key == "verification",
        lambda e: isinstance(e, ev.ArtifactRecorded) and e.role == "report",
        lambda e: isinstance(e, ev.ArtifactRecorded) and e.role == "handoff",
    ],
)
def test_a_run_with_something_open_cannot_be_sealed_by_any_event(drop: Callable[[ev.Event], bool]) -> None:
    almost = fold(event for event in _settled(IMPLEMENTATION) if not drop(event))
    with pytest.raises(IllegalTransition):
        evolve(almost, ev.ResearchCompleted(report_artifact_id="a_report", handoff_artifact_id="a_handoff"))


@pytest.mark.parametrize(
    "before",
    [
        [ev.ResearchBlocked(reason="r")],
        [ev.ResearchStopped(reason="step_cap", detail="d")],
        [ASKED, FAILED],
    ],
)
def test_a_run_that_was_blocked_stopped_or_failed_can_be_resumed(before: list[ev.Event]) -> None:
    resumed = fold([OPENED, STARTED, *before, ev.ResearchResumed()])
    assert resumed.run is not None
    assert (resumed.run.status, resumed.run.stop_reason, resumed.failures_in_row) == ("active", None, 0)


def test_a_shared_body_is_let_go_with_the_last_artifact_that_has_it() -> None:
    key = content_hash(b"x")
    first = fold([OPENED, STARTED, *SOURCES, TWIN, replace(PURGED, hashes=())])
    assert (set(first.purged_artifacts), first.standing_bodies) == ({PURGED.artifact_id}, (key,))
    both = evolve(first, replace(PURGED, artifact_id="a_twin"))
    assert (both.standing_bodies, both.bodies[key].released_seq) == ((), both.seq)
    again = evolve(both, replace(TWIN, artifact_id="a_third"))
    assert again.standing_bodies == (key,)


def test_what_a_call_was_asked_with_is_kept_until_its_artifact_is_purged() -> None:
    key, result = content_hash(b"y"), content_hash(b"r")
    asked = replace(ANSWERED.calls[0], arguments=ev.Stowed(inline=f'{{"content":{{"$blob":"{key}"}}}}'))
    record = replace(
        RECORD,
        arguments=ev.Stowed(inline="{}"),
        text=ev.Stowed(hash=result),
        entity_type="source",
        entity_id="s_001",
    )
    waiting = fold([OPENED, STARTED, *SOURCES, ASKED, replace(ANSWERED, calls=(asked,))])
    purge = replace(PURGED, hashes=(content_hash(b"x"), key))
    with pytest.raises(IllegalTransition, match=key):
        evolve(waiting, purge)
    done = evolve(evolve(waiting, record), replace(purge, hashes=(*purge.hashes, result)))
    assert done.standing_bodies == ()


def test_a_request_without_an_answer_counts_to_the_budget() -> None:
    asked = fold([OPENED, ASKED])
    assert asked.tokens == 5
    retried = fold([OPENED, ASKED, replace(ASKED, ordinal=2)])
    assert retried.tokens == 10
    answered = fold([OPENED, ASKED, ANSWERED])
    assert answered.tokens == 7


def test_a_turn_is_open_until_each_of_its_calls_has_a_record() -> None:
    two = replace(
        ANSWERED, calls=(*ANSWERED.calls, ev.AskedCall(id="c2", name="y", arguments=ev.Stowed(inline="{}")))
    )
    workspace = fold([OPENED, ASKED, two])
    assert workspace.open_turn is not None and workspace.open_turn.waiting == {"c1", "c2"}
    workspace = evolve(workspace, RECORD)
    assert workspace.open_turn is not None and workspace.open_turn.waiting == {"c2"}
    assert evolve(workspace, replace(RECORD, tool_call_id="c2")).open_turn is None
