"""The tools of the notes: every quote is looked up, every number is checked, VERIFIED has one way."""

import pytest

from researchdesk.tools.workspace import Desk

from ...desks import Caller
from .scripts import (
    BLOG,
    MINIMUM,
    MIRROR,
    NEWER,
    NIST,
    body,
    change,
    entry,
    figure,
    investigator,
    link,
    noted,
    survive,
    verified,
)
from .test_questions import refusal


@pytest.fixture
def caller(desk: Desk) -> Caller:
    made = investigator(desk)
    made.ok("archive_source", locator=NIST)
    return made


def test_a_claim_is_noted_with_the_sources_own_words_and_their_place(caller: Caller) -> None:
    quote = "Verifiers   require passwords to have\nat least 8 characters"
    told = caller.ok("notes_append", section="Unverified", entries=[figure(link("s_001", quote))])
    (claim,) = caller.session.claims
    (found,) = claim.links
    assert (found.quote, found.quote_start, found.quote_end) == (MINIMUM[:57], 0, 57)
    assert told.data == {"id": "c_001", "ids": ["c_001"], "questions": []}
    assert told.text == (
        "Noted. c_001 is UNVERIFIED; to be VERIFIED it needs 1 more independent supporting source; it has 1; "
        "it needs 1 more survived challenge."
    )


@pytest.mark.parametrize(
    ("claim", "code", "told"),
    [
        (
            figure(link("s_001", "Verifiers require passwords to have at least 12 characters in length")),
            "quote_not_found",
            f'does not stand in s_001. The nearest passage there: "{MINIMUM}',
        ),
        (
            figure(link("s_009", MINIMUM)),
            "unknown_source",
            "no source 's_009' in this run; it has s_001..s_001",
        ),
        (figure(value="12"), "figure_not_quoted", "12 characters stands in no quote of this claim (s_001:"),
        (figure(link("s_001", "")), "invalid_arguments", "quote: a quote of s_001 has 2 to 2,000 characters"),
        (
            entry(question_id="q_009"),
            "unknown_question",
            "no question 'q_009' in this run; it has q_001..q_001",
        ),
        (
            entry(claim_kind="rumour"),
            "invalid_arguments",
            "entries.0.claim_kind: 'rumour' is none of fact, figure",
        ),
        (entry(as_of="2024"), "invalid_arguments", "entries.0: a claim has no as_of; leave it empty"),
        (
            entry(kind="gap", text="What then?"),
            "wrong_section",
            "Unverified takes no such entry; it belongs to",
        ),
        (
            entry(kind="contradiction", text="x"),
            "invalid_arguments",
            "entries.0.about: a contradiction names 2 ids",
        ),
        ({"kind": "poem", "text": "x"}, "invalid_arguments", "entries.0.kind: "),
    ],
)
def test_a_claim_that_is_not_what_its_sources_say_is_refused(
    caller: Caller, claim: dict[str, object], code: str, told: str
) -> None:
    found, text = refusal(caller, "notes_append", section="Unverified", entries=[claim])
    assert found == code and told in text


def test_entries_are_taken_all_or_none(caller: Caller) -> None:
    entries = [figure(), entry(text="Nobody knows.", links=[link("s_001", "not in it at all, never")])]
    assert refusal(caller, "notes_append", section="Unverified", entries=entries)[0] == "quote_not_found"
    assert caller.session.claims == ()
    assert refusal(caller, "notes_append", section="Unverified", entries=[]) == (
        "invalid_arguments",
        "entries: it is empty. Give at least one.",
    )


def test_every_kind_of_record_has_its_section(caller: Caller) -> None:
    caller.ok("notes_append", section="Unverified", entries=[figure(), entry(text="Longer is better.")])
    caller.ok(
        "notes_append",
        section="Datapoints",
        entries=[entry("datapoint", "Minimum", value="8", unit="characters", as_of="2017", about=["s_001"])],
    )
    caller.ok(
        "notes_append",
        section="Contradictions",
        entries=[entry("contradiction", "One bounds it", about=["c_001", "c_002"])],
    )
    caller.ok(
        "notes_append",
        section="Assumptions & gaps",
        entries=[entry("assumption", "People type it."), entry("gap", "PINs?", question_id="q_001")],
    )
    caller.ok("notes_append", section="Sources", entries=[entry("source", "The standard.", about=["s_001"])])
    notes = caller.session.notes
    assert notes.datapoints["d_001"].about == "s_001" and notes.datapoints["d_001"].as_of == "2017"
    assert (notes.contradictions["con_001"].claim_id, notes.contradictions["con_001"].other_id) == (
        "c_001",
        "c_002",
    )
    assert (
        notes.assumptions["as_001"].text == "People type it." and notes.gaps["gap_001"].question_id == "q_001"
    )
    assert notes.sources["s_001"].note == "The standard."
    shown = body(caller.ok("notes_read").text)
    assert shown.splitlines() == [
        "Verified: nothing",
        "Unverified: c_001, c_002",
        "Contradictions: con_001",
        "Datapoints: d_001",
        "Sources: s_001",
        "Assumptions & gaps: as_001, gap_001",
        "Scratch: 0 characters",
    ]


