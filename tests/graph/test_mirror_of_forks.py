"""What was paid once counts once: a fork holds the requests of another session, and no sum has them twice."""

import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import researchdesk as rd
from researchdesk.evals import plots
from researchdesk.graph import costs
from researchdesk.state import events as ev
from researchdesk.state.prices import Price

from .cli.test_cli import call
from .scripted_model import QUESTION, ScriptedModel, View, researcher, sky

PRICE = Price(input="2", output="10")
REQUEST = Decimal("0.003")
"""What one request of the scripted model costs at that price: 1,000 tokens in and 100 out."""
TOKENS = 1_100


class Paid:
    """A model that wants money, and how often it was asked."""

    def __init__(self) -> None:
        self.times = 0
        self.model = ScriptedModel(script=self.answer)

    def answer(self, view: View) -> Any:
        self.times += 1
        return researcher(view)

    def resume(self, desk: rd.Desk, name: str) -> int:
        """Go on with a session; how often the model was asked for that."""
        before = self.times
        ended = rd.resume_research(desk, name, model=self.model, sources=sky())
        assert ended.status == "completed"
        return self.times - before


def seq_of(session: rd.Session, kind: type, nth: int = 1) -> int:
    return [stored.seq for stored in session.events() if isinstance(stored.event(), kind)][nth - 1]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, int]]:
    """A desk with a run of a paid model, forks of it and forks of forks; how many requests each session made itself."""
    folder, paid = tmp_path_factory.mktemp("forks") / "home", Paid()
    made: dict[str, int] = {}
    with rd.open_desk(folder) as desk:
        rd.run_research(
            desk, QUESTION, model=paid.model, sources=sky(), scope="quick", session_id="first", prices=PRICE
        )
        first = desk.existing("first")
        made["first"] = paid.times
        desk.fork("first", seq_of(first, ev.ClaimRecorded), new_id="second")
        made["second"] = paid.resume(desk, "second")
        again = desk.existing("second").workspace.seq - 20
        desk.fork("second", again, new_id="third")  # holds requests of both
        made["third"] = paid.resume(desk, "third")
        desk.fork(
            "first", seq_of(first, ev.ModelCalled, 3), new_id="under-way"
        )  # its third request is not answered
        made["under-way"] = paid.resume(desk, "under-way")
        desk.fork(
            "first", seq_of(first, ev.ModelAnswered, 4), new_id="answered"
        )  # the calls of the answer are its own
        made["answered"] = paid.resume(desk, "answered")
        desk.fork("third", 30, new_id="idle")
        assert desk.sync_mirror().ok
        assert sum(made.values()) == paid.times and min(made.values()) > 0
    return folder, made


@pytest.fixture
def desk(home: tuple[Path, dict[str, int]]) -> Iterator[rd.Desk]:
    with rd.open_desk(home[0]) as opened:
        yield opened


@pytest.fixture
def made(home: tuple[Path, dict[str, int]]) -> dict[str, int]:
    return home[1]


def rows(desk: rd.Desk, sql: str) -> list[tuple[Any, ...]]:
    return desk.sql(sql, sync=False).fetchall()


@pytest.mark.parametrize("view", ["usage_by_stage", "usage_by_model"])
def test_the_usage_of_all_sessions_is_what_was_paid(desk: rd.Desk, made: dict[str, int], view: str) -> None:
    asked = "sum(requests), sum(input_tokens), sum(output_tokens), sum(cost_usd)"
    times = sum(made.values())
    paid = (times, 1_000 * times, 100 * times, REQUEST * times)
    assert rows(desk, f"SELECT {asked} FROM {view}") == [paid]
    by_session = rows(
        desk, f"SELECT session_id, sum(requests) FROM {view} GROUP BY ALL HAVING sum(requests) > 0"
    )
    assert dict(by_session) == made


def test_the_tools_of_all_sessions_share_out_what_was_paid(desk: rd.Desk, made: dict[str, int]) -> None:
    times = sum(made.values())
    assert rows(desk, "SELECT sum(input_tokens), sum(output_tokens), sum(cost_usd) FROM usage_by_tool") == [
        (1_000 * times, 100 * times, REQUEST * times)
    ]


def test_each_request_of_a_fork_is_marked_as_its_own_or_copied(desk: rd.Desk, made: dict[str, int]) -> None:
    found = rows(
        desk,
        "SELECT session_id, count(*), count(*) FILTER (WHERE NOT inherited) FROM model_requests GROUP BY ALL",
    )
    assert {name: count for name, count, _ in found} == {
        name: desk.existing(name).workspace.called for name in (*made, "idle")
    }
    assert {name: own for name, _, own in found} == made | {"idle": 0}


def test_a_run_that_was_forked_has_its_own_time_requests_and_calls(
    desk: rd.Desk, made: dict[str, int]
) -> None:
    asked = "session_id, forked_from, requests, tokens, cost_usd, began_at IS NULL, seconds IS NULL"
    assert rows(desk, f"SELECT {asked} FROM runs ORDER BY began_at NULLS LAST") == [
        (name, origin, made.get(name, 0), TOKENS * made.get(name, 0), REQUEST * made.get(name, 0), idle, idle)
        for name, origin, idle in (
            ("first", None, False),
            ("second", "first", False),
            ("third", "second", False),
            ("under-way", "first", False),
            ("answered", "first", False),
            ("idle", "third", True),
        )
    ]
    # One began after the other had ended.
    times = rows(desk, "SELECT began_at, ended_at FROM runs WHERE began_at IS NOT NULL ORDER BY began_at")
    flat = [time for pair in times for time in pair]
    assert flat == sorted(flat)


