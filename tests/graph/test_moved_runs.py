"""A run that was begun on one backend is copied to another one and ends there as if it had never moved."""

from collections.abc import Callable
from pathlib import Path

import pytest
from langgraph.runtime import RunControl

from researchdesk.graph.driver import StreamEvent
from researchdesk.graph.runner import resume_research, run_research
from researchdesk.tools.workspace import Desk, open_desk

QUESTION = "What is the minimum length of a password?"
DOCUMENTS = {
    "agency/length.md": "# Length\n\nPasswords shall have a minimum length of 15 characters where they stand alone.",
    "project/sheet.md": "# Password length\n\nThe minimum length of a password should be 8 characters.",
    "office/guidance.md": "# Guidance\n\nCurrent guidelines require a minimum password length of 12 characters.",
}
PAUSED_AT = (20, 60)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    for name, text in DOCUMENTS.items():
        path = tmp_path / "corpus" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    return tmp_path / "corpus"


def paused(desk: Desk, corpus: Path, at: int) -> None:
    """A run that is stopped after about so many events."""
    control = RunControl()

    def stop(event: StreamEvent) -> None:
        if event["seq"] >= at:
            control.request_drain()

    options = {"corpus": [corpus], "scope": "quick", "session_id": "r1"}
    ended = run_research(desk, QUESTION, on_event=stop, control=control, **options)  # type: ignore[arg-type]
    assert (ended.status, ended.drained) == ("active", True)


def shape(desk: Desk) -> list[str]:
    """What happened, without what a stop adds: requests that were asked again."""
    kinds = [event.type for event in desk.existing("r1").events()]
    return [kind for kind in kinds if not kind.startswith("model_") and kind != "run_configured"]


@pytest.mark.parametrize("way", [("folder", "server"), ("server", "folder")], ids=" to ".join)
def test_a_paused_run_goes_on_where_it_was_copied_to(
    new_home: Callable[[str], str], corpus: Path, way: tuple[str, str]
) -> None:
    first, second = way
    with open_desk(new_home("folder")) as whole:
        run_research(whole, QUESTION, corpus=[corpus], scope="quick", session_id="r1")
        expected = shape(whole)
    for at in PAUSED_AT:
        with open_desk(new_home(first)) as source, open_desk(new_home(second)) as target:
            paused(source, corpus, at)
            left = source.existing("r1").events()
            source.copy_to(target)
            ended = resume_research(target, "r1")
            assert (ended.status, ended.stop_reason, ended.drained) == ("completed", None, False)
            assert target.existing("r1").events()[: len(left)] == left
            assert shape(target) == expected
            assert target.verify().problems == ()
            assert source.existing("r1").events() == left
