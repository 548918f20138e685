"""How checkpoints grow: ``python benchmarks/checkpoints.py [--steps 500]``, in bytes of the SQLite checkpointer.

Runs of the embedded model follow each other until they made so many super-steps. What they asked and got back is then
played once more through a graph of model and tools that keeps its messages in its state, on a thread of the same
length. Last, two runs differ only in the size of the document that they archive, both longer than one read.
"""

import argparse
import random
import sqlite3
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import orjson
from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langgraph.graph import END, START, MessagesState, StateGraph
from sessions import middle
from showing import Bar, add_no_fail, finish

from researchdesk.graph.checkpoints import open_checkpointer
from researchdesk.graph.research import create_research_graph
from researchdesk.state import events as ev
from researchdesk.state.vocabulary import ScopeLevel
from researchdesk.tools.door import Session
from researchdesk.tools.workspace import Desk, open_desk

QUESTION = (
    "How does pitch control limit the rotor torque of turbine {n} in a storm, and what does the brake do?"
)
WORDS = (
    *("turbine", "blade", "pitch", "control", "wind", "rotor", "torque", "generator"),
    *("yaw", "nacelle", "tower", "gust", "storm", "safety", "brake"),
)


def write_document(path: Path, *, seed: int, paragraphs: int) -> None:
    """A text of made-up facts."""
    dice = random.Random(seed)
    facts = (
        f"At {dice.randint(3, 30)} m/s the {dice.choice(WORDS)} and the {dice.choice(WORDS)} limit the "
        f"{dice.choice(WORDS)} of turbine {seed}. {' '.join(dice.choices(WORDS, k=40))}."
        for _ in range(paragraphs)
    )
    path.parent.mkdir(parents=True)
    path.write_text(f"# Pitch control {seed}\n\n" + "\n\n".join(facts))


def run(desk: Desk, checkpoints: Path, corpus: Path, *, n: int, scope: ScopeLevel) -> Session:
    """Research one question with the embedded model, under a checkpointer."""
    with open_checkpointer(checkpoints) as saver:
        graph = create_research_graph(
            desk, corpus=[corpus], scope=scope, template="general", checkpointer=saver
        )
        config: Any = {"configurable": {"thread_id": f"r{n}"}, "recursion_limit": 10_000}
        graph.invoke({"objective": QUESTION.format(n=n)}, config)
    return desk.existing(f"r{n}")


def step_sizes(path: Path) -> list[int]:
    """The bytes of each step in order: its checkpoint, what describes it, and what its tasks wrote."""
    connection = sqlite3.connect(path)
    try:
        rows = connection.execute(
            "SELECT length(c.checkpoint) + length(c.metadata) + coalesce((SELECT sum(length(w.value)) FROM writes AS w "
            "WHERE w.thread_id = c.thread_id AND w.checkpoint_ns = c.checkpoint_ns "
            "AND w.checkpoint_id = c.checkpoint_id), 0) FROM checkpoints AS c ORDER BY c.rowid"
        )
        return [size for (size,) in rows]
    finally:
        connection.close()


def turns(session: Session) -> Iterator[list[AnyMessage]]:
    """What the model answered in each turn, and then what its calls gave back."""
    for stored in session.events():
        event = stored.event()
        if not isinstance(event, ev.ModelAnswered):
            continue
        asked = [
            {
                "name": c.name,
                "args": orjson.loads(c.arguments.inline or "{}"),
                "id": c.id,
                "type": "tool_call",
            }
            for c in event.calls
        ]
        yield [AIMessage(event.text.inline, id=f"{session.id}-{event.message_id}", tool_calls=asked)]
        yield [
            ToolMessage(
                session.recorded_text(turn_id=event.turn_id, tool_call_id=call.id),
                tool_call_id=call.id,
                id=f"{session.id}-{event.turn_id}-{call.id}",
            )
            for call in event.calls
        ]


def play(path: Path, steps: list[list[AnyMessage]]) -> None:
    """The same answers and results through a graph that keeps them in its state."""
    following = iter(steps)
    left = count(len(steps) - 1, -1)

    def act(state: MessagesState) -> dict[str, Any]:
        return {"messages": next(following)}

    builder = StateGraph(MessagesState)
    builder.add_node("model", act)
    builder.add_node("tools", act)
    builder.add_edge(START, "model")
    builder.add_conditional_edges("model", lambda _: "tools" if next(left) > 0 else END, ["tools", END])
    builder.add_conditional_edges("tools", lambda _: "model" if next(left) > 0 else END, ["model", END])
    with open_checkpointer(path) as saver:
        config: Any = {"configurable": {"thread_id": "t"}, "recursion_limit": len(steps) + 10}
        builder.compile(checkpointer=saver).invoke({"messages": []}, config)


def largest(folder: Path, *, paragraphs: int) -> tuple[int, int]:
    """The bytes of the document that a run archived, and of its largest step."""
    document = folder / "docs" / "one" / "text.md"
    write_document(document, seed=1, paragraphs=paragraphs)
    with open_desk(folder / "desk") as desk:
        run(desk, folder / "checkpoints.sqlite", folder / "docs", n=1, scope="quick")
    return document.stat().st_size, max(step_sizes(folder / "checkpoints.sqlite"))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=500)
    add_no_fail(parser)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="checkpoints-") as name:
        folder = Path(name)
        for seed in range(12):
            write_document(folder / "docs" / f"{seed}" / "text.md", seed=seed, paragraphs=12)
        ours, played, halves = list[int](), list[list[AnyMessage]](), list[float]()
        with open_desk(folder / "desk") as desk:
            for n in count(1):
                path = folder / f"ours-{n}.sqlite"
                session = run(desk, path, folder / "docs", n=n, scope="deep")
                sizes = step_sizes(path)
                quarter = len(sizes) // 4
                halves.append(
                    sum(sizes[2 * quarter :]) / (len(sizes) - 2 * quarter) / (sum(sizes) / len(sizes))
                )
                ours += sizes
                played += turns(session)
                if len(ours) >= given.steps:
                    break
        play(folder / "theirs.sqlite", played[: given.steps])
        theirs = step_sizes(folder / "theirs.sqlite")
        small, large = largest(folder / "small", paragraphs=200), largest(folder / "large", paragraphs=3_000)
    ours_mean, theirs_mean = sum(ours) / len(ours), sum(theirs) / len(theirs)
    rows = [
        (
            "control state",
            f"{len(ours):,}",
            f"{sum(ours) / 1e6:.1f}",
            f"{ours_mean / 1000:.1f}",
            f"{max(ours) / 1000:.1f}",
        ),
        (
            "messages in state",
            f"{len(theirs):,}",
            f"{sum(theirs) / 1e6:.1f}",
            f"{theirs_mean / 1000:.1f}",
            f"{max(theirs) / 1000:.1f}",
        ),
    ]
    bars = [
        Bar(name="bytes a step", value=ours_mean / 1000, bar=12, unit="kB"),
        Bar(name="second half of a run / the whole", value=middle(halves), bar=1.2),
        Bar(name="messages in state / control state", value=theirs_mean / ours_mean, bar=20, least=True),
        Bar(
            name=f"largest step, {large[0] / 1e6:.1f} MB archived less {small[0] / 1e3:.0f} kB archived",
            value=(large[1] - small[1]) / 1000,
            bar=4,
            unit="kB",
        ),
    ]
    columns = ("", "steps", "MB", "kB a step", "largest kB")
    finish("checkpoints", columns, rows, bars, no_fail=given.no_fail)


if __name__ == "__main__":
    main()
