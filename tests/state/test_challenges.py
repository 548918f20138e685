"""Challenges: opened under rules in a fixed order, closed once, and worth something only when their search ran."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from researchdesk.state import events as ev
from researchdesk.state.attempts import log_failed_search, log_fetch, log_search
from researchdesk.state.challenge_coverage import coverage, next_to_challenge
from researchdesk.state.challenge_opening import NewChallenge, open_challenge
from researchdesk.state.challenges import Result, answer_was_challenged, requires_answer_challenge
from researchdesk.state.errors import Refusal
from researchdesk.state.frontier_moves import NewQuestion, add, select
from researchdesk.state.investigation import Investigation
from researchdesk.state.limits import LIMITS
from researchdesk.state.notes import NewClaim, append
from researchdesk.state.outcomes import record_result
from researchdesk.state.settling import next_question, resolve_question, retry_question

from .investigations import begin, search_for

HERE = LIMITS["standard"]
ASKED = NewChallenge(
    target_kind="claim",
    target_id="c_001",
    strategy="counterexample",
    negation="Some guidance allows short passwords",
    expected_if_false="A publisher that allows six characters",
    query="guidance allows short passwords",
)


def refused(code: str, call: Callable[..., Any], *args: Any, **kwargs: Any) -> str:
    with pytest.raises(Refusal) as caught:
        call(*args, **kwargs)
    assert caught.value.code == code
    return caught.value.text


@pytest.fixture
def now() -> Investigation:
    """An investigation with q_002 in progress and the claims c_001 to c_003, of which the last is the objective's."""
    begun = begin().investigation
    frontier = add(begun.frontier, "q_001", NewQuestion(text="How long?"), limits=HERE).frontier
    frontier = select(frontier).frontier
    entries = tuple(
        NewClaim(text=text, question_id=question)
        for text, question in (
            ("Passwords are long.", "q_002"),
            ("Keys are long.", "q_002"),
            ("All is well.", ""),
        )
    )
    return replace(begun, frontier=frontier, notes=append(begun.notes, "Unverified", entries).notes)


def opened(now: Investigation, **more: str) -> Investigation:
    made = open_challenge(
        now.challenges, replace(ASKED, **more), frontier=now.frontier, notes=now.notes, limits=HERE
    )
    return replace(now, challenges=made.challenges)


def close(now: Investigation, outcome: str, key: str = "ch_001", **more: Any) -> Investigation:
    return record_result(now, key, Result(outcome=outcome, **more), limits=HERE).investigation


def search(query: str, *locators: str) -> ev.SearchRecorded:
    hits = tuple(
        ev.Found(locator=key, title=None, origin="o", snippet="", start=0, score=1.0) for key in locators
    )
    return ev.SearchRecorded(query=query, provider="corpus", hits=hits, total=len(hits))


# -- opening ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "more"),
    [
        ("unknown_claim", {"target_id": "c_009", "strategy": "luck"}),
        ("unknown_question", {"target_kind": "question_answer", "target_id": "q_009"}),
        ("unknown_target", {"target_kind": "mood"}),
        ("unknown_strategy", {"strategy": "luck", "negation": ""}),
        ("invalid_arguments", {"negation": " ", "query": "first query"}),
        ("invalid_arguments", {"expected_if_false": ""}),
        ("invalid_arguments", {"query": ""}),
        ("repeated_query", {"query": "First QUERY", "strategy": "newer_evidence"}),
        ("repeated_query", {"query": "short ones", "strategy": "newer_evidence"}),
        ("strategy_used", {"query": "another"}),
        ("query_adds_nothing", {"query": "passwords long", "strategy": "newer_evidence"}),
    ],
)
def test_the_checks_come_in_the_order_of_the_contract(
    now: Investigation, code: str, more: dict[str, str]
) -> None:
    now = log_search(now, search("first query", "a"))
    now = opened(now, query="short ones")
    refused(code, opened, now, **more)


def test_a_target_takes_only_so_many_challenges(now: Investigation) -> None:
    for n, strategy in enumerate(("counterexample", "newer_evidence", "primary_source")):
        now = opened(now, strategy=strategy, query=f"short {n}")
    assert "limit is 3" in refused("challenge_cap", opened, now, strategy="method_critique", query="short 9")


def test_a_query_may_take_its_term_from_the_strategy(now: Investigation) -> None:
    now = opened(now, strategy="newer_evidence", query="passwords update")
    assert now.challenges.by_id["ch_001"].status == "open"


