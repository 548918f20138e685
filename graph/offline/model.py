"""The embedded chat model: real tool calling by rules, without a network, a key or a language model."""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.messages.tool import tool_call, tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from researchdesk.graph.offline.calls import Call
from researchdesk.graph.offline.desk import at_desk
from researchdesk.graph.offline.research import next_calls
from researchdesk.graph.offline.view import read_view
from researchdesk.state.tokens import estimate_tokens

NO_WORKSPACE = (
    "This is the embedded offline model. It works by rules on the view of a research run and has no language model: "
    "start a research run, or choose another model for conversation."
)


class OfflineChatModel(BaseChatModel):
    """Researches by extraction: searches, archives, quotes, compares, and writes the report from quotes.

    It keeps nothing between calls: the same messages and tools always give the same answer. It calls only
    tools that were bound with `bind_tools`.
    """

    @property
    def _llm_type(self) -> str:
        return "researchdesk-offline"

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"model_name": "offline"}

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """This model with the names of the tools that it may call."""
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        calls, text = answer(messages, tools=kwargs.get("tools", ()))
        message = AIMessage(
            content=text,
            tool_calls=[
                tool_call(name=call.tool, args=call.arguments, id=f"call_{place}")
                for place, call in enumerate(calls, start=1)
            ],
            usage_metadata=usage(messages, calls, text),
            response_metadata={"model_name": "offline", "finish_reason": "tool_calls" if calls else "stop"},
        )
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        calls, text = answer(messages, tools=kwargs.get("tools", ()))
        message = AIMessageChunk(
            content=text,
            tool_call_chunks=[
                tool_call_chunk(name=call.tool, args=encode(call), id=f"call_{place}", index=place - 1)
                for place, call in enumerate(calls, start=1)
            ],
            usage_metadata=usage(messages, calls, text),
            response_metadata={"model_name": "offline", "finish_reason": "tool_calls" if calls else "stop"},
            chunk_position="last",
        )
        chunk = ChatGenerationChunk(message=message)
        if run_manager:
            run_manager.on_llm_new_token(text, chunk=chunk)
        yield chunk


def answer(messages: Sequence[BaseMessage], *, tools: Sequence[dict[str, Any]]) -> tuple[list[Call], str]:
    """The calls for the newest view in the messages, and the text beside them; without one, what a desk's rules say."""
    view = read_view(messages)
    offered = {tool["function"]["name"] for tool in tools}
    if view is not None:
        return next_calls(view, offered=offered)
    if any(name.startswith("desk_") for name in offered):
        return at_desk(messages, offered=offered)
    return [], NO_WORKSPACE


def usage(messages: Sequence[BaseMessage], calls: Sequence[Call], text: str) -> UsageMetadata:
    """Tokens as estimated: nothing is paid for, but budgets are counted alike for every model."""
    read = sum(estimate_tokens(str(message.text)) for message in messages)
    written = estimate_tokens(text) + sum(estimate_tokens(encode(call)) for call in calls)
    return UsageMetadata(input_tokens=read, output_tokens=written, total_tokens=read + written)


def encode(call: Call) -> str:
    return json.dumps(call.arguments, ensure_ascii=False)
