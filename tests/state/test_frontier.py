"""The frontier: what is asked next, what waits, what is settled, and a trail of transitions that never lies."""

from collections import Counter
from typing import Any

import pytest

from researchdesk.state.errors import Refusal
from researchdesk.state.frontier import Frontier, Moved, start_frontier
from researchdesk.state.frontier_moves import (
    NewQuestion,
    add,
    attempt,
    depend,
    prune_branch,
    reblock,
    reopen,
    resolve,
    retry,
    select,
    set_priority,
)
from researchdesk.state.frontier_summary import summary
from researchdesk.state.limits import LIMITS, override
from researchdesk.state.questions import Question, Transition

from .investigations import begin, play

LIMITS_HERE = LIMITS["standard"]


def ask(frontier: Frontier, text: str, parent: str = "q_001", **more: Any) -> Moved:
    return add(frontier, parent, NewQuestion(text=text, **more), limits=LIMITS_HERE)


@pytest.fixture
def frontier() -> Frontier:
    """The objective with the questions q_002 to q_004 under it."""
    frontier = start_frontier("Why?").frontier
    for text in ("Who pays?", "Who gains?", "Who knows?"):
        frontier = ask(frontier, text).frontier
    return frontier


def status(frontier: Frontier, *ids: str) -> tuple[str, ...]:
    return tuple(frontier.questions[key].status for key in ids)


def refused(code: str, call: Any, *args: Any, **kwargs: Any) -> str:
    with pytest.raises(Refusal) as caught:
        call(*args, **kwargs)
    assert caught.value.code == code
    return caught.value.text


def check_trail(frontier: Frontier, trail: list[Transition]) -> None:
    latest: dict[str, Transition] = {}
    for step in trail:
        before = latest.get(step.question_id)
        assert step.seq == (before.seq + 1 if before else 1)
        assert step.from_status == (before.to_status if before else "")
        assert (step.trigger == "reprioritized") == (step.from_status == step.to_status)
        latest[step.question_id] = step
    assert {q.id: (q.status, q.trans_seq, q.priority) for q in frontier} == {
        key: (step.to_status, step.seq, step.priority) for key, step in latest.items()
    }


def check_order(frontier: Frontier) -> None:
    """What a frontier never is."""
    working = [q.id for q in frontier if q.status == "in_progress" and q.id != "q_001"]
    assert working == ([frontier.current_id] if frontier.current_id else [])
    for question in frontier:
        lost = [o for o in frontier.waits_for(question) if o.status in ("pruned", "unresolvable")]
        assert not (question.status == "pending" and lost)
        assert not (question.status == "blocked" and not frontier.waits_for(question))
    _no_cycle(frontier)


def _no_cycle(frontier: Frontier) -> None:
    done: set[str] = set()

    def walk(question: Question, path: frozenset[str]) -> None:
        assert question.id not in path
        if question.id not in done:
            for key in question.depends_on:
                walk(frontier.questions[key], path | {question.id})
            done.add(question.id)

    for question in frontier:
        walk(question, frozenset())


@pytest.mark.parametrize("block", range(10))
def test_the_latest_transition_is_always_the_status_in_a_thousand_random_histories(block: int) -> None:
    triggers: Counter[str] = Counter()
    for seed in range(block * 110, (block + 1) * 110):
        trail = list(begin().transitions)
        for step in play(seed, 110):
            trail += step.transitions
            check_trail(step.after.frontier, trail)
            check_order(step.after.frontier)
        triggers.update(t.trigger for t in trail)
    assert len(triggers) == 10, f"the histories go through every trigger: {triggers}"


def test_the_objective_is_in_progress_from_the_start() -> None:
    begun = start_frontier("Why?")
    assert begun.frontier.root.kind == "objective"
    assert [(t.question_id, t.from_status, t.to_status, t.trigger) for t in begun.transitions] == [
        ("q_001", "", "in_progress", "created")
    ]


def test_the_highest_priority_is_taken_first_then_the_lower_depth_then_the_older(frontier: Frontier) -> None:
    frontier = ask(frontier, "Which accounts pay?", "q_002").frontier
    assert select(frontier).question_id == "q_002"
    frontier = set_priority(frontier, "q_005", 80, "urgent").frontier
    assert select(frontier).question_id == "q_005"
    frontier = set_priority(frontier, "q_004", 80, "urgent").frontier
    assert select(frontier).question_id == "q_004"


def test_nothing_is_taken_up_while_a_question_is_in_progress(frontier: Frontier) -> None:
    frontier = select(frontier).frontier
    assert "q_002 is in progress" in refused("question_in_progress", select, frontier)


def test_a_question_gives_way_to_the_pending_one_that_it_waits_for(frontier: Frontier) -> None:
    frontier = ask(frontier, "Who decides?", priority=90, depends_on=("q_004",)).frontier
    frontier = depend(frontier, "q_004", "q_003").frontier
    moved = select(frontier)
    assert moved.question_id == "q_003"
    assert [(t.trigger, t.priority) for t in moved.transitions] == [("reprioritized", 90), ("selected", 90)]