def test_the_conclusion_and_an_answer_can_be_challenged(now: Investigation) -> None:
    now = opened(now, target_kind="conclusion", target_id="")
    now = opened(now, target_kind="question_answer", target_id="q_002")
    assert [(c.id, c.target_id) for c in now.challenges] == [("ch_001", "conclusion"), ("ch_002", "q_002")]


def test_terms_are_found_where_words_are_not_spaced(now: Investigation) -> None:
    entry = NewClaim(text="パスワードは長い")
    now = replace(now, notes=append(now.notes, "Unverified", (entry,)).notes)
    with_term = {"target_id": "c_004", "negation": "短いものを許す", "query": "短いものの例"}
    opened(now, **with_term)
    refused("query_adds_nothing", opened, now, **(with_term | {"query": "パスワードは長い"}))


# -- closing ------------------------------------------------------------------------------------------------------


def test_survived_needs_a_search_that_ran_and_found_something(now: Investigation) -> None:
    now = opened(now)
    refused("search_required", close, now, "survived")
    refused("search_required", close, search_for(now, "ch_001", results=0), "survived")
    done = close(search_for(now, "ch_001", results=2), "survived")
    assert done.challenges.by_id["ch_001"].outcome == "survived"
    assert done.challenges.survived("c_001") == 1
    refused("wrong_status", close, done, "survived")


def test_a_challenge_whose_search_failed_closes_as_infrastructure_and_leaves_its_strategy_free(
    now: Investigation,
) -> None:
    failed = search_for(opened(now), "ch_001", results=0, failed=True)
    for outcome in ("survived", "weakened", "refuted"):
        refused("search_failed", close, failed, outcome, evidence="e", source_ids=("s_001",))
    done = close(failed, "inconclusive")
    assert done.challenges.by_id["ch_001"].cause == "infrastructure"
    again = opened(done)
    assert again.challenges.by_id["ch_002"].strategy == "counterexample"


def test_a_failed_search_may_be_made_again_for_the_same_challenge(now: Investigation) -> None:
    now = log_failed_search(opened(now), ASKED.query, "429")
    assert now.challenges.by_id["ch_001"].attempt_id == "at_001"
    now = log_search(now, search(ASKED.query, "a"))
    assert now.challenges.by_id["ch_001"].attempt_id == "at_002"
    assert close(now, "survived").challenges.survived("c_001") == 1


def test_a_search_that_found_nothing_closes_as_evidence(now: Investigation) -> None:
    now = close(search_for(opened(now), "ch_001", results=0), "inconclusive")
    assert now.challenges.by_id["ch_001"].cause == "evidence"


@pytest.mark.parametrize(
    ("code", "result"),
    [
        ("unknown_outcome", Result(outcome="won")),
        ("evidence_required", Result(outcome="weakened", evidence="e")),
        ("evidence_required", Result(outcome="refuted", source_ids=("s_001",))),
        ("unknown_source", Result(outcome="refuted", evidence="e", source_ids=("s_009",))),
        ("unknown_claim", Result(outcome="survived", result_claim_id="c_009")),
    ],
)
def test_an_outcome_without_what_it_needs_is_refused(now: Investigation, code: str, result: Result) -> None:
    now = search_for(opened(now), "ch_001", results=2)
    refused(code, record_result, now, "ch_001", result, limits=HERE)
    refused("unknown_challenge", record_result, now, "ch_009", result, limits=HERE)


def test_a_shaken_conclusion_brings_an_urgent_question_and_a_shaken_answer_is_open_again(
    now: Investigation,
) -> None:
    shaken = search_for(opened(now, target_kind="conclusion"), "ch_001", results=2)
    shaken = close(shaken, "weakened", evidence="it is older", source_ids=("s_001",))
    assert shaken.frontier.questions["q_003"].priority == 90

    now = resolve_question(now, "q_002", "Very.", reason="plain").investigation
    now = search_for(opened(now, target_kind="question_answer", target_id="q_002"), "ch_001", results=2)
    now = close(now, "refuted", evidence="it is short", source_ids=("s_001",))
    assert now.frontier.questions["q_002"].status == "pending"


# -- coverage and the rules of settling ------------------------------------------------------------------------------


def test_every_question_gets_a_check_before_any_gets_a_second(now: Investigation) -> None:
    assert next_to_challenge(now.challenges, now.notes) == ("c_001", "c_003", "c_002")
    now = close(search_for(opened(now), "ch_001", results=2), "survived")
    assert next_to_challenge(now.challenges, now.notes) == ("c_003", "c_002")
    found = coverage(now.challenges, now.notes)
    assert (found.challenged, found.total) == (1, 3)
    assert found.by_question == (("q_001", 0, 1), ("q_002", 1, 2))


