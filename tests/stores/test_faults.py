"""A store that fails at its n-th write: a typed error, nothing half-written, and the same call works again."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from researchdesk.state.errors import IntegrityError, ResearchdeskError, Unavailable
from researchdesk.state.workspace import Workspace
from researchdesk.tools.door import ToolResult
from researchdesk.tools.sources.gathering import Sources
from researchdesk.tools.workspace import Desk, open_desk

from ..desks import SECTION, SKY, Caller, scripted_source
from ..faulty import Plan, faulty_desk

SCENARIO: list[tuple[str, dict[str, Any]]] = [
    ("deep_research_start", {"objective": "Why?", "scope_level": "quick"}),
    ("deep_research_save_artifact", {"role": "source", "name": "S", "content": SKY, "locator": "file:x"}),
    ("search_sources", {"query": "sky"}),
    ("archive_source", {"locator": "https://b.org/"}),
    ("deep_research_save_artifact", {"role": "evidence_note", "name": "N", "content": SECTION}),
    ("deep_research_complete", {}),
]


def play(
    desk: Desk, attempt: Callable[[Callable[[], ToolResult]], ToolResult]
) -> tuple[list[str], Workspace]:
    """The scenario on a desk; gives the results' codes and the state that it led to."""
    source = scripted_source()
    session = desk.session("s1", sources=Sources(providers=(source,), fetchers=(source,)))
    codes = []
    for n, (name, arguments) in enumerate(SCENARIO):
        result = attempt(lambda: session.call(name, arguments, tool_call_id=f"c{n}"))  # noqa: B023 - called at once
        codes.append(str(result.data.get("code", result.status)))
    assert source.fetch_calls.total() <= 2
    return codes, session.workspace


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A desk with an opened session, to be copied."""
    home = tmp_path_factory.mktemp("begun") / "desk"
    with open_desk(home, clock=lambda: "2026-01-01T00:00:00.000000+00:00") as desk:
        desk.session("s1")
    return home


@pytest.mark.parametrize("done", [False, True], ids=["before", "after"])
def test_a_write_that_fails_leaves_nothing_half_written_and_the_call_can_be_made_again(
    tmp_path: Path, begun: Path, done: bool
) -> None:
    shutil.copytree(begun, tmp_path / "clean")
    counting = Plan()
    with faulty_desk(tmp_path / "clean", counting) as desk:
        codes, state = play(desk, lambda work: work())
    assert codes == ["success"] * 5 + ["incomplete"]
    assert counting.count > 50
    failed = 0
    for nth in range(1, counting.count + 1, 1 if not done else 2):
        home = tmp_path / f"{nth}"
        shutil.copytree(begun, home)
        plan = Plan(nth, done=done)
        with faulty_desk(home, plan) as desk:

            def attempt(work: Callable[[], ToolResult], desk: Desk = desk) -> ToolResult:
                nonlocal failed
                before = desk.existing("s1").workspace
                try:
                    return work()
                except Unavailable as problem:
                    failed += 1
                    assert "try again" in str(problem) or "resume" in str(problem)
                    now = desk.existing("s1").workspace
                    assert now == before or done, "an error that changed something"
                    return work()

            again, after = play(desk, attempt)
            assert desk.verify().problems == ()
        assert again == codes
        assert _timeless(after) == _timeless(state)
        shutil.rmtree(home)
    assert failed > 20


def _timeless(workspace: Workspace) -> object:
    """The state without the moments at which pages were fetched."""
    run = workspace.run
    assert run is not None
    return (
        run.stage,
        run.artifacts,
        sorted(run.sources),
        run.searches,
        workspace.seq,
        workspace.refused_by_code,
    )


def test_a_ledger_whose_file_could_not_be_made_is_made_the_next_time(tmp_path: Path) -> None:
    counting = Plan()
    (tmp_path / "clean" / "locks").mkdir(parents=True)
    faulty_desk(tmp_path / "clean", counting).close()
    assert counting.count > 30
    for nth in range(1, counting.count + 1, 5):
        home = tmp_path / f"{nth}"
        (home / "locks").mkdir(parents=True)
        with pytest.raises(Unavailable):
            faulty_desk(home, Plan(nth))
        with open_desk(home) as desk:
            Caller(desk.session("s1")).start()
            assert desk.verify().ok


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(Unavailable, match="cannot make the home folder"):
        open_desk(tmp_path / "file" / "desk")
    assert issubclass(Unavailable, ResearchdeskError) and issubclass(IntegrityError, ResearchdeskError)
