"""What a run costs, by stage, model and tool; prices; budgets in money, and what is told before and after."""

import json
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage
from rpds import HashTrieMap
from typer.testing import CliRunner

import researchdesk as rd
from researchdesk.graph import cli, costs, driving, turns
from researchdesk.graph.models import model_name, resolve_model
from researchdesk.graph.options import RunOptions
from researchdesk.graph.research import create_research_graph
from researchdesk.state import events as ev
from researchdesk.state.limits import LIMITS
from researchdesk.state.prices import Price, cost
from researchdesk.state.usage import NOTHING_SPENT, Spending, Usage, spend, usage_view

from .scripted_model import QUESTION, Script, ScriptedModel, View, call, researcher, says, sky

PRICE = Price(input="2", output="10", cached_input="0.5", source="Contract", date="2026-11-30")
REQUEST = Decimal("0.003")
"""What one request of the scripted model costs at that price: 1,000 tokens in and 100 out."""


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[rd.Desk]:
    monkeypatch.setattr(turns, "BACKOFF_SECONDS", 0.0)
    monkeypatch.delenv(costs.PRICES_VARIABLE, raising=False)
    with rd.open_desk(tmp_path / "home") as opened:
        yield opened


def research(desk: rd.Desk, script: Script = researcher, **options: Any) -> rd.RunResult:
    given = {
        "model": ScriptedModel(script=script),
        "sources": sky(),
        "scope": "quick",
        "session_id": "s",
        "prices": PRICE,
    }
    return rd.run_research(desk, QUESTION, **{**given, **options})


def spending(desk: rd.Desk, session: str = "s") -> Spending:
    return desk.existing(session).workspace.spending_so_far


def endless(view: View) -> AIMessage:
    """Never ends the gathering, but writes when it has to."""
    if view["stage"] == "knowledge_base" and view["claims"]:
        gap = {"kind": "gap", "text": f"Gap {view['budget']['steps_left']}."}
        return says(call("notes_append", section="Assumptions & gaps", entries=[gap]))
    return researcher(view)


# -- what was spent ---------------------------------------------------------------------------------------------


def test_money_adds_up_by_stage_by_model_and_by_tool(desk: rd.Desk) -> None:
    ended = research(desk)
    spent = spending(desk)
    requests = desk.existing("s").workspace.answered
    assert spent.total == Usage(
        calls=requests, input_tokens=1_000 * requests, output_tokens=100 * requests, cost=REQUEST * requests
    )
    assert ended.cost_usd == float(REQUEST * requests)
    assert set(spent.by_stage()) == {"knowledge_base", "report_writing"}
    assert list(spent.by_model()) == ["scripted"]
    assert {"search_sources", "archive_source", "notes_append", "deep_research_complete"} <= set(
        spent.by_tool
    )
    for parts in (spent.by_stage(), spent.by_model(), spent.by_tool):
        assert sum(part.cost or Decimal(0) for part in parts.values()) == spent.total.cost
        assert sum(part.tokens for part in parts.values()) == spent.total.tokens
    assert spent.by_tool["search_sources"].cost == REQUEST, "its answer held that call alone"
    assert spent.by_tool["archive_source"].calls == 3


def test_cached_input_costs_what_cached_input_costs(desk: rd.Desk) -> None:
    details = {"input_token_details": {"cache_read": 800}, "output_token_details": {"reasoning": 60}}

    def cached(view: View) -> AIMessage:
        answer = researcher(view)
        assert answer.usage_metadata is not None
        return answer.model_copy(update={"usage_metadata": {**answer.usage_metadata, **details}})

    research(desk, cached)
    total = spending(desk).total
    assert (total.cached_tokens, total.reasoning_tokens) == (800 * total.calls, 60 * total.calls)
    assert total.cost == total.calls * Decimal("0.0018")  # 200 at 2, 800 at 0.5, 100 at 10 for a million


def test_a_cost_that_is_not_known_is_never_nothing(desk: rd.Desk) -> None:
    research(desk, prices=None)
    view = usage_view(spending(desk))
    assert view["cost_usd"] is None
    assert {part["cost_usd"] for part in view["by_stage"].values()} == {None}
    assert costs.costs_by_session(desk) == {"s": None}


