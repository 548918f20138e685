"""Looking at a run as it stood before, going on from there in a fork, and what falls when something is taken away."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import researchdesk as rd
from researchdesk.graph import upkeep
from researchdesk.state import events as ev
from researchdesk.state.errors import NotFound, UsageError
from researchdesk.state.workspace import fold

from ..desks import SECTIONS, Caller
from .investigators import ALPS_QUOTE, VERIFIED, investigate, player, resolve, to_report


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run: c_001 is VERIFIED by two publishers and a survived challenge, and answers the objective."""
    folder = tmp_path_factory.mktemp("travel") / "home"
    patch = pytest.MonkeyPatch()
    patch.setattr(upkeep, "BACKOFF_SECONDS", 0.0)
    with rd.open_desk(folder) as desk:
        result = investigate(desk, player(*VERIFIED, [resolve("q_001", "c_001")], [to_report()]))
        assert result.status == "completed"
    patch.undo()
    return folder


@pytest.fixture
def desk(home: Path) -> Iterator[rd.Desk]:
    with rd.open_desk(home) as opened:
        yield opened


def _seq_of(session: rd.Session, kind: type, nth: int = 1) -> int:
    found = [stored.seq for stored in session.events() if isinstance(stored.event(), kind)]
    return found[nth - 1]


def test_a_session_is_shown_as_it_stood_at_any_of_its_events(desk: rd.Desk) -> None:
    session = desk.existing("s")
    stored = session.events()
    for seq in range(1, len(stored) + 1, 7):
        events = [item.event() for item in stored[:seq]]
        assert session.at(seq).workspace == fold(events)  # type: ignore[arg-type]
    before = session.at(_seq_of(session, ev.ClaimRecorded) - 1)
    assert (before.claims, len(before.notes.sources)) == ((), 2)
    assert [claim.status for claim in session.at(len(stored)).claims] == ["VERIFIED"]
    assert session.at(len(stored)).report_texts() == session.report_texts() != {}


@pytest.mark.parametrize("seq", [0, -1, 100_000])
def test_an_event_that_is_not_there_is_named_with_those_that_are(desk: rd.Desk, seq: int) -> None:
    last = len(desk.existing("s").events())
    with pytest.raises(NotFound, match=rf"session 's' has events 1\.\.{last}, not {seq}"):
        desk.existing("s").at(seq)


@pytest.mark.parametrize("seq", [1.5, 2.0, float("nan"), "3", None])
def test_what_is_no_number_of_an_event_is_told_as_that(desk: rd.Desk, seq: Any) -> None:
    for ask in (desk.existing("s").at, lambda number: desk.fork("s", number)):
        with pytest.raises(UsageError, match=f"an event is named by its number, a whole one, not {seq!r}"):
            ask(seq)


def test_without_a_source_its_claim_answer_and_sentences_fall(desk: rd.Desk) -> None:
    session = desk.existing("s")
    falling = session.what_falls(without=["s_001"])
    (claim,) = falling.claims
    assert (claim.id, claim.loss, claim.before, claim.after) == ("c_001", "falls", "VERIFIED", "UNVERIFIED")
    assert (claim.origins_before, claim.origins_after) == (2, 1)
    assert [(question.id, question.loss, question.claim_ids) for question in falling.questions] == [
        ("q_001", "falls", ("c_001",))
    ]
    cited = {(sentence.section, sentence.cites) for sentence in falling.sentences}
    assert cited == {(key, ("c_001",)) for key in session.report_texts()}
    assert all("[c_001]" in sentence.text and sentence.loss == "falls" for sentence in falling.sentences)
    # Nothing was written and nothing is lost.
    assert session.claims[0].status == "VERIFIED" and desk.verify().ok


def test_a_claim_whose_last_support_goes_falls_whatever_its_status(desk: rd.Desk) -> None:
    session = desk.existing("s")
    early = session.at(_seq_of(session, ev.ClaimSourceRecorded, 2))
    assert early.claims[0].status == "UNVERIFIED"
    assert [claim.loss for claim in early.what_falls(without=["s_002"]).claims] == ["weakens"]
    (claim,) = early.what_falls(without=["s_001", "s_002"]).claims
    assert (claim.loss, claim.before, claim.after, claim.origins_after) == (
        "falls",
        "UNVERIFIED",
        "UNVERIFIED",
        0,
    )


@pytest.mark.parametrize(
    ("outcome", "after"), [("refuted", "REFUTED"), ("inconclusive", "UNVERIFIED"), ("survived", None)]
)
def test_another_outcome_of_a_challenge_is_followed_to_the_report(
    desk: rd.Desk, outcome: str, after: str | None
) -> None:
    falling = desk.existing("s").what_falls(flipped={"ch_001": outcome})  # type: ignore[dict-item]
    assert [claim.after for claim in falling.claims] == ([after] if after else [])
    assert bool(falling.questions) == bool(falling.sentences) == bool(after)


