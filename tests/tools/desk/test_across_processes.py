"""A change that one process proposes and another approves."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from researchdesk.tools.workspace import Desk

from .conftest import Model

PROPOSE = """
import json, os, sys
from researchdesk.tools.workspace import open_desk
desk = open_desk(sys.argv[1])
session = desk.session("s1", labels=(), profile="desk")
made = session.call("desk_create_file", {"path": "a.md", "kind": "markdown", "content": "old"}, tool_call_id="c1")
change = {"file": "a.md", "base_version": made.data["version"], "mode": "replace", "content": "new"}
print(json.dumps(dict(session.call("desk_update_file", change, tool_call_id="c2").data)), flush=True)
os._exit(9)
"""
APPROVE = """
import json, sys
from researchdesk.tools.workspace import open_desk
with open_desk(sys.argv[1]) as desk:
    (waiting,) = desk.proposals(status="pending")
    decided = desk.decide(waiting.id, "approve", actor="human:ann", proposal_hash=waiting.hash)
print(json.dumps({"status": decided.status, "text": decided.text}))
"""


def run(script: str, home: Path) -> Any:
    root = Path(__file__).parents[3]
    command = [sys.executable, "-P", "-c", script, str(home)]
    done = subprocess.run(
        command, cwd=root, env={"PYTHONPATH": str(root / ".src")}, capture_output=True, text=True
    )
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def test_a_change_is_approved_after_the_process_that_proposed_it_has_ended(desk: Desk) -> None:
    """Check 3: executed once, with who and when; the call succeeded and the revision holds the old bytes."""
    waiting = run(PROPOSE, desk.home)
    assert (waiting["code"], desk.files.read("a.md")) == ("requires_approval", "old")
    approved = run(APPROVE, desk.home)
    assert approved["status"] == "executed"
    (row,) = desk.ledger.query("SELECT status, approved_by, approved_at <> '' AS dated FROM proposals")
    assert row == {"status": "executed", "approved_by": "human:ann", "dated": 1}
    assert desk.ledger.query("SELECT status, result FROM tool_calls WHERE id = 'c2'") == [
        {"status": "success", "result": approved["text"]}
    ]
    (kept,) = desk.files.revisions("a.md")
    assert (desk.files.read("a.md"), desk.files.read("a.md", version=kept.content_hash)) == ("new", "old")
    change = {"file": "a.md", "base_version": waiting["base_version"], "mode": "replace", "content": "new"}
    again = Model(desk).again(2, "desk_update_file", **change)
    assert (again.status, again.text, again.replayed) == ("success", approved["text"], True)
