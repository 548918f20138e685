"""Processes that decide about the same proposals at once, or end in the middle of a decision; run as a script."""

import json
import os
import random
import shutil
import sys
from pathlib import Path

from researchdesk.state.errors import Refusal
from researchdesk.tools.workspace import Desk, open_desk

from ...faulty import Plan, faulty_desk


def approve_all(home: str, name: str) -> None:
    """Once told to by a line, approve every proposal in an order of one's own, and say what came of each."""
    with open_desk(home) as desk:
        proposals = desk.proposals()
        random.Random(name).shuffle(proposals)
        print("ready", flush=True)
        sys.stdin.readline()
        outcomes = {made.id: approve(desk, made.id, made.hash, f"human:{name}") for made in proposals}
        print(json.dumps(outcomes), flush=True)


def approve(desk: Desk, proposal_id: str, shown: str, actor: str) -> str:
    """What came of an approval: its status, ``replayed``, or the code of a refusal."""
    try:
        decided = desk.decide(proposal_id, "approve", actor=actor, proposal_hash=shown)
    except Refusal as refusal:
        return refusal.code
    return "replayed" if decided.replayed else decided.status


def die_at_each_write(home: str, scratch: str, choice: str) -> None:
    """Let a process decide and end at its n-th write, for each n, before and after it; say what each left behind.

    Every state is one line: how the proposal stood, the file's text, the number of revisions, how the call stood,
    whether the ledger was whole, and how the same decision ended when it was made again.
    """
    for done in (False, True):
        nth = 0
        while True:
            nth += 1
            copy = Path(scratch) / f"{nth}-{done}"
            shutil.copytree(home, copy)
            child = os.fork()
            if child == 0:
                with faulty_desk(copy, Plan(nth, done=done, dies=True)) as desk:
                    _decide(desk, choice)
                os._exit(0)
            _, status = os.waitpid(child, 0)
            with open_desk(copy) as desk:
                left = _state(desk)
                _decide(desk, choice)
                print(json.dumps({"left": left, "then": _state(desk)}), flush=True)
            shutil.rmtree(copy)
            if os.waitstatus_to_exitcode(status) == 0:
                break


def _decide(desk: Desk, choice: str) -> None:
    (made,) = desk.proposals()
    desk.decide(
        made.id,
        choice,  # type: ignore[arg-type]
        actor="human:me",
        proposal_hash=made.hash,
        reason="No." if choice == "reject" else "",
    )


def _state(desk: Desk) -> list[object]:
    (made,) = desk.proposals()
    (file,) = desk.files.listed()
    call = desk.ledger.query("SELECT status, code FROM tool_calls WHERE id = 'update'")[0]
    revisions = len(desk.files.revisions(file.id))
    return [made.status, desk.files.read(file.id), revisions, call["status"], call["code"], desk.verify().ok]


if __name__ == "__main__":
    (approve_all if sys.argv[1] == "approve" else die_at_each_write)(*sys.argv[2:])
