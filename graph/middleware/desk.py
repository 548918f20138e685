"""`DeskMiddleware`: an agent of LangChain or deepagents works on the files of a desk."""

import asyncio
import contextlib
from typing import Annotated, Any, NotRequired, get_args

from langchain.agents.middleware.types import AgentState, PrivateStateAttr, ToolCallRequest
from langchain_core.callbacks import dispatch_custom_event
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langgraph.config import get_config
from langgraph.errors import GraphInterrupt
from langgraph.types import interrupt

from researchdesk.graph.desk.asking import Answer, AnswerSchema, question, take
from researchdesk.graph.desk.chat import Approval
from researchdesk.graph.desk.driver import CALLS_A_STEP, STEPS_A_TURN
from researchdesk.graph.desk.listening import hear
from researchdesk.graph.desk.showing import active_events, effect_events
from researchdesk.graph.desk.viewing import chat_view
from researchdesk.graph.driver import StreamEvent
from researchdesk.graph.middleware.offering import ToolResponse, ToolsMiddleware, messages_of
from researchdesk.graph.tools import call_identity, create_desk_tools, desk_sessions
from researchdesk.state.desk.actors import deciding_actor
from researchdesk.state.desk.policies import NO_POLICIES, Policies
from researchdesk.state.desk.prompt import desk_prompt
from researchdesk.state.limits import RESULT_TOKENS
from researchdesk.state.vocabulary import one_of
from researchdesk.tools.door import Session, ToolResult
from researchdesk.tools.orphans import settle_orphans
from researchdesk.tools.registry import DeskStyle
from researchdesk.tools.workspace import Desk


class DeskAgentState(AgentState[Any]):
    """What the middleware keeps in an agent's state: up to which sequence of the session the model has been told."""

    desk_seen: NotRequired[Annotated[int, PrivateStateAttr]]
    desk_news_after: NotRequired[Annotated[int, PrivateStateAttr]]


