"""The gate to report writing: an investigation has to be settled, and all that is not is told at once."""

from dataclasses import replace
from typing import Any

import pytest

from researchdesk.state import events as ev
from researchdesk.state.gate import missing_for_report
from researchdesk.state.vocabulary import INVESTIGATION_LABELS
from researchdesk.tools.sources.gathering import Sources
from researchdesk.tools.sources.ports import Hit
from researchdesk.tools.sources.scripted import ScriptedSource
from researchdesk.tools.workspace import Desk

from ...desks import CHECKLIST, Caller
from .scripts import (
    BLOG,
    COUNTER,
    NEGATION,
    answer,
    ask,
    challenge,
    change,
    figure,
    investigator,
    link,
    noted,
    survive,
    verified,
)

OPEN_ITEMS = f"open checklist items: {', '.join(CHECKLIST)}; "
HOW = "; answer each with resolve_question, give it up with retry_question or drop it with prune_branch, q_001 last"


def unmet(caller: Caller) -> tuple[str, ...]:
    """What the refused checkpoint lists; the same as what the gate says."""
    refused = caller(
        "deep_research_checkpoint", round=1, stage="report_writing", status="active", summary="so far"
    )
    assert refused.data["code"] == "not_ready"
    told = tuple(line.removeprefix("- ") for line in refused.text.splitlines()[1:])
    assert told == missing_for_report(caller.session.workspace)
    return told


def ready(caller: Caller) -> bool:
    return missing_for_report(caller.session.workspace) == ()


@pytest.fixture
def caller(desk: Desk) -> Caller:
    return investigator(desk)


def settled(caller: Caller) -> Caller:
    """A verified claim, everything that was found read, both questions answered, the checklist done."""
    claim = verified(caller)
    caller.ok("archive_source", locator=BLOG)
    answer(caller, "q_002", claim)
    answer(caller, "q_001", claim)
    caller.settle_checklist("s_001")
    return caller


def test_all_that_is_open_is_told_at_once_each_with_what_to_do(caller: Caller) -> None:
    claim = noted(caller)
    ask(caller, "What of four digit PINs?")
    caller.ok("challenge", **challenge(claim))
    assert unmet(caller) == (
        f"not settled: q_002 (in_progress), q_003 (pending), q_001 (in_progress){HOW}",
        "open challenges: ch_001; search_sources with the query of each, then record_challenge_result",
        f"{OPEN_ITEMS}resolving q_001 settles them",
    )


def test_documents_that_were_found_and_not_read_are_asked_for(caller: Caller) -> None:
    ask(caller)
    caller.ok("frontier_next")
    caller.ok("search_sources", query="password minimum length")
    assert unmet(caller)[0] == "no source is archived; search and archive one first"
    caller.ok("archive_source", locator="https://pages.nist.gov/800-63-3/sp800-63b.html")
    assert unmet(caller)[0] == "1 of 2 fetched sources are archived; archive 1 more"


def test_a_settled_investigation_may_be_written_about(caller: Caller) -> None:
    settled(caller).checkpoint(stage="report_writing")
    assert caller.session.run is not None and caller.session.run.stage == "report_writing"


def test_questions_deeper_than_the_first_level_may_stay_open(caller: Caller) -> None:
    noted(caller)
    ask(caller, "What counts as a character?", parent_id="q_002")
    answer(caller, "q_002")
    answer(caller, "q_001")
    caller.settle_checklist("s_001")
    assert ready(caller)


def test_an_answer_of_the_first_levels_was_challenged_or_a_reason_is_stored(caller: Caller) -> None:
    settled(caller)
    question = caller.session.frontier.questions["q_002"]
    assert question.reason == "It is one number." and ready(caller)
    workspace = caller.session.workspace
    investigation = workspace.investigation
    assert investigation is not None
    bare = replace(question, reason="")
    frontier = investigation.frontier
    frontier = replace(frontier, questions=frontier.questions.insert("q_002", bare))
    unreasoned = replace(workspace, investigation=replace(investigation, frontier=frontier))
    assert missing_for_report(unreasoned) == (
        "answers that were not challenged: q_002; challenge each with target_kind question_answer",
    )


def test_a_challenged_answer_needs_no_reason(caller: Caller) -> None:
    noted(caller)
    for question, query, more in (
        ("q_002", NEGATION, {}),
        ("q_001", "newer guideline with no minimum", {"strategy": "newer_evidence"}),
    ):
        survive(caller, question, kind="question_answer", query=query, **more)
        answer(caller, question, reason="")
    caller.ok("archive_source", locator=BLOG)
    caller.settle_checklist("s_001")
    assert ready(caller)


