"""The events of an investigation: what happened between two states, and nothing that may not happen."""

from collections import Counter
from dataclasses import replace
from random import Random
from typing import cast

import pytest

from researchdesk.state import events as ev
from researchdesk.state.claims import Assumption, Claim, Contradiction, Datapoint, Gap, quoted
from researchdesk.state.errors import UsageError
from researchdesk.state.ids import content_hash
from researchdesk.state.investigation import Investigation
from researchdesk.state.investigation_diff import diff
from researchdesk.state.limits import LIMITS, Limits, override
from researchdesk.state.notes_grammar import parse, render
from researchdesk.state.questions import Attempt, Question, Transition
from researchdesk.state.workspace import IllegalTransition, Workspace, evolve, fold
from researchdesk.stores.codec import encode_event

from .investigations import OBJECTIVE, SOURCES, TEXTS, begin, happened, opening, play


def begun() -> Workspace:
    """A session whose investigation has just begun."""
    changed = begin()
    nothing = Investigation(notes=changed.investigation.notes)
    return fold([*opening(), *diff(nothing, changed.investigation, changed.transitions)])


@pytest.mark.parametrize("block", range(10))
def test_folding_the_differences_gives_the_states_in_a_thousand_random_histories(block: int) -> None:
    kinds: Counter[str] = Counter()
    for seed in range(block * 110, (block + 1) * 110):
        workspace = begun()
        assert workspace.investigation == begin().investigation
        for step in play(seed, 40):
            events = diff(step.before, step.after, step.transitions, step.reason)
            workspace = fold(events, workspace)
            assert workspace.investigation == step.after
            kinds.update(ev.EVENT_NAMES[type(event)] for event in events)
    assert len(kinds) == 13, f"every kind of event comes up: {kinds}"


def test_the_difference_over_many_operations_leads_to_the_same_state_as_their_differences() -> None:
    for seed in range(300):
        played = play(seed, 40)
        transitions = [t for step in played for t in step.transitions]
        last = played[-1].after if played else begin().investigation
        workspace = fold(diff(begin().investigation, last, transitions), begun())
        assert workspace.investigation == last


def test_stored_events_read_back_to_the_same_state_and_the_last_version_is_the_notes() -> None:
    for seed in range(100):
        events = happened(seed, 40)
        again = [ev.event_from_json(ev.EVENT_NAMES[type(e)], encode_event(e)) for e in events]
        assert again == events
        workspace = fold(cast(list[ev.Event], again))
        assert workspace.investigation is not None
        versions = [e for e in events if isinstance(e, ev.NotesVersionRecorded)]
        assert workspace.notes_version == len(versions)
        text = render(workspace.investigation.notes)
        if versions:
            assert versions[-1].text_hash == content_hash(text.encode())
        assert parse(text) == workspace.investigation.notes


def test_a_change_of_the_notes_says_why() -> None:
    reasons: Counter[str] = Counter()
    for seed in range(60):
        for step in play(seed, 40):
            with_reason = diff(step.before, step.after, step.transitions, step.reason)
            without = diff(step.before, step.after, step.transitions)
            assert with_reason[:-1] == without[:-1]
            last = without[-1] if without else None
            assert isinstance(last, ev.NotesVersionRecorded) == (step.before.notes != step.after.notes)
            if isinstance(last, ev.NotesVersionRecorded):
                reasons[last.reason] += 1
    assert reasons.keys() == {"notes_append", "notes_update", "notes_scratch"}


def test_a_run_has_no_investigation_before_its_objective_is_a_question() -> None:
    workspace = fold(opening())
    assert workspace.investigation is None
    with pytest.raises(IllegalTransition, match="not begun"):
        evolve(workspace, ev.ScratchSet(text="x"))
    with pytest.raises(IllegalTransition, match="not started"):
        evolve(fold(opening()[:1]), ev.ScratchSet(text="x"))


def test_sources_archived_before_and_after_it_began_are_in_the_notes() -> None:
    events = opening()
    changed = begin()
    nothing = Investigation(notes=changed.investigation.notes)
    first = diff(nothing, changed.investigation, changed.transitions)
    early = fold([*events, *first])
    late = fold([*events[:4], *first, *events[4:]])
    assert early.investigation == late.investigation
    assert early.investigation is not None
    assert tuple(early.investigation.notes.sources[s.id] for s in SOURCES) == SOURCES