def test_the_offline_model_costs_nothing_whatever_is_said(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "sky.md").write_text(
        "# Sky\n\nThe sky is blue because of Rayleigh scattering of light.\n"
    )
    with rd.open_desk(tmp_path / "home") as desk:
        ended = rd.run_research(
            desk, QUESTION, corpus=[tmp_path / "docs"], scope="quick", budget_usd=0.01, prices=PRICE
        )
        assert ended.status == "completed"
        assert ended.stop_reason is None
        assert desk.existing(ended.session_id).workspace.cost == 0
        assert costs.costs_by_session(desk) == {ended.session_id: 0}


def test_another_model_has_its_own_price_and_the_earlier_part_keeps_its_own(desk: rd.Desk) -> None:
    blocked = research(desk, lambda view: says(text="Hm."))
    assert blocked.status == "blocked"
    before = desk.existing("s").workspace.cost
    other = ScriptedModel(script=researcher, name="other")
    rd.resume_research(desk, "s", model=other, sources=sky(), prices=Price(input="0", output="0"))
    assert before == 3 * REQUEST
    assert desk.existing("s").workspace.cost == before


def test_a_request_whose_answer_was_lost_counts_and_one_that_was_refused_does_not() -> None:
    asked = ev.ModelCalled(
        ordinal=1, model="m", stage="knowledge_base", request_digest="", input_tokens=1_000_000
    )
    config = ev.RunConfigured(price=PRICE)
    assert spend(NOTHING_SPENT, asked, config, None).total == Usage(
        calls=1, input_tokens=1_000_000, cost=Decimal(2)
    )


@given(
    weights=st.lists(st.integers(0, 10**6), max_size=16),
    tokens=st.tuples(*[st.integers(0, 10**7)] * 2),
    rates=st.tuples(*[st.decimals(0, 1_000, places=6)] * 2),
)
def test_the_shares_of_an_answers_calls_are_the_whole(
    weights: list[int], tokens: tuple[int, int], rates: tuple[Decimal, Decimal]
) -> None:
    asked = ev.ModelCalled(ordinal=1, model="m", stage="knowledge_base", request_digest="", input_tokens=1)
    calls = tuple(
        ev.AskedCall(id=str(n), name=f"tool {n % 3}", arguments=ev.Stowed(inline="{}"), chars=weight)
        for n, weight in enumerate(weights)
    )
    answer = ev.ModelAnswered(
        ordinal=1,
        turn_id="t_1",
        message_id="t_1",
        text=ev.Stowed(),
        calls=calls,
        request_digest="",
        input_tokens=tokens[0],
        output_tokens=tokens[1],
        usage_reported=True,
    )
    config = ev.RunConfigured(price=Price(input=str(rates[0]), output=str(rates[1])))
    spent = spend(NOTHING_SPENT, asked, config, answer)
    shared = sum(spent.by_tool.values(), Usage())
    assert (shared.tokens, shared.cost) == (spent.total.tokens, spent.total.cost)
    assert all(part.cost is not None and part.cost >= 0 for part in spent.by_tool.values())


def test_a_model_that_makes_up_tools_does_not_make_the_view_long() -> None:
    parts = {f"tool {n:03}": Usage(calls=1, input_tokens=n, cost=None) for n in range(200)}
    spent = Spending(by_stage_and_model=HashTrieMap(), by_tool=HashTrieMap(parts))
    view = usage_view(spent)["by_tool"]
    assert len(view) == 51
    assert next(iter(view)) == "tool 150"
    assert view["other tools"] == {
        "calls": 150, "input": sum(range(150)), "output": 0, "cached": 0, "reasoning": 0, "cost_usd": None,
    }  # fmt: skip


# -- prices -----------------------------------------------------------------------------------------------------


