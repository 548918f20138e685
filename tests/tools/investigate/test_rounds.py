"""What settling a question leaves in the run's own record: a research step for each round, and the checklist."""

from pathlib import Path

import pytest

from researchdesk.state.events import InspectedRef, RunConfigured, StepRecorded
from researchdesk.state.limits import STEPS
from researchdesk.state.vocabulary import INVESTIGATION_LABELS
from researchdesk.tools.workspace import Desk

from ...desks import CHECKLIST, STEP, Caller
from .scripts import BLOG, NIST, OWASP, QUERY, SLOW, answer, ask, change, investigator, noted, verified


@pytest.fixture
def caller(desk: Desk) -> Caller:
    return investigator(desk)


def steps(caller: Caller) -> list[StepRecorded]:
    assert caller.session.run is not None
    return list(reversed(list(caller.session.run.steps)))


def artifact(caller: Caller, source_id: str) -> str:
    assert caller.session.run is not None
    return caller.session.run.sources[source_id].artifact_id


def checklist(caller: Caller) -> dict[str, tuple[str, tuple[str, ...], str]]:
    assert caller.session.run is not None
    return {
        item.item_id: (item.status, item.update.evidence_artifact_ids, item.update.blocked_reason)
        for item in caller.session.run.checklist
        if item.update
    }


def test_an_answered_question_is_a_completed_step_with_all_that_was_tried_for_it(caller: Caller) -> None:
    claim = noted(caller)
    caller("archive_source", locator=SLOW)
    answer(caller, "q_002", claim)
    first, second = artifact(caller, "s_001"), artifact(caller, "s_002")
    assert steps(caller) == [
        StepRecorded(
            step=1,
            kind="web_research",
            status="completed",
            objective="How long has a password to be?",
            summary="At least eight.",
            roots=("pages.nist.gov", "cheatsheetseries.owasp.org", "slow.org"),
            keywords=(QUERY,),
            stopping_condition="The question was answered",
            expected_evidence="it is asked",
            evidence_artifact_ids=(first, second),
            inspected_refs=(
                InspectedRef(kind="url", locator=NIST, label="at_002", source_artifact_id=first),
                InspectedRef(kind="url", locator=OWASP, label="at_003", source_artifact_id=second),
                InspectedRef(kind="url", locator=SLOW, label="at_004"),
            ),
            worker_run_ids=("at_001", "at_002", "at_003", "at_004"),
        )
    ]


def test_a_question_that_is_given_up_is_a_stopped_step_with_its_assumption(caller: Caller) -> None:
    ask(caller)
    caller.ok("frontier_next")
    for number in range(4):
        caller.ok("search_sources", query=f"nothing {number}")
    given_up = {"question_id": "q_002", "new_query": "", "why": "Nothing came."}
    caller.ok("retry_question", **given_up, assumption="Eight is usual.")
    (step,) = steps(caller)
    assert (step.status, step.summary, step.evidence_artifact_ids) == ("stopped", "Eight is usual.", ())
    assert step.stopping_condition == "No more searches were allowed; 4 were spent"
    assert step.keywords == tuple(f"nothing {number}" for number in range(4))


def test_a_retry_that_only_announces_a_search_is_no_step(caller: Caller) -> None:
    ask(caller)
    caller.ok("frontier_next")
    caller.ok("retry_question", question_id="q_002", new_query="password length", why="It was not searched.")
    assert steps(caller) == []


def test_each_round_of_a_question_is_a_step_of_its_own(caller: Caller) -> None:
    claim = noted(caller)
    answer(caller, "q_002", claim)
    caller.ok("reopen_question", question_id="q_002", why="There is news.")
    caller.ok("frontier_next")
    caller.ok("archive_source", locator=BLOG)
    answer(caller, "q_002", claim)
    assert [(step.step, step.worker_run_ids) for step in steps(caller)] == [
        (1, ("at_001", "at_002", "at_003")),
        (2, ("at_004",)),
    ]


def test_an_answer_that_was_drawn_from_others_names_their_sources(caller: Caller) -> None:
    claim = noted(caller)
    answer(caller, "q_002", claim)
    answer(caller, "q_001", claim)
    step = steps(caller)[-1]
    assert (step.objective, step.status) == ("What should a password policy demand?", "completed")
    assert step.keywords == ("What should a password policy demand?",)
    assert (step.inspected_refs, step.worker_run_ids) == ((), ())


def test_a_question_for_which_nothing_was_looked_at_is_no_step(caller: Caller) -> None:
    answer(caller, "q_001", reason="Everybody knows.")
    assert steps(caller) == []


