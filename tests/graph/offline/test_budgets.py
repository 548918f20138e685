"""The offline model in the real graph: with any budget a run ends with sources and a report, or says why not."""

from pathlib import Path

import pytest

import researchdesk as rd

QUESTION = "How many days must backups be kept?"
TEXTS = {
    "rules.md": "# Rules\n\n## Retention\n\nBackups must be kept for at least 30 days. They are encrypted.\n",
    "policy.md": "# Policy\n\nBackups must be kept for at least 90 days in two places.\n",
    "restore.md": "# Restore\n\nA restore of the backups is tested every 6 months.\n",
    "food.md": "# Canteen\n\nThe canteen serves soup.\n",
}


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / name).write_text(text)
    return folder


def report_of(desk: rd.Desk) -> str:
    run = desk.existing("s").run
    assert run is not None
    return desk.records.text(run.artifacts[run.report_artifact_id].content_hash)


@pytest.mark.parametrize("steps", [3, 4, 6, 8, 12])
def test_any_number_of_steps_from_three_up_ends_with_a_report(
    tmp_path: Path, corpus: Path, steps: int
) -> None:
    with rd.open_desk(tmp_path / "home") as desk:
        ended = rd.run_research(
            desk, QUESTION, corpus=[corpus], scope="quick", session_id="s", max_steps=steps
        )
        assert ended.status == "completed"
        assert {"at least 30 days" in report_of(desk), "at least 90 days" in report_of(desk)} == {True}
        assert "No model wrote" not in report_of(desk)


@pytest.mark.parametrize("tokens", [20_000, 30_000, 60_000])
def test_a_small_token_budget_makes_small_prompts_and_a_report(
    tmp_path: Path, corpus: Path, tokens: int
) -> None:
    with rd.open_desk(tmp_path / "home") as desk:
        ended = rd.run_research(
            desk, QUESTION, corpus=[corpus], scope="quick", session_id="s", budget_tokens=tokens
        )
        assert ended.status == "completed"
        assert desk.existing("s").workspace.tokens <= tokens
        assert "at least 90 days" in report_of(desk)


def test_a_run_that_was_blocked_by_too_few_steps_completes_with_more(tmp_path: Path, corpus: Path) -> None:
    with rd.open_desk(tmp_path / "home") as desk:
        first = rd.run_research(desk, QUESTION, corpus=[corpus], scope="quick", session_id="s", max_steps=1)
        assert (first.status, first.stop_reason) == ("blocked", "step_cap")
        ended = rd.resume_research(desk, "s", max_steps=100)
        assert (ended.status, ended.stop_reason) == ("completed", None)


def test_a_run_without_a_hit_says_so_and_completes_once_the_corpus_has_an_answer(
    tmp_path: Path, corpus: Path
) -> None:
    question = "Which gluons does lattice chromodynamics simulate?"
    with rd.open_desk(tmp_path / "home") as desk:
        ended = rd.run_research(desk, question, corpus=[corpus], scope="quick", session_id="s")
        assert ended.status == "blocked"
        assert ended.blocked_reason.startswith("no evidence: nothing was found for 'Which gluons")
        (corpus / "physics.md").write_text("# Physics\n\nLattice chromodynamics simulates virtual gluons.\n")
        again = rd.resume_research(desk, "s")
        assert again.status == "completed"
        assert "simulates virtual gluons" in report_of(desk)
