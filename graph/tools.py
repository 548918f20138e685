"""The tools as LangChain tools, for a user's own agent or a notebook; each call goes through the one door."""

import hashlib
import re
import secrets
from collections.abc import Callable
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.tools import BaseTool, StructuredTool, ToolException
from langgraph.prebuilt import ToolRuntime

from researchdesk.state.errors import Conflict, UsageError
from researchdesk.state.vocabulary import INVESTIGATION_LABELS, RESEARCH_LABEL
from researchdesk.tools.door import Session
from researchdesk.tools.registry import REGISTRY
from researchdesk.tools.sources.gathering import Sources
from researchdesk.tools.spec import ToolSpec
from researchdesk.tools.workspace import Desk

_USABLE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}")


def create_research_tools(
    desk: Desk, session_id: str | None = None, *, sources: Sources | None = None, investigation: bool = False
) -> list[BaseTool]:
    """The research and source tools of a desk, ready for ``create_agent``, a ``ToolNode`` or a direct call.

    Args:
        desk: where the calls are recorded.
        session_id: the session; None takes the graph's thread id, so that one set of tools serves all threads.
        sources: where they may search and read, such as ``desk.corpus_sources(["docs/"])``.
        investigation: also the tools for questions, notes and challenges; a session that they open keeps these, and
            settles its questions before its report is written. One that was opened without is not changed.

    A refusal comes back as an error text; the identity of a call is its tool-call id and the message that holds it.
    """
    specs = REGISTRY.investigative_loop if investigation else REGISTRY.research_loop
    labels = INVESTIGATION_LABELS if investigation else (RESEARCH_LABEL,)

    def session_of(runtime: ToolRuntime | None) -> Session:
        return desk.session(session_id or _thread_of(runtime), labels=labels, sources=sources)

    return [_as_tool(spec, session_of) for spec in specs.values()]


def _as_tool(spec: ToolSpec, session_of: Callable[[ToolRuntime | None], Session]) -> BaseTool:
    def call(runtime: ToolRuntime = None, **arguments: Any) -> str:  # type: ignore[assignment]
        session = session_of(runtime)
        try:
            result = session.call(spec.name, arguments, tool_call_id=_identity(session, runtime))
        except Conflict as conflict:
            raise ToolException(str(conflict)) from None
        if result.status == "error":
            raise ToolException(result.text)
        return result.text

    return StructuredTool.from_function(
        func=call,
        name=spec.name,
        description=spec.description,
        # A plain schema: LangChain would check a class itself, refuse what `ToolNode` injects, and hide why.
        args_schema=spec.schema(),
        handle_tool_error=True,
    )


def _thread_of(runtime: ToolRuntime | None) -> str:
    info = runtime.execution_info if runtime is not None else None
    if info is None or not info.thread_id:
        raise UsageError("no session: pass session_id, or run the tools in a graph with a thread_id")
    return str(info.thread_id)


def _identity(session: Session, runtime: ToolRuntime | None) -> str:
    """One id for the message and the call in it, since providers repeat call ids; outside a graph each call is new."""
    if runtime is None or not runtime.tool_call_id:
        return f"caller:{secrets.token_hex(8)}"
    call_id = str(runtime.tool_call_id)
    holds = (m for m in reversed(_messages(runtime)) if isinstance(m, AIMessage) and _holds(m, call_id))
    message = next(holds, None)
    joined = f"{message.id}:{call_id}" if message is not None and message.id else call_id
    if _USABLE.fullmatch(joined):
        return joined
    return f"call:{hashlib.sha256(joined.encode('utf-8', errors='backslashreplace')).hexdigest()[:32]}"


def _holds(message: AIMessage, call_id: str) -> bool:
    return any(call["id"] == call_id for call in message.tool_calls)


def _messages(runtime: ToolRuntime) -> list[Any]:
    state = runtime.state
    found = state.get("messages", []) if isinstance(state, dict) else getattr(state, "messages", [])
    return list(found)
