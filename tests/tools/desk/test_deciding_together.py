"""Many who decide at once, and processes that end in the middle of it: each change happens once or not at all."""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from researchdesk.tools.workspace import Desk, open_desk

from .deciders import approve

PROPOSALS = 40
PROCESSES = 6


def propose(desk: Desk, name: str = "update", path: str = "plan.md") -> str:
    """A file, and a proposal to change it; gives the proposal's id."""
    session = desk.session("s1", labels=(), profile="desk")
    made = session.call(
        "desk_create_file",
        {"path": path, "kind": "markdown", "content": "old\n"},
        tool_call_id=f"create-{name}",
    )
    change = {"file": path, "base_version": made.data["hash"], "mode": "replace", "content": "new\n"}
    result = session.call("desk_update_file", change, tool_call_id=name)
    assert result.status == "pending", result.text
    return str(result.data["proposal_id"])


def script(*arguments: object) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "tests.tools.desk.deciders", *map(str, arguments)]
    root = Path(__file__).parents[3]
    return subprocess.Popen(command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize("kind", ["folder", "server"])
def test_six_processes_that_approve_the_same_forty_proposals_make_forty_changes(
    new_home: Callable[[str], str], kind: str
) -> None:
    home = new_home(kind)
    with open_desk(home) as desk:
        ids = [propose(desk, f"p{n}", f"file-{n}.md") for n in range(PROPOSALS)]
    processes = [script("approve", home, f"person-{n}") for n in range(PROCESSES)]
    for process in processes:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    outcomes = [json.loads(process.communicate()[0]) for process in processes]
    assert [process.returncode for process in processes] == [0] * PROCESSES
    assert Counter(outcome[key] for outcome in outcomes for key in ids) == {
        "executed": PROPOSALS,
        "already_decided": PROPOSALS * (PROCESSES - 1),
    }
    with open_desk(home) as desk:
        assert {made.status for made in desk.proposals()} == {"executed"}
        assert [len(desk.files.revisions(file.id)) for file in desk.files.listed()] == [1] * PROPOSALS
        assert {desk.files.read(file.id) for file in desk.files.listed()} == {"new\n"}
        calls = desk.ledger.query("SELECT status FROM tool_calls WHERE name = 'desk_update_file'")
        assert {str(call["status"]) for call in calls} == {"success"}
        assert desk.verify().problems == ()


@pytest.mark.parametrize(("kind", "desks"), [("folder", 1), ("folder", 4), ("server", 4)])
def test_twenty_approvals_by_two_people_at_once_are_one_change(
    new_home: Callable[[str], str], kind: str, desks: int
) -> None:
    home = new_home(kind)
    opened = [open_desk(home) for _ in range(desks)]
    proposal_id = propose(opened[0])
    shown = opened[0].proposal(proposal_id).hash

    def decide(n: int) -> tuple[str, str]:
        actor = f"human:{('ann', 'bob')[n % 2]}"
        return actor, approve(opened[n % desks], proposal_id, shown, actor)

    with ThreadPoolExecutor(20) as pool:
        outcomes = Counter(pool.map(decide, range(20)))
    made = opened[0].proposal(proposal_id)
    other = {"human:ann": "human:bob", "human:bob": "human:ann"}[made.decided_by]
    assert outcomes == {
        (made.decided_by, "executed"): 1,
        (made.decided_by, "replayed"): 9,
        (other, "already_decided"): 10,
    }
    assert len(opened[0].files.revisions("plan.md")) == 1
    assert opened[0].verify().ok
    for desk in opened:
        desk.close()


@pytest.mark.parametrize(
    ("choice", "after"),
    [
        ("approve", ["executed", "new\n", 1, "success", "", True]),
        ("reject", ["rejected", "old\n", 0, "error", "rejected", True]),
    ],
)
def test_a_process_that_ends_at_any_write_leaves_the_proposal_pending_or_decided_whole(
    tmp_path: Path, choice: str, after: list[object]
) -> None:
    home = tmp_path / "home"
    with open_desk(home) as desk:
        propose(desk)
    process = script("die", home, tmp_path / "copies", choice)
    states = [json.loads(line) for line in process.communicate()[0].splitlines()]
    assert process.returncode == 0
    before = ["pending", "old\n", 0, "pending", "", True]
    assert len(states) >= 20
    assert Counter(str(state["left"]) for state in states).keys() == {str(before), str(after)}
    assert all(state["then"] == after for state in states)


def test_a_decision_that_cannot_be_written_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody who is faster between the look and the write changes nothing about the outcome."""
    with open_desk(tmp_path) as desk, open_desk(tmp_path) as other:
        proposal_id = propose(desk)
        shown = desk.proposal(proposal_id).hash
        append: Callable[..., None] = desk.ledger.append
        interrupted = False

        def late(*appends: object) -> None:
            nonlocal interrupted
            if not interrupted:
                interrupted = True
                other.files.put("another.md", "text\n", actor="human:bob")
            append(*appends)

        monkeypatch.setattr(desk.ledger, "append", late)
        assert (
            desk.decide(proposal_id, "approve", actor="human:ann", proposal_hash=shown).status == "executed"
        )
        assert [file.path for file in desk.files.listed()] == ["another.md", "plan.md"]
        assert desk.verify().ok
