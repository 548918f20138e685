"""The desk graph: a chat over the files of a desk, driven from the ledger.

```
receive -> plan -> act (one task a call) -> observe -> plan …
              plan -> approve (one question to a person) -> plan …
```
"""

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langgraph.graph import END, START, StateGraph
from langgraph.types import Checkpointer, Command

from researchdesk.graph.acts import on_own_pool
from researchdesk.graph.costs import Prices, priced
from researchdesk.graph.desk import nodes
from researchdesk.graph.desk.driver import ChatDriver
from researchdesk.graph.desk.listening import with_ids
from researchdesk.graph.desk.pages import check_page_tokens
from researchdesk.graph.leased import (
    Invocation,
    LazyDesk,
    LeasedGraph,
    bound,
    driven_by,
    is_driven,
    thread_of,
)
from researchdesk.graph.models import model_name, resolve_model
from researchdesk.graph.options import RunOptions
from researchdesk.state.desk.actors import deciding_actor
from researchdesk.state.desk.policies import NO_POLICIES, Policies
from researchdesk.state.limits import RESULT_TOKENS
from researchdesk.state.vocabulary import one_of
from researchdesk.tools.registry import DeskStyle
from researchdesk.tools.workspace import Desk

Approval = Literal["detached", "wait"]
Answers = Literal["named", "any"]
_INTERRUPT_ID = re.compile(r"[0-9a-f]{32}")


class DeskGraph(LeasedGraph):
    """A compiled chat over a desk that drives each session under its lease."""


def _chat_graph() -> StateGraph[Any, Any, Any, Any]:
    builder = StateGraph(nodes.ChatState, input_schema=nodes.ChatInput, output_schema=nodes.ChatOutput)
    builder.add_node("receive", nodes.receive)
    builder.add_node("plan", nodes.plan)
    builder.add_node("act", RunnableLambda(nodes.act, afunc=on_own_pool(nodes.act)))
    builder.add_node("observe", nodes.observe)
    builder.add_node("approve", nodes.approve)
    builder.add_edge(START, "receive")
    builder.add_edge("receive", "plan")
    builder.add_conditional_edges("plan", nodes.next_node, ["act", "approve", "plan", END])
    builder.add_edge("act", "observe")
    builder.add_edge("observe", "plan")
    builder.add_edge("approve", "plan")
    return builder


def create_desk_graph(
    desk: Desk | str | Path | None = None,
    *,
    model: str | BaseChatModel = "offline",
    approval: Approval = "detached",
    approver: str = "human:me",
    answers: Answers = "named",
    policies: Policies = NO_POLICIES,
    read_page_tokens: int = RESULT_TOKENS,
    style: DeskStyle = "general",
    checkpointer: Checkpointer = None,
    prices: Prices = None,
) -> DeskGraph:
    """A chat over the files of a desk; the thread id is the session id.

    Args:
        desk: an opened desk, or a home folder that is opened at the first invocation.
        model: a string for `init_chat_model`, a chat model that can call tools, or ``offline``, which lists, reads and
            searches by rules.
        approval: ``detached``: a change that a person has to decide about is answered as waiting, and the turn goes
            on. ``wait``: the turn stops with an interrupt for each, one at a time (needs a checkpointer).
        approver: who decides by answering an interrupt, ``human:<name>``.
        answers: with ``named`` an answer is taken that comes under the id of its interrupt or names ``proposal_id``
            and ``proposal_hash``; with ``any`` every answer is about what was asked last, for clients that give
            neither. One that is sent twice can then decide about a change that nobody has seen.
        policies: which changes need no person.
        read_page_tokens: how much of a file one reading gives the model, 500 to 4,000 tokens; the log keeps 500.
        style: ``typed`` offers the narrower tools for creating and changing.
        checkpointer: a LangGraph checkpointer. The ledger alone is enough to resume.
        prices: a file with prices that come before the built-in ones, or the price of the model itself.

    Returns:
        A compiled graph. Input ``{messages, selection}``, output ``{messages, session_id, pending}``; ``messages`` are
        the last turns. An invocation without a new message takes the last turn up where it stands.

    Raises:
        UsageError: an option that this version does not have.
    """
    one_of("approval", approval, get_args(Approval))
    one_of("answers", answers, get_args(Answers))
    one_of("style", style, get_args(DeskStyle))
    check_page_tokens(read_page_tokens)
    lead = ChatLead(
        desk,
        model=model,
        waits=approval == "wait",
        approver=deciding_actor(approver),
        takes_unnamed=answers == "any",
        policies=policies,
        read_page_tokens=read_page_tokens,
        style=style,
        prices=prices,
    )
    compiled = _chat_graph().compile(checkpointer=checkpointer, name="researchdesk-desk")
    return bound(compiled, DeskGraph, lead.prepare)


class ChatLead:
    """Prepares each invocation of one factory's chat: the desk, the session under its lease, the driver."""

    def __init__(
        self,
        desk: Desk | str | Path | None,
        *,
        model: str | BaseChatModel,
        waits: bool,
        approver: str,
        takes_unnamed: bool,
        policies: Policies,
        read_page_tokens: int,
        style: DeskStyle,
        prices: Prices,
    ) -> None:
        self._desk = LazyDesk(desk)
        self._model = model
        self._waits = waits
        self._approver = approver
        self._takes_unnamed = takes_unnamed
        self._policies = policies
        self._read_page_tokens = read_page_tokens
        self._style = style
        self._prices = prices

    @contextlib.contextmanager
    def prepare(self, input: Any, config: RunnableConfig | None) -> Iterator[Invocation]:
        """The invocation with its driver, under the session's lease."""
        given = with_ids(input)
        if is_driven(config, ChatDriver):
            yield Invocation(input=given, config=config or {})
            return
        model = resolve_model(self._model)
        options = priced(RunOptions(model=model_name(self._model)), model, self._prices)
        desk = self._desk.opened()
        session = desk.session(thread_of(config), labels=(), profile="desk", policies=self._policies)
        with desk.driving(session) as driven:
            driver = ChatDriver(
                session=driven,
                model=model,
                desk=desk,
                options=options,
                tools=desk.desk_set(self._style),
                waits=self._waits,
                approver=self._approver,
                takes_unnamed=self._takes_unnamed,
                read_page_tokens=self._read_page_tokens,
                shown_seq=driven.workspace.seq,
                is_keyed=_is_keyed(input),
            )
            yield Invocation(input=given, config=driven_by(driver, config))


def _is_keyed(input: Any) -> bool:
    """Whether the input answers interrupts by their ids."""
    resume = input.resume if isinstance(input, Command) else None
    return (
        isinstance(resume, dict)
        and bool(resume)
        and all(isinstance(key, str) and _INTERRUPT_ID.fullmatch(key) for key in resume)
    )
