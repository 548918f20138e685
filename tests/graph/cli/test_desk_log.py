"""The I/O log of a desk: what was called about which file, and who approved it or why not."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.graph.cli.desk_agent import act, agent, call, create, propose, set_cell

from researchdesk.state import events as ev
from researchdesk.state.desk.context import context_of, context_text
from researchdesk.tools.workspace import Desk, open_desk


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    """A desk at which one session asked for three changes that came out differently, and another read."""
    monkeypatch.setenv("RESEARCHDESK_HOME", str(tmp_path / "home"))
    with open_desk() as opened:
        session = agent(opened, "chat")
        base = create(session, "budget.csv")
        said = ev.MessageReceived(
            message_id="m1",
            text=ev.Stowed(inline="Raise the rent."),
            context=context_text(context_of(opened.panels("chat"), selection="B2")),
        )
        session.record([said])
        done = set_cell(session, "budget.csv", base, "B2", "950")
        opened.decide(done, "approve", actor="human:ann", proposal_hash=opened.proposal(done).hash)
        version = opened.files.get("budget.csv").content_hash
        no = propose(session, "budget.csv", version, "desk_delete_file")
        opened.decide(
            no, "reject", actor="human:bert", proposal_hash=opened.proposal(no).hash, reason="We need it."
        )
        waits = propose(session, "budget.csv", version, mode="rename", new_path="old.csv")
        act(agent(opened, "other"), "desk_read_file", file="budget.csv")
        assert opened.proposal(waits).status == "pending"
        yield opened


def test_the_log_names_files_and_says_who_decided_and_why(desk: Desk) -> None:
    head, *rows = (re.split(r" {2,}", line.rstrip()) for line in call("log", "chat").stdout.splitlines())
    assert head == ["time", "turn", "who or tool", "about", "status", "decided by", "ms", "text"]
    file, version = desk.files.get("budget.csv"), desk.files.get("budget.csv").content_hash
    pending = desk.proposals(status="pending")[0].id
    # The turn is not said of a message of a person; how long a call took is not compared.
    said = [[part for part in row[1:] if not part.isdecimal()] for row in rows]
    assert said == [
        ["-", "desk_create_file", "budget.csv", "success", said[0][-1]],
        ["user", "sees budget.csv, selected B2", "Raise the rent."],
        ["-", "desk_update_file", "budget.csv", "executed", "human:ann", said[2][-1]],
        ["-", "desk_delete_file", "budget.csv", "rejected", "human:bert", "We need it."],
        ["-", "desk_update_file", "budget.csv", "pending", said[4][-1]],
    ]
    assert said[0][-1].startswith(f'Created spreadsheet "budget.csv" ({file.id}, A1:B3)')
    assert said[2][-1].startswith(
        f'Approved by human:ann: "budget.csv" was changed. Its version is {version[:20]}'
    )
    assert pending in said[4][-1]


def test_the_log_of_the_whole_desk_stands_in_order_of_time(desk: Desk) -> None:
    head, *rows = (re.split(r" {2,}", line) for line in call("log", "--all").stdout.splitlines())
    assert head[:3] == ["time", "session", "turn"]
    assert [row[1] for row in rows] == ["chat"] * 5 + ["other"]
    assert [row[0] for row in rows] == sorted(row[0] for row in rows)
    wrong = call("log", "chat", "--all")
    assert (wrong.exit_code, wrong.stderr) == (2, "researchdesk: name a SESSION or --all, not both\n")


def test_the_log_in_json_holds_contexts_and_proposals_whole(desk: Desk) -> None:
    created, message, updated, *_ = json.loads(call("log", "chat", "--json").stdout)
    assert created["calls"][0]["target"] == "budget.csv" and created["calls"][0]["proposal"] is None
    file = desk.files.get("budget.csv")
    assert message["context"] == {
        "panels": [
            {
                "id": f"panel_{file.id}",
                "type": "spreadsheet",
                "title": "budget.csv",
                "file_id": file.id,
                "indicator": "ai-modified",
            }
        ],
        "focused": f"panel_{file.id}",
        "selection": "B2",
        "more": 0,
    }
    made = next(one for one in desk.proposals() if one.status == "executed")
    assert updated["calls"][0]["proposal"] == {
        "id": made.id,
        "status": "executed",
        "path": "budget.csv",
        "decided_by": "human:ann",
        "decided_at": made.decided_at,
        "approved_by": "human:ann",
        "approved_at": made.decided_at,
        "reason": "",
    }


def test_the_log_of_a_whole_desk_says_what_people_did_to_files_themselves(desk: Desk) -> None:
    plan = desk.files.put("plan.md", "# Plan\n", actor="human:ann")
    saved = desk.files.save(plan.id, "# Plan A\n", actor="human:bert", if_match=plan.content_hash)
    desk.files.rename(plan.id, "plan a.md", actor="human:bert", if_match=saved.content_hash)
    desk.files.remove(plan.id, actor="human:ann")
    desk.files.restore(desk.files.revisions(plan.id)[0].id, actor="human:ann")
    by_people = [(row.who, row.target, row.text) for row in desk.log(all_sessions=True).rows[-5:]]
    assert by_people == [
        ("human:ann", "plan.md", "made plan.md"),
        ("human:bert", "plan.md", "saved plan.md"),
        ("human:bert", "plan.md", "renamed plan.md to plan a.md"),
        ("human:ann", "plan a.md", "deleted plan a.md"),
        ("human:ann", "plan a.md", "restored plan a.md"),
    ]
    assert "human:bert" in call("log", "--all").stdout
    assert not any(row.who.startswith("human:") for row in desk.log("chat").rows)


def test_a_session_without_messages_and_calls_says_where_there_are_some(desk: Desk) -> None:
    desk.session("empty", labels=(), profile="desk")
    done = call("log", "empty")
    assert done.stderr == (
        "session empty has no messages or calls; of the whole desk: researchdesk log --all\n"
    )
    assert len(done.stdout.splitlines()) == 1


def test_a_notebook_shows_the_log_as_a_table(desk: Desk) -> None:
    found = desk.log("chat")
    assert [row.who for row in found.rows] == [
        "  desk_create_file",
        "user",
        "  desk_update_file",
        "  desk_delete_file",
        "  desk_update_file",
    ]
    shown = found._repr_html_()
    assert shown.count("<tr>") == 6 and ">We need it.</td>" in shown and ">human:ann</td>" in shown
    assert len(desk.log(all_sessions=True)) == 6
