"""A model at work on a desk, written by hand: the calls that it makes, and a terminal before which a person sits."""

import os
import pty
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

from researchdesk.graph import cli
from researchdesk.tools.door import Session, ToolResult
from researchdesk.tools.workspace import Desk

COMMAND = (sys.executable, "-m", "researchdesk.graph.cli")
BUDGET = "item,eur\nrent,900\nfood,300\n"


def call(*arguments: str | Path, stdin: str = "") -> Result:
    """A command in this process, with no terminal."""
    return CliRunner().invoke(cli.app, [str(part) for part in arguments], input=stdin)


def agent(desk: Desk, session_id: str = "chat", **more: Any) -> Session:
    """A session whose model works on the desk and researches nothing."""
    return desk.session(session_id, labels=(), profile="desk", **more)


def act(session: Session, tool: str, /, **arguments: Any) -> ToolResult:
    """A call of the model that is not refused."""
    done = session.call(tool, arguments, tool_call_id=f"c{session.workspace.seq}")
    assert done.status != "error", done.text
    return done


def create(session: Session, path: str, content: str = BUDGET) -> str:
    """A file that the model creates; gives its version."""
    kind = "spreadsheet" if path.endswith(".csv") else "markdown"
    return str(act(session, "desk_create_file", path=path, kind=kind, content=content).data["hash"])


def propose(
    session: Session, path: str, base: str, tool: str = "desk_update_file", /, **arguments: Any
) -> str:
    """A change that the model asks for; gives the proposal's id."""
    return str(act(session, tool, file=path, base_version=base, **arguments).data["proposal_id"])


def set_cell(session: Session, path: str, base: str, ref: str, value: str) -> str:
    """A proposal to set one cell."""
    return propose(session, path, base, mode="set_cells", cells=[{"ref": ref, "value": value}])


def at_terminal(*arguments: str | Path, typed: Sequence[tuple[str, str]] = ()) -> tuple[int, str]:
    """A command of a person at a terminal: its exit code and what was seen there.

    Args:
        typed: what is typed, each after a text was seen.
    """
    ours, theirs = pty.openpty()
    command = [*COMMAND, *map(str, arguments)]
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, close_fds=True)
    os.close(theirs)
    seen, waiting = "", list(typed)
    while True:
        try:
            piece = os.read(ours, 65_536)
        except OSError:  # nobody has the other side open any more
            piece = b""
        if not piece:
            break
        seen += piece.decode(errors="replace")
        if waiting and waiting[0][0] in seen:
            os.write(ours, f"{waiting.pop(0)[1]}\n".encode())
    os.close(ours)
    return process.wait(), seen.replace("\r\n", "\n")
