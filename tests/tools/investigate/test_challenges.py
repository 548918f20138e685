"""The tools of the challenges: opened before their search, closed once, and never survived without one."""

import pytest

from researchdesk.tools.workspace import Desk

from ...desks import Caller
from .scripts import COUNTER, NEGATION, NEWER, body, challenge, investigator, noted, survive
from .test_questions import refusal


@pytest.fixture
def caller(desk: Desk) -> Caller:
    made = investigator(desk)
    noted(made)
    return made


@pytest.mark.parametrize(
    ("asked", "code", "told"),
    [
        (challenge("c_009"), "unknown_claim", "no claim 'c_009' in this run; it has c_001..c_001"),
        (challenge("q_009", "question_answer"), "unknown_question", "no question 'q_009' in this run"),
        (challenge(strategy="luck"), "invalid_arguments", "strategy: "),
        (
            challenge(negation=""),
            "invalid_arguments",
            "negation: it is empty; a challenge says what would break",
        ),
        (challenge(expected_if_false=" "), "invalid_arguments", "expected_if_false: it is empty"),
        (
            challenge(query=""),
            "invalid_arguments",
            "query: it is empty; a challenge needs a search of its own",
        ),
        (challenge(query="Password minimum  LENGTH?"), "repeated_query", "was asked before (at_001)"),
        (
            challenge(query="passwords 8 characters"),
            "query_adds_nothing",
            "no term of the negation or the strategy",
        ),
    ],
)
def test_a_challenge_that_could_break_nothing_is_refused(
    caller: Caller, asked: dict[str, str], code: str, told: str
) -> None:
    found, text = refusal(caller, "challenge", **asked)
    assert found == code and told in text


def test_a_challenge_is_opened_searched_and_closed_once(caller: Caller) -> None:
    opened = caller.ok("challenge", **challenge())
    assert opened.text == f'ch_001 is open on c_001. Search for "{NEGATION}", then record its result.'
    result = {"challenge_id": "ch_001", "outcome": "survived"}
    assert refusal(caller, "record_challenge_result", **result) == (
        "search_required",
        "ch_001 has not been searched; survived needs a search that ran",
    )
    caller.ok("search_sources", query=NEGATION)
    linked = caller.session.challenges.by_id["ch_001"]
    attempt = caller.session.frontier.attempts[linked.attempt_id]
    assert (attempt.kind, attempt.challenge_id, attempt.question_id) == ("challenge", "ch_001", "q_002")
    closed = caller.ok("record_challenge_result", **result)
    assert closed.text == "ch_001 is closed: survived.\nc_001 may be VERIFIED now."
    assert refusal(caller, "record_challenge_result", **result) == (
        "wrong_status",
        "ch_001 is closed already (survived)",
    )
    assert refusal(caller, "challenge", **challenge(query="no minimum at all"))[0] == "strategy_used"


def test_a_challenge_whose_search_failed_is_inconclusive_and_may_be_tried_again(caller: Caller) -> None:
    asked = challenge(strategy="counterexample", query=COUNTER)
    caller.ok("challenge", **asked)
    failed = caller("search_sources", query=COUNTER)
    assert (failed.status, failed.data["code"]) == ("error", "search_rate_limited")
    for outcome in ("survived", "refuted"):
        arguments = {"outcome": outcome, "evidence": "x", "source_ids": ["s_001"]}
        code, text = refusal(caller, "record_challenge_result", challenge_id="ch_001", **arguments)
        assert code == "search_failed"
        assert text.startswith(
            "the search of ch_001 failed (Too many requests.); retry it, or close it as inconclu"
        )
    closed = caller.ok("record_challenge_result", challenge_id="ch_001", outcome="inconclusive")
    assert closed.text == "ch_001 is closed: inconclusive/infrastructure."
    assert caller.ok("challenges_view").data == {"challenges": [], "challenged": 0, "total": 1}
    survive(caller, strategy="counterexample", query=COUNTER)
    assert caller.session.challenges.survived("c_001") == 1


def test_the_search_of_an_open_challenge_can_be_repeated_after_it_failed(caller: Caller) -> None:
    caller.ok("challenge", **challenge(strategy="counterexample", query=COUNTER))
    caller("search_sources", query=COUNTER)
    caller.ok("search_sources", query=COUNTER)
    caller.ok("record_challenge_result", challenge_id="ch_001", outcome="survived")


def test_a_search_that_found_nothing_proves_nothing(caller: Caller) -> None:
    caller.ok("challenge", **challenge(query="no minimum of anything"))
    caller.ok("search_sources", query="no minimum of anything")
    code, text = refusal(caller, "record_challenge_result", challenge_id="ch_001", outcome="survived")
    assert code == "search_required" and "found nothing, which proves nothing" in text
    closed = caller.ok("record_challenge_result", challenge_id="ch_001", outcome="inconclusive")
    assert closed.data["cause"] == "evidence"


def test_a_weakened_claim_gets_its_scope_and_a_refuted_one_falls(caller: Caller) -> None:
    survive(caller)
    caller.ok("notes_update", id="c_001", change={"status": "VERIFIED"})
    caller.ok("challenge", **challenge(strategy="boundary_condition", query="only chosen secrets"))
    assert refusal(
        caller, "record_challenge_result", challenge_id="ch_002", outcome="weakened", evidence="x"
    ) == (
        "evidence_required",
        "ch_002: weakened needs at least one source id and the evidence in words",
    )
    caller.ok("search_sources", query="only chosen secrets")
    weakened = {"challenge_id": "ch_002", "outcome": "weakened", "evidence": "where people choose"}
    code, _ = refusal(caller, "record_challenge_result", **weakened, source_ids=["s_001"])
    assert code == "search_required"  # nothing was found, so nothing was weakened
    caller.ok("record_challenge_result", challenge_id="ch_002", outcome="inconclusive")
    caller.ok("challenge", **challenge(strategy="newer_evidence", query=NEWER))
    caller.ok("search_sources", query=NEWER)
    told = caller.ok(
        "record_challenge_result", **{**weakened, "challenge_id": "ch_003"}, source_ids=["s_001"]
    )
    assert "c_001 is UNVERIFIED with a narrower scope." in told.text
    (claim,) = caller.session.claims
    assert (claim.status, claim.scope) == ("UNVERIFIED", "where people choose")


def test_challenges_view_shows_those_of_a_target_and_the_coverage(caller: Caller) -> None:
    survive(caller)
    caller.ok("challenge", **challenge("conclusion", "conclusion", query="no policy is needed"))
    shown = caller.ok("challenges_view")
    assert shown.text.startswith("1 challenges open; 1 of 1 claims are challenged.\n")
    assert shown.data["challenges"] == ["ch_002"]
    shown_body = body(caller.ok("challenges_view", target_id="c_001").text.partition("\n")[2])
    assert shown_body.splitlines() == [
        f'ch_001 on c_001 (direct_negation, survived): "{NEGATION}"',
        "  if false: A guideline without a minimum length",
        "  found: It only says how.",
    ]
    assert refusal(caller, "challenges_view", target_id="c_004")[0] == "unknown_claim"
