"""Claims: quoted word for word, VERIFIED by independent sources and survived challenges alone."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from researchdesk.state.challenge_opening import NewChallenge, open_challenge
from researchdesk.state.challenges import Result
from researchdesk.state.claims import Link, quoted
from researchdesk.state.errors import Refusal
from researchdesk.state.frontier_moves import NewQuestion, add, reopen
from researchdesk.state.investigation import Investigation
from researchdesk.state.limits import LIMITS, override
from researchdesk.state.notes import (
    NewClaim,
    NewContradiction,
    NewDatapoint,
    NewGap,
    SourceNote,
    append,
    set_scratch,
)
from researchdesk.state.notes_update import Change, update
from researchdesk.state.outcomes import record_result, refute_claim
from researchdesk.state.settling import resolve_question
from researchdesk.state.verification import can_verify, lacks

from .investigations import SOURCES, TEXTS, begin, search_for

HERE = LIMITS["standard"]


def refused(code: str, call: Callable[..., Any], *args: Any, **kwargs: Any) -> str:
    with pytest.raises(Refusal) as caught:
        call(*args, **kwargs)
    assert caught.value.code == code
    return caught.value.text


def quote(key: str, words: str = "and more", stance: Any = "supports", **more: str) -> Link:
    source = next(s for s in SOURCES if s.id == key)
    return quoted(source, TEXTS[key], words, stance=stance, **more)


def noted(*links: Link, **more: Any) -> Investigation:
    """An investigation with the claim c_001."""
    now = begin().investigation
    entry = NewClaim(**({"text": "Passwords are long.", "links": links} | more))
    return replace(now, notes=append(now.notes, "Unverified", (entry,)).notes)


def challenged(now: Investigation, outcome: str = "survived", n: int = 0, **more: Any) -> Investigation:
    """The investigation in which c_001 was challenged."""
    opened = open_challenge(
        now.challenges,
        NewChallenge(
            target_kind="claim",
            target_id="c_001",
            strategy=("counterexample", "newer_evidence")[n],
            negation="Some are short",
            expected_if_false="a short one",
            query=f"short ones {n}",
        ),
        frontier=now.frontier,
        notes=now.notes,
        limits=HERE,
    )
    now = search_for(replace(now, challenges=opened.challenges), opened.challenge.id, results=2)
    result = Result(outcome=outcome, **more)
    return record_result(now, opened.challenge.id, result, limits=HERE).investigation


def change(now: Investigation, what: Change, key: str = "c_001") -> Investigation:
    return replace(now, notes=update(now.notes, key, what, challenges=now.challenges, limits=HERE))


def status(now: Investigation) -> str:
    return now.notes.claims["c_001"].status


def missing(now: Investigation) -> tuple[str, ...]:
    return lacks(now.notes.claims["c_001"], now.notes.sources, now.challenges, HERE)


# -- quotes -------------------------------------------------------------------------------------------------------


def test_a_stored_quote_is_exactly_the_stretch_of_the_text() -> None:
    text = "It says “eight\n characters”, no more."
    link = quoted(SOURCES[0], text, '"eight characters"', stance="supports")
    assert link.quote == text[link.quote_start : link.quote_end] == "“eight\n characters”"
    assert (link.source_id, link.artifact_id) == ("s_001", "a_s_001")


def test_a_quote_that_is_not_there_is_refused_with_the_nearest_passage() -> None:
    told = refused("quote_not_found", quote, "s_001", "passwords have at most 8 characters")
    assert "at least 8 characters" in told


def test_an_unreadable_source_is_not_quoted_and_a_mention_needs_no_quote() -> None:
    unreadable = replace(SOURCES[0], readable=False)
    refused("source_unreadable", quoted, unreadable, "text", "text", stance="supports")
    assert quoted(unreadable, "", "", stance="mentions").quote == ""
    refused("invalid_arguments", quote, "s_001", "")
    refused("invalid_arguments", quote, "s_001", quotes_other_source="s_001")


def test_a_figure_has_to_stand_in_a_quote_of_its_claim() -> None:
    figure = {"kind": "figure", "value": "8", "unit": "characters"}
    noted(quote("s_001", "at least 8 characters"), **figure)
    told = refused("figure_not_quoted", noted, quote("s_001"), **figure)
    assert "8 characters" in told
    refused("figure_not_quoted", noted, quote("s_002", "at least 9 characters"), **figure)
    refused("invalid_arguments", noted, quote("s_001"), kind="figure")


# -- VERIFIED -----------------------------------------------------------------------------------------------------


def test_two_independent_sources_and_a_survived_challenge_verify_a_claim() -> None:
    now = challenged(noted(quote("s_001"), quote("s_002")))
    assert missing(now) == ()
    assert can_verify(now.notes.claims["c_001"], now.notes.sources, now.challenges, HERE)
    assert status(change(now, Change(status="VERIFIED"))) == "VERIFIED"


def test_a_refusal_says_what_lacks_and_why() -> None:
    now = noted(quote("s_001"), quote("s_003"))
    told = refused("not_verified", change, now, Change(status="VERIFIED"))
    assert told == (
        "c_001 cannot be VERIFIED: needs 1 more independent supporting source; s_001 and s_003 share nist.gov; "
        "needs 1 more survived challenge"
    )


@pytest.mark.parametrize(
    ("links", "told"),
    [
        ((), "needs 2 more independent supporting sources; it has 0"),
        (
            (quote("s_001"), quote("s_005")),
            "needs 1 more independent supporting source; s_005 was supplied, not fetched",
        ),
        (
            (quote("s_001"), quote("s_002", stance="mentions")),
            "needs 1 more independent supporting source; it has 1",
        ),
        (
            (quote("s_001"), quote("s_002", stance="refutes")),
            "needs 1 more independent supporting source; it has 1",
        ),
        (
            (quote("s_001"), quote("s_002", quotes_other_source="s_001")),
            "needs 1 more independent supporting source; s_002 is declared to repeat s_001",
        ),
    ],
)
def test_sources_that_do_not_count_are_named(links: tuple[Link, ...], told: str) -> None:
    assert missing(challenged(noted(*links))) == (told,)


def test_an_unreadable_source_or_a_near_duplicate_does_not_count() -> None:
    now = challenged(noted(quote("s_001"), quote("s_002")))
    for changes, told in (
        ({"readable": False}, "s_002 is unreadable"),
        ({"near_duplicates": ("s_001",)}, "s_001 and s_002 have nearly the same text"),
    ):
        sources = now.notes.sources.insert("s_002", replace(SOURCES[1], **changes))
        found = lacks(now.notes.claims["c_001"], sources, now.challenges, HERE)
        assert found == (f"needs 1 more independent supporting source; {told}",)


def test_limits_may_ask_for_more_but_not_for_less() -> None:
    now = challenged(noted(quote("s_001"), quote("s_002")))
    more = override(HERE, min_independent_sources=3, min_challenges=2)
    found = lacks(now.notes.claims["c_001"], now.notes.sources, now.challenges, more)
    assert found == (
        "needs 1 more independent supporting source; it has 2",
        "needs 1 more survived challenge",
    )


def test_a_challenge_without_a_clear_outcome_does_not_verify() -> None:
    now = challenged(noted(quote("s_001"), quote("s_002")), "inconclusive")
    assert missing(now) == ("needs 1 more survived challenge",)


def test_a_verified_claim_falls_back_when_its_sources_turn_out_to_depend_on_each_other() -> None:
    now = change(challenged(noted(quote("s_001"), quote("s_002"))), Change(status="VERIFIED"))
    now = change(now, Change(add_links=(quote("s_002", quotes_other_source="s_001"),)))
    assert status(now) == "UNVERIFIED"


# -- changes ------------------------------------------------------------------------------------------------------


def test_the_wording_of_a_challenged_claim_stays() -> None:
    now = noted(quote("s_001"))
    assert change(now, Change(text="Longer.")).notes.claims["c_001"].text == "Longer."
    refused("wrong_status", change, challenged(now), Change(text="Longer."))


@pytest.mark.parametrize(
    ("code", "what"),
    [
        ("invalid_arguments", Change()),
        ("invalid_arguments", Change(status="REFUTED")),
        ("invalid_arguments", Change(status="RETRACTED", reason=" ")),
        ("unknown_status", Change(status="TRUE")),
        ("invalid_arguments", Change(scope="x" * 5_000)),
    ],
)
def test_a_change_that_says_too_little_or_too_much_is_refused(code: str, what: Change) -> None:
    refused(code, change, noted(quote("s_001")), what)


def test_what_has_fallen_does_not_rise_again() -> None:
    refuted = change(noted(quote("s_001")), Change(status="REFUTED", reason="wrong"))
    for what in (Change(status="VERIFIED"), Change(status="UNVERIFIED"), Change(scope="adults")):
        with pytest.raises(Refusal):
            change(refuted, what)
    retracted = change(refuted, Change(status="RETRACTED", reason="mine"))
    refused("wrong_status", change, retracted, Change(add_links=(quote("s_002"),)))
    refused("wrong_status", change, retracted, Change(status="REFUTED", reason="again"))


def test_other_records_change_in_what_they_have() -> None:
    now = noted(quote("s_001"))
    entries = (
        ("Contradictions", NewContradiction(claim_id="c_001", other_id="s_002", differs="length")),
        ("Datapoints", NewDatapoint(label="l", value="8", about="s_001")),
        ("Assumptions & gaps", NewGap(text="unknown")),
        ("Sources", SourceNote(source_id="s_001", note="good")),
    )
    for section, entry in entries:
        now = replace(now, notes=append(now.notes, section, (entry,)).notes)  # type: ignore[arg-type]
    now = change(now, Change(status="explained", reason="other years"), "con_001")
    assert now.notes.contradictions["con_001"].status == "explained"
    assert change(now, Change(text="x"), "d_001").notes.datapoints["d_001"].label == "x"
    assert change(now, Change(text="y"), "gap_001").notes.gaps["gap_001"].text == "y"
    assert change(now, Change(text="z"), "s_001").notes.sources["s_001"].note == "z"
    refused("invalid_arguments", change, now, Change(status="explained"), "con_001")
    refused("unknown_status", change, now, Change(status="solved", reason="r"), "con_001")
    refused("invalid_arguments", change, now, Change(status="open"), "d_001")
    refused("unknown_record", change, now, Change(text="x"), "d_009")
    refused("unknown_claim", change, now, Change(text="x"), "c_009")


def test_a_section_takes_its_own_entries_only() -> None:
    notes = noted(quote("s_001")).notes
    told = refused("wrong_section", append, notes, "Verified", (NewClaim(text="So."),))
    assert "it belongs to Unverified" in told
    refused("wrong_section", append, notes, "Datapoints", (NewGap(text="x"),))
    refused("unknown_source", append, notes, "Sources", (SourceNote(source_id="s_009", note="x"),))
    told = refused(
        "unknown_claim",
        append,
        notes,
        "Contradictions",
        (NewContradiction(claim_id="c_9", other_id="s_001", differs="x"),),
    )
    assert "it has c_001..c_001" in told
    refused("invalid_arguments", append, notes, "Unverified", (NewClaim(text=" "),))
    refused("too_long", set_scratch, notes, "x" * 8_001)


# -- what follows from a refuted claim -----------------------------------------------------------------------------


def answered(now: Investigation) -> Investigation:
    """The investigation whose objective is answered by c_001."""
    return resolve_question(now, "q_001", "Long ones.", ("c_001",), reason="enough").investigation


def test_a_refuting_challenge_refutes_the_claim_and_reopens_what_stands_on_it() -> None:
    now = answered(noted(quote("s_001"), quote("s_002")))
    now = challenged(now, "refuted", evidence="a short one", source_ids=("s_004",))
    assert status(now) == "REFUTED"
    assert now.frontier.root.status == "in_progress" and now.frontier.root.reopens == 1
    asked = now.frontier.questions["q_002"]
    assert (asked.priority, asked.text) == (90, "What holds instead of this: Passwords are long.")
    found = now.notes.contradictions["con_001"]
    assert (found.claim_id, found.other_id, found.differs) == ("c_001", "s_004", "ch_001: a short one")


def test_a_weakening_challenge_narrows_the_claim_and_unverifies_it() -> None:
    now = change(challenged(noted(quote("s_001"), quote("s_002"))), Change(status="VERIFIED"))
    now = challenged(now, "weakened", 1, evidence="only in banks", source_ids=("s_004",))
    assert (status(now), now.notes.claims["c_001"].scope) == ("UNVERIFIED", "only in banks")


def test_what_the_caps_do_not_allow_is_recorded_as_a_gap() -> None:
    now = answered(noted(quote("s_001")))
    frontier = reopen(now.frontier, "q_001", "news", limits=HERE).frontier
    now = answered(replace(now, frontier=frontier))
    few = override(HERE, max_questions=1)
    changed = refute_claim(now, "c_001", "it is wrong", limits=few)
    assert changed.investigation.frontier.root.status == "resolved"
    gaps = [gap.text for gap in changed.investigation.notes.gaps.values()]
    assert len(gaps) == 2 and any("REFUTED" in gap for gap in gaps)
    assert len(changed.told) == 3


def test_a_follow_up_question_goes_where_there_is_room() -> None:
    now = noted(quote("s_001"))
    frontier, parent = now.frontier, "q_001"
    for n in range(3):
        moved = add(frontier, parent, NewQuestion(text=f"Level {n}?"), limits=HERE)
        frontier, parent = moved.frontier, moved.question_id
    claim = replace(now.notes.claims["c_001"], question_id=parent)
    notes = replace(now.notes, claims=now.notes.claims.insert("c_001", claim))
    changed = refute_claim(replace(now, frontier=frontier, notes=notes), "c_001", "wrong", limits=HERE)
    assert changed.investigation.frontier.questions["q_005"].parent_id == "q_003"


def test_a_source_that_supports_and_refutes_a_claim_counts_for_neither() -> None:
    both = quote("s_001", stance="refutes")
    now = noted(quote("s_001"), quote("s_002"), both)
    missing = lacks(now.notes.claims["c_001"], now.notes.sources, now.challenges, HERE)
    assert missing[0] == "needs 1 more independent supporting source; s_001 refutes it too"


def test_a_scrap_of_a_text_supports_nothing() -> None:
    text = refused("invalid_arguments", quote, "s_001", "an")
    assert text == 'quote: "an" is too short to say anything; quote a whole clause of the source'
