"""The tools as LangChain tools, for a user's own agent or a notebook; each call goes through the one door."""

import hashlib
import re
import secrets
from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.tools import BaseTool, StructuredTool, ToolException
from langgraph.prebuilt import ToolRuntime

from researchdesk.graph.desk.pages import check_page_tokens, page_of
from researchdesk.graph.desk.showing import effect_json
from researchdesk.state.desk.policies import NO_POLICIES, Policies
from researchdesk.state.errors import Conflict, UsageError
from researchdesk.state.limits import RESULT_TOKENS
from researchdesk.state.vocabulary import INVESTIGATION_LABELS, RESEARCH_LABEL
from researchdesk.tools.door import Session, ToolResult
from researchdesk.tools.registry import REGISTRY, DeskStyle
from researchdesk.tools.sources.gathering import Sources
from researchdesk.tools.spec import ToolSpec
from researchdesk.tools.workspace import Desk

_USABLE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}")
SessionOf = Callable[[str], Session]
"""The session of a thread."""


def create_research_tools(
    desk: Desk, session_id: str | None = None, *, sources: Sources | None = None, investigation: bool = False
) -> list[BaseTool]:
    """The research and source tools of a desk, ready for ``create_agent``, a ``ToolNode`` or a direct call.

    Args:
        desk: where the calls are recorded.
        session_id: the session; None takes the graph's thread id, so that one set of tools serves all threads, and
            ``{thread}`` in it stands for that id.
        sources: where they may search and read, such as ``desk.corpus_sources(["docs/"])``.
        investigation: also the tools for questions, notes and challenges; a session that they open keeps these, and
            settles its questions before its report is written. One that was opened without is not changed.

    A refusal comes back as an error text; the identity of a call is its tool-call id and the message that holds it.
    """
    specs = REGISTRY.investigative_loop if investigation else REGISTRY.research_loop
    open_session = research_sessions(desk, session_id, sources=sources, investigation=investigation)
    return [_as_tool(spec, open_session) for spec in specs.values()]


def create_desk_tools(
    desk: Desk,
    session_id: str | None = None,
    *,
    style: DeskStyle = "general",
    policies: Policies = NO_POLICIES,
    read_page_tokens: int = RESULT_TOKENS,
) -> list[BaseTool]:
    """The tools that work on the files of a desk, ready for ``create_agent``, a ``ToolNode`` or a direct call.

    Args:
        desk: whose files they work on.
        session_id: as in `create_research_tools`.
        style: ``typed`` for the narrower tools for creating and changing.
        policies: which changes need no person.
        read_page_tokens: how much of a file one reading gives the model, 500 to 4,000 tokens; the log keeps 500.

    A call that changes or deletes answers that it waits for a person; who wants the agent to wait too uses
    `DeskMiddleware`. The message of a result has the ``artifact`` ``{status, data, effects}``.

    Raises:
        UsageError: another style, or another number of tokens.
    """
    check_page_tokens(read_page_tokens)
    open_session = desk_sessions(desk, session_id, policies=policies)

    def text_of(session: Session, result: ToolResult, arguments: dict[str, Any]) -> str:
        lines = arguments.get("max_lines")
        return page_of(
            session, result, max_lines=lines if isinstance(lines, int) else 0, tokens=read_page_tokens
        )

    return [_as_tool(spec, open_session, text_of=text_of) for spec in desk.desk_set(style).values()]


def research_sessions(
    desk: Desk, session_id: str | None, *, sources: Sources | None, investigation: bool
) -> SessionOf:
    """Opens the research session of a thread."""
    labels = INVESTIGATION_LABELS if investigation else (RESEARCH_LABEL,)
    return lambda thread: desk.session(_named(session_id, thread), labels=labels, sources=sources)


def desk_sessions(desk: Desk, session_id: str | None, *, policies: Policies) -> SessionOf:
    """Opens the desk session of a thread."""
    return lambda thread: desk.session(
        _named(session_id, thread), labels=(), profile="desk", policies=policies
    )


def _named(session_id: str | None, thread: str) -> str:
    if session_id is not None and "{thread}" not in session_id:
        return session_id
    if not thread:
        raise UsageError("no session: pass session_id, or run the tools in a graph with a thread_id")
    return thread if session_id is None else session_id.replace("{thread}", thread)


def _whole(session: Session, result: ToolResult, arguments: dict[str, Any]) -> str:
    return result.text


def _as_tool(
    spec: ToolSpec,
    open_session: SessionOf,
    *,
    text_of: Callable[[Session, ToolResult, dict[str, Any]], str] = _whole,
) -> BaseTool:
    def call(runtime: ToolRuntime = None, **arguments: Any) -> tuple[str, dict[str, Any]]:  # type: ignore[assignment]
        session = open_session(thread_of(runtime))
        identity = f"caller:{secrets.token_hex(8)}"  # outside a graph each call is new
        if runtime is not None and runtime.tool_call_id:
            identity = call_identity(_messages(runtime), str(runtime.tool_call_id))
        try:
            result = session.call(spec.name, arguments, tool_call_id=identity)
        except Conflict as conflict:
            raise ToolException(str(conflict)) from None
        if result.status == "error":
            raise ToolException(result.text)
        return text_of(session, result, arguments), _artifact(result)

    return StructuredTool.from_function(
        func=call,
        name=spec.name,
        description=spec.description,
        # A plain schema: LangChain would check a class itself, refuse what `ToolNode` injects, and hide why.
        args_schema=spec.schema(),
        handle_tool_error=True,
        response_format="content_and_artifact",
    )


def _artifact(result: ToolResult) -> dict[str, Any]:
    return {
        "status": result.status,
        "data": dict(result.data),
        "effects": [effect_json(effect) for effect in result.effects],
    }


def thread_of(runtime: Any) -> str:
    """The id of the thread that a runtime of LangGraph belongs to; empty where there is none."""
    info = runtime.execution_info if runtime is not None else None
    return str(info.thread_id) if info is not None and info.thread_id else ""


def call_identity(messages: Sequence[BaseMessage], call_id: str) -> str:
    """One id for a call and the message that holds it, since providers repeat call ids."""
    message = holder_of(messages, call_id)
    joined = f"{message.id}:{call_id}" if message is not None and message.id else call_id
    if _USABLE.fullmatch(joined):
        return joined
    return f"call:{hashlib.sha256(joined.encode('utf-8', errors='backslashreplace')).hexdigest()[:32]}"


def holder_of(messages: Sequence[BaseMessage], call_id: str) -> AIMessage | None:
    """The newest answer that holds a call of this id."""
    holding = (
        message
        for message in reversed(messages)
        if isinstance(message, AIMessage) and any(call["id"] == call_id for call in message.tool_calls)
    )
    return next(holding, None)


def _messages(runtime: ToolRuntime) -> list[Any]:
    state = runtime.state
    found = state.get("messages", []) if isinstance(state, dict) else getattr(state, "messages", [])
    return list(found)
