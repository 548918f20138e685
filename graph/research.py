"""The research graph: two stages over one turn loop, driven from the ledger.

```
open_run -> knowledge_base -> report_writing -> close_run
                 each stage:  plan -> act (one task a call) -> observe -> plan …
```
"""

from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

from langchain_core.language_models import BaseChatModel
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Checkpointer

from researchdesk.graph import nodes
from researchdesk.graph.acts import ACT, tasks
from researchdesk.graph.costs import Prices, usd
from researchdesk.graph.invocation import Lead
from researchdesk.graph.leased import LeasedGraph, bound
from researchdesk.graph.models import model_name
from researchdesk.graph.options import RunOptions
from researchdesk.state.errors import UsageError
from researchdesk.state.vocabulary import ScopeLevel, Stage
from researchdesk.tools.sources.gathering import Sources
from researchdesk.tools.sources.origins import OriginBy
from researchdesk.tools.sources.roots import listed
from researchdesk.tools.workspace import Desk


def _stage_graph(stage: Stage) -> CompiledStateGraph[Any, Any, Any, Any]:
    builder = StateGraph(nodes.ResearchState)
    builder.add_node("plan", nodes.plan)
    builder.add_node("act", ACT)
    builder.add_node("observe", nodes.observe)
    builder.add_edge(START, "plan")
    builder.add_conditional_edges("plan", tasks, ["act", "observe"])
    builder.add_edge("act", "observe")
    builder.add_conditional_edges("observe", nodes.stays_in(stage), ["plan", END])
    return builder.compile()


def _run_graph() -> StateGraph[Any, Any, Any, Any]:
    builder = StateGraph(
        nodes.ResearchState, input_schema=nodes.ResearchInput, output_schema=nodes.ResearchOutput
    )
    builder.add_node("open_run", nodes.open_run)
    builder.add_node("knowledge_base", _stage_graph("knowledge_base"))
    builder.add_node("report_writing", _stage_graph("report_writing"))
    builder.add_node("close_run", nodes.close_run)
    builder.add_edge(START, "open_run")
    stages = ["knowledge_base", "report_writing", "close_run"]
    builder.add_conditional_edges("open_run", nodes.enter, stages)
    builder.add_conditional_edges("knowledge_base", nodes.enter, stages)
    builder.add_edge("report_writing", "close_run")
    builder.add_edge("close_run", END)
    return builder


class ResearchGraph(LeasedGraph):
    """A compiled research graph that drives each session under its lease."""


def create_research_graph(
    desk: Desk | str | Path | None = None,
    *,
    model: str | BaseChatModel = "offline",
    corpus: str | Path | Sequence[str | Path] = (),
    web: str | Sequence[str] = (),
    dense: bool = False,
    desk_files: bool = False,
    scope: ScopeLevel = "standard",
    template: str = "implementation",
    approval: Literal["detached"] = "detached",
    checkpointer: Checkpointer = None,
    sources: Sources | None = None,
    origin_by: OriginBy = "auto",
    max_steps: int = 0,
    budget_tokens: int = 0,
    budget_usd: float | str | Decimal = 0,
    wall_seconds: int = 0,
    prices: Prices = None,
    desk_tools: bool = False,
) -> ResearchGraph:
    """A graph that researches one question a thread; the thread id is the session id.

    Args:
        desk: an opened desk, or a home folder that is opened at the first invocation.
        model: ``offline``, a string for `init_chat_model`, or a chat model that can call tools.
        corpus: a folder or file, or several, that a run may search and read; an invocation's own ``corpus`` must be
            among them.
        web: names of search providers of the web, such as ``tavily``; without one nothing of the web is read.
        dense: whether the corpus is searched by meaning too (extra ``dense``).
        desk_files: whether what a person wrote on the desk is searched and read, too.
        scope: ``quick``, ``standard`` or ``deep``, where the input does not say.
        template: the report's template, where the input does not say.
        approval: how desk changes are approved; research changes nothing outside the ledger.
        checkpointer: a LangGraph checkpointer. The ledger alone is enough to resume.
        sources: search providers and fetchers to use instead of corpus and web.
        origin_by: who counts as the publisher of a local file: ``auto``, ``root``, ``folder`` or ``file``.
        max_steps, budget_tokens, budget_usd, wall_seconds: budgets of a run; 0 leaves the scope's own caps.
        prices: a file with prices that come before the built-in ones, or the price of the model itself.
        desk_tools: also offer the tools that list, read and search the files of the desk.

    Returns:
        A compiled graph. Input ``{objective, scope_level, template, corpus}``, output ``{session_id, status,
        stop_reason, report_artifact_id}``. A second invocation of a thread takes the run up where it stands.

    Raises:
        UsageError: an option that this version does not have.
    """
    if approval != "detached":
        raise UsageError(f"approval={approval!r}: only 'detached' is there")
    options = RunOptions(
        corpus=tuple(str(path) for path in listed(corpus)),
        web=listed(web),
        dense=dense,
        desk=desk_files,
        origin_by=origin_by,
        model=model_name(model),
        scope=scope,
        template=template,
        max_steps=max_steps,
        budget_tokens=budget_tokens,
        budget_usd=usd(budget_usd),
        wall_seconds=wall_seconds,
        desk_tools=desk_tools,
    )
    lead = Lead(desk=desk, model=model, options=options, sources=sources, prices=prices)
    compiled = _run_graph().compile(checkpointer=checkpointer, name="researchdesk")
    return bound(compiled, ResearchGraph, lead.prepare)
