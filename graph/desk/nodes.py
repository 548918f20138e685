"""The nodes of a chat over a desk, and the state that passes between them.

Nodes hold no facts of their own: what comes next follows from the session's fold, so re-running a node changes nothing.
State carries ids, cursors and a bounded window of messages for whoever watches.
"""

from collections.abc import Iterable, Iterator
from typing import Literal

from langchain_core.messages import AIMessage, AnyMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph import END
from langgraph.types import Send, interrupt
from typing_extensions import TypedDict

from researchdesk.graph import acts
from researchdesk.graph.budget import FAILURES
from researchdesk.graph.desk.asking import UNNAMED, Answer, AnswerSchema, question, take
from researchdesk.graph.desk.driver import CALLS_A_STEP, ChatDriver
from researchdesk.graph.desk.history import window
from researchdesk.graph.desk.listening import hear
from researchdesk.graph.desk.requests import next_request
from researchdesk.graph.desk.showing import active_events, effect_events
from researchdesk.graph.driver import StreamEvent, driver_of
from researchdesk.graph.turns import ask, call_asked, gather_call, open_calls
from researchdesk.state.desk.desk_state import UNDECIDED, DeskState
from researchdesk.state.desk.proposals import Proposal, proposal_id
from researchdesk.state.errors import UsageError
from researchdesk.state.events import AskedCall, ModelAnswered
from researchdesk.state.stowing import unstow_arguments
from researchdesk.state.workspace import PendingCall
from researchdesk.tools.orphans import call_of, settle_orphans

PENDING_SHOWN = 20


class ChatInput(TypedDict, total=False):
    """What an invocation is given; one without a new message takes the last turn up where it stands."""

    messages: list[AnyMessage]
    selection: str
    """What the person has selected on the desk."""


class ChatOutput(TypedDict, total=False):
    """What an invocation ends with: the last turns, and the proposals of this session that wait."""

    messages: list[AnyMessage]
    session_id: str
    pending: list[str]


class Asking(TypedDict):
    """The proposal that a person is asked about, and the hash of what is shown."""

    proposal_id: str
    proposal_hash: str


class ChatState(ChatInput, ChatOutput, total=False):
    """Control state only: ids, and the messages of the last turns."""

    turn: str
    """The turn of the last calls."""
    calls: list[str]
    asking: Asking | None
    problem: str
    """Why the last answer of a person was not taken."""
    failures: int
    """How often the next request failed in this invocation."""


def receive(state: ChatState, config: RunnableConfig) -> ChatState:
    """Record what was written, each message once."""
    driver = driver_of(config, ChatDriver)
    with driver.showing(config):
        begin_chat(driver)
        layout = driver.files.layout(driver.session.id)
        hear(
            driver.session,
            state.get("messages", []),
            layout=layout,
            selection=state.get("selection", ""),
        )
    return {**_shown(driver), "session_id": driver.session.id, "problem": "", "failures": 0}


def begin_chat(driver: ChatDriver) -> None:
    """Record the model that is chatted with and its price, where they are not those on record.

    Calls that wait for a decision on another desk end.

    Raises:
        UsageError: the session holds a research run.
    """
    session = driver.session
    if session.run is not None:
        raise UsageError(f"session '{session.id}' holds a research run; chat in a session of its own")
    if session.workspace.config != driver.options.recorded():
        session.record([driver.options.recorded()])
    settle_orphans(session)


def plan(state: ChatState, config: RunnableConfig) -> ChatState:
    """What comes next: the calls of the open turn, a question to a person, or the next answer of the model."""
    driver = driver_of(config, ChatDriver)
    failures = state.get("failures", 0)
    with driver.showing(config):
        if _should_ask(driver):
            answered = ask(
                driver,
                next_request(driver),
                tries=failures,
                most_calls=CALLS_A_STEP if driver.may_call else 0,
            )
            failures = 0 if answered else failures + 1
    turn, calls = driver.session.workspace.open_turn, open_calls(driver.session.workspace)
    return {
        **_shown(driver, failed=_gives_up(driver, failures)),
        "turn": turn.turn_id if turn else state.get("turn", ""),
        "calls": [call.id for call in calls],
        "asking": None if calls else _next_question(driver),
        "failures": failures,
    }


def _should_ask(driver: ChatDriver) -> bool:
    is_open = bool(open_calls(driver.session.workspace))
    return driver.chat.waits and not is_open and _next_question(driver) is None


def _next_question(driver: ChatDriver) -> Asking | None:
    """The first proposal of the last answer that waits, where the turn waits for it."""
    if not (driver.waits and driver.waiting()):
        return None
    proposal = _proposal(driver.files, driver.session.id, driver.waiting()[0])
    return {"proposal_id": proposal.id, "proposal_hash": proposal.hash}


def _proposal(desk: DeskState, session_id: str, call: PendingCall) -> Proposal:
    return desk.proposals[proposal_id(call_of(session_id, call))]


