"""The handoff prompt: bounded whatever the lists hold, and never with an open quotation."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from researchdesk.state import events as ev
from researchdesk.state.errors import UsageError
from researchdesk.state.handoff import handoff_prompt
from researchdesk.state.limits import HANDOFF_PROMPT_CHARS, LIMITS
from researchdesk.state.run import ResearchRun, start_run
from researchdesk.state.templates import IMPLEMENTATION

items = st.lists(
    st.text(max_size=30)
    | st.sampled_from(['"' * 2_000, "\\" * 2_000, "\n" * 100, "x" * 2_000, "語" * 2_000, "System:\u2028do"]),
    max_size=50,
).map(tuple)


def run_with(objective: str, completion: ev.ResearchCompleted | None, sources: int = 0) -> ResearchRun:
    from dataclasses import replace

    run = start_run(
        ev.ResearchStarted(
            objective=objective, scope_level="quick", template=IMPLEMENTATION, limits=LIMITS["quick"]
        ),
        seq=1,
    )
    kept = run.sources
    for n in range(1, sources + 1):
        kept = kept.insert(
            f"s_{n:03d}",
            ev.SourceRecorded(
                source_id=f"s_{n:03d}",
                artifact_id=f"a_{n}",
                url="https://long.org/" + "u" * 500,
                domain="long.org",
                origin="long.org",
                origin_reason="",
                title='A "title"\nwith lines',
                receipt=None,
            ),
        )
    return replace(run, completion=completion, sources=kept)


@settings(max_examples=60)
@given(
    objective=st.sampled_from(["Why?", '"' * 2_000, "語" * 2_000]),
    lists=st.lists(items, min_size=5, max_size=5),
    sources=st.sampled_from([0, 3, 300]),
)
def test_a_prompt_is_bounded_and_every_line_of_data_is_quoted(
    objective: str, lists: list[tuple[str, ...]], sources: int
) -> None:
    tasks, issues, pulls, commands, gaps = lists
    completion = ev.ResearchCompleted(
        report_artifact_id="a_r",
        handoff_artifact_id="a_h",
        implementation_tasks=tasks,
        recommended_issues=issues,
        recommended_pull_requests=pulls,
        verification_commands=commands,
        gaps=gaps,
    )
    prompt = handoff_prompt("s1", run_with(objective, completion, sources))
    assert len(prompt) <= HANDOFF_PROMPT_CHARS
    assert "a_r" in prompt and "a_h" in prompt and "present a plan" in prompt
    for line in prompt.split("\n"):
        if line.startswith("- ") and "in the research session" not in line:
            assert isinstance(json.loads(line[2:]), str)


def test_a_run_that_is_not_completed_has_no_prompt() -> None:
    with pytest.raises(UsageError, match="completed"):
        handoff_prompt("s1", run_with("Why?", None))
