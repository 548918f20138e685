"""What ends a run early: budgets, silence, loops, a model that is gone; the end is a report, or a blocked run."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage

import researchdesk as rd
from researchdesk.graph import turns

from .scripted_model import QUESTION, QUOTES, Script, ScriptedModel, View, call, researcher, says, sky


class RateLimited(Exception):
    status_code = 429


class Unauthorised(Exception):
    status_code = 401


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[rd.Desk]:
    monkeypatch.setattr(turns, "BACKOFF_SECONDS", 0.0)
    with rd.open_desk(tmp_path / "home") as opened:
        yield opened


def research(desk: rd.Desk, script: Script, **options: Any) -> rd.RunResult:
    steps = {"steps": options["max_steps"]} if "max_steps" in options else {}
    given = {
        "model": ScriptedModel(script=script, **steps),
        "sources": sky(),
        "scope": "quick",
        "session_id": "s",
    }
    return rd.run_research(desk, QUESTION, **{**given, **options})


def report_of(desk: rd.Desk) -> str:
    run = desk.existing("s").run
    assert run is not None
    return desk.records.text(run.artifacts[run.report_artifact_id].content_hash)


def requests_of(desk: rd.Desk) -> dict[str, int]:
    rows = desk.ledger.query(
        "SELECT stage, count(*) AS n FROM model_calls WHERE session_id = 's' GROUP BY stage"
    )
    return {str(row["stage"]): int(str(row["n"])) for row in rows}


def with_evidence(then: Callable[[View], AIMessage | Exception]) -> Callable[[View], AIMessage | Exception]:
    """Researches until claims are there, and then goes on as told."""

    def script(view: View) -> AIMessage | Exception:
        return then(view) if view["claims"] else researcher(view)

    return script


def silent(view: View) -> AIMessage:
    return says(text="I am thinking.")


def looping(view: View) -> AIMessage:
    return says(call("search_sources", query="sky"))


def looking(view: View) -> AIMessage:
    return says(call("deep_research_status"))


def refused(view: View) -> AIMessage:
    return says(call("deep_research_read_artifact", artifact_id=f"a_{view['budget']['steps_left']}"))


def limited(view: View) -> Exception:
    return RateLimited("slow down")


def unauthorised(view: View) -> Exception:
    return Unauthorised("no such key")


@pytest.mark.parametrize(
    ("then", "reason"),
    [
        (silent, "no_progress"),
        (looping, "loop"),
        (looking, "loop"),
        (refused, "no_progress"),
        (limited, "model_unavailable"),
        (unauthorised, "model_unavailable"),
    ],
)
def test_a_model_that_does_not_go_on_leaves_a_readable_report(
    desk: rd.Desk, then: Callable[[View], Any], reason: str
) -> None:
    ended = research(desk, with_evidence(then))
    assert (ended.status, ended.stop_reason) == ("completed", reason)
    text = report_of(desk)
    assert all(quote in text for quote in QUOTES.values())
    assert "No model wrote this section" in text
    run = desk.existing("s").run
    assert run is not None and run.completion is not None
    assert run.completion.gaps[0].startswith(f"The research was stopped early ({reason})")
    assert desk.verify().ok


@pytest.mark.parametrize("then", [silent, looking, limited, unauthorised])
def test_without_evidence_a_run_is_blocked_and_another_model_takes_it_up(
    desk: rd.Desk, then: Callable[[View], Any]
) -> None:
    blocked = research(desk, then)
    assert (blocked.status, blocked.report_artifact_id) == ("blocked", "")
    assert blocked.blocked_reason.startswith("no evidence: ")
    resumed = rd.resume_research(desk, "s", model=ScriptedModel(script=researcher), sources=sky())
    assert (resumed.status, resumed.stop_reason) == ("completed", None)
    assert desk.verify().ok


def test_a_rate_limit_that_passes_costs_two_requests_and_nothing_else(desk: rd.Desk) -> None:
    def script(view: View) -> AIMessage | Exception:
        return RateLimited("slow down") if view["budget"]["steps_left"] in (38, 37) else researcher(view)

    ended = research(desk, script)
    assert (ended.status, ended.stop_reason) == ("completed", None)
    workspace = desk.existing("s").workspace
    assert workspace.called - workspace.answered == 2


def test_a_refusal_of_the_provider_is_not_tried_again(desk: rd.Desk) -> None:
    research(desk, with_evidence(unauthorised))
    failed = desk.ledger.query("SELECT detail, finish_reason FROM model_calls WHERE status = 'failed'")
    assert failed == [{"detail": "Unauthorised: no such key", "finish_reason": "refused"}]


def test_a_key_in_a_providers_error_is_not_recorded(desk: rd.Desk) -> None:
    key = "sk-" + "proj-" + "A1b2C3d4" * 6
    research(desk, with_evidence(lambda view: Unauthorised(f"bad key {key} in /home/ann/.env")))
    everything = "".join(event.payload for event in desk.existing("s").events())
    assert key not in everything
    assert "/home/ann" not in everything


def endless(view: View) -> AIMessage:
    """Never ends the gathering, but writes when it has to."""
    if view["stage"] == "knowledge_base" and view["claims"]:
        gap = {"kind": "gap", "text": f"Gap {view['budget']['steps_left']}."}
        return says(call("notes_append", section="Assumptions & gaps", entries=[gap]))
    return researcher(view)


def test_the_step_cap_keeps_its_reserve_for_the_report(desk: rd.Desk) -> None:
    ended = research(desk, endless, max_steps=20)
    assert (ended.status, ended.stop_reason) == ("completed", "step_cap")
    assert requests_of(desk) == {"knowledge_base": 15, "report_writing": 4}
    assert "No model wrote" not in report_of(desk)
    run = desk.existing("s").run
    assert run is not None and run.completion is not None
    assert run.completion.implementation_tasks == ("measure",)


def test_a_step_cap_that_leaves_nothing_for_writing_still_ends_in_a_report(desk: rd.Desk) -> None:
    ended = research(desk, endless, max_steps=5)
    assert (ended.status, ended.stop_reason) == ("completed", "step_cap")
    assert requests_of(desk)["knowledge_base"] == 3
    assert sum(requests_of(desk).values()) == 5


def searching_on(view: View) -> AIMessage:
    """Makes ever new searches, that bring nothing."""
    return says(call("search_sources", query=f"sky {view['budget']['steps_left']}"))


def test_searches_that_bring_nothing_are_no_progress(desk: rd.Desk) -> None:
    ended = research(desk, with_evidence(searching_on))
    assert (ended.status, ended.stop_reason) == ("completed", "no_progress")
    run = desk.existing("s").run
    assert run is not None
    assert run.stop_detail == "8 answers in a row brought no source, no note, no status"


def test_the_token_budget_is_kept_before_a_request_is_made(desk: rd.Desk) -> None:
    ended = research(desk, endless, budget_tokens=30_000)
    assert (ended.status, ended.stop_reason) == ("completed", "budget_tokens")
    assert desk.existing("s").workspace.tokens <= 30_000
    assert requests_of(desk)["report_writing"] > 0


def test_a_budget_without_room_for_one_request_is_said_at_once(desk: rd.Desk) -> None:
    ended = research(desk, researcher, budget_tokens=500)
    assert ended.status == "blocked"
    assert "budget_tokens" in ended.blocked_reason
    assert requests_of(desk) == {}


def test_time_that_has_run_out_ends_the_gathering(desk: rd.Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter(range(0, 100_000, 30))
    monkeypatch.setattr("researchdesk.graph.budget.time.monotonic", lambda: next(now))
    ended = research(desk, endless, wall_seconds=800)
    assert (ended.status, ended.stop_reason) == ("completed", "wall_time")
