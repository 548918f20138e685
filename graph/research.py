"""The research graph: two stages over one turn loop, driven from the ledger.

```
open_run -> knowledge_base -> report_writing -> close_run
                 each stage:  plan -> act (one task a call) -> observe -> plan …
```

Nodes hold no facts of their own. State carries ids and a window of messages for whoever watches; everything a
node decides comes from the session's fold, so re-running a node changes nothing.
"""

import asyncio
import contextlib
import functools
import threading
import uuid
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypedDict

from langchain_core.callbacks import dispatch_custom_event
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AnyMessage
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langgraph.config import get_stream_writer
from langgraph.errors import GraphBubbleUp
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Checkpointer, Send

from researchdesk.graph.answers import as_messages
from researchdesk.graph.budget import Budget
from researchdesk.graph.closing import finish_by_code, stop_gathering
from researchdesk.graph.driver import DRIVER_KEY, Driver, StreamEvent
from researchdesk.graph.models import model_name, resolve_model
from researchdesk.graph.options import RunOptions
from researchdesk.graph.turns import ask, gather_call, next_prompt, open_calls, settle_calls
from researchdesk.state import events as ev
from researchdesk.state.cleaning import safe_error
from researchdesk.state.errors import LeaseLost, Refusal, ResearchdeskError, UsageError
from researchdesk.state.ids import fold_objective
from researchdesk.state.vocabulary import RESEARCH_LABEL, ScopeLevel, Stage
from researchdesk.tools.door import Session
from researchdesk.tools.sources.gathering import Sources
from researchdesk.tools.sources.origins import OriginBy
from researchdesk.tools.workspace import Desk, open_desk

MESSAGES_KEPT = 12
PARALLEL_CALLS = 16
_pool = ThreadPoolExecutor(max_workers=PARALLEL_CALLS, thread_name_prefix="researchdesk-act")


class ResearchInput(TypedDict, total=False):
    """What an invocation is given; a resumed session needs nothing."""

    objective: str
    scope_level: ScopeLevel
    template: str
    corpus: list[str]


class ResearchOutput(TypedDict, total=False):
    """What an invocation ends with."""

    session_id: str
    status: str
    stop_reason: str | None
    report_artifact_id: str


class ResearchState(ResearchInput, ResearchOutput, total=False):
    """Control state only: ids, and the messages of the last turns."""

    stage: str
    calls: list[str]
    call_id: str
    messages: list[AnyMessage]


def _driver(config: RunnableConfig) -> Driver:
    driver = config.get("configurable", {}).get(DRIVER_KEY)
    if not isinstance(driver, Driver):
        raise UsageError("this graph runs only through its own invoke, stream, ainvoke and astream")
    return driver


# -- nodes of a stage -----------------------------------------------------------------------------------------


def plan(state: ResearchState, config: RunnableConfig) -> ResearchState:
    """The open turn's calls, or those of a new answer; a breaker ends the stage instead."""
    driver = _driver(config)
    if not open_calls(driver.session.workspace):
        with _showing(driver, config):
            _next_answer(driver)
    return {"calls": [call.id for call in open_calls(driver.session.workspace)], "stage": driver.run.stage}


def _next_answer(driver: Driver) -> None:
    prompt = next_prompt(driver)
    stop = driver.budget.stop(driver.session.workspace, next_tokens=prompt.tokens)
    if stop is None:
        ask(driver, prompt)
    elif driver.run.stage == "knowledge_base":
        stop_gathering(driver, stop)
    else:
        finish_by_code(driver, stop)


def act(state: ResearchState, config: RunnableConfig) -> ResearchState:
    """Gather for one call; nothing is decided here, so tasks may end in any order."""
    gather_call(_driver(config), state["call_id"])
    return {}


async def act_async(state: ResearchState, config: RunnableConfig) -> ResearchState:
    """`act` on a pool of its own: the event loop's default pool is smaller than a turn."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_pool, functools.partial(act, state, config))


def observe(state: ResearchState, config: RunnableConfig) -> ResearchState:
    """Decide and commit the turn's calls in call order."""
    driver = _driver(config)
    with _showing(driver, config):
        settle_calls(driver)
    return {"messages": _window(state, driver), "calls": [], "stage": driver.run.stage}


