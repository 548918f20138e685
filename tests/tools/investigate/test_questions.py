"""The tools of the frontier: each does its part, and refuses with a text that says what to do."""

import pytest

from researchdesk.state.limits import LIMITS
from researchdesk.tools.workspace import Desk

from ...desks import Caller
from .scripts import NIST, QUERY, SLOW, ask, investigator, noted, survive, verified


@pytest.fixture
def caller(desk: Desk) -> Caller:
    return investigator(desk)


def refusal(caller: Caller, tool: str, /, **arguments: object) -> tuple[str, str]:
    """Code and text of a call that is refused, and that leaves the investigation as it was."""
    before = caller.session.investigation
    result = caller(tool, **arguments)
    assert result.status == "error", result.text
    assert caller.session.investigation == before
    return str(result.data["code"]), result.text


def test_the_start_brings_the_objective_in_progress_and_the_name_of_the_notes_file(caller: Caller) -> None:
    root, run = caller.session.frontier.root, caller.session.run
    assert (root.id, root.status, root.text) == (
        "q_001",
        "in_progress",
        "What should a password policy demand?",
    )
    assert run is not None and len(run.notes_id) == 32 and int(run.notes_id, 16) >= 0
    assert caller.session.start_investigation() == caller.session.investigation
    assert len(caller.session.frontier.questions) == 1


def test_frontier_next_takes_up_the_most_urgent_question(caller: Caller) -> None:
    ask(caller, "Is there a maximum length?")
    urgent = ask(caller, "How long has a password to be?", priority=80)
    taken = caller.ok("frontier_next")
    assert taken.data["question_id"] == urgent == caller.session.frontier.current_id
    assert taken.text == (
        "q_003 (question, in_progress, depth 1, priority 80): How long has a password to be? It has 0 of 4 searches.\n"
        "q_003 is in progress."
    )
    assert refusal(caller, "frontier_next") == (
        "question_in_progress",
        "q_003 is in progress; resolve it, retry it or add questions that block it first",
    )


def test_an_objective_without_questions_has_to_be_said_to_be_atomic(caller: Caller) -> None:
    code, text = refusal(caller, "frontier_next")
    assert code == "not_split"
    assert (
        text == "q_001 has no questions under it; add at least one, or give atomic_reason: why it needs none"
    )
    taken = caller.ok("frontier_next", atomic_reason="One number answers it.")
    assert taken.text == (
        "q_001 (objective, in_progress, depth 0, priority 50): What should a password policy demand? Work on it itself "
        "now: search, note, challenge and resolve it.\nq_001 is in progress."
    )
    assert caller.session.notes.scratch == "Atomic objective: One number answers it."


def test_frontier_view_shows_the_frontier_in_a_bounded_summary(caller: Caller) -> None:
    for number in range(30):
        ask(caller, f"Is rule {number} about topic {number} needed?")
    shown = caller.ok("frontier_view").text
    assert "\nQuestions: 30 pending, 1 in_progress; 31 of at most 40, depth at most 3.\n" in shown
    assert "and 22 more" in shown and len(shown) < 2_000
    unknown = caller("frontier_view", whole=True)
    assert (unknown.data["code"], unknown.text) == ("invalid_arguments", "whole: there is no such argument.")


def test_add_question_refuses_what_is_too_deep_a_repetition_or_a_cycle(caller: Caller) -> None:
    deepest = ""
    for depth in range(1, LIMITS["standard"].max_depth + 1):
        deepest = ask(caller, f"What about level number {depth} of it?", parent_id=deepest)
    assert refusal(caller, "add_question", parent_id=deepest, text="And below that?", kind="question") == (
        "depth_cap",
        "pruned by depth cap; record it as an open gap in notes instead",
    )
    assert refusal(caller, "add_question", text="what about level number 1 of it", kind="question") == (
        "duplicate_question",
        'q_002 (pending) asks the same: "What about level number 1 of it?"',
    )
    arguments = {"parent_id": "q_002", "text": "Is that so?", "kind": "question", "depends_on": ["q_002"]}
    code, text = refusal(caller, "add_question", **arguments, blocks_parent=True)
    assert code == "dependency_cycle"
    assert text == "q_002 would wait for this question, and this question depends on q_002"
    assert refusal(caller, "add_question", text="What else?", kind="wish")[0] == "invalid_arguments"