def test_an_answer_near_the_objective_needs_a_challenge_or_a_reason(now: Investigation) -> None:
    assert requires_answer_challenge(now.frontier.questions["q_002"])
    told = refused("challenge_required", resolve_question, now, "q_002", "Very.")
    assert "question_answer" in told
    now = search_for(opened(now, target_kind="question_answer", target_id="q_002"), "ch_001", results=2)
    refused("challenge_required", resolve_question, now, "q_002", "Very.")
    now = close(now, "survived")
    assert answer_was_challenged(now.challenges, "q_002")
    changed = resolve_question(now, "q_002", "Very.", ("c_001",))
    assert changed.investigation.frontier.questions["q_002"].claim_ids == ("c_001",)
    refused("unknown_claim", resolve_question, now, "q_002", "Very.", ("c_009",))


def test_a_hypothesis_needs_a_confirming_and_a_refuting_search(now: Investigation) -> None:
    frontier = add(
        resolve_question(now, "q_002", "So.", reason="r").investigation.frontier,
        "q_002",
        NewQuestion(text="Long ones are safer?", kind="hypothesis"),
        limits=HERE,
    ).frontier
    now = replace(now, frontier=select(frontier).frontier)
    told = refused("search_required", resolve_question, now, "q_003", "Yes.")
    assert "confirming and a refuting" in told
    now = log_search(now, search("long safer", "a"))
    assert "a refuting" in refused("search_required", resolve_question, now, "q_003", "Yes.")
    now = log_search(opened(now, target_kind="question_answer", target_id="q_003"), search(ASKED.query, "a"))
    resolve_question(now, "q_003", "Yes.")


def test_an_objective_without_questions_has_to_be_said_to_be_atomic() -> None:
    begun = begin().investigation
    assert "atomic_reason" in refused("not_split", next_question, begun)
    changed = next_question(begun, atomic_reason="one fact\nonly")
    assert changed.investigation.notes.scratch == "Atomic objective: one fact only"
    assert next_question(changed.investigation).investigation == changed.investigation


def test_a_question_given_up_leaves_its_assumption_in_the_notes(now: Investigation) -> None:
    for n in range(4):
        now = log_search(now, search(f"query {n}"))
    refused("assumption_required", retry_question, now, "q_002", "q", "why", limits=HERE)
    changed = retry_question(now, "q_002", "", "nothing", limits=HERE, assumption="They are long.")
    notes = changed.investigation.notes
    assert (notes.assumptions["as_001"].text, notes.assumptions["as_001"].question_id) == (
        "They are long.",
        "q_002",
    )
    assert changed.told == ("q_002 is unresolvable; its assumption is as_001",)


# -- from searches and fetches to attempts ---------------------------------------------------------------------------


def test_searches_and_fetches_become_attempts_of_the_question_in_progress(now: Investigation) -> None:
    now = log_search(now, search("how long", "a", "b"))
    again = log_search(now, search("How long?", "a"))
    assert again == now, "a repeated query is no second attempt"
    now = log_fetch(now, "https://a.org", outcome="archived", source_id="s_001")
    now = log_fetch(now, "https://b.org", outcome="timeout", failed=True)
    assert [(a.kind, a.results, a.under, a.cause) for a in now.frontier.tried("q_002")] == [
        ("search", 2, "", ""),
        ("fetch", 1, "at_001", ""),
        ("fetch", 0, "at_001", "infrastructure"),
    ]
    assert now.frontier.searches("q_002") == 1


def test_a_search_that_the_infrastructure_failed_costs_no_attempt_and_may_be_made_again(
    now: Investigation,
) -> None:
    for _ in range(9):
        now = log_failed_search(now, "how long", "429")
    assert now.frontier.searches("q_002") == 0
    now = retry_question(now, "q_002", "how long", "try again", limits=HERE).investigation
    now = log_search(now, search("how long", "a"))
    assert now.frontier.searches("q_002") == 1
    refused("repeated_query", retry_question, now, "q_002", "how long", "again", limits=HERE)


def test_a_search_between_questions_belongs_to_the_objective() -> None:
    now = log_search(begin().investigation, search("anything"))
    assert [(a.question_id, a.cause) for a in now.frontier.tried("q_001")] == [("q_001", "evidence")]