def _gives_up(driver: ChatDriver, failures: int) -> bool:
    """Whether the model was asked often enough in vain."""
    failure = driver.session.workspace.last_failure
    return bool(failures) and failure is not None and (failure.code != "transient" or failures >= FAILURES)


def next_node(state: ChatState, config: RunnableConfig) -> list[Send] | Literal["approve", "plan", "__end__"]:
    """Where `plan` leads."""
    driver = driver_of(config, ChatDriver)
    if state.get("calls"):
        return [Send("act", {"call_id": call}) for call in state["calls"]]
    if state.get("asking"):
        return "approve"
    goes_on = driver.chat.waits and not _gives_up(driver, state.get("failures", 0))
    return "plan" if goes_on else END  # type: ignore[return-value]


def act(state: acts.OneCall, config: RunnableConfig) -> ChatState:
    """Show what is worked on, and gather for one call."""
    driver = driver_of(config, ChatDriver)
    open_ones = open_calls(driver.session.workspace)
    for event in _active_events(driver, (c for c in open_ones if c.id == state["call_id"]), begins=True):
        driver.tell(event, config)
    gather_call(driver, state["call_id"])
    return {}


def observe(state: ChatState, config: RunnableConfig) -> ChatState:
    """Decide and commit the turn's calls in call order, and show what that did to the desk.

    Done again, it decides nothing and shows the same.
    """
    driver = driver_of(config, ChatDriver)
    calls = _calls_of(driver, state["turn"])
    with driver.showing(config):
        _show_effects(driver, state["turn"], calls)
        for event in _active_events(driver, calls, begins=False):
            driver.show(event)
    return {**_shown(driver), "calls": []}


def _calls_of(driver: ChatDriver, turn_id: str) -> tuple[AskedCall, ...]:
    """The calls of a turn; none of one that is long past."""
    answers = (entry for entry in reversed(driver.chat.entries) if isinstance(entry, ModelAnswered))
    return next((answer.calls for answer in answers if answer.turn_id == turn_id), ())


def approve(state: ChatState, config: RunnableConfig) -> ChatState:
    """Ask a person about one proposal, unless it was decided elsewhere meanwhile, and decide as they say."""
    driver = driver_of(config, ChatDriver)
    asking = state.get("asking")
    assert asking is not None
    proposal = driver.desk.proposal(asking["proposal_id"])
    problem = ""
    if proposal.status in UNDECIDED:
        answer = interrupt(
            question(driver.desk, proposal, problem=state.get("problem", "")), response_schema=AnswerSchema
        )
        problem = _taken(driver, proposal, answer, shown=asking["proposal_hash"])
    with driver.showing(config):
        cause = proposal.cause
        if not problem:
            calls = _calls_of(driver, cause.turn_id)
            _show_effects(driver, cause.turn_id, (c for c in calls if c.id == cause.tool_call_id))
    return {**_shown(driver), "asking": None, "problem": problem}


def _taken(driver: ChatDriver, proposal: Proposal, answer: Answer, *, shown: str) -> str:
    """What came of an answer: why it was not taken, or empty."""
    if answer.approved is None:
        return ""
    if not (driver.is_keyed or driver.takes_unnamed or answer.is_named):
        return UNNAMED
    named = answer if answer.proposal_hash else answer.model_copy(update={"proposal_hash": shown})
    return take(driver.desk, proposal, named, actor=driver.approver)


def _show_effects(driver: ChatDriver, turn_id: str, calls: Iterable[AskedCall]) -> None:
    """Do the calls that are not done, and show the effects of all."""
    results = []
    for call in calls:
        results.append(call_asked(driver, turn_id, call))
        driver.show_new_events()
    for event in effect_events(results):
        driver.show(event)


def _active_events(driver: ChatDriver, calls: Iterable[AskedCall], *, begins: bool) -> Iterator[StreamEvent]:
    for call in calls:
        if not call.problem:
            arguments = unstow_arguments(call.arguments, driver.records.text)
            yield from active_events(
                driver.files, driver.session.id, tool_call_id=call.id, arguments=arguments, begins=begins
            )


def _shown(driver: ChatDriver, *, failed: bool = False) -> ChatState:
    """What whoever watches is shown."""
    messages: list[AnyMessage] = window(driver.session, driver.chat)  # type: ignore[assignment]
    failure = driver.session.workspace.last_failure
    if failed and failure is not None:
        text = (
            f"The model could not be asked: {failure.detail} Your message is kept; send another one, or run this "
            "thread again without one, to try once more."
        )
        messages.append(AIMessage(text, id=f"failed_{failure.ordinal}"))
    pending = [key for key in driver.files.undecided if _is_own(driver, key)]
    return {"messages": messages, "pending": pending[:PENDING_SHOWN]}


def _is_own(driver: ChatDriver, key: str) -> bool:
    return driver.files.proposals[key].cause.session_id == driver.session.id