def test_a_challenge_whose_search_failed_challenged_nothing(caller: Caller) -> None:
    noted(caller)
    asked = challenge("q_002", "question_answer", COUNTER, negation="A four digit PIN is fine")
    caller.ok("challenge", **asked)
    caller("search_sources", query=COUNTER)
    caller.ok("record_challenge_result", challenge_id="ch_001", outcome="inconclusive", evidence="It failed.")
    unreasoned = {"question_id": "q_002", "answer": "Eight.", "claim_ids": [], "reason": ""}
    assert caller.refused("resolve_question", **unreasoned) == "challenge_required"


def test_no_settled_answer_stands_on_a_refuted_claim(caller: Caller) -> None:
    settled(caller)
    (claim,) = caller.session.claims
    caller.session.record([ev.ClaimRecorded(claim=replace(claim, status="REFUTED", links=()))])
    assert unmet(caller) == (
        "answers that stand on REFUTED claims: q_001 on c_001, q_002 on c_001; reopen_question, then answer anew",
    )


def test_what_was_reopened_as_often_as_may_be_stops_nobody(caller: Caller) -> None:
    claims = [noted(caller)]
    claims += caller.ok(
        "notes_append", section="Unverified", entries=[figure(link("s_002", "8 characters"))]
    ).data["ids"]
    for claim in claims:
        answer(caller, "q_002", claim)
        caller.ok("notes_update", id=claim, change=change(status="REFUTED", reason="It was withdrawn."))
        if caller.session.frontier.questions["q_002"].status == "pending":
            caller.ok("frontier_next")
    question = caller.session.frontier.questions["q_002"]
    assert (question.status, question.claim_ids, question.reopens) == ("resolved", ("c_002",), 1)
    assert not any("REFUTED" in item for item in unmet(caller))


def test_a_run_that_was_stopped_is_written_about_with_what_it_has(caller: Caller) -> None:
    noted(caller)
    caller.session.record([ev.ResearchStopped(reason="step_cap", detail="40 of 40")])
    assert ready(caller)


def test_a_stopped_run_without_any_source_has_nothing_to_write_about(caller: Caller) -> None:
    caller.session.record([ev.ResearchStopped(reason="step_cap", detail="40 of 40")])
    assert unmet(caller) == ("no source is archived; search and archive one first",)


def test_a_corpus_is_searched_first(caller: Caller) -> None:
    caller.session.record([ev.RunConfigured(corpus=("docs",))])
    assert unmet(caller)[0] == "the corpus was not searched yet; call search_sources first"


# -- publishers ---------------------------------------------------------------------------------------------------


def _hit(locator: str) -> Hit:
    found: dict[str, Any] = {
        "title": None,
        "snippet": "t",
        "start": 0,
        "score": 1.0,
        "media_type": "text/html",
    }
    return Hit(locator=locator, origin=locator.split("/")[2], **found)


def _publishers(desk: Desk, *locators: str) -> Caller:
    """A run whose one search finds these pages, each of the publisher that its host names."""
    source = ScriptedSource(
        pages=dict.fromkeys(locators, "Some words."), searches={"q": [_hit(locator) for locator in locators]}
    )
    sources = Sources(providers=(source,), fetchers=(source,))
    caller = Caller(desk.session("s1", labels=INVESTIGATION_LABELS, sources=sources))
    caller.start(scope_level="standard")
    caller.ok("search_sources", query="q")
    return caller


def _lacking(caller: Caller) -> str:
    return next((line for line in missing_for_report(caller.session.workspace) if "publishers" in line), "")


def test_as_many_publishers_are_read_as_the_search_can_reach(desk: Desk) -> None:
    pages = ("https://one.org/a", "https://one.org/b", "https://two.org/a")
    caller = _publishers(desk, *pages)
    caller.ok("archive_source", locator=pages[0])
    told = "the fetched sources are of 1 of 2 publishers; archive one of two.org"
    assert _lacking(caller) == told
    caller.ok("archive_source", locator=pages[1])
    assert _lacking(caller) == told
    caller.ok("archive_source", locator=pages[2])
    assert _lacking(caller) == ""


def test_a_document_that_cannot_be_read_is_not_asked_for(desk: Desk) -> None:
    caller = _publishers(desk, "https://one.org/a", "https://two.org/a")
    caller.ok("archive_source", locator="https://one.org/a")
    caller.session.sources = Sources(fetchers=(ScriptedSource(pages={}),))
    caller.refused("archive_source", locator="https://two.org/a")
    assert _lacking(caller) == ""