def _window(state: ResearchState, driver: Driver) -> list[AnyMessage]:
    """The messages of the last turns, for whoever watches; prompts are never built from them."""
    window = list(state.get("messages", []))
    answer = driver.session.workspace.last_answer
    if answer is not None and answer.message_id not in {message.id for message in window}:
        window += as_messages(answer, driver.session)  # type: ignore[arg-type]
    return window[-MESSAGES_KEPT:]


def _tasks(state: ResearchState, config: RunnableConfig) -> list[Send] | Literal["observe"]:
    calls = state.get("calls", [])
    return [Send("act", {"call_id": call}) for call in calls] or "observe"


def _stays_in(stage: Stage) -> Callable[[ResearchState, RunnableConfig], str]:
    """A stage goes on until the ledger names another one, or the run is blocked."""

    def goes_on(state: ResearchState, config: RunnableConfig) -> str:
        run = _driver(config).run
        return "plan" if run.status == "active" and run.stage == stage else END

    return goes_on


# -- nodes of the run -----------------------------------------------------------------------------------------


def open_run(state: ResearchState, config: RunnableConfig) -> ResearchState:
    """Begin the run, or take it up where the ledger left it."""
    driver = _driver(config)
    writer = get_stream_writer()
    driver.emit = writer
    driver.shown_seq = driver.session.workspace.seq
    with _showing(driver, config):
        begin_run(driver, state.get("objective", ""))
    return {"session_id": driver.session.id, "stage": driver.run.stage}


def begin_run(driver: Driver, objective: str) -> None:
    """Record options and start, each once; a blocked run becomes active again.

    Raises:
        UsageError: the session researches another objective already, or none is given for a new one.
    """
    session, options = driver.session, driver.options
    run = session.run
    if run is not None and objective and fold_objective(objective) != run.objective:
        raise UsageError(
            f"session '{session.id}' researches '{run.objective[:120]}' already; use another session"
        )
    if run is None:
        result = session.call(
            "deep_research_start",
            {"objective": objective, "scope_level": options.scope, "template": options.template},
            tool_call_id=f"start:{session.workspace.seq}",
        )
        if result.status == "error":
            raise UsageError(result.text)
    if session.workspace.config != options.recorded():
        session.record([options.recorded()])
    run = driver.run
    workspace = session.workspace
    stopped = run.stop_reason is not None and run.stage == "knowledge_base"
    if run.stage != "completed" and (run.status == "blocked" or stopped or workspace.failures_in_row):
        session.record([ev.ResearchResumed()])


def close_run(state: ResearchState, config: RunnableConfig) -> ResearchOutput:
    """Say how the run ended."""
    driver = _driver(config)
    run = driver.run
    return {
        "session_id": driver.session.id,
        "status": run.status,
        "stop_reason": run.stop_reason,
        "report_artifact_id": run.report_artifact_id,
    }


def _enter(
    state: ResearchState, config: RunnableConfig
) -> Literal["knowledge_base", "report_writing", "close_run"]:
    """The stage that the ledger names."""
    run = _driver(config).run
    if run.status != "active" or run.stage == "completed":
        return "close_run"
    return "knowledge_base" if run.stage == "knowledge_base" else "report_writing"


@contextlib.contextmanager
def _showing(driver: Driver, config: RunnableConfig) -> Iterator[None]:
    """Put the ledger's new events on both streams: LangGraph's custom stream and callback events (AG-UI)."""
    writer = driver.emit

    def both(event: StreamEvent) -> None:
        if writer is not None:
            writer(event)
        with contextlib.suppress(RuntimeError):  # outside a traced run there is nobody to tell
            dispatch_custom_event(event["type"], event, config=config)

    driver.emit = both
    try:
        yield
        driver.show_new_events()
    finally:
        driver.emit = writer


# -- the factory ----------------------------------------------------------------------------------------------


