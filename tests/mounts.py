"""Commands that see a folder as one that may only be read, or as one on a small device, and nobody else does."""

import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest


def read_only(folder: Path, command: Sequence[str | Path]) -> "subprocess.CompletedProcess[str]":
    """Run a command for which a folder may only be read, by root neither."""
    name = shlex.quote(str(folder))
    return _mounted(f"mount --bind {name} {name} && mount -o remount,bind,ro {name}", command)


def small(folder: Path, megabytes: int, command: Sequence[str | Path]) -> "subprocess.CompletedProcess[str]":
    """Run a command for which a folder is empty, on a device of its own with so little room."""
    return _mounted(f"mount -t tmpfs -o size={megabytes}m none {shlex.quote(str(folder))}", command)


def python(script: str, *arguments: str | Path) -> list[str]:
    """The command that runs a script with what these tests import."""
    return [sys.executable, "-P", "-c", script, *map(str, arguments)]


def _mounted(mount: str, command: Sequence[str | Path]) -> "subprocess.CompletedProcess[str]":
    apart = _apart()
    if not apart:
        pytest.skip("nothing may be mounted here")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    script = f"{mount} && exec {shlex.join(map(str, command))}"
    return subprocess.run(
        [*apart, "sh", "-c", script], env=environment, capture_output=True, text=True, timeout=120
    )


@cache
def _apart() -> tuple[str, ...]:
    """What runs a command with mounts of its own, which end with it; empty where that is not allowed."""
    for words in (("unshare", "--mount"), ("unshare", "--mount", "--map-root-user")):
        try:
            done = subprocess.run([*words, "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True)
        except OSError:
            return ()
        if done.returncode == 0:
            return words
    return ()