def test_every_built_in_price_is_whole_and_says_who_published_it_and_when() -> None:
    prices = costs.read_prices(costs.BUILT_IN)
    assert len(prices) > 20
    for key, price in prices.items():
        assert key.count(":") == 1
        assert price.source and len(price.date) == 10
        assert Decimal(price.output) >= Decimal(price.input) >= Decimal(price.cached_input or price.input) > 0


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        ("openai:gpt-5", "openai:gpt-5"),
        ("openai:gpt-5-2025-08-07", "openai:gpt-5"),
        ("openai-chat:gpt-4o-mini-2024-07-18", "openai:gpt-4o-mini"),
        ("gpt-5-mini", "openai:gpt-5-mini"),
        ("anthropic-chat:claude-haiku-4-5-20251001", "anthropic:claude-haiku-4-5"),
        ("chat-google-generative-ai:models/gemini-2.5-flash", "google_genai:gemini-2.5-flash"),
        ("mistralai:mistral-large-2512", "mistralai:mistral-large-2512"),
        ("openai:gpt-5-super", None),
        ("ollama:gpt-5", None),
        ("scripted", None),
        ("", None),
    ],
)
def test_a_model_is_found_under_the_names_that_it_is_recorded_under(name: str, entry: str | None) -> None:
    prices = costs.read_prices(costs.BUILT_IN)
    assert costs.price_of(name) == (prices[entry] if entry else None)


def test_the_built_in_list_does_not_speak_for_another_server(monkeypatch: pytest.MonkeyPatch) -> None:
    from langchain_openai import ChatOpenAI

    ours = ChatOpenAI(model="gpt-5", api_key="none", base_url="http://127.0.0.1:1/v1")  # type: ignore[arg-type]
    theirs = ChatOpenAI(model="gpt-5", api_key="none")  # type: ignore[arg-type]
    assert costs.price_of(model_name(ours), ours) is None
    assert costs.price_of(model_name(theirs), theirs) is not None
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    assert costs.price_of("openai:gpt-5", resolve_model("openai:gpt-5")) is None


