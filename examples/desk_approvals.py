"""A model asks for three changes of a desk; a person, in other processes, decides about them.

Run it with ``python examples/desk_approvals.py``; it works in a temporary folder, needs no model and no network. The
calls that a model would make are written out here, each as it would come through `Session.call`.
"""

import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import researchdesk as rd


def main(home: Path) -> None:
    """Show the whole way of three proposals: one is approved, one is rejected, one finds its file changed."""
    with rd.open_desk(home) as desk:
        notes = desk.files.put("notes.md", "# Notes\n\nAsk the landlord.\n", actor="human:ann")
        session = desk.session("chat", labels=(), profile="desk")

        # Creating runs at once.
        budget = session.call(
            "desk_create_file",
            {"path": "budget.csv", "kind": "spreadsheet", "content": "item,eur\nrent,900\nfood,300\n"},
            tool_call_id="call_1",
        )
        print(budget.status, "-", budget.text)

        # Changing and deleting wait for a person; a change may build on one that waits.
        rent = session.call(
            "desk_update_file",
            {
                "file": "budget.csv",
                "base_version": budget.data["version"],
                "mode": "set_cells",
                "cells": [{"ref": "B2", "value": "950"}],
            },
            tool_call_id="call_2",
        )
        fun = session.call(
            "desk_update_file",
            {
                "file": "budget.csv",
                "base_version": rent.data["after_version"],
                "mode": "append",
                "content": "fun,5000\n",
            },
            tool_call_id="call_3",
        )
        tidy = session.call(
            "desk_delete_file",
            {"file": "notes.md", "base_version": notes.content_hash},
            tool_call_id="call_4",
        )
        for asked in (rent, fun, tidy):
            print(asked.status, "-", asked.text)

        # A person goes on with the notes, not knowing what the model wants.
        (home / "mine.md").write_text("# Notes\n\nThe landlord agreed.\n")
        person(home, "desk", "put", "notes.md", str(home / "mine.md"), "--if-match", notes.content_hash)

        # Another process decides, by the hash of what was shown there.
        person(home, "proposals", "show", rent.data["proposal_id"])
        person(home, "proposals", "approve", rent.data["proposal_id"], "--hash", rent.data["proposal_hash"])
        person(home, "proposals", "reject", fun.data["proposal_id"], "--reason", "That is too much fun.")
        person(home, "proposals", "approve", tidy.data["proposal_id"], "--hash", tidy.data["proposal_hash"])

        print("\nThe log:")
        for row in desk.log(all_sessions=True).rows:
            print(" | ".join((row.who.strip(), row.target, row.status, row.decided_by or "-", row.text)))
        print("\nWhat stands on the desk now:")
        for file in desk.files.listed():
            print(f"{file.path}, revision {file.rev}:\n{desk.files.read(file.id)}")


def person(home: Path, *words: str) -> None:
    """A command that Ann gives in a process of her own; what it says is printed."""
    print(f"\n$ {shlex.join(['researchdesk', *words])}")
    command = [sys.executable, "-m", "researchdesk.graph.cli", *words, "--home", str(home)]
    if words[1] != "show":
        command += ["--actor", "human:ann"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    print(done.stdout + done.stderr, end="")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as folder:
            main(Path(folder))