def test_notes_read_gives_a_section_or_one_record_and_names_the_sections_otherwise(caller: Caller) -> None:
    caller.ok("notes_append", section="Unverified", entries=[figure()])
    record = body(caller.ok("notes_read", section="c_001").text)
    assert record.startswith("### c_001\n\n- text: Passwords have at least 8 characters.\n")
    assert "to be VERIFIED it needs 1 more independent supporting source" in record
    section = body(caller.ok("notes_read", section="unverified").text)
    assert section.startswith("## Unverified\n\n### c_001")
    code, text = refusal(caller, "notes_read", section="c_007")
    assert code == "unknown_record"
    assert text.startswith("no section and no record 'c_007'; sections are Verified, Unverified,")


def test_verified_takes_two_independent_sources_and_a_survived_challenge(caller: Caller) -> None:
    claim = noted(caller)
    assert refusal(caller, "notes_update", id=claim, change=change(status="VERIFIED")) == (
        "not_verified",
        "c_001 cannot be VERIFIED: needs 1 more survived challenge",
    )
    survive(caller, claim)
    told = caller.ok("notes_update", id=claim, change=change(status="VERIFIED"))
    assert told.text == "Changed. c_001 is VERIFIED."
    assert caller.session.claims[0].status == "VERIFIED"


def test_a_mirror_and_a_page_of_the_same_publisher_are_no_second_source(caller: Caller) -> None:
    for locator in (MIRROR, BLOG):
        caller.ok("archive_source", locator=locator)
    sources = caller.session.notes.sources
    assert [sources[key].domain for key in ("s_001", "s_002", "s_003")] == [
        "nist.gov",
        "example.net.au",
        "nist.gov",
    ]
    assert sources["s_002"].near_duplicates == ("s_001",)
    links = [
        link("s_001", MINIMUM),
        link("s_002", MINIMUM),
        link("s_003", "length matters more than complexity"),
    ]
    caller.ok("notes_append", section="Unverified", entries=[entry(links=links)])
    survive(caller, "c_001", query=NEWER)
    code, text = refusal(caller, "notes_update", id="c_001", change=change(status="VERIFIED"))
    assert code == "not_verified"
    assert text == (
        "c_001 cannot be VERIFIED: needs 1 more independent supporting source; s_001 and s_003 share nist.gov; "
        "s_001 and s_002 have nearly the same text"
    )


def test_a_declaration_that_a_source_repeats_another_takes_verified_back(caller: Caller) -> None:
    verified(caller)
    again = link("s_002", "Shorter than 8 characters is weak", repeats="s_001")
    told = caller.ok("notes_update", id="c_001", change=change(add_links=[again]))
    assert caller.session.claims[0].status == "UNVERIFIED"
    assert "s_002 is declared to repeat s_001" in told.text


def test_a_refuted_claim_gets_a_contradiction_with_the_source_that_refutes_it(caller: Caller) -> None:
    noted(caller)
    against = link("s_002", "The minimum length of the passwords is enforced by the application", "refutes")
    caller.ok(
        "notes_update", id="c_001", change=change(status="REFUTED", reason="It varies.", add_links=[against])
    )
    (claim,) = caller.session.claims
    contradiction = caller.session.notes.contradictions["con_001"]
    assert (claim.status, claim.note, claim.links[-1].stance) == ("REFUTED", "It varies.", "refutes")
    assert (contradiction.claim_id, contradiction.other_id, contradiction.differs) == (
        "c_001",
        "s_002",
        "It varies.",
    )
    assert refusal(caller, "notes_update", id="c_001", change=change(status="REFUTED", reason="Again.")) == (
        "wrong_status",
        "c_001 is REFUTED already",
    )


@pytest.mark.parametrize(
    ("key", "changes", "code", "told"),
    [
        (
            "c_001",
            {},
            "invalid_arguments",
            "nothing to change of c_001: give a status, a text, a scope or links",
        ),
        (
            "c_001",
            {"status": "TRUE"},
            "unknown_status",
            "no claim status 'TRUE'; there are UNVERIFIED, VERIFIED",
        ),
        ("c_001", {"status": "REFUTED"}, "invalid_arguments", "reason: say why c_001 is REFUTED"),
        ("c_009", {"text": "x"}, "unknown_claim", "no claim 'c_009' in this run; it has c_001..c_001"),
        ("x_001", {"text": "x"}, "unknown_record", "no record 'x_001' in the notes; ids begin with c_, d_"),
        ("s_001", {"status": "good"}, "invalid_arguments", "s_001: only claims have a scope, links"),
        (
            "c_001",
            {"add_links": [link("s_001", "nothing of the kind")]},
            "quote_not_found",
            "does not stand in s_001",
        ),
    ],
)
def test_notes_update_refuses_what_cannot_be_changed(
    caller: Caller, key: str, changes: dict[str, object], code: str, told: str
) -> None:
    caller.ok("notes_append", section="Unverified", entries=[figure()])
    found, text = refusal(caller, "notes_update", id=key, change=change(**changes))
    assert found == code and told in text


def test_notes_scratch_replaces_the_free_text(caller: Caller) -> None:
    assert caller.ok("notes_scratch", text="Look at PINs.\n").text == "Scratch holds 14 characters."
    assert caller.session.notes.scratch == "Look at PINs.\n"
    code, text = refusal(caller, "notes_scratch", text="x" * 8_001)
    assert (code, text) == ("invalid_arguments", "text: it has 8,001 characters, the limit is 8,000.")


def test_a_source_whose_bytes_were_purged_can_be_quoted_no_more(caller: Caller, desk: Desk) -> None:
    artifact = caller.session.notes.sources["s_001"].artifact_id
    desk.purge("s1", [artifact], actor="user", reason="asked for")
    code, text = refusal(caller, "notes_append", section="Unverified", entries=[figure()])
    assert code == "integrity" and "purged" in text