def test_every_call_is_counted_once_in_the_health_of_the_tools(desk: rd.Desk) -> None:
    ran = of_models = 0
    for name, _ in rows(desk, "SELECT session_id, count(*) FROM tool_calls GROUP BY ALL"):
        session = desk.existing(name)
        copied = session.workspace.session.forked_seq if session.workspace.session else 0
        own = [item.event() for item in session.events(after=copied) if item.type == "call_recorded"]
        ran += len(own)
        of_models += sum(isinstance(event, ev.CallRecorded) and bool(event.turn_id) for event in own)
    assert rows(desk, "SELECT sum(calls) FROM tool_health") == [(ran,)]
    assert rows(desk, "SELECT sum(tool_calls) FROM runs") == [(ran,)]
    assert rows(desk, "SELECT sum(tool_calls) FROM usage_by_stage") == [(of_models,)]


def test_a_fork_is_no_further_run_of_its_model(desk: rd.Desk, made: dict[str, int]) -> None:
    compared = rows(desk, "SELECT model, runs, completed, tokens, mean_cost_usd FROM model_comparison")
    times = made["first"]
    assert compared == [("scripted", 1, 1, TOKENS * times, float(REQUEST * times))]


def test_the_list_of_sessions_adds_up_to_what_was_paid(desk: rd.Desk, made: dict[str, int]) -> None:
    spent = {name: REQUEST * times for name, times in made.items()}
    assert costs.costs_by_session(desk) == spent | {"idle": 0}
    listed = json.loads(call("sessions", "--json", "--home", desk.home).stdout)
    assert {one["session_id"]: one["cost_usd"] for one in listed} == {
        name: float(cost) for name, cost in (spent | {"idle": Decimal(0)}).items()
    }


def test_as_it_stood_a_fork_had_spent_what_it_had_spent_itself(desk: rd.Desk) -> None:
    fork = desk.existing("second")
    opened = fork.workspace.session
    assert opened is not None
    spent = [fork.at(seq).own_spending.total.calls for seq in range(1, fork.workspace.seq + 1)]
    assert spent[: opened.forked_seq] == [0] * opened.forked_seq
    assert spent == sorted(spent) and spent[-1] == fork.own_spending.total.calls


def test_an_offline_run_and_its_forks_count_each_request_once(tmp_path: Path) -> None:
    for name in ("north", "south"):
        (tmp_path / "docs" / name).mkdir(parents=True)
    (tmp_path / "docs/corpus.toml").write_text('[origins]\n"north/" = "n.example"\n"south/" = "s.example"\n')
    text = "In winter the lamp of the old lighthouse is lit at 18 o'clock"
    (tmp_path / "docs/north/guide.md").write_text(f"# Lighthouse keeping\n\n{text}.\n")
    (tmp_path / "docs/south/manual.md").write_text(f"# Manual of the coast\n\n{text}, by the keeper.\n")
    asked = "When is the lamp of the old lighthouse lit in winter?"
    with rd.open_desk(tmp_path / "home") as desk:
        rd.run_research(
            desk, asked, corpus=[tmp_path / "docs"], scope="quick", session_id="a", template="general"
        )
        made = {"a": desk.existing("a").workspace.called}
        for old, new in (("a", "b"), ("b", "c")):
            fork = desk.fork(old, seq_of(desk.existing(old), ev.ClaimRecorded), new_id=new)
            before = fork.workspace.called
            rd.resume_research(desk, new)
            made[new] = fork.workspace.called - before
        for view in ("usage_by_stage", "usage_by_model", "runs"):
            by_session = f"SELECT session_id, sum(requests), sum(cost_usd) FROM {view} GROUP BY ALL"
            assert {name: (count, cost) for name, count, cost in desk.sql(by_session).fetchall()} == {
                name: (count, 0) for name, count in made.items()
            }
        once = "SELECT sum(input_tokens + output_tokens) FROM model_requests WHERE NOT inherited"
        assert rows(desk, "SELECT sum(tokens) FROM runs") == rows(desk, once)
        assert desk.mirror.differences(desk.ledger) == []


# -- in pictures ----------------------------------------------------------------------------------------------------


def test_forks_are_no_further_marks_of_a_desk_unless_they_are_named(desk: rd.Desk) -> None:
    plot = plots.plot_coverage(desk)
    assert [row["session"] for row in plot.rows] == ["first"]
    assert "5 forks of runs are not shown." in plot.caption
    named = plots.plot_coverage([desk.existing(name) for name in ("first", "second")])
    assert [(row["session"], row["forked_from"]) for row in named.rows] == [
        ("first", ""),
        ("second", "first"),
    ]
    assert "fork of first" in named.svg() and "not shown" not in named.caption


def test_bars_of_cost_add_up_to_what_was_paid(desk: rd.Desk, made: dict[str, int]) -> None:
    plot = plots.plot_cost(desk)
    totals = {row["name"]: row["total"] for row in plot.rows}
    assert totals == {name: TOKENS * times for name, times in made.items()}
    times = sum(made.values())
    assert f"{times:,} requests; {1_000 * times:,} tokens in, {100 * times:,} out" in plot.caption
    assert "What a fork copied counts where it was spent." in plot.caption
    one = plots.plot_cost(desk.existing("second"))
    assert sum(row["tokens"] for row in one.rows) == 2 * TOKENS * made["second"], "by stage and by tool"
    assert "What a fork copied counts where it was spent." in one.caption
    assert "fork" not in plots.plot_cost(desk.existing("first")).caption
    assert "No model has been asked yet." in plots.plot_cost(desk.existing("idle")).svg()
