"""Completing an investigation: what its report stands on still holds, and what was not done is listed."""

from dataclasses import replace

import pytest

from researchdesk.state import events as ev
from researchdesk.state.gaps import SHOWN, gaps
from researchdesk.state.gate import missing_for_completion
from researchdesk.tools.workspace import Desk

from ...desks import HANDOFF, SECTIONS, Caller
from .scripts import (
    BLOG,
    COUNTER,
    answer,
    ask,
    challenge,
    change,
    entry,
    figure,
    investigator,
    link,
    noted,
    verified,
)

WEAK = "Shorter than 8 characters is weak"
BODY = f'It says "{WEAK}" [c_001].'


@pytest.fixture
def caller(desk: Desk) -> Caller:
    """A caller whose one claim is VERIFIED and whose questions are answered with it."""
    made = investigator(desk)
    claim = verified(made)
    made.ok("archive_source", locator=BLOG)
    answer(made, "q_002", claim)
    answer(made, "q_001", claim)
    made.settle_checklist("s_001")
    return made


def written(caller: Caller, body: str = BODY) -> tuple[str, str]:
    """From the settled investigation to a run that only has to be completed."""
    caller.checkpoint(stage="report_writing")
    for key in SECTIONS:
        caller.section(key, f"About {key}. {body}")
    return caller.save("report", ""), caller.save("handoff", f"Go on. {body}")


def missing(caller: Caller, report: str, handoff: str) -> list[str]:
    refused = caller(
        "deep_research_complete", report_artifact_id=report, handoff_artifact_id=handoff, **HANDOFF
    )
    assert refused.data["code"] == "incomplete"
    return [line.removeprefix("- ") for line in refused.text.splitlines()[1:]]


def found(caller: Caller) -> tuple[str, ...]:
    return gaps(caller.session.workspace, report_text="")


def test_a_report_that_cites_claims_alone_is_completed(desk: Desk, caller: Caller) -> None:
    caller.complete(*written(caller))
    assert caller.session.run is not None and caller.session.run.stage == "completed"
    assert desk.verify().ok


def test_a_report_cannot_be_completed_on_a_claim_that_has_fallen(caller: Caller) -> None:
    papers = written(caller)
    caller.ok("notes_update", id="c_001", change=change(status="REFUTED", reason="It was withdrawn."))
    reopened, cited = missing(caller, *papers)
    assert reopened.startswith("not settled: q_002 (pending), q_001 (in_progress); ")
    assert cited == "'N' cites c_001 (REFUTED); save it again without it"


def test_a_claim_stays_verified_only_while_it_would_become_so_again(caller: Caller) -> None:
    papers = written(caller)
    (claim,) = caller.session.claims
    repeated = replace(claim.links[1], quotes_other_source="s_001")
    caller.session.record([ev.ClaimSourceRecorded(claim_id=claim.id, link=repeated)])
    (told,) = missing(caller, *papers)
    assert told.startswith("c_001 is VERIFIED and needs 1 more independent supporting source; ")
    assert told.endswith("; set it back with notes_update, status UNVERIFIED")
    caller.ok("notes_update", id="c_001", change=change(status="UNVERIFIED", reason="One repeats the other."))
    caller.complete(*papers)


def test_every_quote_of_a_claim_is_looked_up_again(caller: Caller) -> None:
    papers = written(caller)
    (claim,) = caller.session.claims
    forged = replace(claim.links[0], quote="x" * len(claim.links[0].quote))
    caller.session.record([ev.ClaimSourceRecorded(claim_id=claim.id, link=forged)])
    assert missing(caller, *papers) == ["claim c_001: what stands in s_001 at 0..67 is not what it quotes"]


def test_a_report_that_cites_what_is_not_there_is_refused_when_it_is_completed_too(caller: Caller) -> None:
    report, handoff = written(caller)
    workspace = caller.session.workspace
    texts = {report: "It is so [c_004] [s_009]."}
    told = missing_for_completion(workspace, report=report, handoff=handoff, texts=texts, problems={})
    assert told[:2] == (
        "'N': [c_004] is no claim of this run; it has c_001..c_001",
        "'N': [s_009] is no source of this run; it has s_001..s_003",
    )


# -- gaps ---------------------------------------------------------------------------------------------------------


def test_a_whole_investigation_has_no_gap_but_what_its_sources_are_short_of(caller: Caller) -> None:
    short = ("Sources of 2 publishers; 3 were asked for",)
    assert found(caller) == short
    caller.complete(*written(caller))
    assert caller.session.run is not None and caller.session.run.completion is not None
    assert caller.session.run.completion.gaps == short


def test_what_stayed_open_is_listed_in_the_words_of_whoever_asked(desk: Desk) -> None:
    caller = investigator(desk)
    claim = noted(caller)
    ask(caller, "What of four digit PINs?", priority=20)
    caller.ok("challenge", **challenge(claim))
    gap = entry("gap", "Nobody measured entropy.", question_id="q_001")
    caller.ok("notes_append", section="Assumptions & gaps", entries=[gap])
    assert found(caller) == (
        "q_001 (in_progress): What should a password policy demand?",
        "q_002 (in_progress): How long has a password to be?",
        "q_003 (pending): What of four digit PINs?",
        "ch_001 of c_001 was not brought to an end: No minimum is needed",
        "0 of 1 claims were challenged, 0 of 1 are VERIFIED",
        "Sources of 2 publishers; 3 were asked for",
        "gap_001: Nobody measured entropy.",
    )


def test_what_was_given_up_is_listed_with_what_is_assumed_instead(desk: Desk) -> None:
    caller = investigator(desk)
    ask(caller)
    caller.ok("frontier_next")
    for number in range(4):
        caller.ok("search_sources", query=f"nothing {number}")
    given_up = {"question_id": "q_002", "new_query": "", "why": "Nothing came."}
    caller.ok("retry_question", **given_up, assumption="Eight is usual.")
    assert "q_002 could not be answered: How long has a password to be? Assumed: Eight is usual." in found(
        caller
    )


def test_a_challenge_whose_search_failed_is_a_gap_until_another_one_runs(desk: Desk) -> None:
    caller = investigator(desk)
    noted(caller)
    asked = challenge("c_001", query=COUNTER, negation="A four digit PIN is fine")
    for told in (True, False):
        key = caller.ok("challenge", **asked).data["challenge_id"]
        caller("search_sources", query=COUNTER)
        caller.ok("record_challenge_result", challenge_id=key, outcome="inconclusive", evidence="So it is.")
        assert ("c_001 was not challenged: the search for it failed" in found(caller)) is told


def test_an_answer_that_stands_on_a_refuted_claim_is_a_gap(caller: Caller) -> None:
    (claim,) = caller.session.claims
    caller.session.record([ev.ClaimRecorded(claim=replace(claim, status="REFUTED", links=()))])
    told = "q_002 is answered with c_001, which is REFUTED: How long has a password to be?"
    assert told in found(caller)


def test_of_each_kind_only_so_many_gaps_are_listed(desk: Desk) -> None:
    caller = investigator(desk)
    for number in range(SHOWN + 4):
        ask(caller, f"Is rule {number} about topic {number} needed?")
    listed = found(caller)
    assert sum("(pending)" in line for line in listed) == SHOWN - 1
    assert "And 5 more like the last one" in listed


def test_claims_that_were_not_challenged_are_counted(caller: Caller) -> None:
    more = figure(link("s_002", WEAK))
    caller.ok("notes_append", section="Unverified", entries=[more, {**more, "text": "Eight is the least."}])
    assert "1 of 3 claims were challenged, 1 of 3 are VERIFIED" in found(caller)
