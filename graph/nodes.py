"""The nodes of a run and of its stages, and the state that passes between them.

Nodes hold no facts of their own. State carries ids and a window of messages for whoever watches; everything a
node decides comes from the session's fold, so re-running a node changes nothing.
"""

from collections.abc import Callable
from typing import Literal

from langchain_core.messages import AIMessage, AnyMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph import END
from typing_extensions import TypedDict

from researchdesk.graph.answers import as_messages
from researchdesk.graph.closing import finish_by_code, stop_gathering
from researchdesk.graph.driver import Driver, driver_of
from researchdesk.graph.turns import ask, next_prompt, open_calls, settle_calls
from researchdesk.graph.upkeep import tidy
from researchdesk.state import events as ev
from researchdesk.state.cleaning import clean_text
from researchdesk.state.errors import Refusal, UsageError
from researchdesk.state.ids import fold_objective
from researchdesk.state.redaction import redact
from researchdesk.state.vocabulary import ScopeLevel, Stage

MESSAGES_KEPT = 12


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
    messages: list[AnyMessage]


def plan(state: ResearchState, config: RunnableConfig) -> ResearchState:
    """The open turn's calls, or those of a new answer; a breaker ends the stage instead."""
    driver = driver_of(config, Driver)
    # An old checkpoint leads here too, in a run that has ended since.
    if driver.run.status == "active" and not open_calls(driver.session.workspace):
        with driver.showing(config):
            tidy(driver)
            _next_answer(driver)
    return {"calls": [call.id for call in open_calls(driver.session.workspace)], "stage": driver.run.stage}


def _next_answer(driver: Driver) -> None:
    prompt = next_prompt(driver)
    stop = driver.budget.stop(driver.session.workspace, next_tokens=prompt.tokens)
    if stop is None:
        ask(driver, prompt, tries=driver.session.workspace.failures_in_row)
    elif driver.run.stage == "knowledge_base":
        stop_gathering(driver, stop)
    else:
        finish_by_code(driver, stop)


def observe(state: ResearchState, config: RunnableConfig) -> ResearchState:
    """Decide and commit the turn's calls in call order."""
    driver = driver_of(config, Driver)
    with driver.showing(config):
        settle_calls(driver)
    return {"messages": _window(state, driver), "calls": [], "stage": driver.run.stage}


def _window(state: ResearchState, driver: Driver) -> list[AnyMessage]:
    """The messages of the last turns, for whoever watches; prompts are never built from them."""
    window = list(state.get("messages", []))
    answer = driver.session.workspace.last_answer
    if answer is not None and answer.message_id not in {message.id for message in window}:
        window += as_messages(answer, driver.session)  # type: ignore[arg-type]
    return _whole_turns(window)


def _whole_turns(messages: list[AnyMessage]) -> list[AnyMessage]:
    """The newest turns that fit, the last one in any case; a result never stands there without its call."""
    starts = [place for place, message in enumerate(messages) if isinstance(message, AIMessage)]
    fitting = [place for place in starts if len(messages) - place <= MESSAGES_KEPT]
    return messages[(fitting or starts[-1:] or [0])[0] :]


def stays_in(stage: Stage) -> Callable[[ResearchState, RunnableConfig], str]:
    """A stage goes on until the ledger names another one, or the run is blocked."""

    def goes_on(state: ResearchState, config: RunnableConfig) -> str:
        run = driver_of(config, Driver).run
        return "plan" if run.status == "active" and run.stage == stage else END

    return goes_on


def open_run(state: ResearchState, config: RunnableConfig) -> ResearchState:
    """Begin the run, or take it up where the ledger left it."""
    driver = driver_of(config, Driver)
    with driver.showing(config):
        begin_run(driver, state.get("objective", ""))
    return {"session_id": driver.session.id, "stage": driver.run.stage}


def begin_run(driver: Driver, objective: str) -> None:
    """Record options and start, each once; a blocked run becomes active again.

    Raises:
        UsageError: the session researches another objective already, or none is given for a new one.
    """
    session, options = driver.session, driver.options
    run = session.run
    if run is not None and objective and _as_recorded(objective) != run.objective:
        raise UsageError(
            f"session '{session.id}' researches '{run.objective[:120]}' already; use another session"
        )
    if run is None:
        checked_objective(objective)
    if options.budget_usd and session.workspace.cost is None:
        raise UsageError(
            f"session '{session.id}' was begun with a model whose price was not known, so a budget in money cannot be "
            "kept; use --budget-usd 0 and limit tokens instead (--budget-tokens)"
        )
    if session.workspace.config != options.recorded():
        session.record([options.recorded()])  # first, so that a run which was begun always knows its options
    if run is None:
        result = session.call(
            "deep_research_start",
            {"objective": objective, "scope_level": options.scope, "template": options.template},
            tool_call_id=f"start:{session.workspace.seq}",
        )
        if result.status == "error":
            raise UsageError(result.text)
    run = driver.run
    if run.stage != "completed":
        session.start_investigation()  # a run that was begun without questions gets them
    workspace = session.workspace
    stopped = run.stop_reason is not None and run.stage == "knowledge_base"
    if run.stage != "completed" and (run.status == "blocked" or stopped or workspace.failures_in_row):
        session.record([ev.ResearchResumed()])


def _as_recorded(objective: str) -> str:
    """The objective as the ledger has it: what it cannot store replaced, secrets taken out, white space folded."""
    return fold_objective(redact(clean_text(objective).text).text)


def checked_objective(objective: str) -> str:
    """The objective in its written form.

    Raises:
        UsageError: it is empty or too long.
    """
    try:
        return fold_objective(objective)
    except Refusal as refusal:
        raise UsageError(refusal.text) from None


def close_run(state: ResearchState, config: RunnableConfig) -> ResearchOutput:
    """Say how the run ended."""
    driver = driver_of(config, Driver)
    run = driver.run
    return {
        "session_id": driver.session.id,
        "status": run.status,
        "stop_reason": run.stop_reason,
        "report_artifact_id": run.report_artifact_id,
    }


def enter(
    state: ResearchState, config: RunnableConfig
) -> Literal["knowledge_base", "report_writing", "close_run"]:
    """The stage that the ledger names."""
    run = driver_of(config, Driver).run
    if run.status != "active" or run.stage == "completed":
        return "close_run"
    return "knowledge_base" if run.stage == "knowledge_base" else "report_writing"