QUESTION = Question(
    id="q_002",
    parent_id="q_001",
    depth=1,
    kind="question",
    text="Who?",
    status="pending",
    created_seq=2,
    trans_seq=1,
)
BIRTH = Transition(
    question_id="q_002",
    seq=1,
    from_status="",
    to_status="pending",
    trigger="created",
    actor="agent",
    reason="",
    priority=50,
)
BORN = ev.QuestionRecorded(question=QUESTION, transition=BIRTH)
TAKEN = ev.QuestionRecorded(
    question=replace(QUESTION, status="in_progress", trans_seq=2),
    transition=replace(BIRTH, seq=2, from_status="pending", to_status="in_progress", trigger="selected"),
)
DONE = ev.QuestionRecorded(
    question=replace(QUESTION, status="resolved", trans_seq=3, answer="Me."),
    transition=replace(BIRTH, seq=3, from_status="in_progress", to_status="resolved", trigger="resolved"),
)
TRIED = ev.AttemptRecorded(
    attempt=Attempt(
        id="at_001", question_id="q_001", seq=1, kind="search", query="q", outcome="", results=None
    )
)
CLAIM = ev.ClaimRecorded(claim=Claim(id="c_001", text="So.", kind="fact"))
LINK = ev.ClaimSourceRecorded(
    claim_id="c_001", link=quoted(SOURCES[0], TEXTS["s_001"], "at least 8", stance="supports")
)
CHALLENGE = ev.ChallengeRecorded(
    challenge=next(c for step in play(3, 110) for c in step.after.challenges if c.target_kind == "conclusion")
)
OPEN = ev.ChallengeRecorded(
    challenge=replace(
        CHALLENGE.challenge,
        id="ch_001",
        status="open",
        outcome="",
        evidence="",
        source_ids=(),
        result_claim_id="",
        attempt_id="",
        cause="",
    )
)


def question(born: ev.QuestionRecorded, **more: object) -> ev.QuestionRecorded:
    return replace(born, question=replace(born.question, **more))  # type: ignore[arg-type]


def transition(born: ev.QuestionRecorded, **more: object) -> ev.QuestionRecorded:
    return replace(born, transition=replace(born.transition, **more))  # type: ignore[arg-type]


def challenge(made: ev.ChallengeRecorded, **more: object) -> ev.ChallengeRecorded:
    return ev.ChallengeRecorded(challenge=replace(made.challenge, **more))  # type: ignore[arg-type]


def claim(**more: object) -> ev.ClaimRecorded:
    return ev.ClaimRecorded(claim=replace(CLAIM.claim, **more))  # type: ignore[arg-type]


