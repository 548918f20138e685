"""Researching through a provider's client: a whole run over Chat Completions, and whatever can go wrong with it."""

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, ToolMessage, convert_to_messages
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.runtime import RunControl
from typer.testing import CliRunner

import researchdesk as rd
from researchdesk.graph import cli, turns
from researchdesk.graph.costs import dollars
from researchdesk.graph.offline.model import OfflineChatModel
from researchdesk.graph.progress import milestone_text
from researchdesk.graph.research import create_research_graph
from researchdesk.state.tokens import estimate_tokens
from researchdesk.tools.schema_lint import lint_schema

from .chat_server import Call, ChatServer, Fault, Reply, Script, over_the_wire
from .scripted_model import QUESTION, QUOTES, View, call, researcher, says, sky

Answers = Callable[[View], AIMessage | Reply | Fault]
DOCUMENTS = {
    "agency": "# Length\n\nPasswords shall have a minimum length of 15 characters where they stand alone.\n",
    "project": "# Password length\n\nThe minimum length of a password should be 8 characters.\n",
    "office": "# Guidance\n\nCurrent guidelines require a minimum password length of 12 characters.\n",
}
SEARCH = Call(name="search_sources", arguments='{"query": "sky", "limit": 10}')
THREAD: Any = {"configurable": {"thread_id": "s"}}


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long it was waited between tries; nobody waits here."""
    waited: list[float] = []
    monkeypatch.setattr(turns, "pause", waited.append)
    return waited


@pytest.fixture
def desk(tmp_path: Path, waits: list[float]) -> Iterator[rd.Desk]:
    with rd.open_desk(tmp_path / "home") as opened:
        yield opened


def research(desk: rd.Desk, script: Script, **options: Any) -> tuple[rd.RunResult, ChatServer]:
    with ChatServer(script) as server:
        given = {"model": server.model(), "sources": sky(), "scope": "quick", "session_id": "s", **options}
        return rd.run_research(desk, QUESTION, **given), server


def report_of(desk: rd.Desk, result: rd.RunResult) -> str:
    run = desk.existing("s").run
    assert run is not None
    return desk.records.text(run.artifacts[result.report_artifact_id].content_hash)


def history(desk: rd.Desk, session: str = "s") -> list[tuple[str, str, Any]]:
    """What happened, without ids and times: each event's type, and what was called with which outcome."""
    found = []
    for event in desk.existing(session).events():
        body = json.loads(event.payload)
        found.append((event.type, body.get("name", ""), body.get("status") or body.get("output_tokens")))
    return found


def assert_every_call_has_one_record(desk: rd.Desk) -> None:
    asked, recorded = [], []
    for event in desk.existing("s").events():
        body = json.loads(event.payload)
        if event.type == "model_answered":
            asked += [(body["turn_id"], one["id"]) for one in body["calls"]]
        elif event.type == "call_recorded" and body["turn_id"]:
            recorded.append((body["turn_id"], body["tool_call_id"]))
    assert recorded == asked
    assert len(set(asked)) == len(asked)


# -- a run in which nothing goes wrong ---------------------------------------------------------------------------


def test_a_whole_research_goes_over_the_wire(desk: rd.Desk) -> None:
    ended, server = research(desk, researcher)
    assert (ended.status, ended.stop_reason) == ("completed", None)
    assert next(iter(QUOTES.values())) in report_of(desk, ended)
    workspace = desk.existing("s").workspace
    assert len(server.requests) == workspace.called == workspace.answered
    assert workspace.spent.input_tokens == 1_000 * len(server.requests)
    assert workspace.spent.output_tokens == 100 * len(server.requests)
    assert workspace.cost is None, "the price of a model that a server of one's own answers for is not known"
    assert_every_call_has_one_record(desk)
    assert desk.verify().ok


def test_each_request_holds_the_rules_the_view_and_tools_that_every_provider_takes(desk: rd.Desk) -> None:
    _, server = research(desk, researcher)
    for request in server.requests:
        assert [message["role"] for message in request["messages"]] == ["system", "user"]
        assert request["tools"]
        for tool in request["tools"]:
            assert lint_schema(tool["function"]["parameters"]) == []


