"""What is shown of a run while it goes on."""

from pathlib import Path

from researchdesk.graph.progress import facts_text, milestone_text, question_text
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
