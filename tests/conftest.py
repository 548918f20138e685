"""What all tests share: a strict and silent environment, Hypothesis profiles, the folder of the data sets."""

import contextlib
import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from .postgres_server import NO_SERVER, schemas, server

# Set before any test imports langgraph, which reads them once.
os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"
os.environ["LANGSMITH_TRACING"] = "false"
os.environ["LANGCHAIN_TRACING_V2"] = "false"
os.environ.pop("RESEARCHDESK_HOME", None)  # no test may touch the desk of whoever runs it

settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None, max_examples=2_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The data sets' folder, named by RESEARCHDESK_TEST_DATA; the test is skipped where it is missing."""
    named = os.environ.get("RESEARCHDESK_TEST_DATA", "")
    if not named or not Path(named).is_dir():
        pytest.skip("RESEARCHDESK_TEST_DATA names no folder of data sets")
    return Path(named).resolve()


@pytest.fixture
def postgres(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The URL of an empty PostgreSQL desk, gone afterwards; the test is skipped where there is no server."""
    if not server():
        pytest.skip(NO_SERVER)
    monkeypatch.setenv("RESEARCHDESK_HOME", str(tmp_path / "local"))
    yield from schemas()


@pytest.fixture
def new_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], str]]:
    """Names an empty desk in a ``folder`` or on a ``server``; the test is skipped where there is no server."""
    monkeypatch.setenv("RESEARCHDESK_HOME", str(tmp_path / "local"))
    count = itertools.count(1)
    with contextlib.ExitStack() as ends:

        def make(kind: str) -> str:
            if kind == "folder":
                return str(tmp_path / f"desk{next(count)}")
            if not server():
                pytest.skip(NO_SERVER)
            return ends.enter_context(contextlib.contextmanager(schemas)())

        yield make


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Says how much was not tested for want of a server; a skip alone is easily overlooked."""
    skipped = [
        report for report in terminalreporter.stats.get("skipped", []) if NO_SERVER in str(report.longrepr)
    ]
    if skipped:
        terminalreporter.section("PostgreSQL", sep="!", yellow=True, bold=True)
        terminalreporter.line(f"{len(skipped)} tests were SKIPPED, {NO_SERVER}", yellow=True)