def streaming(desk: rd.Desk, server: ChatServer, way: str) -> list[tuple[str, Any]]:
    graph = create_research_graph(desk, model=server.model(), sources=sky(), scope="quick")
    options: Any = {"stream_mode": ["messages", "custom"], "subgraphs": True}
    if way == "sync":
        return [(mode, item) for _, mode, item in graph.stream({"objective": QUESTION}, THREAD, **options)]

    async def collected() -> list[tuple[str, Any]]:
        stream = graph.astream({"objective": QUESTION}, THREAD, **options)
        return [(mode, item) async for _, mode, item in stream]

    return asyncio.run(collected())


@pytest.mark.parametrize("way", ["sync", "async"])
def test_who_streams_messages_gets_the_models_words_as_they_come(desk: rd.Desk, way: str) -> None:
    def aloud(view: View) -> AIMessage:
        return researcher(view).model_copy(update={"content": "Now I go on."})

    with ChatServer(aloud) as server:
        seen = streaming(desk, server, way)
    assert all(request["stream"] for request in server.requests)
    words = [item[0].text for mode, item in seen if mode == "messages" and item[0].text]
    assert words[:4] == ["Now ", "I ", "go ", "on. "]
    run = desk.existing("s").run
    assert run is not None and (run.status, run.stop_reason) == ("completed", None)
    assert_every_call_has_one_record(desk)


def test_a_streamed_research_leaves_the_same_history_as_a_whole_one(desk: rd.Desk) -> None:
    with ChatServer(researcher) as server:
        streaming(desk, server, "sync")
    plain, other = research(desk, researcher, session_id="plain")
    assert plain.status == "completed"
    assert not any(request.get("stream") for request in other.requests)
    assert len(server.requests) == len(other.requests)
    assert history(desk) == history(desk, "plain")
    assert desk.existing("s").workspace.spent == desk.existing("plain").workspace.spent


def test_a_stream_without_usage_is_counted_by_estimate(desk: rd.Desk) -> None:
    with ChatServer(researcher) as server:
        graph = create_research_graph(
            desk, model=server.model(stream_usage=False), sources=sky(), scope="quick"
        )
        for _ in graph.stream({"objective": QUESTION}, THREAD, stream_mode="messages"):
            pass
    rows = desk.ledger.query("SELECT usage_reported, input_tokens, output_tokens FROM model_calls")
    assert {row["usage_reported"] for row in rows} == {0}
    assert all(int(str(row["input_tokens"])) > 2_000 for row in rows)
    answers = [
        json.loads(event.payload) for event in desk.existing("s").events() if event.type == "model_answered"
    ]
    assert len(answers) == len(rows)
    for answer in answers:
        told = [answer["text"]["inline"], *(call["arguments"]["inline"] for call in answer["calls"])]
        if any("$blob" in text for text in told):  # stands elsewhere, with what the model wrote
            assert answer["output_tokens"] >= 10
        else:
            assert answer["output_tokens"] == sum(map(estimate_tokens, told)) > 0


# -- faults that pass -------------------------------------------------------------------------------------------


def first(fault: Fault | Reply, then: Answers = researcher, *, times: int = 1) -> Answers:
    return lambda view: fault if view["asked"] < times else then(view)


PASSING = {
    "rate limit": Fault(status=429, headers={"retry-after": "7"}),
    "rate limit in milliseconds": Fault(status=429, headers={"retry-after-ms": "7000"}),
    "overloaded": Fault(status=503, headers={"retry-after": "7"}),
    "an hour": Fault(status=429, headers={"retry-after": "3600"}),
    "a date": Fault(status=429, headers={"retry-after": "Fri, 31 Dec 2999 23:59:59 GMT"}),
}


@pytest.mark.parametrize("name", PASSING)
def test_a_provider_that_asks_to_wait_is_waited_for_within_bounds(
    desk: rd.Desk, waits: list[float], name: str
) -> None:
    ended, server = research(desk, first(PASSING[name]))
    assert (ended.status, ended.stop_reason) == ("completed", None)
    assert waits == [60.0 if name in ("an hour", "a date") else 7.0]
    workspace = desk.existing("s").workspace
    assert len(server.requests) == workspace.called == workspace.answered + 1
    assert workspace.spent.input_tokens == 1_000 * workspace.answered, "what was refused costs nothing"


