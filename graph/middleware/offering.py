"""What both middlewares do: offer tools for some steps of a turn, and say in the system prompt how things stand."""

import asyncio
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

from langchain.agents.middleware.types import (
    AgentMiddleware,
    ModelCallResult,
    ModelRequest,
    ModelResponse,
    ToolCallRequest,
)
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import BaseTool
from langgraph.types import Command

from researchdesk.graph.answers import TOO_MANY
from researchdesk.graph.desk.history import NOTHING_SAID, as_plain
from researchdesk.graph.tools import SessionOf, holder_of, thread_of
from researchdesk.tools.door import Session

ToolResponse = ToolMessage | Command[Any]


class ToolsMiddleware(AgentMiddleware[Any, Any, Any]):
    """Adds tools of the one door to an agent, a block to its system prompt, and a ceiling to its steps.

    Of each turn, which begins with a message of a person, only so many answers of the model may call these tools; then
    they are taken away and the model is asked to answer. Tools of others are left alone.
    """

    def __init__(self, tools: Sequence[BaseTool], open_session: SessionOf, *, most_calls: int) -> None:
        super().__init__()
        self.tools = tools
        self.names = frozenset(tool.name for tool in tools)
        self._open_session = open_session
        self._most_calls = most_calls

    @abstractmethod
    def block(self, session: Session, state: Any) -> str:
        """What is added to the system prompt."""

    @abstractmethod
    def most_steps(self, session: Session) -> int:
        """How many answers of a turn may call these tools."""

    def session(self, runtime: Any) -> Session:
        """The session of the agent's thread."""
        return self._open_session(thread_of(runtime))

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelCallResult[Any]:
        """Ask with the block, and at the ceiling without these tools."""
        prepared, may_call = self._prepared(request)
        return self._kept(handler(prepared), may_call=may_call)

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelCallResult[Any]:
        """`wrap_model_call` without blocking the event loop."""
        prepared, may_call = await asyncio.to_thread(self._prepared, request)
        return self._kept(await handler(prepared), may_call=may_call)

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], ToolResponse]
    ) -> ToolResponse:
        """Run a call of these tools, unless it is beyond what one answer may hold."""
        if request.tool_call["name"] not in self.names:
            return handler(request)
        beyond = self._beyond(request)
        if beyond is not None:
            return beyond
        self.before_call(request)
        return self.after_call(request, handler(request))

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[ToolResponse]]
    ) -> ToolResponse:
        """`wrap_tool_call` without blocking the event loop."""
        if request.tool_call["name"] not in self.names:
            return await handler(request)
        beyond = self._beyond(request)
        if beyond is not None:
            return beyond
        await asyncio.to_thread(self.before_call, request)
        return await asyncio.to_thread(self.after_call, request, await handler(request))

    def before_call(self, request: ToolCallRequest) -> None:
        """What comes before a call of these tools."""

    def after_call(self, request: ToolCallRequest, response: ToolResponse) -> ToolResponse:
        """What a call of these tools ends with."""
        return response

    def _prepared(self, request: ModelRequest[Any]) -> tuple[ModelRequest[Any], bool]:
        session = self.session(request.runtime)
        system = _appended(request.system_message, self.block(session, request.state))
        steps = steps_of(request.messages, self.names)
        most = self.most_steps(session)
        if steps < most:
            return request.override(system_message=system), True
        others = [tool for tool in request.tools if _name(tool) not in self.names]
        messages: list[Any] = list(request.messages) if others else as_plain(request.messages)
        messages.append(HumanMessage(f"Tool limit of {most} steps reached. Answer with what you have."))
        return request.override(system_message=system, tools=others, messages=messages), False

    def _kept(self, response: ModelResponse[Any], *, may_call: bool) -> ModelResponse[Any]:
        """The response; without the calls of these tools where they were not offered."""
        if may_call:
            return response
        return replace(response, result=[self._without_calls(message) for message in response.result])

    def _without_calls(self, message: BaseMessage) -> BaseMessage:
        calls = message.tool_calls if isinstance(message, AIMessage) else []
        others = [call for call in calls if call["name"] not in self.names]
        if not isinstance(message, AIMessage) or len(others) == len(calls):
            return message
        return AIMessage(
            str(message.text) or ("" if others else NOTHING_SAID),
            tool_calls=others,
            id=message.id,
            usage_metadata=message.usage_metadata,
            response_metadata=message.response_metadata,
        )

    def _beyond(self, request: ToolCallRequest) -> ToolMessage | None:
        """The refusal of a call that is one too many in its answer."""
        call_id = str(request.tool_call["id"])
        message = holder_of(messages_of(request.state), call_id)
        own = [call["id"] for call in message.tool_calls if call["name"] in self.names] if message else []
        if call_id not in own[self._most_calls :]:
            return None
        return ToolMessage(
            TOO_MANY.format(most=self._most_calls),
            tool_call_id=call_id,
            name=request.tool_call["name"],
            status="error",
        )


def steps_of(messages: Sequence[BaseMessage], names: frozenset[str]) -> int:
    """How many answers since the last message of a person call tools of these names."""
    last = max((place for place, m in enumerate(messages) if isinstance(m, HumanMessage)), default=-1)
    answers = (message for message in messages[last + 1 :] if isinstance(message, AIMessage))
    return sum(any(call["name"] in names for call in answer.tool_calls) for answer in answers)


def messages_of(state: Any) -> list[BaseMessage]:
    """The messages in an agent's state."""
    found = state.get("messages", []) if isinstance(state, dict) else getattr(state, "messages", [])
    return list(found)


def _appended(system: SystemMessage | None, block: str) -> SystemMessage:
    if system is None:
        return SystemMessage(block)
    if isinstance(system.content, str):
        return SystemMessage(f"{system.content}\n\n{block}")
    return SystemMessage([*system.content, {"type": "text", "text": block}])


def _name(tool: Any) -> str:
    if isinstance(tool, dict):
        return str(tool.get("name") or tool.get("function", {}).get("name", ""))
    return str(tool.name)
