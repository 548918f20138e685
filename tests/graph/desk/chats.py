"""What tests of chats share: a model that answers from a script, a chat over a desk, and looks at what it did."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, ToolMessage
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.memory import InMemorySaver

import researchdesk as rd
from researchdesk.graph.desk.chat import DeskGraph

Answer = AIMessage | BaseException


@dataclass(frozen=True)
class Request:
    """What the model was asked: the messages, and the names of the tools that were bound."""

    messages: list[BaseMessage]
    tools: tuple[str, ...]

    @property
    def system(self) -> str:
        return str(self.messages[0].content)

    @property
    def said(self) -> int:
        """How often the model has answered in what it sees."""
        return sum(isinstance(message, AIMessage) for message in self.messages)

    @property
    def results(self) -> list[str]:
        """The texts of the results since the last message of a person."""
        last = max(place for place, m in enumerate(self.messages) if isinstance(m, HumanMessage))
        return [str(m.content) for m in self.messages[last:] if isinstance(m, ToolMessage)]


Script = Callable[[Request], Answer] | Sequence[Answer]


class ChatModel(BaseChatModel):
    """Answers by a function of the request, or item by item; keeps nothing but ``asked``, every request in order."""

    script: Any
    asked: list[Any]

    @property
    def _llm_type(self) -> str:
        return "scripted-chat"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[LanguageModelInput, AIMessage]:
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        answer = self._answer(messages, kwargs)
        return ChatResult(generations=[ChatGeneration(message=answer)])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        answer = self._answer(messages, kwargs)
        yield ChatGenerationChunk(
            message=AIMessageChunk(
                content=answer.content,
                tool_call_chunks=[
                    tool_call_chunk(name=call["name"], args=json.dumps(call["args"]), id=call["id"], index=at)
                    for at, call in enumerate(answer.tool_calls)
                ],
                usage_metadata=answer.usage_metadata,
                chunk_position="last",
            )
        )

    def _answer(self, messages: list[BaseMessage], kwargs: dict[str, Any]) -> AIMessage:
        names = tuple(tool["function"]["name"] for tool in kwargs.get("tools", ()))
        request = Request(messages=list(messages), tools=names)
        self.asked.append(request)
        answer: Answer = self.script(request) if callable(self.script) else self.script[request.said]
        if isinstance(answer, BaseException):
            raise answer
        return answer


def chat_on(desk: rd.Desk, script: Script, **options: Any) -> tuple[DeskGraph, ChatModel]:
    """A chat with a scripted model, with checkpoints in memory unless others are given."""
    model = ChatModel(script=script, asked=[])
    graph = rd.create_desk_graph(desk, model=model, **{"checkpointer": InMemorySaver(), **options})
    return graph, model


def thread(name: str = "chat") -> Any:
    return {"configurable": {"thread_id": name}}


def say(graph: DeskGraph, text: str, *, session: str = "chat", id: str | None = None) -> dict[str, Any]:
    """One message, and what the graph ends with."""
    return graph.invoke({"messages": [HumanMessage(text, id=id)]}, thread(session), durability="sync")


def kinds(desk: rd.Desk, session: str = "chat") -> list[str]:
    """The types of the session's events after its first ones."""
    found = [event.type for event in desk.existing(session).events()]
    assert found[:2] == ["session_opened", "run_configured"]
    return found[2:]


def create(
    path: str = "notes/plan.md", content: str = "# Plan\n\nFirst.\n", kind: str = "markdown"
) -> dict[str, Any]:
    return {"name": "desk_create_file", "args": {"path": path, "kind": kind, "content": content}}


def update(desk: rd.Desk, file: str, *, mode: str = "replace", **more: Any) -> dict[str, Any]:
    """A call that changes a file as it stands now."""
    version = desk.files.get(file).content_hash
    args = {
        "file": file,
        "base_version": version,
        "mode": mode,
        "content": "",
        "find": "",
        "cells": [],
        "new_path": "",
    }
    return {"name": "desk_update_file", "args": {**args, **more}}


def delete(desk: rd.Desk, file: str) -> dict[str, Any]:
    return {
        "name": "desk_delete_file",
        "args": {"file": file, "base_version": desk.files.get(file).content_hash},
    }


def read(file: str, **more: Any) -> dict[str, Any]:
    args = {"file": file, "from_line": 0, "max_lines": 0, "range": ""}
    return {"name": "desk_read_file", "args": {**args, **more}}


def listing() -> dict[str, Any]:
    return {"name": "desk_list_files", "args": {"folder": "", "depth": 0}}