def test_a_question_that_blocks_its_parent_comes_first_and_the_parent_waits(caller: Caller) -> None:
    first = ask(caller, priority=60)
    caller.ok("frontier_next")
    added = caller.ok(
        "add_question",
        parent_id=first,
        text="What counts as a character?",
        kind="question",
        why="",
        blocks_parent=True,
    )
    assert added.data == {"id": "q_003", "question_id": "q_003", "questions": ["q_003", "q_002"]}
    assert "q_002 is pending." in added.text
    assert caller.ok("frontier_next").data["question_id"] == "q_003"
    assert caller.session.frontier.questions["q_003"].priority == 60


def test_retry_question_announces_a_search_and_at_the_cap_gives_up_with_an_assumption(caller: Caller) -> None:
    question = ask(caller)
    caller.ok("frontier_next")
    caller.ok("search_sources", query=QUERY)
    assert refusal(caller, "retry_question", question_id=question, new_query=QUERY, why="again") == (
        "repeated_query",
        '"password minimum length" was searched for q_002 already (at_001); change the query',
    )
    for number in range(2, 5):
        query = f"password length {number}"
        told = caller.ok("retry_question", question_id=question, new_query=query, why="Too little came.")
        assert f'Search for "{query}" now' in told.text
        caller.ok("search_sources", query=query)
    assert refusal(caller, "retry_question", question_id=question, new_query="more", why="Nothing.") == (
        "assumption_required",
        "q_002 has 4 searches, no more are allowed; state the assumption to go on with",
    )
    given_up = caller.ok(
        "retry_question", question_id=question, new_query="more", why="Nothing.", assumption="Eight is usual."
    )
    assert given_up.data["status"] == "unresolvable"
    assert given_up.text == "q_002 is unresolvable; its assumption is as_001."
    assert caller.session.notes.assumptions["as_001"].text == "Eight is usual."


def test_resolve_question_wants_a_challenge_or_a_reason_and_claims_that_stand(caller: Caller) -> None:
    claim = noted(caller)
    arguments = {"question_id": "q_002", "answer": "At least eight characters.", "claim_ids": [claim]}
    code, text = refusal(caller, "resolve_question", **arguments)
    assert code == "challenge_required"
    assert text == (
        "the answer of q_002 (depth 1) has not been challenged; challenge it with target_kind question_answer, or "
        "give the reason why not"
    )
    assert refusal(caller, "resolve_question", **{**arguments, "claim_ids": ["c_009"]}) == (
        "unknown_claim",
        "no claim 'c_009' in this run; it has c_001..c_001",
    )
    survive(caller, "q_002", kind="question_answer")
    resolved = caller.ok("resolve_question", **arguments)
    assert resolved.text == "It stands on claims that are not VERIFIED: c_001.\nq_002 is resolved."
    assert caller.session.frontier.questions["q_002"].claim_ids == ("c_001",)


def test_a_hypothesis_needs_a_confirming_and_a_refuting_search_or_a_reason(caller: Caller) -> None:
    ask(caller, "Eight characters are enough.", kind="hypothesis")
    caller.ok("frontier_next")
    arguments = {"question_id": "q_002", "answer": "They are not."}
    code, text = refusal(caller, "resolve_question", **arguments)
    assert code == "search_required"
    assert text.startswith("q_002 is a hypothesis and lacks a confirming and a refuting search")
    caller.ok("resolve_question", **arguments, reason="The standard says so itself.")
    (row,) = caller.session.records.ledger.query(
        "SELECT reason FROM frontier_transitions WHERE trigger = 'resolved'"
    )
    assert row["reason"] == "The standard says so itself."


def test_reopen_question_takes_up_a_settled_one_once(caller: Caller) -> None:
    ask(caller)
    assert refusal(caller, "reopen_question", question_id="q_002", why="new") == (
        "wrong_status",
        "q_002 is pending; only a settled question is reopened",
    )
    resolved = {"question_id": "q_002", "answer": "Eight.", "reason": "obvious"}
    for _ in range(LIMITS["standard"].max_reopens):
        caller.ok("frontier_next")
        caller.ok("resolve_question", **resolved)
        assert caller.ok("reopen_question", question_id="q_002", why="A new standard.", priority=90).text == (
            "Reopened q_002 (question, pending, depth 1, priority 90): How long has a password to be?"
        )
    assert "Its answer before: Eight." in caller.ok("frontier_next").text
    caller.ok("resolve_question", **resolved)
    assert refusal(caller, "reopen_question", question_id="q_002", why="Another.")[0] == "reopen_cap"