def test_a_claim_that_fell_is_no_evidence(caller: Caller) -> None:
    claim = noted(caller)
    caller.ok("notes_update", id=claim, change=change(status="RETRACTED", reason="It was misread."))
    answer(caller, "q_002")
    assert [(step.status, step.evidence_artifact_ids) for step in steps(caller)] == [("stopped", ())]


def test_files_are_explored_in_their_folders(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "docs" / "rules").mkdir(parents=True)
    (tmp_path / "docs" / "rules" / "length.md").write_text("# Length\n\nPasswords have eight characters.\n")
    (tmp_path / "docs" / "top.md").write_text("# Top\n\nAll about passwords and their characters.\n")
    sources = desk.corpus_sources([tmp_path / "docs"])
    caller = Caller(desk.session("local", labels=INVESTIGATION_LABELS, sources=sources))
    caller.start()
    caller.session.record([RunConfigured(corpus=("docs",))])
    caller.ok("search_sources", query="zebra")
    answer(caller, "q_001")
    caller.ok("reopen_question", question_id="q_001", why="Zebras are beside the point.")
    caller.ok("search_sources", query="passwords characters")
    for name in ("rules/length.md", "top.md"):
        caller.ok("archive_source", locator=f"file:{name}")
    answer(caller, "q_001")
    assert [(step.kind, step.roots) for step in steps(caller)] == [
        ("local_exploration", ("docs",)),
        ("local_exploration", ("rules", ".")),
    ]
    assert {ref.kind for ref in steps(caller)[-1].inspected_refs} == {"file"}


def test_settling_the_objective_settles_the_open_checklist_with_what_the_claims_stand_on(
    caller: Caller,
) -> None:
    claim = verified(caller)
    caller.ok("archive_source", locator=BLOG)
    own = {"item_id": "core_flow", "status": "skipped", "blocked_reason": "No flow."}
    caller.ok("deep_research_update_checklist", **own)
    answer(caller, "q_002", claim)
    assert list(checklist(caller)) == ["core_flow"]
    answer(caller, "q_001", claim)
    done = ("completed", (artifact(caller, "s_001"), artifact(caller, "s_002")), "")
    assert checklist(caller) == {
        **dict.fromkeys(CHECKLIST, done),
        "core_flow": ("skipped", (), "No flow."),
    }
    caller.checkpoint(stage="report_writing")


def test_where_nothing_was_claimed_the_checklist_is_skipped_with_the_answer_as_the_reason(
    caller: Caller,
) -> None:
    answer(caller, "q_001")
    told = ("skipped", (), "No claim was noted: At least eight.")
    assert checklist(caller) == dict.fromkeys(CHECKLIST, told)


def test_an_objective_that_is_answered_again_changes_no_settled_item(caller: Caller) -> None:
    answer(caller, "q_001")
    before = checklist(caller)
    caller.ok("reopen_question", question_id="q_001", why="There is news.")
    ask(caller)
    caller.ok("frontier_next")
    caller.ok("search_sources", query=QUERY)
    caller.ok("archive_source", locator=NIST)
    answer(caller, "q_002")
    answer(caller, "q_001")
    assert checklist(caller) == before


def test_a_run_that_holds_no_more_steps_settles_its_questions_all_the_same(caller: Caller) -> None:
    claim = noted(caller)
    many = (StepRecorded(step=number, **{**STEP, "keywords": ("k",)}) for number in range(1, STEPS + 1))
    caller.session.record(list(many))
    answer(caller, "q_002", claim)
    assert caller.session.frontier.questions["q_002"].status == "resolved"
    assert len(steps(caller)) == STEPS


def test_texts_that_a_step_could_not_hold_are_cut(caller: Caller) -> None:
    claim = noted(caller)
    long = {"question_id": "q_002", "answer": "So it is. " * 390, "claim_ids": [claim], "reason": "Long."}
    caller.ok("resolve_question", **long)
    (step,) = steps(caller)
    assert len(step.summary) == 2_000 and step.summary.endswith("…")


def test_what_was_recorded_is_proven_and_rebuilt_with_the_rest(desk: Desk, caller: Caller) -> None:
    claim = noted(caller)
    answer(caller, "q_002", claim)
    answer(caller, "q_001", claim)
    rows = desk.ledger.query("SELECT * FROM research_steps ORDER BY step")
    assert len(rows) == 2
    desk.rebuild("s1")
    assert desk.ledger.query("SELECT * FROM research_steps ORDER BY step") == rows
    assert desk.verify().ok
