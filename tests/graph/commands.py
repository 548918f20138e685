"""What tests of whole processes share: the command line, as a child or in this process, and a small corpus."""

import os
import subprocess
import sys
from pathlib import Path

from typer.testing import CliRunner, Result

from researchdesk.graph import cli
from researchdesk.tools.workspace import Desk

QUESTION = "What is the minimum length of a password?"
DOCUMENTS = {
    "agency/length.md": "# Length\n\nPasswords shall have a minimum length of 15 characters where they stand alone.",
    "project/sheet.md": "# Password length\n\nThe minimum length of a password should be 8 characters.",
    "office/guidance.md": "# Guidance\n\nCurrent guidelines require a minimum password length of 12 characters.",
}


def write_documents(folder: Path) -> Path:
    for name, text in DOCUMENTS.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    return folder


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-P", "-m", "researchdesk.graph.cli", *map(str, arguments)]


def ran(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments), capture_output=True, text=True, timeout=240, env=environment(), check=False
    )


def ended(*arguments: str | Path) -> str:
    done = ran(*arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def given(*arguments: str | Path) -> Result:
    """A command that is given in this process: a second sooner, where the process is not what is tested."""
    return CliRunner().invoke(cli.app, list(map(str, arguments)))


def shown(*arguments: str | Path) -> str:
    """What a command prints that is `given` and works."""
    done = given(*arguments)
    assert done.exit_code == 0, done.output
    return done.stdout


def environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def shape(desk: Desk, session_id: str) -> list[str]:
    """What happened in a session, without what a kill adds: requests that were asked again."""
    kinds = [event.type for event in desk.existing(session_id).events()]
    return [kind for kind in kinds if not kind.startswith("model_") and kind != "run_configured"]