def _stage_graph(stage: Stage) -> CompiledStateGraph[Any, Any, Any, Any]:
    builder = StateGraph(ResearchState)
    builder.add_node("plan", plan)
    builder.add_node("act", RunnableLambda(act, afunc=act_async))
    builder.add_node("observe", observe)
    builder.add_edge(START, "plan")
    builder.add_conditional_edges("plan", _tasks, ["act", "observe"])
    builder.add_edge("act", "observe")
    builder.add_conditional_edges("observe", _stays_in(stage), ["plan", END])
    return builder.compile()


def _run_graph() -> StateGraph[Any, Any, Any, Any]:
    builder = StateGraph(ResearchState, input_schema=ResearchInput, output_schema=ResearchOutput)
    builder.add_node("open_run", open_run)
    builder.add_node("knowledge_base", _stage_graph("knowledge_base"))
    builder.add_node("report_writing", _stage_graph("report_writing"))
    builder.add_node("close_run", close_run)
    builder.add_edge(START, "open_run")
    stages = ["knowledge_base", "report_writing", "close_run"]
    builder.add_conditional_edges("open_run", _enter, stages)
    builder.add_conditional_edges("knowledge_base", _enter, stages)
    builder.add_edge("report_writing", "close_run")
    builder.add_edge("close_run", END)
    return builder


Prepare = Callable[[Any, RunnableConfig | None], contextlib.AbstractContextManager[RunnableConfig]]