def test_a_frontier_with_nothing_to_take_up_stays_as_it_is() -> None:
    frontier = start_frontier("Why?").frontier
    assert select(frontier) == Moved(frontier=frontier)


def test_a_child_that_blocks_its_parent_sends_it_back_and_goes_before_it(frontier: Frontier) -> None:
    frontier = set_priority(frontier, "q_003", 70, "first").frontier
    frontier = select(frontier).frontier
    moved = ask(frontier, "What is gain?", "q_003", blocks_parent=True)
    assert [(t.question_id, t.trigger) for t in moved.transitions] == [
        ("q_005", "created"),
        ("q_003", "dependency_added"),
    ]
    assert moved.frontier.questions["q_005"].priority == 70
    assert moved.frontier.questions["q_003"].depends_on == ("q_005",)
    assert select(moved.frontier).question_id == "q_005"


def test_a_child_that_blocks_the_objective_does_not_stop_it(frontier: Frontier) -> None:
    moved = ask(frontier, "What is a reason?", blocks_parent=True)
    assert status(moved.frontier, "q_001") == ("in_progress",)
    assert moved.frontier.root.depends_on == ("q_005",)
    assert moved.frontier.questions["q_005"].priority == 50


def test_a_question_below_the_depth_cap_is_refused_in_the_words_of_the_contract(frontier: Frontier) -> None:
    parent = "q_002"
    for n in range(2):
        moved = ask(frontier, f"Deeper by {n}?", parent)
        frontier, parent = moved.frontier, moved.question_id
    assert frontier.questions[parent].depth == 3
    told = refused("depth_cap", ask, frontier, "Deeper still?", parent)
    assert told == "pruned by depth cap; record it as an open gap in notes instead"


def test_a_question_is_refused_when_it_is_there_already_or_too_much(frontier: Frontier) -> None:
    assert "q_002" in refused("duplicate_question", ask, frontier, " who PAYS ")
    frontier = prune_branch(frontier, "q_002", "no use").frontier
    assert "pruned" in refused("duplicate_question", ask, frontier, "Who pays?")
    few = override(LIMITS_HERE, max_questions=4)
    told = refused("too_many_questions", add, frontier, "q_001", NewQuestion(text="More?"), limits=few)
    assert "limit is 4" in told


@pytest.mark.parametrize(
    ("code", "parent", "more"),
    [
        ("unknown_question", "q_009", {}),
        ("unknown_question", "q_001", {"depends_on": ("q_009",)}),
        ("dependency_cycle", "q_002", {"depends_on": ("q_002",), "blocks_parent": True}),
        ("invalid_arguments", "q_001", {"priority": 101}),
        ("invalid_arguments", "q_001", {"priority": -1}),
        ("invalid_arguments", "q_001", {"text": "  "}),
        ("invalid_arguments", "q_001", {"text": "x" * 1001}),
        ("invalid_arguments", "q_001", {"kind": "objective"}),
    ],
)
def test_a_question_that_cannot_stand_is_refused(
    frontier: Frontier, code: str, parent: str, more: dict[str, Any]
) -> None:
    refused(code, add, frontier, parent, NewQuestion(**({"text": "New?"} | more)), limits=LIMITS_HERE)


def test_a_dependency_that_closes_a_ring_is_refused(frontier: Frontier) -> None:
    frontier = depend(frontier, "q_002", "q_003").frontier
    frontier = depend(frontier, "q_003", "q_004").frontier
    assert "q_004" in refused("dependency_cycle", depend, frontier, "q_004", "q_002")
    refused("dependency_cycle", depend, frontier, "q_002", "q_002")


def test_an_answer_lets_go_on_what_waited_for_it(frontier: Frontier) -> None:
    frontier = depend(frontier, "q_003", "q_002").frontier
    frontier = prune_branch(frontier, "q_002", "no use").frontier
    assert status(frontier, "q_002", "q_003") == ("pruned", "blocked")
    assert reblock(frontier) == Moved(frontier=frontier)

    given_up = depend(frontier, "q_004", "q_001").frontier
    root = resolve(given_up, "q_001", "Because.").frontier
    assert status(root, "q_001", "q_004") == ("resolved", "pending")


