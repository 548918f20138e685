"""The commands that show proposals and decide about them, at a terminal and without one."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.graph.cli.desk_agent import BUDGET, COMMAND, agent, at_terminal, call, create, propose, set_cell

from researchdesk.tools.workspace import Desk, open_desk


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    """An empty desk; commands find it in the environment, and the person at them is Ann."""
    monkeypatch.setenv("RESEARCHDESK_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("RESEARCHDESK_ACTOR", "human:ann")
    with open_desk() as opened:
        yield opened


@pytest.fixture
def proposed(desk: Desk) -> str:
    """A proposal that waits: B2 of budget.csv is to be 950."""
    session = agent(desk)
    return set_cell(session, "budget.csv", create(session, "budget.csv"), "B2", "950")


def answer(*arguments: str | Path) -> tuple[int, list[dict[str, Any]]]:
    done = call(*arguments, "--json")
    return done.exit_code, json.loads(done.stdout)


def test_proposals_are_listed_with_who_asked_for_what_and_how_to_look_closer(
    desk: Desk, proposed: str
) -> None:
    done = call("proposals", "list")
    head, row = done.stdout.splitlines()
    columns = ["proposal", "status", "what", "file", "session", "asked", "at", "decided", "by", "reason"]
    assert head.split() == columns
    assert re.fullmatch(rf"{proposed} +pending +change +budget\.csv +chat +[\dT:-]{{19}} +-", row)
    assert done.stderr == f"1 waiting: researchdesk proposals show {proposed}\n"
    assert call("proposals", "list", "--status", "executed").stdout.split() == columns
    assert json.loads(call("proposals", "list", "--session", "other", "--json").stdout) == []
    (found,) = json.loads(call("proposals", "list", "--session", "chat", "--json").stdout)
    made = desk.proposal(proposed)
    assert found["hash"] == made.hash and found["diff"] == 'B2: "900" -> "950"\n'
    assert (found["status"], found["approved_by"], found["depends_on"]) == ("pending", None, "")


def test_a_proposal_is_shown_whole_with_the_command_that_approves_what_was_seen(
    desk: Desk, proposed: str
) -> None:
    done = call("proposals", "show", proposed)
    made = desk.proposal(proposed)
    assert done.stdout.splitlines() == [
        f"proposal  {proposed}, pending",
        f"wants to  change budget.csv ({made.file_id})",
        f"asked by  session chat with desk_update_file at {made.created_at[:19]}",
        f"expires   {made.expires_at[:19]}",
        f"hash      {made.hash}",
        "",
        'B2: "900" -> "950"',
        "",
    ]
    assert done.stderr == f"researchdesk proposals approve {proposed} --hash {made.hash}\n"
    shown = json.loads(call("proposals", "show", proposed, "--json").stdout)
    assert shown["arguments"]["cells"] == [{"ref": "B2", "value": "950"}]


def test_a_long_change_is_shown_whole_although_lists_cut_it(desk: Desk) -> None:
    session = agent(desk)
    base = create(session, "long.md", "first\n")
    lines = [f"line {number} of many" for number in range(2_000)]
    made = propose(session, "long.md", base, mode="append", content="\n".join(lines))
    assert "more changed lines are not shown" in desk.proposal(made).diff
    shown = call("proposals", "show", made).stdout.splitlines()
    assert [line[1:] for line in shown if line.startswith("+line")] == lines


def test_without_a_terminal_the_hash_of_what_was_shown_is_needed(desk: Desk, proposed: str) -> None:
    refused = call("proposals", "approve", proposed)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert f"`researchdesk proposals show {proposed}`" in refused.stderr and "--yes" in refused.stderr
    code, (outcome,) = answer("proposals", "approve", proposed, "--hash", desk.proposal(proposed).hash)
    version = desk.files.get("budget.csv").content_hash
    assert code == 0
    assert outcome == {
        "proposal_id": proposed,
        "status": "executed",
        "ok": True,
        "text": f'Approved by human:ann: "budget.csv" was changed. Its version is {version} now.',
        "code": "",
        "next": "",
        "replayed": False,
    }
    assert desk.files.read("budget.csv") == BUDGET.replace("900", "950")
    assert desk.verify().ok


def test_another_process_approves_and_a_repetition_changes_nothing(desk: Desk, proposed: str) -> None:
    command = [*COMMAND, "proposals", "approve", proposed, "--yes", "--json"]
    first = subprocess.run(command, capture_output=True, text=True, check=True)
    again = subprocess.run(command, capture_output=True, text=True, check=True)
    assert [json.loads(done.stdout)[0]["replayed"] for done in (first, again)] == [False, True]
    told = f"{proposed}: you decided so before; nothing was done again\n"
    assert (first.stderr, again.stderr) == ("", told)
    assert call("proposals", "list").stderr == "nothing waits for a decision\n"
    assert len(desk.files.revisions("budget.csv")) == 1
    made = desk.proposal(proposed)
    assert (made.status, made.decided_by) == ("executed", "human:ann")


def test_a_person_at_a_terminal_sees_the_diff_before_the_question(desk: Desk, proposed: str) -> None:
    code, seen = at_terminal("proposals", "approve", proposed, typed=[("approve? [y/N]", "y")])
    assert code == 0
    assert seen.index('B2: "900" -> "950"') < seen.index("approve? [y/N]") < seen.index("executed")
    assert desk.proposal(proposed).hash in seen
    assert desk.proposal(proposed).status == "executed"


def test_a_no_at_the_terminal_decides_nothing(desk: Desk, proposed: str) -> None:
    code, seen = at_terminal("proposals", "approve", proposed, typed=[("approve? [y/N]", "")])
    assert code == 1 and f"{proposed}  pending  Nothing was decided." in seen
    assert desk.proposal(proposed).status == "pending"


def test_several_proposals_are_decided_in_the_order_in_which_they_are_named(desk: Desk) -> None:
    session = agent(desk)
    base = create(session, "budget.csv")
    first = set_cell(session, "budget.csv", base, "B2", "950")
    second = propose(
        session, "budget.csv", desk.proposal(first).after_hash, mode="append", content="fun,100\n"
    )
    code, outcomes = answer("proposals", "approve", second, first, "--yes")
    assert (code, [(one["status"], one["code"]) for one in outcomes]) == (
        1,
        [("pending", "dependency_pending"), ("executed", "")],
    )
    assert outcomes[0]["next"] == f"first `researchdesk proposals show {first}`"
    code, outcomes = answer("proposals", "approve", first, second, "--yes")
    assert (code, [(one["status"], one["replayed"]) for one in outcomes]) == (
        0,
        [("executed", True), ("executed", False)],
    )
    assert f"builds on  {first}" in call("proposals", "show", second).stdout


def test_an_unknown_id_among_several_decides_nothing(desk: Desk, proposed: str) -> None:
    done = call("proposals", "approve", proposed, "p_1", "--yes")
    assert (done.exit_code, done.stdout) == (1, "") and "no proposal 'p_1'" in done.stderr
    assert desk.proposal(proposed).status == "pending"


def test_what_cannot_run_any_more_exits_with_1_and_says_what_to_do(desk: Desk, proposed: str) -> None:
    saved = call("desk", "put", "budget.csv", "--force", stdin="item,eur\nrent,1000\n")
    assert saved.exit_code == 0
    done = call("proposals", "approve", proposed, "--yes")
    assert done.exit_code == 1
    why = r'"budget\.csv" changed after it was proposed'
    versions = "[0-9a-f]{8} is [0-9a-f]{8} now"
    what = rf"{proposed}  stale  Proposal {proposed} was not run: {why}: {versions}\.\n"
    assert re.fullmatch(what, done.stdout)
    file = desk.files.get("budget.csv")
    assert done.stderr == (
        f"{proposed}: look at the file as it is now with `researchdesk desk cat {file.id}`; session chat may propose "
        "the change anew\n"
    )
    assert desk.files.read("budget.csv") == "item,eur\nrent,1000\n"
    again = call("proposals", "approve", proposed, "--yes")
    assert again.exit_code == 1 and "was already stale by human:ann" in again.stdout
    assert f"`researchdesk proposals show {proposed}` shows what was decided" in again.stderr


def test_a_hash_of_something_else_is_refused_and_nothing_is_written(desk: Desk, proposed: str) -> None:
    code, (outcome,) = answer("proposals", "approve", proposed, "--hash", "sha256:" + "0" * 64)
    assert (code, outcome["code"], outcome["status"]) == (1, "proposal_changed", "pending")
    assert desk.files.read("budget.csv") == BUDGET


def test_a_proposal_that_waited_too_long_is_shown_so_and_lapses(desk: Desk, tmp_path: Path) -> None:
    with open_desk(clock=lambda: "2020-01-01T00:00:00.000000+00:00") as long_ago:
        session = agent(long_ago)
        made = set_cell(session, "old.csv", create(session, "old.csv"), "B2", "1")
    assert f"{made}  pending (too late)" in call("proposals", "list").stdout
    code, (outcome,) = answer("proposals", "approve", made, "--yes")
    assert (code, outcome["status"]) == (1, "expired")
    assert outcome["text"] == f"Proposal {made} expired on 2020-01-08 and was not run."


def test_other_arguments_are_previewed_and_approved_with_their_own_hash(desk: Desk, proposed: str) -> None:
    other = json.dumps({"cells": [{"ref": "B2", "value": "925"}]})
    shown = json.loads(call("proposals", "show", proposed, "--args", other, "--json").stdout)
    assert shown["diff"] == 'B2: "900" -> "925"\n' and shown["hash"] != desk.proposal(proposed).hash
    told = call("proposals", "show", proposed, "--args", other).stderr
    assert shown["hash"] in told and "--args" in told
    code, (outcome,) = answer("proposals", "approve", proposed, "--args", other, "--hash", shown["hash"])
    assert (code, outcome["status"]) == (0, "executed")
    assert "A person changed this call before it ran." in outcome["text"]
    assert desk.files.read("budget.csv") == BUDGET.replace("900", "925")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["approve", "p_1"], 2, "nobody can be asked here"),
        (["approve", "p_1", "--yes"], 1, "no proposal 'p_1' on this desk; waiting: {proposed}"),
        (["approve", "p_1", "{proposed}", "--hash", "sha256:0"], 2, "--hash and --args are for one proposal"),
        (["approve", "{proposed}", "--yes", "--args", "[1]"], 2, "--args has to be a JSON object"),
        (["approve", "{proposed}", "--yes", "--args", "{{"], 2, "--args is no JSON"),
        (
            ["approve", "{proposed}", "--yes", "--actor", "agent:chat"],
            1,
            "agent:chat may not approve proposals.",
        ),
        (["approve", "{proposed}", "--yes", "--actor", "ann"], 2, "an actor is written human:<name>"),
        (["reject", "{proposed}", "--reason", " "], 2, "say why with --reason"),
        (["list", "--status", "open"], 2, "'pending', 'approved', 'rejected'"),
    ],
)
def test_wrong_use_is_one_message_and_decides_nothing(
    desk: Desk, proposed: str, arguments: list[str], code: int, said: str
) -> None:
    done = call("proposals", *(part.format(proposed=proposed) for part in arguments))
    assert (done.exit_code, done.stdout) == (code, "")
    assert said.format(proposed=proposed) in done.stderr
    assert desk.proposal(proposed).status == "pending"


def test_a_rejection_keeps_its_reason_and_the_login_name_stands_for_who_is_not_named(
    desk: Desk, proposed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RESEARCHDESK_ACTOR")
    monkeypatch.setenv("LOGNAME", "bert")
    done = call("proposals", "reject", proposed, "--reason", "The rent stays.")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout == (
        f"{proposed}  rejected  A person rejected proposal {proposed}: The rent stays. Do not retry unless asked.\n"
    )
    made = desk.proposal(proposed)
    assert (made.status, made.decided_by, made.reason) == ("rejected", "human:bert", "The rent stays.")
    other = call("proposals", "reject", proposed, "--reason", "No.", "--actor", "human:ann")
    assert other.exit_code == 1 and "was already rejected by human:bert" in other.stdout


def test_nothing_that_a_file_or_a_model_says_acts_on_the_terminal(desk: Desk) -> None:
    session = agent(desk)
    base = desk.files.put(
        "notes.md", "\x1b]0;owned\x07\x1b[2J\u202egnp.exe\n", actor="human:ann"
    ).content_hash
    made = propose(session, "notes.md", base, mode="replace", content="\u202e\x9b31m calm\n")
    code, seen = at_terminal("proposals", "approve", made, typed=[("approve? [y/N]", "n")])
    assert code == 1 and "-<U+001B>]0;owned<U+0007><U+001B>[2J<U+202E>gnp.exe" in seen
    colours = re.sub(r"\x1b\[[\d;]*m", "", seen)
    assert not any(sign in colours for sign in "\x1b\x9b\x07\u202e")
    call("proposals", "reject", made, "--reason", "no \x1b[2J \u202e thanks")
    for command in (("proposals", "list"), ("proposals", "show", made), ("log", "chat")):
        shown = call(*command).stdout
        assert not any(sign in shown for sign in "\x1b\x9b\x07\u202e")


def test_proposals_of_a_desk_on_a_server_are_decided_too(
    postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RESEARCHDESK_ACTOR", "human:ann")
    with open_desk(postgres) as desk:
        session = agent(desk)
        made = set_cell(session, "budget.csv", create(session, "budget.csv"), "B2", "950")
    shown = call("proposals", "show", made, "--home", postgres)
    assert shown.stderr.endswith(f" --home '{postgres}'\n")
    code, (outcome,) = answer("proposals", "approve", made, "--yes", "--home", postgres)
    assert (code, outcome["status"]) == (0, "executed")
    assert call("desk", "cat", "budget.csv", "--home", postgres).stdout == BUDGET.replace("900", "950")
    (message, *_) = [
        message
        for message in json.loads(call("log", "--all", "--json", "--home", postgres).stdout)
        if message["calls"][0]["proposal"]
    ]
    assert message["calls"][0]["proposal"]["approved_by"] == "human:ann"
