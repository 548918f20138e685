"""Killing runs of a small corpus and resuming them; `benchmarks/kill_and_resume.py` does the same at length."""

import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).resolve().parents[2] / "benchmarks" / "kill_and_resume.py"
DOCUMENTS = {
    "agency/length.md": "# Length\n\nPasswords shall have a minimum length of 15 characters where they stand alone.",
    "agency/other.md": "# Second factors\n\nA password used with a second factor may be at least 8 characters long.",
    "project/cheat-sheet.md": "# Password length\n\nThe minimum length of a password should be 8 characters.",
    "project/storage.md": "# Storage\n\nPasswords are hashed with a memory-hard function and a salt of 16 bytes.",
    "office/guidance.md": "# Guidance\n\nCurrent guidelines require a minimum password length of 12 characters.",
}


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    for name, text in DOCUMENTS.items():
        path = tmp_path / "corpus" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    return tmp_path / "corpus"


def disturbed(corpus: Path, *options: str) -> str:
    done = subprocess.run(
        [sys.executable, BENCHMARK, corpus, *options],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_killed_run_goes_on_from_the_ledger_alone_and_ends_as_if_nothing_had_happened(corpus: Path) -> None:
    assert "6 of 6 runs ended as the undisturbed one, after 8 kills" in disturbed(corpus, "--kills", "6")


def test_a_run_that_is_asked_to_stop_loses_nothing_and_goes_on(corpus: Path) -> None:
    assert "2 of 2 runs ended as the undisturbed one" in disturbed(corpus, "--kills", "2", "--signals")
