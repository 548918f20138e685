"""What is shown of a run while it goes on."""

from pathlib import Path

import pytest

from researchdesk.graph.progress import IndexProgress, facts_text, milestone_text, question_text
from researchdesk.tools.workspace import open_desk

from ..tools.investigate.scripts import COUNTER, ask, challenge, investigator, noted, survive


def test_the_question_in_progress_and_the_counts_of_claims_and_challenges_are_shown(tmp_path: Path) -> None:
    with open_desk(tmp_path) as desk:
        caller = investigator(desk)
        assert question_text(caller.session.workspace) == "q_001 What should a password policy demand?"
        claim = noted(caller)
        survive(caller, claim)
        caller.ok("challenge", **challenge(query=COUNTER, strategy="counterexample"))
        assert facts_text(caller.session.workspace) == (
            "gathering · sources 2 · questions 0/2 settled · claims 1, 0 verified · challenges 2, 1 open · sections 0/5"
        )
        assert question_text(caller.session.workspace) == "q_002 How long has a password to be?"


def test_a_question_that_is_settled_is_a_milestone_and_a_priority_is_none(tmp_path: Path) -> None:
    with open_desk(tmp_path) as desk:
        caller = investigator(desk)
        asked = ask(caller, "Who reviews\nthe rules?")
        caller.session.steering.set_priority(asked, 10)
        caller.session.steering.prune(asked, "nobody asked")
        told = [
            milestone_text(stored.event(), caller.session.workspace) for stored in caller.session.events()
        ]
        assert [text for text in told if text] == ["q_002 dropped: Who reviews the rules? -> nobody asked"]


def test_reading_and_embedding_tell_about_every_500th(capsys: pytest.CaptureFixture[str]) -> None:
    with IndexProgress(stop=lambda: False) as progress:
        for done in range(1, 1_002):
            progress.update(done, 1_001, f"{done}.md")
        for done in range(64, 1_089, 64):
            progress.update(done, 1_088, f"meaning of {done}.md")
    assert capsys.readouterr().err.splitlines() == [
        "  read 500 of 1,001 documents",
        "  read 1,000 of 1,001 documents",
        "  embedded 512 of 1,088 passages",
        "  embedded 1,024 of 1,088 passages",
    ]
