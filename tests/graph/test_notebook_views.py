"""What a notebook shows of a run: short and harmless tables, while the whole texts stay in the values."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import researchdesk as rd
from researchdesk.graph import upkeep
from researchdesk.state.claim_list import Claims
from researchdesk.state.falling import Falling, FallingClaim
from researchdesk.state.frontier import Frontier, start_frontier
from researchdesk.state.investigation import Investigation
from researchdesk.state.limits import LIMITS
from researchdesk.state.notes import NewClaim, append

from ..fragments import EVIL, shown_safely
from .investigators import VERIFIED, investigate, note, player, resolve, to_report


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[rd.Desk, rd.RunResult]]:
    """A finished run with a VERIFIED claim and one with a hostile text."""
    patch = pytest.MonkeyPatch()
    patch.setattr(upkeep, "BACKOFF_SECONDS", 0.0)
    with rd.open_desk(tmp_path_factory.mktemp("shown") / "home") as desk:
        turns = (*VERIFIED, [note(text=f"{EVIL} is high")], [resolve("q_001", "c_001")], [to_report()])
        yield desk, investigate(desk, player(*turns))
    patch.undo()


def test_a_session_and_its_run_are_cards_of_how_they_stand(run: tuple[rd.Desk, rd.RunResult]) -> None:
    desk, result = run
    session = desk.existing("s")
    shown = shown_safely(session._repr_html_())
    assert "Session s" in shown and ">How high is the Europa bridge?</td>" in shown
    assert (
        ">checked 1 of 2 claims; 1 verified; 1 of 1 needs another independent source, 1 of 1 needs a" in shown
    )
    assert ">1 resolved</td>" in shown and ">2, fetched from 2 publishers</td>" in shown
    assert session.run is not None
    assert ">completed, stage completed" in shown_safely(session.run._repr_html_())
    ended = shown_safely(result._repr_html_())
    assert (
        "Run s" in ended
        and f">{result.report_artifact_id}</td>" in ended
        and ">not known (a model without a price)</td>" in ended
    )


def test_a_session_without_a_run_says_what_it_is_for(tmp_path: Path) -> None:
    with rd.open_desk(tmp_path) as desk:
        session = desk.session("chat", labels=(), profile="desk")
        shown = shown_safely(session._repr_html_())
        assert "Session chat" in shown and ">desk</td>" in shown and "objective" not in shown
        for empty in (session.frontier, session.claims, session.challenges):
            assert ": 0" in shown_safely(empty._repr_html_())


def test_a_session_of_the_past_is_shown_as_it_stood(run: tuple[rd.Desk, rd.RunResult]) -> None:
    session = run[0].existing("s")
    shown = shown_safely(session.at(3)._repr_html_())
    assert ">3</td>" in shown and "stage knowledge_base" in shown


def test_claims_are_a_table_of_what_they_stand_on_and_lack(run: tuple[rd.Desk, rd.RunResult]) -> None:
    claims = run[0].existing("s").claims
    shown = shown_safely(claims._repr_html_())
    assert "Claims: 2; checked 1 of 2 claims; 1 verified" in shown
    assert ">VERIFIED</td>" in shown and ">2 links, 2 origins</td>" in shown
    assert (
        ">needs 1 more independent supporting source; " in shown
        and "needs 1 more survived challenge" in shown
    )
    assert "&lt;script&gt;" in shown and claims[1].text.startswith("<script>")
    assert claims == tuple(claims) and [claim.id for claim in claims] == ["c_001", "c_002"]


def test_the_frontier_and_challenges_are_tables(run: tuple[rd.Desk, rd.RunResult]) -> None:
    session = run[0].existing("s")
    frontier = shown_safely(session.frontier._repr_html_())
    assert "Questions: 1" in frontier and ">q_001</td>" in frontier and ">resolved</td>" in frontier
    challenges = shown_safely(session.challenges._repr_html_())
    assert "Challenges: 1" in challenges and ">survived</td>" in challenges


def test_what_falls_is_three_tables(run: tuple[rd.Desk, rd.RunResult]) -> None:
    shown = shown_safely(run[0].existing("s").what_falls(without=["s_001"])._repr_html_())
    assert ">VERIFIED → UNVERIFIED</td>" in shown and ">2 → 1</td>" in shown
    assert "Claims: 2" in shown and "Answers: 1" in shown and ">c_001</td>" in shown
    nothing = shown_safely(Falling()._repr_html_())
    assert "Claims: 0" in nothing and "Sentences: 0" in nothing


def test_sessions_are_a_table_and_still_a_list(run: tuple[rd.Desk, rd.RunResult]) -> None:
    sessions = run[0].sessions()
    shown = shown_safely(sessions._repr_html_())
    assert "Sessions: 1" in shown and ">completed</td>" in shown
    assert [one.session_id for one in sessions] == ["s"]


def test_a_verification_says_what_was_checked_or_what_is_wrong(run: tuple[rd.Desk, rd.RunResult]) -> None:
    report = run[0].verify()
    shown = shown_safely(report._repr_html_())
    assert "all is well" in shown and f"{report.checked['events']} events" in shown
    wrong = shown_safely(replace(report, problems=(EVIL,) * 25)._repr_html_())
    assert "25 problems" in wrong and "&lt;script&gt;" in wrong and ">5</td>" in wrong


def test_long_lists_are_cut_and_say_how_much_is_left_out() -> None:
    many = Falling(
        claims=tuple(
            FallingClaim(
                id=f"c_{n:03}",
                text="長" * 1_000,
                loss="falls",
                before="VERIFIED",
                after="UNVERIFIED",
                origins_before=2,
                origins_after=1,
            )
            for n in range(1, 2_001)
        )
    )
    shown = shown_safely(many._repr_html_())
    assert "Claims: 2000" in shown and "and 1,900 more" in shown and len(shown) < 100_000


def test_claims_can_be_listed_without_their_investigation() -> None:
    entry = NewClaim(text="It is.")
    notes = append(Investigation().notes, "Unverified", (entry,)).notes
    held = Investigation(frontier=start_frontier("Is it?").frontier, notes=notes)
    assert ">It is.</td>" in shown_safely(Claims.of(held, LIMITS["quick"])._repr_html_())
    assert "Questions: 0" in shown_safely(Frontier()._repr_html_())
