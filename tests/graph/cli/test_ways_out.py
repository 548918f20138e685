"""A run that could not go on says what would let it: the provider that is down, another one, another model."""

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from researchdesk.graph import cli, turns
from researchdesk.tools.sources import gathering

QUESTION = "Why is the sky blue?"


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test waits between two tries."""
    monkeypatch.setattr(gathering._patiently, "sleep", lambda seconds: None)
    monkeypatch.setattr(turns, "pause", lambda seconds: None)


@contextlib.contextmanager
def closed_port() -> Iterator[int]:
    """A port where nobody listens, taken so that nobody else will."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield int(taken.getsockname()[1])


def run(home: Path, *options: str) -> Result:
    return CliRunner().invoke(cli.app, ["run", QUESTION, "--home", str(home), *options])


def test_when_search_providers_are_down_it_can_be_resumed_when_they_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closed_port() as port:
        monkeypatch.setenv("SEARXNG_BASE_URL", f"http://127.0.0.1:{port}")
        done = run(tmp_path / "home", "--web", "searxng")
    assert done.exit_code == 3
    assert "the run is blocked: no evidence: the search failed: SearXNG could not be reached" in done.stderr
    assert (
        "when its providers answer, or with others (--web NAMES) or documents (--corpus PATH)" in done.stderr
    )


def test_when_the_model_is_down_it_can_be_resumed_when_that_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sky.md").write_text("# Sky\n\nThe sky is blue.\n")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with closed_port() as port:
        monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{port}/v1")
        done = run(tmp_path / "home", "--corpus", str(tmp_path / "sky.md"), "--model", "openai:gpt-x")
    assert done.exit_code == 3 and "the run is blocked: no evidence: model_unavailable" in done.stderr
    assert "when the model's provider answers, or with another model (--model SPEC)" in done.stderr
