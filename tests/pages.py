"""A page of the documents, done as it stands: its Python is run, its commands are given, what they say is compared."""

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from researchdesk.graph import cli

ROOT = Path(__file__).resolve().parents[1]
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")
_BY_CHANCE = re.compile(r"\b[fr]_[0-9a-f]{12}\b")
_COLUMN_OF_NUMBERS = re.compile(r"(?<=  )[\d,]+(?=  )")
_OF_A_SHELL = frozenset("|&;<>$`\\~")
_ACTOR = "human:ann"


def done_as_written(page: str, folder: Path) -> dict[str, Any]:
    """Do a page in an empty folder as human:ann; gives the names that its Python left.

    A ``text`` block has to be what the Python before it printed; in a ``console`` block, what follows a command has
    to be what it says. Times, ids that are made by chance, and how long something took are not compared. The first
    command, and each that needs a shell, is a process; the others are given in this one, which saves a second each.
    """
    commands = _commands(folder)
    found: dict[str, Any] = {}
    printed, commands_given = "", 0
    for kind, body in _BLOCK.findall((ROOT / "docs" / page).read_text(encoding="utf-8")):
        if kind == "python":
            with contextlib.redirect_stdout(io.StringIO()) as said:
                exec(compile(body, page, "exec"), found)
            printed = said.getvalue()
        elif kind == "text":
            assert _plain(printed) == _plain(body)
        elif kind == "console":
            for command, expected in _given(body):
                commands_given += 1
                alone = commands_given == 1 or _OF_A_SHELL.intersection(command)
                said_now = _said(command, folder, commands) if alone else _said_here(command, folder)
                assert _plain(said_now) == _plain(expected), command
    return found


def _commands(folder: Path) -> Path:
    """A folder with the command `researchdesk` of this very checkout."""
    path = folder / ".commands"
    path.mkdir()
    script = path / "researchdesk"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m researchdesk.graph.cli "$@"\n')
    script.chmod(0o755)
    return path


def _given(body: str) -> Iterator[tuple[str, str]]:
    for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        yield command, expected


def _said(command: str, folder: Path, commands: Path) -> str:
    environment = {
        **os.environ,
        "PATH": f"{commands}{os.pathsep}{os.environ['PATH']}",
        "RESEARCHDESK_ACTOR": _ACTOR,
    }
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return done.stdout


def _said_here(command: str, folder: Path) -> str:
    name, *arguments = shlex.split(command)
    assert name == "researchdesk"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return CliRunner().invoke(cli.app, arguments, env={"RESEARCHDESK_ACTOR": _ACTOR}).output


def _plain(text: str) -> list[str]:
    text = _COLUMN_OF_NUMBERS.sub("#", _BY_CHANCE.sub("ID", _TIME.sub("TIME", text)))
    return [" ".join(line.split()) for line in text.strip().splitlines()]