class DeskMiddleware(ToolsMiddleware):
    """Gives an agent the desk tools, tells it how the desk stands, and lets a person decide about its changes.

    Each call is done once, whatever is run again: its identity is the id of the message that holds it and its own.

    Args:
        desk: whose files the agent works on.
        session_id: the session; None takes the thread id, and ``{thread}`` in it stands for that id.
        approval: with ``detached`` a change that waits for a person is answered as waiting, and the agent goes on. With
            ``wait`` the agent stops with one interrupt for each such call (needs a checkpointer); several at once are
            answered by their ids.
        approver: who decides by answering an interrupt, ``human:<name>``.
        policies: which changes need no person.
        read_page_tokens: how much of a file one reading gives the model.
        style: ``typed`` offers the narrower tools for creating and changing.
        max_steps: how many answers of a turn may call these tools.
    """

    state_schema = DeskAgentState

    def __init__(
        self,
        desk: Desk,
        *,
        session_id: str | None = None,
        approval: Approval = "detached",
        approver: str = "human:me",
        policies: Policies = NO_POLICIES,
        read_page_tokens: int = RESULT_TOKENS,
        style: DeskStyle = "general",
        max_steps: int = STEPS_A_TURN,
    ) -> None:
        one_of("approval", approval, get_args(Approval))
        tools = create_desk_tools(
            desk, session_id, style=style, policies=policies, read_page_tokens=read_page_tokens
        )
        super().__init__(tools, desk_sessions(desk, session_id, policies=policies), most_calls=CALLS_A_STEP)
        self._desk = desk
        self._waits = approval == "wait"
        self._approver = deciding_actor(approver)
        self._max_steps = max_steps
        self._not_taken: dict[str, tuple[int, str]] = {}
        """How many answers to a proposal's question were looked at and left it waiting, and why the last did."""

    def most_steps(self, session: Session) -> int:
        """The ceiling that was given."""
        return self._max_steps

    def block(self, session: Session, state: Any) -> str:
        """The desk as it stands, with what was decided since the agent's last turn."""
        seen = state.get("desk_news_after", 0)
        news = [call for call in reversed(session.workspace.chat.settled) if call.seq > seen]
        return desk_prompt(chat_view(session, session.records.desk().desk, news))

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any]:
        """Record what was written, and remember what is news to this turn."""
        session = self.session(runtime)
        settle_orphans(session)
        layout = session.records.desk().desk.layout(session.id)
        hear(session, _last_said(messages_of(state)), layout=layout, is_strict=False)
        return {"desk_news_after": state.get("desk_seen", 0)}

    async def abefore_agent(self, state: Any, runtime: Any) -> dict[str, Any]:
        """`before_agent` without blocking the event loop."""
        return await asyncio.to_thread(self.before_agent, state, runtime)

    def before_model(self, state: Any, runtime: Any) -> None:
        """Show what the calls of the last answer did to the desk, in their order, structural effects first."""
        session, messages = self.session(runtime), messages_of(state)
        for event in effect_events(_results(session, messages, self.names)):
            _show(runtime, event)

    async def abefore_model(self, state: Any, runtime: Any) -> None:
        """`before_model` without blocking the event loop."""
        await asyncio.to_thread(self.before_model, state, runtime)

    def after_agent(self, state: Any, runtime: Any) -> dict[str, Any]:
        """Remember how far the model has been told."""
        return {"desk_seen": self.session(runtime).workspace.seq}

    async def aafter_agent(self, state: Any, runtime: Any) -> dict[str, Any]:
        """`after_agent` without blocking the event loop."""
        return await asyncio.to_thread(self.after_agent, state, runtime)

    def before_call(self, request: ToolCallRequest) -> None:
        """Show which open panels the call works on."""
        session = self.session(request.runtime)
        for event in active_events(
            session.records.desk().desk,
            session.id,
            tool_call_id=str(request.tool_call["id"]),
            arguments=request.tool_call["args"],
            begins=True,
        ):
            _show(request.runtime, event)

    def after_call(self, request: ToolCallRequest, response: ToolResponse) -> ToolResponse:
        """The result; where the agent waits for people, with what a person decided about it."""
        if not self._waits or not isinstance(response, ToolMessage):
            return response
        session = self.session(request.runtime)
        call_id = str(request.tool_call["id"])
        result = self._decided(session, call_identity(messages_of(request.state), call_id), call_id)
        if result is None or result.status == "pending":
            return response
        status = "error" if result.status == "error" else "success"
        return response.model_copy(update={"content": result.text, "status": status})

    def _decided(self, session: Session, identity: str, call_id: str) -> ToolResult | None:
        """The result of a call once its proposal is decided, by an answer here or by somebody elsewhere.

        A task that is run again is given all its answers again: only one that is new is taken, so that a yes which
        could not be taken is not followed later, after a no or without being asked for again.
        """
        result = session.recorded(turn_id="", tool_call_id=identity)
        if result is None or result.status != "pending":
            return result
        proposal = self._desk.proposal(str(result.data["proposal_id"]))
        answers = _answers(question(self._desk, proposal, tool_call_id=call_id))
        known, problem = self._not_taken.pop(proposal.id, (0, ""))
        if answers and len(answers) != known:
            problem = take(self._desk, proposal, answers[-1], actor=self._approver)
            result = session.recorded(turn_id="", tool_call_id=identity)
            if result is None or result.status != "pending":
                return result
        self._not_taken[proposal.id] = (len(answers), problem)
        asked = question(self._desk, proposal, problem=problem, tool_call_id=call_id)
        interrupt(asked, response_schema=AnswerSchema)
        return None


def _answers(asked: dict[str, Any]) -> list[Answer]:
    """What this task was answered so far, oldest first."""
    answers: list[Answer] = []
    with contextlib.suppress(GraphInterrupt):
        while True:
            answers.append(interrupt(asked, response_schema=AnswerSchema))
    return answers


def _last_said(messages: list[BaseMessage]) -> list[BaseMessage]:
    """What people wrote since the last answer."""
    last = max((place for place, m in enumerate(messages) if isinstance(m, AIMessage)), default=-1)
    return [message for message in messages[last + 1 :] if isinstance(message, HumanMessage)]


def _results(session: Session, messages: list[BaseMessage], names: frozenset[str]) -> list[ToolResult]:
    """The results of the last answer's calls of these tools, in their order."""
    answer = next((message for message in reversed(messages) if isinstance(message, AIMessage)), None)
    if answer is None or messages[-1] is answer or isinstance(messages[-1], HumanMessage):
        return []
    found = (
        session.recorded(turn_id="", tool_call_id=call_identity(messages, str(call["id"])))
        for call in answer.tool_calls
        if call["name"] in names
    )
    return [result for result in found if result is not None]


def _show(runtime: Any, event: StreamEvent) -> None:
    """Put an event on both streams."""
    runtime.stream_writer(event)
    with contextlib.suppress(RuntimeError):  # outside a traced run there is nobody to tell
        dispatch_custom_event(event["type"], event, config=get_config())
