"""Every check of the project: `python check.py`, or `python check.py style types` for some of them.

All steps run even when an early one fails; the exit code is that of the first step that failed.
"""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent
MEMORY = Path("/dev/shm")
ROOM = 4 << 30
"""Bytes that have to be free in memory before temporary files are put there."""

# import-linter has no `-m` entry, and a script beside this python need not be on the PATH.
LINT_IMPORTS = "from importlinter.cli import lint_imports_command as main; main()"

STEPS = {
    "style": ("-m", "ruff", "check", "."),
    "format": ("-m", "ruff", "format", "--check", "."),
    "types": ("-m", "mypy"),
    "imports": ("-c", LINT_IMPORTS, "--no-logo"),
    # Neighbours share what they set up once, and a worker that has nothing left takes from another one.
    "tests": ("-m", "pytest", "-q", "-n", "auto", "--dist", "worksteal"),
}


def run_step(name: str) -> int:
    """Run one step with its output shown, print how it ended and how long it took, return its exit code."""
    print(f"== {name}", flush=True)
    began = time.monotonic()
    # -P: the rooms lie in the current folder, and a `tools` or a `state` of ours must not shadow another's.
    with environment() as variables:
        code = subprocess.run([sys.executable, "-P", *STEPS[name]], cwd=ROOT, env=variables).returncode
    seconds = time.monotonic() - began
    print(f"== {name}: {'passed' if code == 0 else f'failed ({code})'} in {seconds:.1f} s\n", flush=True)
    return code


@contextlib.contextmanager
def environment() -> Iterator[dict[str, str]]:
    """The caller's environment with the package's development folder importable, installed or not.

    Temporary files lie in memory where there is room, unless the caller names a place for them, and are gone
    afterwards: the tests write thousands of small databases. Run pytest itself to keep what a failed test left.
    """
    variables = os.environ | {"PYTHONPATH": str(ROOT / ".src")}
    if "TMPDIR" in variables or not os.access(MEMORY, os.W_OK) or shutil.disk_usage(MEMORY).free < ROOM:
        yield variables
        return
    with tempfile.TemporaryDirectory(prefix="check-", dir=MEMORY, ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)  # a server that a test starts is another user
        yield variables | {"TMPDIR": folder}


def main(names: list[str]) -> int:
    """Run the named steps (all when none is named); 0 when all passed, 2 for a step that does not exist."""
    unknown = [name for name in names if name not in STEPS]
    if unknown:
        print(f"no step {', '.join(unknown)}; there are {', '.join(STEPS)}", file=sys.stderr)
        return 2
    codes = [run_step(name) for name in names or STEPS]
    return next((code for code in codes if code != 0), 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
