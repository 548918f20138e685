"""What durability adds to a tool call in LangGraph: ``python benchmarks/call_overhead.py [--calls 150] [--repeat 5]``.

One graph of one node, invoked again and again: with a node that does nothing, with a `ToolNode` and a tool that does
nothing, and with the same `ToolNode` and a tool of the desk. What `ToolNode` itself costs is the second less the
first; our append is measured alone, beside them. The sides are interleaved invocation by invocation.
"""

import argparse
import itertools
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from sessions import CALLS, WARM_UP, Side, Timed, appended, caller, interleaved, middle, seeded, warm
from showing import Bar, add_no_fail, finish

from researchdesk.graph.tools import create_research_tools
from researchdesk.tools.workspace import Desk, open_desk

TOOL = "deep_research_record_step"
NAMES = (
    "graph, empty node",
    "graph, ToolNode, empty tool",
    "graph, ToolNode, our tool",
    "our call",
    "our append",
)


def graph_of(node: Any) -> Any:
    """A graph of one node."""
    builder = StateGraph(MessagesState)
    builder.add_node("act", node)
    builder.add_edge(START, "act")
    builder.add_edge("act", END)
    return builder.compile()


def invoked(graph: Any) -> Callable[[], object]:
    """Invokes a graph with an answer that asks for one call, under a new id each time."""
    count = itertools.count()

    def work() -> object:
        n = next(count)
        asked = {"name": TOOL, "args": CALLS[TOOL], "id": f"call{n}", "type": "tool_call"}
        messages = graph.invoke({"messages": [AIMessage("", id=f"m{n}", tool_calls=[asked])]})["messages"]
        assert messages[-1].status == "success", messages[-1].content
        return messages

    return work


def nothing(state: MessagesState) -> dict[str, Any]:
    """Answers a call without a tool."""
    return {"messages": [ToolMessage("done", tool_call_id=state["messages"][-1].tool_calls[0]["id"])]}


def empty_tool(like: BaseTool) -> BaseTool:
    """A tool with the same schema that does nothing."""

    def call(**arguments: Any) -> str:
        return "done"

    return StructuredTool.from_function(
        func=call, name=like.name, description=like.description, args_schema=like.args_schema
    )


def sides(desk: Desk, plain: Desk, *, times: int) -> list[Side]:
    """All sides of the comparison; the last appends to a desk of its own."""
    ours = next(tool for tool in create_research_tools(desk, "s") if tool.name == TOOL)
    call = caller(desk.session("s"), "own")
    other = plain.session("s")
    caller(other, "like")(TOOL, CALLS[TOOL])
    like = [stored.event() for stored in other.events()[-2:]]
    works: list[Callable[[], object]] = [
        invoked(graph_of(nothing)),
        invoked(graph_of(ToolNode([empty_tool(ours)]))),
        invoked(graph_of(ToolNode([ours]))),
        lambda: call(TOOL, CALLS[TOOL]),
        appended(other, like, times=times),
    ]
    return [Side(name=name, work=work) for name, work in zip(NAMES, works, strict=True)]


def measured(folder: Path, *, calls: int) -> list[Timed]:
    homes = [folder / name for name in ("called", "appended")]
    for home in homes:
        shutil.rmtree(home, ignore_errors=True)
        shutil.copytree(folder / "seed", home)
    with open_desk(homes[0]) as desk, open_desk(homes[1]) as plain:
        found = sides(desk, plain, times=calls + WARM_UP)
        interleaved(found, times=WARM_UP)
        for one in (desk, plain):
            warm(one.ledger._db)  # type: ignore[attr-defined]
        # `ToolNode` calls its tools in threads of a pool.
        return interleaved(found, times=calls, clock=time.process_time_ns)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--calls", type=int, default=150, help="invocations of each side, at most 150")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--folder", type=Path, help="where the ledgers lie; a temporary folder otherwise")
    add_no_fail(parser)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="overhead-", dir=given.folder) as name:
        folder = Path(name)
        seeded(folder / "seed", events=100)
        rounds = [measured(folder, calls=min(given.calls, 150)) for _ in range(given.repeat)]
    rows = []
    for at, title in enumerate(NAMES):
        wall, cpu = middle([r[at].wall for r in rounds]), middle([r[at].cpu for r in rounds])
        rows.append((title, f"{wall:.0f}", f"{cpu:.0f}"))
    bars = [
        Bar(name="our append / ToolNode's own cost", value=middle([own(r, "wall") for r in rounds]), bar=0.5),
        Bar(name="the same in CPU time", value=middle([own(r, "cpu") for r in rounds]), bar=0.5),
    ]
    finish("one tool call", ("", "wall µs", "CPU µs"), rows, bars, no_fail=given.no_fail)


def own(timed: list[Timed], kind: str) -> float:
    """Our append as a share of what `ToolNode` adds to a graph."""
    empty, tool_node, *_, append = (getattr(side, kind) for side in timed)
    share: float = append / (tool_node - empty)
    return share


if __name__ == "__main__":
    main()
