"""What counts as a gain of a turn: things that came, not things that were done."""

from collections.abc import Callable

import pytest

from researchdesk.state import events as ev
from researchdesk.tools.workspace import Desk

from ...desks import Caller
from .scripts import BLOG, MINIMUM, NEGATION, SLOW, answer, ask, challenge, change, entry, figure, link, noted
from .scripts import investigator as made

Deed = Callable[[Caller], object]


def answered(caller: Caller) -> None:
    """The next answer of a model, without a call."""
    number = caller.session.workspace.called + 1
    asked = ev.ModelCalled(
        ordinal=number, model="m", stage="knowledge_base", request_digest="d", input_tokens=1
    )
    given = ev.ModelAnswered(
        ordinal=number,
        turn_id=f"t_{number}",
        message_id=f"m_{number}",
        text=ev.Stowed(inline="So."),
        calls=(),
        request_digest="d",
        input_tokens=1,
        output_tokens=1,
        usage_reported=True,
    )
    caller.session.record([asked, given])


@pytest.fixture
def caller(desk: Desk) -> Caller:
    """A caller with a question in progress, two sources and a claim; two answers later."""
    begun = made(desk)
    noted(begun)
    answered(begun)
    answered(begun)
    return begun


GAINS: dict[str, Deed] = {
    "a source": lambda c: c.ok("archive_source", locator=BLOG),
    "an artifact": lambda c: c.save("outline", "- At least eight [c_001]"),
    "a claim": lambda c: c.ok("notes_append", section="Unverified", entries=[figure()]),
    "a link of a claim": lambda c: c.ok(
        "notes_update", id="c_001", change=change(add_links=[link("s_001", MINIMUM[:40], "mentions")])
    ),
    "a gap": lambda c: c.ok(
        "notes_append", section="Assumptions & gaps", entries=[entry("gap", "Nobody says.")]
    ),
    "a question": lambda c: ask(c, "What of four digit PINs?"),
    "an answer": lambda c: answer(c, "q_002"),
    "a challenge": lambda c: c.ok("challenge", **challenge()),
}
BUSY: dict[str, Deed] = {
    "a search": lambda c: c.ok("search_sources", query=NEGATION),
    "a search that found nothing": lambda c: c.ok("search_sources", query="nothing at all"),
    "a fetch that failed": lambda c: c("archive_source", locator=SLOW),
    "a source that is there": lambda c: c.ok("archive_source", locator=c.session.run.all_sources[0].url),  # type: ignore[union-attr]
    "a priority": lambda c: c.ok("set_priority", question_id="q_002", priority=70, why="now"),
    "scratch": lambda c: c.ok("notes_scratch", text="hm"),
    "an announced search": lambda c: c.ok(
        "retry_question", question_id="q_002", new_query="length", why="more"
    ),
    "a view": lambda c: c.ok("frontier_view"),
    "a checkpoint": lambda c: c.checkpoint(),
}


@pytest.mark.parametrize("deed", GAINS)
def test_what_came_is_a_gain_of_the_answer_it_came_in(caller: Caller, deed: str) -> None:
    assert caller.session.workspace.gained_turn == 0
    GAINS[deed](caller)
    assert caller.session.workspace.gained_turn == 2


@pytest.mark.parametrize("deed", BUSY)
def test_what_was_only_done_is_none(caller: Caller, deed: str) -> None:
    BUSY[deed](caller)
    assert caller.session.workspace.gained_turn == 0


def test_an_outcome_of_a_challenge_is_a_gain_and_its_search_is_none(caller: Caller) -> None:
    caller.ok("challenge", **challenge())
    answered(caller)
    caller.ok("search_sources", query=NEGATION)
    assert caller.session.workspace.gained_turn == 2
    caller.ok("record_challenge_result", challenge_id="ch_001", outcome="survived", evidence="Only how.")
    assert caller.session.workspace.gained_turn == 3


def test_the_report_stage_begins_afresh_and_so_does_a_run_that_is_taken_up_again(caller: Caller) -> None:
    caller.session.record([ev.ResearchStopped(reason="no_progress", detail="nothing came")])
    assert caller.session.workspace.gained_turn == 0
    caller.checkpoint(stage="report_writing")
    assert caller.session.workspace.gained_turn == 2
    answered(caller)
    caller.session.record([ev.ResearchResumed()])
    assert caller.session.workspace.gained_turn == 3