def listed(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


OWN = """
[[prices]]
source = "Our contract"
models."openai:gpt-5" = { input = 0.5, output = 4 }
models."ollama:llama" = { input = 0, output = 0 }
"""


def test_the_users_own_prices_come_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = listed(tmp_path / "own.toml", OWN)
    agreed = Price(input="0.5", output="4", source="Our contract")
    assert costs.price_of("openai:gpt-5", prices=own) == agreed
    assert costs.price_of("openai:gpt-5") != agreed
    monkeypatch.setenv(costs.PRICES_VARIABLE, str(own))
    assert costs.price_of("openai:gpt-5") == agreed
    assert costs.price_of("ollama:llama") == Price(input="0", output="0", source="Our contract")
    assert costs.price_of("openai:gpt-5-mini") is not None, "what it does not name stays as it was"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[[prices", "are no TOML"),
        ("", "has to hold [[prices]]"),
        ("[models]\nx = 1", "has to hold [[prices]]"),
        ("[[prices]]\nsource = 'x'", "holds models, source and date"),
        ("[[prices]]\nmodels.x = { input = 1 }", 'models."x": a price has input and output'),
        ("[[prices]]\nmodels.x = { input = 1, output = 2, extra = 3 }", 'models."x": a price has input'),
        ("[[prices]]\nmodels.x = { input = -1, output = 2 }", 'models."x": input = -1 is no number'),
        ("[[prices]]\nmodels.x = { input = nan, output = 2 }", 'models."x": input = NaN is no number'),
        ("[[prices]]\nmodels.x = { input = true, output = 2 }", 'models."x": input = True is no number'),
        ("[[prices]]\nmodels.x = { input = '1', output = 2 }", 'models."x": input = 1 is no number'),
        (
            "[[prices]]\nmodels.x = { input = 1e-999999999, output = 2 }",
            'models."x": input = 1E-999999999 is no',
        ),
        (f"[[prices]]\nmodels.x = {{ input = '{'1' * 9_000}', output = 2 }}", "1… is no number"),
        (f"[[prices]]\nmodels.x = {{ input = {'9' * 9_000}, output = 2 }}", "are no TOML"),
        (f"x = {'[' * 50_000}", "are no TOML"),
        (f"# {'x' * 1_000_000}", "more than 1,000,000 bytes"),
    ],
)
def test_a_list_of_prices_that_is_none_is_refused_with_its_place(
    tmp_path: Path, text: str, told: str
) -> None:
    with pytest.raises(rd.UsageError, match=r"prices\.toml") as refused:
        costs.price_of("x", prices=listed(tmp_path / "prices.toml", text))
    assert told in str(refused.value) and len(str(refused.value)) < 600


def test_a_list_of_prices_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(rd.UsageError, match=r"nothing\.toml cannot be read: No such file"):
        costs.price_of("x", prices=tmp_path / "nothing.toml")


# -- a budget in money ------------------------------------------------------------------------------------------


def test_a_budget_in_money_ends_in_a_report_that_lists_what_is_open(desk: rd.Desk) -> None:
    ended = research(desk, endless, budget_usd=0.12)
    assert (ended.status, ended.stop_reason) == ("completed", "budget_usd")
    spent = spending(desk)
    assert spent.total.cost is not None and spent.total.cost <= Decimal("0.12")
    gathering = spent.by_stage()["knowledge_base"].cost
    assert gathering is not None and gathering <= Decimal("0.09"), "a quarter is kept for writing"
    assert spent.by_stage()["report_writing"].calls > 0
    run = desk.existing("s").run
    assert run is not None and run.completion is not None
    assert run.completion.gaps[0].startswith("The research was stopped early (budget_usd)")
    assert any("q_001" in gap or "answered" in gap or "Gap" in gap for gap in run.completion.gaps[1:])
    assert "are kept for writing" in run.stop_detail
    assert desk.verify().ok


def test_the_largest_answer_that_the_model_may_give_has_to_fit(desk: rd.Desk) -> None:
    class Wordy(ScriptedModel):
        max_tokens: int = 12_000

    blocked = research(desk, model=Wordy(script=researcher), budget_usd=0.15)
    assert (blocked.status, blocked.stop_reason) == ("blocked", "budget_usd")
    assert "$0.0000 of $0.1125 are spent, the next request needs about $0.1" in blocked.blocked_reason
    assert desk.existing("s").workspace.called == 0


def test_an_answer_longer_than_expected_is_expected_from_then_on(desk: rd.Desk) -> None:
    def wordy(view: View) -> AIMessage:
        answer = endless(view)
        usage = {"input_tokens": 1_000, "output_tokens": 9_000, "total_tokens": 10_000}
        return answer.model_copy(update={"usage_metadata": usage})

    ended = research(desk, wordy, budget_tokens=120_000)
    assert ended.stop_reason == "budget_tokens"
    assert desk.existing("s").workspace.tokens <= 120_000


def test_a_budget_in_money_without_a_price_is_refused_before_anything_is_recorded(desk: rd.Desk) -> None:
    with pytest.raises(
        rd.UsageError, match=r"price of model 'scripted' is not known.*--prices FILE.*--budget-tokens"
    ):
        research(desk, budget_usd=1, prices=None)
    assert desk.sessions() == []
    graph = create_research_graph(desk, model=ScriptedModel(script=researcher), sources=sky(), budget_usd=1)
    with pytest.raises(rd.UsageError, match="price of model 'scripted' is not known"):
        graph.invoke({"objective": QUESTION}, {"configurable": {"thread_id": "s"}})
    assert desk.sessions() == []


@pytest.mark.parametrize("amount", [-1, "much", float("nan"), float("inf"), 10**9, "1e-999999999"])
def test_what_is_no_amount_of_money_is_refused(desk: rd.Desk, amount: Any) -> None:
    with pytest.raises(rd.UsageError, match="no budget in US dollars"):
        research(desk, budget_usd=amount)


@pytest.mark.parametrize("name", ["max_steps", "budget_tokens", "wall_seconds"])
@pytest.mark.parametrize("amount", [-1, 10**30, 2.5, float("nan"), "9", True])
def test_what_is_no_budget_is_refused_before_anything_is_recorded(
    desk: rd.Desk, name: str, amount: Any
) -> None:
    with pytest.raises(rd.UsageError, match=f"{name}=.* is no budget; give a whole number from 0"):
        research(desk, **{name: amount})
    assert desk.sessions() == []


def test_prices_that_are_not_there_are_told_although_the_model_costs_nothing(tmp_path: Path) -> None:
    (tmp_path / "sky.md").write_text("# Sky\n\nThe sky is blue.\n")
    with (
        rd.open_desk(tmp_path / "home") as desk,
        pytest.raises(rd.UsageError, match="cannot be read: No such file"),
    ):
        rd.run_research(desk, QUESTION, corpus=[tmp_path / "sky.md"], prices=tmp_path / "nothing.toml")


@pytest.mark.parametrize(
    "price", [Price(input="much", output="1"), Price(input="1", output="-1"), Price(input="", output="1")]
)
def test_what_is_no_price_is_refused(desk: rd.Desk, price: Price) -> None:
    with pytest.raises(rd.UsageError, match="is no price in US dollars per million tokens"):
        research(desk, prices=price)


def test_a_resume_remembers_the_budget_and_the_price(desk: rd.Desk) -> None:
    blocked = research(desk, lambda view: says(text="Hm."), budget_usd="0.120")
    assert blocked.status == "blocked"
    ended = rd.resume_research(desk, "s", model=ScriptedModel(script=endless), sources=sky())
    assert (ended.status, ended.stop_reason) == ("completed", "budget_usd")
    config = desk.existing("s").workspace.config
    assert config is not None
    assert (config.budget_usd, config.price) == ("0.12", PRICE)
    total = spending(desk).total
    assert total.cost == total.calls * REQUEST <= Decimal("0.12")


def test_a_graph_of_ones_own_keeps_a_budget_in_money(desk: rd.Desk) -> None:
    model = ScriptedModel(script=endless)
    graph = create_research_graph(
        desk, model=model, sources=sky(), scope="quick", budget_usd=0.12, prices=PRICE
    )
    ended = graph.invoke({"objective": QUESTION}, {"configurable": {"thread_id": "s"}})
    assert (ended["status"], ended["stop_reason"]) == ("completed", "budget_usd")
    assert (spending(desk).total.cost or 0) <= Decimal("0.12")


def test_what_was_spent_without_a_price_stands_against_a_budget_in_money(desk: rd.Desk) -> None:
    research(desk, lambda view: says(text="Hm."), prices=None)
    with pytest.raises(rd.UsageError, match="a model whose price was not known"):
        rd.resume_research(
            desk, "s", model=ScriptedModel(script=researcher), sources=sky(), budget_usd=1, prices=PRICE
        )


def test_prompts_become_smaller_before_money_runs_out(desk: rd.Desk) -> None:
    left: list[float] = []

    def script(view: View) -> AIMessage:
        left.append(view["budget"]["usd_left"])
        return endless(view)

    research(desk, script, budget_usd=0.20)
    assert left[0] == 0.2
    assert left == sorted(left, reverse=True)
    tokens = [
        int(str(row["input_tokens"])) for row in desk.ledger.query("SELECT input_tokens FROM model_calls")
    ]
    assert max(tokens) <= 1_000


def test_a_ledger_from_before_prices_is_read_as_it_was() -> None:
    config = '{"budget_tokens":0,"corpus":[],"max_steps":0,"model":"m","origin_by":"auto","wall_seconds":0}'
    assert ev.event_from_json("run_configured", config) == ev.RunConfigured(model="m")
    failed = ev.event_from_json("model_failed", '{"code":"transient","detail":"x","ordinal":1}')
    assert failed == ev.ModelFailed(ordinal=1, code="transient", detail="x", charged=True, wait_seconds=0.0)


# -- what is told -----------------------------------------------------------------------------------------------


def test_the_estimate_is_a_range_that_says_what_it_assumes_and_keeps_to_the_budgets() -> None:
    options = RunOptions(scope="quick", model="m", price=PRICE)
    found = costs.estimate(options, LIMITS["quick"])
    assert (found.low_tokens, found.high_tokens) == (10 * 8_500, 40 * 20_000)
    assert (found.low_usd, found.high_usd) == (Decimal("0.21"), Decimal("2.88"))
    assert found.assumes == (
        "from 10 requests of 8,000 tokens with answers of 500 to 40 requests of 16,000 with answers of 4,000, "
        "nothing cached"
    )
    limited = RunOptions(scope="quick", model="m", price=PRICE, budget_usd=Decimal(1), budget_tokens=400_000)
    assert costs.estimate(limited, LIMITS["quick"]).high_usd == 1
    unknown = costs.estimate(RunOptions(scope="quick", model="m"), LIMITS["quick"])
    assert (unknown.low_usd, unknown.high_usd) == (None, None)


@pytest.mark.parametrize(
    ("amount", "words"),
    [
        (None, "unknown"),
        (Decimal(0), "$0"),
        (Decimal("0.00001"), "under $0.0001"),
        (Decimal("0.0420"), "$0.042"),
        (Decimal("1234.5"), "$1,234.50"),
    ],
)
def test_money_is_written_for_people(amount: Decimal | None, words: str) -> None:
    assert costs.dollars(amount) == words


Cli = Callable[..., str]


@pytest.fixture
def ask(desk: rd.Desk) -> Cli:
    """Runs a command on the desk's home and gives its stdout."""

    def asked(*arguments: str) -> str:
        done = CliRunner().invoke(cli.app, [*arguments, "--home", str(desk.home)])
        assert done.exit_code == 0, done.output
        return done.stdout

    return asked


def test_status_sessions_and_report_tell_the_cost(desk: rd.Desk, ask: Cli) -> None:
    research(desk)
    total = spending(desk).total
    assert total.cost is not None
    view = json.loads(ask("status", "s", "--json"))
    assert view["cost_usd"] == float(total.cost)
    assert sum(part["cost_usd"] for part in view["tokens"]["by_stage"].values()) == pytest.approx(
        view["cost_usd"]
    )
    text = ask("status", "s")
    assert f"cost        {costs.dollars(total.cost)}\n" in text
    assert "writing the report: $0.0" in text
    assert json.loads(ask("sessions", "--json"))[0]["cost_usd"] == float(total.cost)
    assert costs.dollars(total.cost) in ask("sessions")
    report = json.loads(ask("report", "s", "--format", "json"))
    assert report["usage"] == usage_view(spending(desk))
    head = f"- **Cost:** {costs.dollars(total.cost)}; {total.calls} requests, {total.tokens:,} tokens\n"
    assert head in ask("report", "s")


def options_for(price: Price | None = PRICE, **more: Any) -> RunOptions:
    return RunOptions(**{"scope": "quick", "model": "m", "price": price, **more})


def test_before_a_run_that_is_paid_for_its_cost_is_told() -> None:
    assert list(driving.estimate_lines(options_for())) == [
        "cost    $0.21 to $2.88, 85,000 to 800,000 tokens",
        "        from 10 requests of 8,000 tokens with answers of 500 to 40 requests of 16,000 with answers of 4,000, "
        "nothing cached",
        "        $2 in and $10 out for a million tokens (Contract 2026-11-30)",
        "        --budget-usd sets a limit",
    ]
    unknown = list(driving.estimate_lines(options_for(None)))
    assert unknown[0] == "cost    price not known (--prices FILE), 85,000 to 800,000 tokens"
    assert unknown[-1] == "        --budget-tokens sets a limit"


def test_asking_first_needs_a_terminal(
    desk: rd.Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driving, "resolve_model", lambda name: ScriptedModel(script=researcher))
    options = options_for(corpus=(str(tmp_path),))
    terms = driving.Terms(confirm=True)
    assert driving.drive(desk, "s", options, objective=QUESTION, terms=terms) == 2
    assert desk.sessions() == []


@pytest.mark.parametrize("answer", [True, False])
def test_who_is_asked_first_decides_whether_anything_is_begun(
    desk: rd.Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: bool
) -> None:
    class Terminal:
        def isatty(self) -> bool:
            return True

    model = ScriptedModel(script=researcher)
    monkeypatch.setattr(driving, "resolve_model", lambda name: model)
    monkeypatch.setattr("researchdesk.graph.runner.resolve_model", lambda name: model)
    monkeypatch.setattr("sys.stdin", Terminal())
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr("typer.confirm", lambda text, err: answer)
    (tmp_path / "blank.md").write_text(" ")
    options = options_for(corpus=(str(tmp_path / "blank.md"),), model="m")
    code = driving.drive(desk, "s", options, objective=QUESTION, terms=driving.Terms(confirm=True, json=True))
    assert code == 3, "declined, or blocked because the file holds nothing"
    assert [one.session_id for one in desk.sessions()] == (["s"] if answer else [])


def test_a_price_has_no_hidden_rounding() -> None:
    price = Price(input="0.0028", output="0.28", cached_input="0.001", cache_write="0.004")
    paid = cost(price, input_tokens=1_000, output_tokens=7, cached_tokens=300, written_tokens=100)
    assert paid == Decimal("0.00000434")