def test_what_waits_for_a_question_given_up_is_blocked_until_it_is_answered_after_all(
    frontier: Frontier,
) -> None:
    frontier = depend(frontier, "q_003", "q_002").frontier
    frontier = select(frontier).frontier
    for n in range(4):
        frontier = retry(frontier, "q_002", f"query {n}", "more", limits=LIMITS_HERE).frontier
    told = refused("assumption_required", retry, frontier, "q_002", "query 5", "more", limits=LIMITS_HERE)
    assert "4 searches" in told
    moved = retry(frontier, "q_002", "", "nothing there", limits=LIMITS_HERE, assumption="Nobody pays.")
    assert [(t.question_id, t.trigger) for t in moved.transitions] == [
        ("q_002", "attempts_exhausted"),
        ("q_003", "dependency_blocked"),
    ]
    assert moved.frontier.questions["q_002"].assumption == "Nobody pays."

    frontier = reopen(moved.frontier, "q_002", "a new source", 90, limits=LIMITS_HERE).frontier
    assert status(frontier, "q_002", "q_003") == ("pending", "blocked")
    frontier = select(frontier).frontier
    assert frontier.searches("q_002") == 0, "a reopened question gets every try again"
    moved = resolve(frontier, "q_002", "The state.")
    assert [(t.question_id, t.trigger) for t in moved.transitions] == [
        ("q_002", "resolved"),
        ("q_003", "dependency_unblocked"),
    ]


def test_a_question_is_reopened_as_often_as_the_limit_says(frontier: Frontier) -> None:
    frontier = resolve(select(frontier).frontier, "q_002", "Me.").frontier
    frontier = reopen(frontier, "q_002", "news", limits=LIMITS_HERE).frontier
    assert frontier.questions["q_002"].answer == "Me."
    frontier = resolve(select(frontier).frontier, "q_002", "You.").frontier
    assert "1 times" in refused("reopen_cap", reopen, frontier, "q_002", "again", limits=LIMITS_HERE)
    assert "pending" in refused("wrong_status", reopen, frontier, "q_003", "why", limits=LIMITS_HERE)


def test_pruning_drops_what_is_pending_or_blocked_and_keeps_what_was_done(frontier: Frontier) -> None:
    frontier = ask(frontier, "Which one?", "q_002", priority=99).frontier
    frontier = ask(frontier, "Which other one?", "q_002").frontier
    frontier = ask(frontier, "And below?", "q_006").frontier
    frontier = resolve(select(frontier).frontier, "q_005", "This.").frontier
    moved = prune_branch(frontier, "q_002", "no use", actor="user")
    assert [(t.question_id, t.trigger, t.actor) for t in moved.transitions] == [
        (key, "pruned", "user") for key in ("q_002", "q_006", "q_007")
    ]
    assert status(moved.frontier, "q_005") == ("resolved",)
    refused("wrong_status", prune_branch, moved.frontier, "q_002", "again")
    refused("wrong_status", prune_branch, moved.frontier, "q_001", "all of it")
    refused("wrong_status", ask, moved.frontier, "Under it?", "q_002")


def test_an_announced_search_is_filled_in_when_it_runs(frontier: Frontier) -> None:
    frontier = select(frontier).frontier
    frontier = retry(frontier, "q_002", "who pays taxes", "narrower", limits=LIMITS_HERE).frontier
    ran = attempt(frontier, "q_002", kind="search", query="Who pays  taxes?", outcome="ran", results=3)
    assert [(a.id, a.results, a.outcome) for a in ran.frontier.tried("q_002")] == [
        ("at_001", 3, "narrower; ran")
    ]
    more = attempt(ran.frontier, "q_002", kind="fetch", query="https://a.org", outcome="archived", results=1)
    assert [(a.id, a.seq, a.under) for a in more.frontier.tried("q_002")] == [
        ("at_001", 1, ""),
        ("at_002", 2, "at_001"),
    ]
    assert more.frontier.searches("q_002") == 1
    refused("repeated_query", retry, more.frontier, "q_002", "WHO pays taxes", "again", limits=LIMITS_HERE)


def test_only_the_question_in_progress_is_answered_or_retried(frontier: Frontier) -> None:
    frontier = select(frontier).frontier
    assert "q_002 is in progress" in refused("wrong_status", resolve, frontier, "q_003", "So.")
    refused("wrong_status", retry, frontier, "q_003", "query", "why", limits=LIMITS_HERE)
    refused("invalid_arguments", resolve, frontier, "q_002", " ")
    refused("invalid_arguments", retry, frontier, "q_002", " ", "why", limits=LIMITS_HERE)


def test_a_summary_names_what_counts_and_stays_short(frontier: Frontier) -> None:
    frontier = select(frontier).frontier
    frontier = attempt(frontier, "q_002", kind="search", query="pay", outcome="", results=2).frontier
    told = summary(frontier, "q_002", LIMITS_HERE)
    assert told.splitlines() == [
        "Questions: 2 pending, 2 in_progress; 4 of at most 40, depth at most 3.",
        "Objective q_001 (in_progress): Why?",
        "Now q_002 (depth 1, priority 50, question, 1 of 4 searches): Who pays?",
        '  tried "pay": 2 results',
        "Next:",
        "  q_003 (priority 50): Who gains?",
        "  q_004 (priority 50): Who knows?",
    ]
    for n in range(30):
        frontier = ask(frontier, f"Long {n} " + "word " * 150).frontier
    assert len(summary(frontier, "q_002", LIMITS_HERE)) < 6_000