def test_set_priority_changes_what_comes_first_and_says_why(caller: Caller) -> None:
    ask(caller)
    caller.ok("set_priority", question_id="q_002", priority=0, why="It can wait.")
    assert caller.session.frontier.questions["q_002"].priority == 0
    assert refusal(caller, "set_priority", question_id="q_002", priority=101, why="x") == (
        "invalid_arguments",
        "priority: it is 101; it has to be 0 to 100",
    )
    assert refusal(caller, "set_priority", question_id="q_002", priority=5)[1].startswith("why: it is empty.")


def test_prune_branch_drops_a_question_with_what_is_under_it(caller: Caller) -> None:
    ask(caller)
    ask(caller, "What counts as a character?", parent_id="q_002")
    ask(caller, "Who decides on the length?", depends_on=["q_002"])
    pruned = caller.ok("prune_branch", question_id="q_002", reason="Out of scope.")
    assert pruned.text == "Pruned q_002, q_003.\nq_004 is blocked."
    assert pruned.data["pruned"] == ["q_002", "q_003"]
    assert refusal(caller, "prune_branch", question_id="q_001", reason="All of it.") == (
        "wrong_status",
        "the objective cannot be pruned",
    )
    assert refusal(caller, "prune_branch", question_id="q_044", reason="?") == (
        "unknown_question",
        "no question 'q_044' in this run; it has q_001..q_004",
    )


def test_searches_and_fetches_are_attempts_of_the_question_in_progress(caller: Caller) -> None:
    noted(caller)
    caller.ok("archive_source", locator=NIST)
    caller.ok("search_sources", query=QUERY)
    tried = caller.session.frontier.tried("q_002")
    assert [(a.id, a.kind, a.results, a.under) for a in tried] == [
        ("at_001", "search", 2, ""),
        ("at_002", "fetch", 1, "at_001"),
        ("at_003", "fetch", 1, "at_001"),
    ]
    assert tried[1].outcome == f"s_001: {NIST}"


def test_a_failed_fetch_is_an_attempt_and_its_call_an_error(caller: Caller) -> None:
    failed = caller("archive_source", locator=SLOW)
    assert (failed.status, failed.data, failed.text) == (
        "error",
        {"code": "fetch_timeout"},
        "It did not answer.",
    )
    (attempt,) = caller.session.frontier.tried("q_001")
    assert (attempt.kind, attempt.query, attempt.cause, attempt.results) == (
        "fetch",
        SLOW,
        "infrastructure",
        0,
    )
    assert caller.session.workspace.refused_locators.get(SLOW) == "fetch_timeout"
    assert caller("archive_source", locator="https://nowhere.org/").status == "error"
    assert caller.session.frontier.tried("q_001")[-1].cause == "evidence"


def test_a_query_answered_from_the_record_is_an_attempt_of_another_question_too(caller: Caller) -> None:
    noted(caller)
    caller.ok("resolve_question", question_id="q_002", answer="Eight.", reason="obvious")
    ask(caller, "Which other rules are there?")
    caller.ok("frontier_next")
    assert caller.ok("search_sources", query=QUERY).data["repeated"] is True
    assert [a.results for a in caller.session.frontier.tried("q_003")] == [2]


def test_a_verified_claim_that_falls_reopens_the_answers_that_stand_on_it(caller: Caller) -> None:
    claim = verified(caller)
    caller.ok("resolve_question", question_id="q_002", answer="Eight.", claim_ids=[claim], reason="obvious")
    told = caller.ok("notes_update", id=claim, change={"status": "REFUTED", "reason": "Withdrawn."})
    assert told.text.splitlines() == [
        "c_001 is REFUTED.",
        "q_003 asks: What holds instead of this: Passwords have at least 8 characters.",
        "q_002 is open again: it stands on c_001, which is REFUTED.",
    ]
    frontier = caller.session.frontier
    assert (frontier.questions["q_002"].status, frontier.questions["q_002"].priority) == ("pending", 90)
    assert frontier.questions["q_003"].parent_id == "q_002"
    caller.ok("frontier_next")
    assert refusal(caller, "resolve_question", question_id="q_002", answer="Eight.", claim_ids=[claim]) == (
        "claim_fallen",
        "c_001 is REFUTED; no answer can stand on it",
    )