def test_what_is_not_there_cannot_be_taken_away(desk: rd.Desk) -> None:
    session = desk.existing("s")
    with pytest.raises(NotFound, match=r"no source 's_404' in this run; it has s_001\.\.s_002"):
        session.what_falls(without=["s_404"])
    with pytest.raises(NotFound, match=r"no challenge 'ch_404' in this run; it has ch_001\.\.ch_001"):
        session.what_falls(flipped={"ch_404": "refuted"})


def test_without_questions_the_sentences_that_cite_a_source_fall_with_it(tmp_path: Path) -> None:
    with rd.open_desk(tmp_path) as own:
        run = Caller(own.session("plain"))
        run.finish()
        falling = run.session.what_falls(without="s_001")
        assert (falling.claims, falling.questions) == ((), ())
        assert {(one.section, one.loss, one.cites) for one in falling.sentences} == {
            (key, "falls", ("s_001",)) for key in SECTIONS
        }
        with pytest.raises(NotFound, match=r"no source 's_404' in this run; it has s_001\.\.s_001"):
            run.session.what_falls(without="s_404")


def test_one_source_may_be_named_by_its_id_alone(desk: rd.Desk) -> None:
    session = desk.existing("s")
    assert session.what_falls(without="s_001") == session.what_falls(without=["s_001", "s_001"])


def test_an_outcome_that_there_is_not_is_named_with_those_that_there_are(desk: rd.Desk) -> None:
    flipped: Any = {"ch_001": "lost"}
    with pytest.raises(UsageError, match="no outcome 'lost'; there are survived, weakened, refuted"):
        desk.existing("s").what_falls(flipped=flipped)


def test_a_fork_holds_the_beginning_and_goes_on_by_itself(desk: rd.Desk) -> None:
    session = desk.existing("s")
    asked = _seq_of(session, ev.ClaimRecorded)
    fork = desk.fork("s", asked)
    assert fork.id == f"s-at-{asked}"
    seq = len(fork.events())
    assert [item.type for item in fork.events()][asked - 1 :] == [
        *("claim_recorded", "claim_source_recorded", "claim_source_recorded", "notes_version_recorded"),
        "call_recorded",
    ], "what a call wrote is taken whole"
    old, new = session.at(seq).workspace, fork.workspace
    assert (new.run, new.investigation, new.bodies) == (old.run, old.investigation, old.bodies)
    opened = new.session
    assert opened is not None and (opened.forked_from, opened.forked_seq) == ("s", seq)
    assert [item.ts for item in fork.events()] == [item.ts for item in session.events()][:seq]
    assert desk.verify().ok
    before = session.events()
    fork.record([ev.ScratchSet(text="Going another way.")])
    assert session.events() == before
    assert fork.notes.scratch == "Going another way." != session.notes.scratch
    assert desk.verify().ok


def test_the_same_fork_again_is_the_one_that_is_there(desk: rd.Desk) -> None:
    first = desk.fork("s", 20, new_id="again")
    first.record([ev.RunConfigured(model="another")])
    second = desk.fork("s", 20, new_id="again")
    assert second.workspace.config == ev.RunConfigured(model="another")
    with pytest.raises(UsageError, match=r"no fork of 's' at event 4\d"):
        desk.fork("s", 40, new_id="again")
    with pytest.raises(UsageError, match="no fork of 'again' at event"):
        desk.fork("again", 3, new_id="s")


def test_a_fork_of_a_finished_run_can_be_resumed_from_its_middle(desk: rd.Desk) -> None:
    session = desk.existing("s")
    fork = desk.fork("s", _seq_of(session, ev.ModelAnswered, 4) - 1, new_id="resumed")
    assert fork.run is not None and fork.run.status == "active"
    model = player([resolve("q_001", "c_001")], [to_report()])
    result = rd.resume_research(desk, "resumed", model=model)
    assert result.status == "completed"
    assert [claim.status for claim in fork.claims] == ["UNVERIFIED"]
    assert desk.verify().ok
    assert ALPS_QUOTE in fork.claims[0].links[0].quote


def test_a_text_that_was_purged_since_stays_away_in_a_fork(desk: rd.Desk) -> None:
    whole = desk.fork("s", len(desk.existing("s").events()), new_id="whole")
    artifact = whole.investigation.notes.sources["s_002"].artifact_id
    for name in [s.session_id for s in desk.sessions()]:
        opened = desk.existing(name)
        if opened.run and artifact in opened.run.artifacts:
            desk.purge(name, [artifact], actor="human:me", reason="law")
    late = desk.fork("s", len(desk.existing("s").events()) - 1, new_id="late")
    assert desk.verify().ok
    early = desk.fork("s", _seq_of(desk.existing("s"), ev.ClaimRecorded), new_id="early")
    assert artifact in early.workspace.purged_artifacts and artifact in late.workspace.purged_artifacts
    assert desk.verify().ok
