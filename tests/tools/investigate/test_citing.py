"""Citing claims: ``[c_001]`` stands for the sources of that claim, in whatever is written."""

import pytest

from researchdesk.state.events import ArtifactRecorded
from researchdesk.tools.workspace import Desk

from ...desks import Caller
from .scripts import BLOG, MINIMUM, ask, change, entry, figure, investigator, link, noted, verified

WEAK = "Shorter than 8 characters is weak"


@pytest.fixture
def caller(desk: Desk) -> Caller:
    made = investigator(desk)
    verified(made)
    return made


def _artifact(caller: Caller, key: str) -> ArtifactRecorded:
    assert caller.session.run is not None
    return caller.session.run.artifacts[key]


def _section(caller: Caller, content: str) -> str:
    return caller.section("conclusion", content)


def test_a_body_that_cites_a_claim_draws_on_the_sources_of_its_links(caller: Caller) -> None:
    saved = _artifact(caller, _section(caller, "Eight characters at the least [c_001]."))
    sources = caller.session.run.sources  # type: ignore[union-attr]
    assert saved.cited == ("c_001",)
    assert saved.source_artifact_ids == (sources["s_001"].artifact_id, sources["s_002"].artifact_id)


@pytest.mark.parametrize("cites", ["[c_001]", "[s_001, c_001]", "[c_001; s_002]"])
def test_quoted_words_may_stand_in_any_source_of_a_cited_claim_and_are_anchored_there(
    caller: Caller, cites: str
) -> None:
    saved = _artifact(caller, _section(caller, f'It says "{WEAK}" {cites}. The other: "{MINIMUM}" [c_001].'))
    assert [anchor.source_id for anchor in saved.quotes] == ["s_002", "s_001"]


def test_words_that_stand_in_no_source_of_the_claim_are_refused_with_the_sources_that_were_read(
    caller: Caller,
) -> None:
    refused = caller(
        "deep_research_save_artifact",
        role="report_section",
        name="N",
        content='It says "shorter than 12 characters is weak" [c_001].',
        report_section_key="conclusion",
        report_section_status="completed",
    )
    assert refused.data["code"] == "quote_not_found"
    assert 'does not stand in s_001 or s_002. The nearest passage there: "' in refused.text


@pytest.mark.parametrize(
    ("cites", "told"),
    [
        ("[c_002]", "[c_002] is no claim of this run; it has c_001..c_001"),
        ("[s_009]", "[s_009] is no source of this run; it has s_001..s_002"),
        ("[s_001, c_007]", "[c_007] is no claim of this run"),
    ],
)
def test_ids_of_nothing_are_refused_when_a_body_is_saved(caller: Caller, cites: str, told: str) -> None:
    refused = caller("deep_research_save_artifact", role="outline", name="N", content=f"- A point {cites}")
    assert (refused.data["code"], told in refused.text) == ("unknown_citation", True)


def test_a_claim_without_a_source_cannot_be_cited_until_it_links_one(caller: Caller) -> None:
    bare = entry(text="Rules are dull.", claim_kind="inference")
    caller.ok("notes_append", section="Unverified", entries=[bare])
    asked = {"role": "outline", "name": "N", "content": "- Dull [c_002]"}
    refused = caller("deep_research_save_artifact", **asked)
    assert "[c_002] has no source that supports it; add one with notes_update add_links" in refused.text
    caller.ok("notes_update", id="c_002", change=change(add_links=[link("s_002", WEAK)]))
    caller.ok("deep_research_save_artifact", **asked)


def test_a_run_without_an_investigation_knows_no_claims(desk: Desk) -> None:
    caller = Caller(desk.session("plain"))
    caller.start()
    caller.source()
    refused = caller("deep_research_save_artifact", role="evidence_note", name="N", content="It is [c_001].")
    assert "[c_001] is no claim of this run; it has none yet" in refused.text


def test_who_writes_on_a_fallen_claim_is_told_so_at_once(caller: Caller) -> None:
    caller.ok("notes_update", id="c_001", change=change(status="RETRACTED", reason="It was misread."))
    saved = caller.ok(
        "deep_research_save_artifact", role="outline", name="N", content="- Eight characters [c_001]"
    )
    assert "It cites c_001 (RETRACTED): a report cannot stand on it, write it again without." in saved.text


def test_verify_proves_the_quotations_of_bodies_that_cite_claims(desk: Desk, caller: Caller) -> None:
    _section(caller, f'It says "{WEAK}" [c_001].')
    assert desk.verify().ok


def test_what_was_quoted_by_a_claim_stays_proven_when_the_claim_gets_more_links(
    desk: Desk, caller: Caller
) -> None:
    _section(caller, f'It says "{WEAK}" [c_001].')
    caller.ok("archive_source", locator=BLOG)
    caller.ok("notes_update", id="c_001", change=change(add_links=[link("s_003", "length matters more")]))
    assert desk.verify().ok


def test_a_second_claim_is_cited_beside_the_first(desk: Desk) -> None:
    caller = investigator(desk)
    noted(caller)
    ask(caller, "What of shorter ones?")
    caller.ok("notes_append", section="Unverified", entries=[figure(link("s_002", WEAK))])
    saved = _artifact(caller, _section(caller, f'First "{WEAK}" [c_002], and then "{MINIMUM}" [c_001].'))
    assert [(q.source_id, saved.cited) for q in saved.quotes] == [
        ("s_002", ("c_002", "c_001")),
        ("s_001", ("c_002", "c_001")),
    ]