class ResearchGraph(CompiledStateGraph[Any, Any, Any, Any]):
    """A compiled research graph that drives each session under its lease.

    Each factory call makes a class of its own that holds desk and options: `copy` and `with_config` keep the
    class, but would drop attributes of the instance.
    """

    prepare: Prepare

    def stream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Any]:
        """Run the graph under the session's lease; as `Pregel.stream`."""
        with type(self).prepare(input, config) as driven:
            yield from super().stream(input, driven, **kwargs)

    async def astream(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[Any]:
        """Run the graph under the session's lease; as `Pregel.astream`."""
        manager = type(self).prepare(input, config)
        driven = await asyncio.to_thread(manager.__enter__)
        try:
            async for item in super().astream(input, driven, **kwargs):
                yield item
        except BaseException as problem:
            await asyncio.to_thread(manager.__exit__, type(problem), problem, problem.__traceback__)
            raise
        await asyncio.to_thread(manager.__exit__, None, None, None)


def create_research_graph(
    desk: Desk | str | Path | None = None,
    *,
    model: str | BaseChatModel = "offline",
    corpus: Sequence[str | Path] = (),
    web: None = None,
    scope: ScopeLevel = "standard",
    template: str = "implementation",
    approval: Literal["detached"] = "detached",
    checkpointer: Checkpointer = None,
    sources: Sources | None = None,
    origin_by: OriginBy = "auto",
    max_steps: int = 0,
    budget_tokens: int = 0,
    wall_seconds: int = 0,
) -> ResearchGraph:
    """A graph that researches one question a thread; the thread id is the session id.

    Args:
        desk: an opened desk, or a home folder that is opened at the first invocation.
        model: ``offline``, a string for `init_chat_model`, or a chat model that can call tools.
        corpus: folders and files that a run may search and read; an invocation's own ``corpus`` must be among them.
        web: no web provider is part of this version.
        scope: ``quick``, ``standard`` or ``deep``, where the input does not say.
        template: the report's template, where the input does not say.
        approval: how desk changes are approved; research changes nothing outside the ledger.
        checkpointer: a LangGraph checkpointer. The ledger alone is enough to resume.
        sources: search providers and fetchers to use instead of a corpus.
        origin_by: who counts as the publisher of a local file: ``auto``, ``root``, ``folder`` or ``file``.
        max_steps, budget_tokens, wall_seconds: budgets of a run; 0 leaves the scope's own caps.

    Returns:
        A compiled graph. Input ``{objective, scope_level, template, corpus}``, output ``{session_id, status,
        stop_reason, report_artifact_id}``. A second invocation of a thread takes the run up where it stands.

    Raises:
        UsageError: an option that this version does not have.
    """
    if web is not None:
        raise UsageError(f"web={web!r}: this version reads local documents only; leave web out")
    if approval != "detached":
        raise UsageError(f"approval={approval!r}: only 'detached' is there")
    options = RunOptions(
        corpus=tuple(str(path) for path in corpus),
        origin_by=origin_by,
        model=model_name(model),
        scope=scope,
        template=template,
        max_steps=max_steps,
        budget_tokens=budget_tokens,
        wall_seconds=wall_seconds,
    )
    lead = _Lead(desk=desk, model=model, options=options, sources=sources)
    compiled = _run_graph().compile(checkpointer=checkpointer, name="researchdesk")
    compiled.__class__ = type("BoundResearchGraph", (ResearchGraph,), {"prepare": staticmethod(lead.prepare)})
    return compiled  # type: ignore[return-value]


class _Lead:
    """Prepares each invocation of one factory's graph: the desk, the sources, the lease, the driver."""

    def __init__(
        self,
        *,
        desk: Desk | str | Path | None,
        model: str | BaseChatModel,
        options: RunOptions,
        sources: Sources | None,
    ) -> None:
        self._desk = desk if isinstance(desk, Desk) else None
        self._home = None if isinstance(desk, Desk) else desk
        self._model = model
        self._options = options
        self._sources = sources
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def prepare(self, input: Any, config: RunnableConfig | None) -> Iterator[RunnableConfig]:
        """The invocation's config with its driver, under the session's lease."""
        configurable = dict((config or {}).get("configurable", {}))
        if DRIVER_KEY in configurable:
            yield config or {}
            return
        options = self._asked(input if isinstance(input, dict) else {})
        session_id = str(configurable.get("thread_id") or f"s_{uuid.uuid4().hex[:12]}")
        desk = self._opened()
        session = desk.session(
            session_id, labels=(RESEARCH_LABEL,), sources=self._opened_sources(desk, options)
        )
        with desk.driving(session):
            driver = make_driver(session, resolve_model(self._model), options)
            driven: RunnableConfig = {
                "max_concurrency": PARALLEL_CALLS,
                **(config or {}),
                "configurable": {**configurable, "thread_id": session_id, DRIVER_KEY: driver},
            }
            with blocking_on_errors(driver):
                yield driven

    def _asked(self, given: dict[str, Any]) -> RunOptions:
        """The factory's options with what the input says; it may name no other corpus than the factory's."""
        corpus = tuple(str(path) for path in given.get("corpus") or self._options.corpus)
        foreign = [path for path in corpus if path not in self._options.corpus]
        if foreign:
            allowed = ", ".join(self._options.corpus) or "none"
            raise UsageError(f"corpus '{foreign[0]}' was not given to this graph; it has: {allowed}")
        return replace(
            self._options,
            corpus=corpus,
            scope=given.get("scope_level") or self._options.scope,
            template=given.get("template") or self._options.template,
        )

    def _opened(self) -> Desk:
        with self._lock:
            if self._desk is None:
                self._desk = open_desk(self._home)
            return self._desk

    def _opened_sources(self, desk: Desk, options: RunOptions) -> Sources:
        return self._sources or desk.corpus_sources(options.corpus, origin_by=options.origin_by)


def make_driver(session: Session, model: BaseChatModel, options: RunOptions) -> Driver:
    """A driver with a fresh budget clock."""
    budget = Budget(
        max_steps=options.max_steps, tokens=options.budget_tokens, wall_seconds=options.wall_seconds
    )
    return Driver(session=session, model=model, options=options, budget=budget)


@contextlib.contextmanager
def blocking_on_errors(driver: Driver) -> Iterator[None]:
    """An error that ends the invocation leaves the run blocked, with its reason, ready to be resumed."""
    try:
        yield
    except (GraphBubbleUp, LeaseLost, UsageError, Refusal):
        raise
    except Exception as problem:
        with contextlib.suppress(ResearchdeskError):  # what cannot be written now is resumable all the same
            run = driver.session.run
            if run is not None and run.status == "active":
                driver.session.record([ev.ResearchBlocked(reason=safe_error(problem))])
        raise
