"""A whole investigation through its tools: the same in every process, proven, rebuilt, exported and watched."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from researchdesk.state.events import ClaimSourceRecorded, SourceRecorded
from researchdesk.state.independence import SIGNATURE_VERSION
from researchdesk.state.notes import Notes
from researchdesk.state.notes_grammar import parse, render
from researchdesk.state.vocabulary import INVESTIGATION_LABELS
from researchdesk.stores.notes import NotesFiles
from researchdesk.tools.workspace import Desk, open_desk

from ...desks import SKY, Caller
from .scripts import (
    BLOG,
    COUNTER,
    MIRROR,
    NEWER,
    SLOW,
    answer,
    ask,
    challenge,
    change,
    entry,
    figure,
    investigator,
    link,
    survive,
    verified,
)

READER = """
import sys
from researchdesk.tools.workspace import open_desk
with open_desk(sys.argv[1]) as desk:
    print(repr(desk.existing(sys.argv[2]).investigation))
"""


def whole(desk: Desk, session_id: str = "s1", user: str = "ann") -> Caller:
    """An investigation in which everything happens once: asked, noted, broken, failed, given up and steered."""
    caller = investigator(desk, session_id, user=user)
    caller.ok("notes_scratch", text="Begin with the standards.")
    claim = verified(caller)
    survive(caller, "q_002", kind="question_answer", query=NEWER, strategy="newer_evidence")
    caller.ok("resolve_question", question_id="q_002", answer="Eight.", claim_ids=[claim])
    for locator in (MIRROR, BLOG):
        caller.ok("archive_source", locator=locator)
    caller("archive_source", locator=SLOW)
    caller.source(SKY, name="Typed")
    ask(caller, "Is eight enough for everybody.", kind="hypothesis", depends_on=["q_002"])
    caller.ok("frontier_next")
    caller.ok("challenge", **challenge(claim, strategy="counterexample", query=COUNTER))
    caller("search_sources", query=COUNTER)
    caller.ok("record_challenge_result", challenge_id="ch_003", outcome="inconclusive")
    weak = entry(
        text="Complexity matters less.", links=[link("s_004", "length matters more than complexity")]
    )
    caller.ok("notes_append", section="Unverified", entries=[weak, figure()])
    caller.ok("notes_append", section="Assumptions & gaps", entries=[entry("gap", "What of PINs?")])
    caller.ok("notes_update", id="gap_001", change=change(text="PINs?"))
    caller.ok("notes_update", id=claim, change=change(status="REFUTED", reason="Withdrawn."))
    caller.ok("resolve_question", question_id="q_003", answer="No.", reason="It was found on the way.")
    caller.session.steering.add("Who checks it?", priority=95)
    caller.session.steering.set_priority("q_005", 96, "urgent")
    caller.ok("set_priority", question_id="q_004", priority=3, why="It can wait.")
    caller.session.steering.prune("q_004", "known")
    return caller


def test_another_process_reads_the_same_investigation(desk: Desk) -> None:
    caller = whole(desk)
    now = caller.session.investigation
    done = subprocess.run(
        [sys.executable, "-P", "-c", READER, str(desk.home), "s1"],
        env={"PYTHONPATH": ":".join(filter(None, sys.path)), "PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    with open_desk(desk.home) as again:
        assert again.existing("s1").investigation == now
    assert {question.id: question.status for question in now.frontier} == {
        "q_001": "in_progress",
        "q_002": "pending",
        "q_003": "resolved",
        "q_004": "pruned",
        "q_005": "pending",
    }
    for key in ("c_001", "REFUTED", "s_005", "ch_003", "infrastructure", "Begin with the standards."):
        assert key in done.stdout


def test_it_verifies_is_rebuilt_to_the_same_rows_and_travels_unchanged(desk: Desk, tmp_path: Path) -> None:
    caller = whole(desk)
    assert desk.verify().problems == ()
    before = desk.ledger.head(caller.session.stream)
    desk.rebuild("s1")
    assert desk.ledger.head(caller.session.stream) == before
    assert desk.verify().problems == ()
    for name in ("s1.jsonl", "s1.zip"):
        exported = desk.export("s1", tmp_path / name)
        with open_desk(tmp_path / f"{name}-home") as other:
            other.import_session(exported)
            assert other.verify().problems == ()
            assert other.existing("s1").investigation == caller.session.investigation


def test_the_latest_version_of_the_notes_is_the_folded_notes_at_every_moment(desk: Desk) -> None:
    caller = whole(desk)
    versions = desk.ledger.query("SELECT seq, reason, text FROM notes_versions ORDER BY seq")
    assert [row["seq"] for row in versions] == list(range(1, len(versions) + 1))
    assert parse(str(versions[-1]["text"])) == caller.session.notes
    assert {row["reason"] for row in versions} == {"notes_append", "notes_update", "notes_scratch"}
    copy = caller.session.keep_notes()
    assert copy is not None and copy.read_bytes() == str(versions[-1]["text"]).encode()


def test_the_working_copy_is_written_after_every_change_and_comes_back(desk: Desk) -> None:
    caller = investigator(desk, user="../ann é")
    run = caller.session.run
    assert run is not None
    path = desk.home / "notes" / f"notes_.._ann___s1_{run.notes_id}.md"
    files = NotesFiles(desk.home / "notes")
    assert not path.exists() and files.read(path) == render(Notes())
    caller.ok("notes_scratch", text="one\r\ntwo")
    assert path.read_bytes() == render(caller.session.notes).encode()
    path.unlink()
    caller.ok("notes_read")
    assert path.read_bytes() == render(caller.session.notes).encode()
    path.write_text("scribbled over")
    assert caller.session.keep_notes() == path
    assert parse(files.read(path)) == caller.session.notes
    assert [child.name for child in path.parent.iterdir()] == [path.name]


def test_a_working_copy_that_cannot_be_written_fails_no_call(desk: Desk) -> None:
    (desk.home / "notes").write_text("a file where the folder should be")
    caller = investigator(desk)
    caller.ok("notes_scratch", text="kept all the same")
    assert caller.session.notes.scratch == "kept all the same"
    (desk.home / "notes").unlink()
    caller.ok("notes_read")
    (copy,) = (desk.home / "notes").iterdir()
    assert "kept all the same" in copy.read_text()


def test_sources_are_signed_and_of_a_registrable_domain_in_every_session(desk: Desk) -> None:
    whole(desk)
    plain = Caller(desk.session("plain"))
    plain.start()
    plain.source()
    recorded = [event.event() for event in desk.existing("s1").events()]
    found = [event for event in recorded if isinstance(event, SourceRecorded)]
    assert [(s.domain, s.origin) for s in found[:4]] == [
        ("nist.gov", "nist.gov"),
        ("owasp.org", "owasp.org"),
        ("example.net.au", "example.net.au"),
        ("nist.gov", "nist.gov"),
    ]
    assert found[0].origin_reason.startswith("registrable domain, publicsuffixlist ")
    assert [bool(s.signature) for s in found] == [True, True, True, True, False]
    assert found[0].signature.startswith(f"{SIGNATURE_VERSION}:") and found[2].near_duplicates == ("s_001",)


def test_a_session_without_the_label_keeps_nothing_and_may_begin_later(desk: Desk) -> None:
    plain = Caller(desk.session("plain"))
    plain.start()
    plain.source()
    assert plain.session.run is not None and plain.session.run.notes_id == ""
    assert plain.session.workspace.investigation is None
    assert (len(plain.session.frontier.questions), plain.session.claims) == (0, ())
    assert plain.refused("frontier_view") == "not_permitted"
    begun = plain.session.start_investigation()
    assert begun.frontier.root.text == "Why is the sky blue?" and list(begun.notes.sources) == ["s_001"]
    assert plain.session.start_investigation() == begun
    assert "\nQuestions: 1 in_progress;" in plain.ok("frontier_view").text
    assert plain.session.keep_notes() is None and not (desk.home / "notes").exists()
    (version,) = desk.ledger.query("SELECT text FROM notes_versions")
    assert parse(str(version["text"])) == begun.notes
    assert desk.verify().problems == ()


@pytest.mark.parametrize("rights", [{"parent": "s0"}, {"profile": "desk"}])
def test_a_child_and_a_desk_session_have_no_tool_of_an_investigation(
    desk: Desk, rights: dict[str, str]
) -> None:
    session = desk.session("other", labels=INVESTIGATION_LABELS, **rights)  # type: ignore[arg-type]
    names = {spec.name for spec in session.tools()}
    assert names.isdisjoint({"frontier_next", "notes_append", "challenge"})


def test_a_retried_call_gives_the_recorded_result_and_no_event(desk: Desk) -> None:
    caller = whole(desk)
    rows = desk.ledger.query(
        "SELECT id, name, arguments FROM tool_calls WHERE name NOT LIKE 'deep%' ORDER BY seq"
    )
    events = caller.session.events()
    for row in rows:
        again = caller.session.call(
            str(row["name"]), json.loads(str(row["arguments"])), tool_call_id=str(row["id"])
        )
        assert again.replayed
    assert len(rows) > 20 and caller.session.events() == events


def test_a_finished_run_takes_no_more_of_it_but_can_be_looked_at(desk: Desk) -> None:
    caller = investigator(desk)
    source = caller.source()
    caller.settle_checklist(source)
    answer(caller, "q_001")
    caller.complete(*caller.write_all())
    assert caller.refused("notes_scratch", text="late") == "completed"
    assert caller.refused("add_question", text="Late?", kind="question") == "completed"
    assert "\nQuestions: 1 resolved;" in caller.ok("frontier_view").text


def test_verify_finds_a_claim_whose_quote_is_not_what_stands_in_its_source(desk: Desk) -> None:
    caller = investigator(desk)
    verified(caller)
    (claim,) = caller.session.claims
    forged = replace(claim.links[0], quote="x" * len(claim.links[0].quote))
    caller.session.record([ClaimSourceRecorded(claim_id=claim.id, link=forged)])
    assert desk.verify().problems == (
        "session 's1', claim c_001: what stands in s_001 at 0..67 is not what it quotes",
    )