def link(**more: object) -> ev.ClaimSourceRecorded:
    return replace(LINK, link=replace(LINK.link, **more))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("before", "event"),
    [
        ([], question(BORN, id="q_003")),
        ([], transition(BORN, question_id="q_001")),
        ([], transition(BORN, to_status="blocked")),
        ([], transition(BORN, priority=51)),
        ([], transition(BORN, seq=2)),
        ([], transition(BORN, from_status="pending")),
        ([], transition(BORN, trigger="selected")),
        ([], question(BORN, kind="objective")),
        ([], question(BORN, parent_id="q_009")),
        ([], question(BORN, depth=2)),
        ([], question(BORN, depends_on=("q_009",))),
        ([], question(BORN, created_seq=3)),
        ([], question(BORN, answer="Me.")),
        ([], TAKEN),
        ([BORN], BORN),
        ([BORN], DONE),
        ([BORN], question(TAKEN, text="Other?")),
        ([BORN], question(TAKEN, trans_seq=3)),
        ([BORN], transition(question(TAKEN, trans_seq=3), seq=3)),
        ([BORN, TAKEN], question(DONE, answer="")),
        ([BORN, TAKEN], question(DONE, claim_ids=("c_001",))),
        ([BORN, TAKEN, DONE], DONE),
        ([], ev.DependencyRecorded(question_id="q_001", depends_on="q_002")),
        ([BORN], ev.DependencyRecorded(question_id="q_002", depends_on="q_002")),
        (
            [BORN, ev.DependencyRecorded(question_id="q_001", depends_on="q_002")],
            ev.DependencyRecorded(question_id="q_002", depends_on="q_001"),
        ),
        (
            [BORN, ev.DependencyRecorded(question_id="q_001", depends_on="q_002")],
            ev.DependencyRecorded(question_id="q_001", depends_on="q_002"),
        ),
        ([], ev.AttemptRecorded(attempt=replace(TRIED.attempt, id="at_002"))),
        ([], ev.AttemptRecorded(attempt=replace(TRIED.attempt, seq=2))),
        ([], ev.AttemptRecorded(attempt=replace(TRIED.attempt, question_id="q_002"))),
        ([], ev.AttemptRecorded(attempt=replace(TRIED.attempt, kind="challenge"))),
        ([], ev.AttemptRecorded(attempt=replace(TRIED.attempt, challenge_id="ch_001"))),
        ([], ev.AttemptRecorded(attempt=replace(TRIED.attempt, under="at_009"))),
        ([ev.AttemptRecorded(attempt=replace(TRIED.attempt, results=1))], TRIED),
        ([TRIED], ev.AttemptRecorded(attempt=replace(TRIED.attempt, kind="fetch", results=1))),
        ([], claim(id="c_002")),
        ([], claim(status="VERIFIED")),
        ([], claim(question_id="q_009")),
        ([], claim(links=(LINK.link,))),
        ([CLAIM], claim(status="VERIFIED")),
        ([CLAIM, claim(status="RETRACTED")], CLAIM),
        ([CLAIM, claim(status="REFUTED")], CLAIM),
        ([], LINK),
        ([CLAIM, LINK], LINK),
        ([CLAIM], link(artifact_id="a_other")),
        ([CLAIM], link(source_id="s_009")),
        ([CLAIM], link(quote_end=99)),
        ([CLAIM], link(quote="", quote_start=0, quote_end=0)),
        ([], challenge(OPEN, id="ch_002")),
        ([], challenge(OPEN, target_kind="claim", target_id="c_001")),
        ([], challenge(OPEN, target_kind="question_answer", target_id="q_009")),
        ([], challenge(OPEN, status="closed", outcome="inconclusive")),
        ([OPEN], challenge(OPEN, status="closed")),
        ([OPEN], challenge(OPEN, outcome="inconclusive")),
        ([OPEN], challenge(OPEN, status="closed", outcome="survived")),
        ([OPEN], challenge(OPEN, status="closed", outcome="refuted", evidence="e")),
        ([OPEN], challenge(OPEN, status="closed", outcome="refuted", evidence="e", source_ids=("s_009",))),
        ([OPEN], challenge(OPEN, status="closed", outcome="inconclusive", result_claim_id="c_009")),
        ([OPEN], challenge(OPEN, query="another")),
        ([OPEN, TRIED], challenge(OPEN, attempt_id="at_001")),
        ([OPEN, challenge(OPEN, status="closed", outcome="inconclusive")], OPEN),
        ([], ev.DatapointRecorded(datapoint=Datapoint(id="d_002", label="l", value="1"))),
        ([], ev.DatapointRecorded(datapoint=Datapoint(id="d_001", label="l", value="1", about="c_001"))),
        (
            [],
            ev.ContradictionRecorded(
                contradiction=Contradiction(id="con_001", claim_id="c_001", other_id="s_001", differs="d")
            ),
        ),
        (
            [CLAIM],
            ev.ContradictionRecorded(
                contradiction=Contradiction(id="con_001", claim_id="c_001", other_id="x", differs="d")
            ),
        ),
        ([], ev.AssumptionRecorded(assumption=Assumption(id="as_001", text="t", question_id="q_009"))),
        ([], ev.GapRecorded(gap=Gap(id="gap_002", text="t"))),
        ([], ev.SourceNoted(source_id="s_009", note="n")),
        ([], ev.ScratchSet(text="x" * 8_001)),
    ],
)
def test_an_event_that_cannot_follow_is_refused_and_the_state_stays(
    before: list[ev.Event], event: ev.Event
) -> None:
    workspace = fold(before, begun())
    with pytest.raises(IllegalTransition):
        evolve(workspace, event)
    assert workspace == fold(before, begun())


def test_a_second_objective_is_refused() -> None:
    objective = next(e for e in happened(1, 1) if isinstance(e, ev.QuestionRecorded))
    assert objective.question.text == OBJECTIVE
    with pytest.raises(IllegalTransition):
        evolve(begun(), objective)


def test_limits_of_older_runs_still_decode_and_floors_hold() -> None:
    old = {"step_cap": 40, "prompt_cap": 16_000, "min_sources": 2, "target_sources": 10}
    assert Limits(**old).min_challenges == 1
    changed = override(LIMITS["deep"], max_depth=7, min_independent_sources=3)
    assert (changed.max_depth, changed.min_independent_sources) == (7, 3)
    for wrong in (
        {"min_independent_sources": 1},
        {"min_challenges": 0},
        {"max_depht": 1},
        {"max_depth": "x"},
    ):
        with pytest.raises(UsageError, match="floors"):
            override(LIMITS["deep"], **wrong)


def test_events_out_of_order_or_of_another_run_are_refused_or_fit_and_nothing_else_happens() -> None:
    refused = 0
    for seed in range(60):
        dice = Random(seed)
        events = happened(seed, 80)[len(opening()) :] + happened(seed + 500, 80)[len(opening()) :]
        dice.shuffle(events)
        workspace = begun()
        for event in events:
            try:
                workspace = evolve(workspace, event)
            except IllegalTransition:
                refused += 1
        assert workspace.investigation is not None
        assert parse(render(workspace.investigation.notes)) == workspace.investigation.notes
    assert refused > 1_000