BROKEN = {
    "internal error": Fault(status=500),
    "bad gateway in html": Fault(
        status=502, headers={"content-type": "text/html"}, body="<h1>Bad gateway</h1>"
    ),
    "dropped connection": Fault(),
    "no json": Fault(status=200, body="Service unavailable"),
    "no choices": Fault(
        status=200, body='{"error": {"message": "overloaded", "code": 529}, "choices": null}'
    ),
    "an empty document": Fault(status=200, body="{}"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_fault_that_passes_is_waited_out_longer_each_time(
    desk: rd.Desk, waits: list[float], name: str
) -> None:
    ended, server = research(desk, first(BROKEN[name], times=3))
    assert (ended.status, ended.stop_reason) == ("completed", None)
    assert len(waits) == 3
    assert all(least <= wait <= 2 * least for wait, least in zip(waits, (0.5, 1.0, 2.0), strict=True))
    assert len(server.requests) == desk.existing("s").workspace.answered + 3


@pytest.mark.parametrize("streams", [False, True])
def test_an_answer_that_breaks_off_is_asked_for_again_and_may_have_to_be_paid(
    desk: rd.Desk, waits: list[float], streams: bool
) -> None:
    half = Fault(half=Reply(content="I look for the sky.", calls=(SEARCH,)))
    with ChatServer(first(half, times=2)) as server:
        model = server.model(streaming=streams)
        ended = rd.run_research(desk, QUESTION, model=model, sources=sky(), scope="quick", session_id="s")
    assert (ended.status, ended.stop_reason) == ("completed", None)
    assert len(waits) == 2
    workspace = desk.existing("s").workspace
    lost = desk.ledger.query("SELECT input_tokens FROM model_calls WHERE status = 'failed'")
    paid = sum(int(str(row["input_tokens"])) for row in lost)
    assert workspace.spent.input_tokens == 1_000 * workspace.answered + paid
    assert_every_call_has_one_record(desk)


def test_whoever_follows_a_run_is_told_that_it_waits(desk: rd.Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    heard = threading.Event()

    def on_event(event: dict[str, Any]) -> None:
        session = desk.existing("s")
        if event["kind"] == "model_failed":
            stored = next(e for e in session.events(after=event["seq"] - 1))
            told.append(milestone_text(stored.event(), session.workspace))
            heard.set()

    heard_while_waiting: list[bool] = []
    monkeypatch.setattr(turns, "pause", lambda seconds: heard_while_waiting.append(heard.wait(20)))
    research(desk, first(PASSING["rate limit"]), on_event=on_event)
    assert heard_while_waiting == [True]
    assert len(told) == 1
    assert told[0].startswith("the model failed: transient, asked again in 7 s: ")
    assert "Error code: 429" in told[0]


def test_who_asks_a_waiting_run_to_stop_need_not_wait_for_it(tmp_path: Path) -> None:
    control = RunControl()

    def on_event(event: dict[str, Any]) -> None:
        if event["kind"] == "model_failed":
            control.request_drain()

    an_hour = Fault(status=429, headers={"retry-after": "3600"})
    with rd.open_desk(tmp_path / "home") as desk:
        stopped, _ = research(desk, first(an_hour), on_event=on_event, control=control)
        assert (stopped.drained, stopped.status) == (True, "active")
        with ChatServer(researcher) as server:
            ended = rd.resume_research(desk, "s", model=server.model(), sources=sky())
        assert (ended.status, ended.stop_reason) == ("completed", None)


@pytest.mark.parametrize("name", ["openai:gpt-5", "gpt-5", "anthropic:claude-haiku-4-5"])
def test_a_model_that_is_named_leaves_trying_again_to_the_run(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    assert getattr(rd.resolve_model(name), "max_retries") == 0  # noqa: B009 - not a field of every model


# -- faults that stay -------------------------------------------------------------------------------------------


def with_evidence(then: Answers) -> Answers:
    return lambda view: then(view) if view["claims"] else researcher(view)


def always(reply: Reply | Fault) -> Answers:
    return lambda view: reply


STAYING: dict[str, tuple[Reply | Fault, str]] = {
    "internal error": (Fault(status=500), "model_unavailable"),
    "rate limit": (Fault(status=429), "model_unavailable"),
    "dropped connection": (Fault(), "model_unavailable"),
    "a key that is refused": (Fault(status=401), "model_unavailable"),
    "an unknown model": (Fault(status=404), "model_unavailable"),
    "nothing": (Reply(), "no_progress"),
    "an outage as content": (Reply(content="502 Bad Gateway"), "no_progress"),
    "prose": (Reply(content="<think>What now?</think>I would search for the sky."), "no_progress"),
    "cut off": (Reply(content="Half a", finish="length"), "no_progress"),
    "the same call": (Reply(calls=(SEARCH,)), "loop"),
    "an unknown tool": (Reply(calls=(Call(name="look_up", arguments="{}"),)), "loop"),
    "broken json": (Reply(calls=(Call(name="search_sources", arguments='{"query": "sk'),)), "loop"),
}


@pytest.mark.parametrize("name", STAYING)
def test_what_stays_wrong_ends_in_a_report_of_what_is_there(desk: rd.Desk, name: str) -> None:
    reply, reason = STAYING[name]
    ended, _ = research(desk, with_evidence(always(reply)))
    assert (ended.status, ended.stop_reason) == ("completed", reason)
    assert all(quote in report_of(desk, ended) for quote in QUOTES.values())
    assert_every_call_has_one_record(desk)
    assert desk.verify().ok


@pytest.mark.parametrize("name", STAYING)
def test_without_evidence_it_is_blocked_with_the_reason(desk: rd.Desk, name: str) -> None:
    reply, reason = STAYING[name]
    ended, server = research(desk, always(reply))
    assert (ended.status, ended.report_artifact_id) == ("blocked", "")
    assert ended.blocked_reason.startswith(f"no evidence: {reason}, ")
    assert len(server.requests) <= 6
    assert_every_call_has_one_record(desk)


def test_a_refusal_is_not_tried_again(desk: rd.Desk, waits: list[float]) -> None:
    ended, server = research(desk, always(STAYING["a key that is refused"][0]))
    assert (len(server.requests), waits) == (1, [0.0])
    assert "401" in ended.blocked_reason


# -- answers that are not as they should be ----------------------------------------------------------------------


def search(arguments: str, **more: Any) -> Call:
    return Call(name="search_sources", arguments=arguments, **more)


ONCE: dict[str, Reply] = {
    "thinking before the call": Reply(content="<think>First\n<think> the sky</think> So:", calls=(SEARCH,)),
    "prose instead of a call": Reply(content="I will search for the sky now."),
    "an outage as content": Reply(content="upstream connect error or disconnect/reset before headers"),
    "broken json": Reply(calls=(search('{"query": "sky'),)),
    "json that is no object": Reply(calls=(search('["sky"]'),)),
    "no arguments at all": Reply(calls=(search(""),)),
    "a key twice": Reply(calls=(search('{"query": "sky", "query": "sea", "limit": 1}'),)),
    "an unknown tool": Reply(calls=(Call(name="rm -rf /", arguments='{"path": "/"}'),)),
    "one id for two calls": Reply(calls=(SEARCH, search('{"query": "sea", "limit": 1}'))),
    "one id for one call twice": Reply(calls=(SEARCH, SEARCH)),
    "no id": Reply(calls=(search('{"query": "sky", "limit": 1}', id=None),)),
    "nesting of 300": Reply(calls=(search('{"query": ' + "[" * 300 + "]" * 300 + "}"),)),
    "a huge integer": Reply(calls=(search(f'{{"query": "sky", "limit": {2**70}}}'),)),
    "not a number": Reply(calls=(search('{"query": "sky", "limit": NaN}'),)),
    "lone surrogates": Reply(content="blue \ud800", calls=(search('{"query": "sky \\ud800", "limit": 1}'),)),
    "nul": Reply(content="blue \x00", calls=(search('{"query": "sky\\u0000blue", "limit": 1}'),)),
    "cut off in a call": Reply(calls=(search('{"query": "sky'),), finish="length"),
    "filtered": Reply(content="", finish="content_filter"),
    "a hundred calls": Reply(
        calls=tuple(search(f'{{"query": "sky {n}", "limit": 1}}', id=f"c{n}") for n in range(100))
    ),
    "strange usage": Reply(calls=(SEARCH,), read=0, written=0, cached=10**9, reasoning=10**9),
}  # fmt: skip


@pytest.mark.parametrize("way", ["whole", "streamed"])
@pytest.mark.parametrize("name", ONCE)
def test_one_answer_that_is_not_as_it_should_be_is_taken_in_stride(
    desk: rd.Desk, name: str, way: str
) -> None:
    with ChatServer(first(ONCE[name])) as server:
        graph = create_research_graph(
            desk,
            model=server.model(streaming=way == "streamed"),
            sources=sky(),
            scope="quick",
            checkpointer=InMemorySaver(),
        )
        ended = graph.invoke({"objective": QUESTION}, THREAD)
    assert (ended["status"], ended["stop_reason"]) == ("completed", None)
    assert_every_call_has_one_record(desk)
    messages = graph.get_state(THREAD).values["messages"]
    asked = [
        one["id"] for message in messages if isinstance(message, AIMessage) for one in message.tool_calls
    ]
    assert [message.tool_call_id for message in messages if isinstance(message, ToolMessage)] == asked
    assert desk.verify().ok


def test_parts_of_usage_are_kept_and_never_more_than_the_whole(desk: rd.Desk) -> None:
    def script(view: View) -> AIMessage | Reply:
        if view["asked"] == 0:
            return Reply(calls=(SEARCH,), read=900, written=80, cached=700, reasoning=50)
        return ONCE["strange usage"] if view["asked"] == 1 else researcher(view)

    research(desk, script)
    answers = [json.loads(e.payload) for e in desk.existing("s").events() if e.type == "model_answered"]
    names = ("input_tokens", "cached_tokens", "output_tokens", "reasoning_tokens")
    assert [answers[0][name] for name in names] == [900, 700, 80, 50]
    strange = answers[1]
    assert strange["cached_tokens"] == 0 and strange["reasoning_tokens"] <= strange["output_tokens"]


# -- another provider's wire -------------------------------------------------------------------------------------


def test_a_whole_research_goes_over_anthropics_wire_with_what_its_cache_read_and_took(desk: rd.Desk) -> None:
    price = rd.Price(input="1", cached_input="0.1", cache_write="1.25", output="5")

    def cached(view: View) -> Reply:
        return replace(over_the_wire(researcher(view)), cached=500, stored=200)

    with ChatServer(first(Fault(status=529, headers={"retry-after": "7"}), cached)) as server:
        model = server.anthropic_model()
        ended = rd.run_research(
            desk, QUESTION, model=model, sources=sky(), scope="quick", session_id="s", prices=price
        )
    assert (ended.status, ended.stop_reason) == ("completed", None)
    assert_every_call_has_one_record(desk)
    workspace = desk.existing("s").workspace
    answered = workspace.answered
    assert len(server.requests) == answered + 1
    spent = workspace.spent
    assert (spent.input_tokens, spent.cached_tokens) == (1_000 * answered, 500 * answered)
    # 300 at 1, 500 at 0.1, 200 at 1.25 and 100 at 5 for a million
    assert spent.cost == answered * Decimal("0.0011")


@pytest.mark.parametrize(
    "name", ["prose instead of a call", "an unknown tool", "one id for two calls", "cut off"]
)
def test_anthropics_answers_are_taken_in_stride_too(desk: rd.Desk, name: str) -> None:
    strange = {**ONCE, "cut off": Reply(content="Half a", finish="length")}[name]
    with ChatServer(first(strange)) as server:
        model = server.anthropic_model()
        ended = rd.run_research(desk, QUESTION, model=model, sources=sky(), scope="quick", session_id="s")
    assert (ended.status, ended.stop_reason) == ("completed", None)
    assert_every_call_has_one_record(desk)


# -- nothing is paid twice --------------------------------------------------------------------------------------

CRASHING = """
import os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[3])
import researchdesk as rd
from langchain_openai import ChatOpenAI
from researchdesk.graph import acts, nodes
from tests.graph.scripted_model import QUESTION, sky

left = [int(sys.argv[4])]
place = sys.argv[5]
module = acts if place == "gather_call" else nodes
real = getattr(module, place)

def dying(*given):
    left[0] -= 1
    if left[0] == 0:
        os._exit(9)
    return real(*given)

setattr(module, place, dying)
model = ChatOpenAI(base_url=sys.argv[1], model="gpt-wire", api_key="none", max_retries=0)
with rd.open_desk(sys.argv[2]) as desk:
    rd.run_research(desk, QUESTION, model=model, sources=sky(), scope="quick", session_id="s")
"""


@pytest.fixture(scope="module")
def requests_of_an_undisturbed_run(tmp_path_factory: pytest.TempPathFactory) -> int:
    """How many requests a run makes that nobody kills."""
    home = tmp_path_factory.mktemp("undisturbed")
    with ChatServer(researcher) as server, rd.open_desk(home) as desk:
        rd.run_research(desk, QUESTION, model=server.model(), sources=sky(), scope="quick", session_id="s")
        return len(server.requests)


@pytest.mark.parametrize("place", ["gather_call", "settle_calls"])
@pytest.mark.parametrize("moment", [1, 3, 6])
def test_an_answer_that_was_paid_for_is_not_asked_for_again_after_a_crash(
    tmp_path: Path, place: str, moment: int, requests_of_an_undisturbed_run: int
) -> None:
    root = str(Path(__file__).resolve().parents[2])
    with ChatServer(researcher) as server:
        home = tmp_path / "home"
        command = [sys.executable, "-c", CRASHING, server.url, str(home), root, str(moment), place]
        crashed = subprocess.run(command, cwd=root, env={**os.environ}, check=False, timeout=120)
        assert crashed.returncode == 9
        asked = len(server.requests)
        with rd.open_desk(home) as desk:
            session = desk.existing("s")
            assert session.workspace.open_turn is not None, "it died between an answer and its calls"
            assert session.workspace.answered == asked
            ended = rd.resume_research(desk, "s", model=server.model(), sources=sky())
            assert (ended.status, ended.stop_reason) == ("completed", None)
            assert_every_call_has_one_record(desk)
    assert len(server.requests) == requests_of_an_undisturbed_run
    digests = [
        json.dumps(request["messages"][0]) + request["messages"][1]["content"] for request in server.requests
    ]
    assert len(set(digests)) == len(digests)


def test_a_research_goes_on_with_another_model_over_the_wire(desk: rd.Desk) -> None:
    blocked, _ = research(desk, always(Fault(status=401)))
    assert blocked.status == "blocked"
    with ChatServer(researcher) as server:
        ended = rd.resume_research(desk, "s", model=server.model(model="gpt-other"), sources=sky())
    assert (ended.status, ended.stop_reason) == ("completed", None)
    models = {str(row["model"]) for row in desk.ledger.query("SELECT model FROM model_calls")}
    assert models == {"openai-chat:gpt-wire", "openai-chat:gpt-other"}


def test_a_call_that_repeats_itself_over_the_report_leaves_one_all_the_same(desk: rd.Desk) -> None:
    ended, _ = research(
        desk,
        lambda view: (
            says(call("deep_research_status")) if view["stage"] == "report_writing" else researcher(view)
        ),
    )
    assert (ended.status, ended.stop_reason) == ("completed", "loop")
    assert all(quote in report_of(desk, ended) for quote in QUOTES.values())


def embedded(view: View) -> AIMessage:
    """What the embedded model answers to a request; here it sits behind a provider's address."""
    request = view["request"]
    model = OfflineChatModel().bind_tools(request["tools"])
    return model.invoke(convert_to_messages(request["messages"]))


def test_the_command_line_researches_with_a_paid_model_within_its_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text('[[prices]]\nmodels."openai:gpt-wire" = { input = 1, output = 10 }\n')
    for name, text in DOCUMENTS.items():
        (tmp_path / "docs" / name).mkdir(parents=True)
        (tmp_path / "docs" / name / "text.md").write_text(text)
    home = str(tmp_path / "home")
    with ChatServer(embedded) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        question = "What is the minimum length of a password?"
        command = ["run", question, "--corpus", str(tmp_path / "docs"), "--home", home, "--scope", "quick"]
        paid = ["--model", "openai:gpt-wire", "--budget-usd", "0.5"]
        refused = CliRunner().invoke(cli.app, [*command, *paid])
        assert (refused.exit_code, server.requests) == (2, [])
        assert "another server than its provider's answers for it" in refused.stderr
        done = CliRunner().invoke(cli.app, [*command, *paid, "--prices", str(prices)])
    assert done.exit_code == 0, done.output
    assert "cost    $0.13 to $0.5, 85,000 to 800,000 tokens\n" in done.stderr
    calls = len(server.requests)
    assert f"cost    {dollars(calls * Decimal('0.002'))}, {calls} requests, " in done.stderr
    with rd.open_desk(home) as desk:
        assert desk.existing(done.stdout.split("\n")[0]).workspace.cost == calls * Decimal("0.002")
    assert f"- **Cost:** {dollars(calls * Decimal('0.002'))}; {calls} requests" in done.stdout
