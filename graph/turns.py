"""One turn of a run: ask the model for the next calls, gather for each, decide and commit them in order.

A turn is open from the moment its answer is recorded until each of its calls has a record. An open turn is
finished before anything else, so a run that was killed anywhere goes on from the ledger alone.
"""

from langgraph.errors import GraphBubbleUp

from researchdesk.graph.answers import read_answer
from researchdesk.graph.budget import FAILURES
from researchdesk.graph.driver import Asker, Driver
from researchdesk.graph.prompts import Prompt, build_prompt, digest_of
from researchdesk.graph.retries import is_passing, pause, status_of, wait_before
from researchdesk.state import events as ev
from researchdesk.state.cleaning import safe_error
from researchdesk.state.limits import CALLS_PER_TURN
from researchdesk.state.stowing import unstow_arguments
from researchdesk.state.workspace import Workspace
from researchdesk.tools.door import ToolResult

BACKOFF_SECONDS = 1.0


def open_calls(workspace: Workspace) -> tuple[ev.AskedCall, ...]:
    """The calls of the open turn that have no record yet, in call order."""
    turn = workspace.open_turn
    return tuple(call for call in turn.calls if call.id in turn.waiting) if turn else ()


def next_prompt(driver: Driver) -> Prompt:
    """The prompt of the next turn, built from the ledger."""
    return build_prompt(driver.session, driver.budget, schema_tokens=driver.bound_model().schema_tokens)


def ask(driver: Asker, prompt: Prompt, *, tries: int, most_calls: int = CALLS_PER_TURN) -> bool:
    """Ask the model once, and record its answer or its failure; whether it answered.

    The request is recorded before it is made, so that the budget counts one whose answer is lost.

    Args:
        driver: who asks; its model with the tools of this turn.
        prompt: the request.
        tries: how often this request failed before.
        most_calls: how many calls of the answer may run; 0 where it was given no tools.
    """
    bound = driver.bound_model().model
    request = _record_request(driver, prompt)
    try:
        message = bound.invoke(prompt.messages)
    except GraphBubbleUp:
        raise
    except Exception as problem:  # whatever a provider's client raises ends as a recorded failure
        _record_failure(driver, request, problem, tries=tries + 1)
        return False
    answer = read_answer(
        message, request, ordinal=driver.session.workspace.answered + 1, most_calls=most_calls
    )
    driver.session.record([answer.event], turn_id=answer.event.turn_id, bodies=answer.bodies)
    return True


def _record_request(driver: Asker, prompt: Prompt) -> ev.ModelCalled:
    workspace = driver.session.workspace
    request = ev.ModelCalled(
        ordinal=workspace.called + 1,
        model=driver.model_name,
        stage=driver.stage,
        request_digest=digest_of(prompt.messages),
        input_tokens=prompt.tokens,
    )
    driver.session.record([request])
    return request


def _record_failure(driver: Asker, request: ev.ModelCalled, problem: Exception, *, tries: int) -> None:
    """Record the failure, show it, and wait where the model will be asked again."""
    passing = is_passing(problem)
    wait = 0.0
    if passing and tries < FAILURES:
        wait = min(wait_before(problem, tries=tries, backoff=BACKOFF_SECONDS), driver.wait_left())
    failed = ev.ModelFailed(
        ordinal=request.ordinal,
        code="transient" if passing else "refused",
        detail=safe_error(problem),
        charged=status_of(problem) is None,
        wait_seconds=wait,
    )
    driver.session.record([failed])
    driver.show_new_events()
    pause(wait)


def gather_call(driver: Asker, call_id: str) -> None:
    """Do the part of one open call that reaches the world; what is staged already is not fetched again.

    What an earlier call of the turn asks for too is left to that one: the record will have it.
    """
    workspace = driver.session.workspace
    calls = open_calls(workspace)
    call = next((call for call in calls if call.id == call_id), None)
    if call is None or call.problem or workspace.open_turn is None:
        return
    if call is not next(one for one in calls if (one.name, one.arguments) == (call.name, call.arguments)):
        return
    driver.session.gather(
        call.name, _arguments(driver, call), tool_call_id=call.id, turn_id=workspace.open_turn.turn_id
    )


def settle_calls(driver: Asker) -> None:
    """Decide and commit the open turn's calls, in call order."""
    turn = driver.session.workspace.open_turn
    if turn is None:
        return
    for call in open_calls(driver.session.workspace):
        call_asked(driver, turn.turn_id, call)
        driver.show_new_events()


def call_asked(driver: Asker, turn_id: str, call: ev.AskedCall) -> ToolResult:
    """Do a call of a recorded answer; one that was done gives its result again."""
    return driver.session.call(
        call.name,
        {} if call.problem else _arguments(driver, call),
        tool_call_id=call.id,
        turn_id=turn_id,
        problem=call.problem,
    )


def _arguments(driver: Asker, call: ev.AskedCall) -> dict[str, object]:
    return unstow_arguments(call.arguments, driver.records.text)
