"""A program that runs the same chat again and again, each time in a process that is killed after its next write.

``python -m … FOLDER``: the chat that is killed after its n-th write to the ledger has its home in ``FOLDER/n``. It ends
with the first that comes to its end, and prints its number.
"""

import os
import signal
import sys
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage

import researchdesk as rd
from researchdesk.graph.checkpoints import checkpointer_of

from ..scripted_model import says
from .chats import ChatModel, Request, create, thread, update

TEXT, MESSAGE = "Plan the week, keep a table, and shout in a.md.", "m1"


def script(desk: rd.Desk, request: Request) -> AIMessage:
    """Two files, a change that waits, and a text."""
    if request.said == 0:
        table = create("table.csv", "Day,Task\n", "spreadsheet")
        return says(create(), table, update(desk, "a.md", content="ONE\n"))
    return says(text=f"Done: {len(request.results)}.")


def chat(desk: rd.Desk, checkpointer: Any) -> tuple[Any, ChatModel]:
    """The chat of this program over a desk."""
    model = ChatModel(script=lambda request: script(desk, request), asked=[])
    return rd.create_desk_graph(desk, model=model, checkpointer=checkpointer), model


def send(graph: Any) -> dict[str, Any]:
    """The one message."""
    given = {"messages": [HumanMessage(TEXT, id=MESSAGE)]}
    return graph.invoke(given, thread(), durability="sync")  # type: ignore[no-any-return]


def prepared(home: Path) -> None:
    """A desk with the file that is to be changed."""
    with rd.open_desk(home) as desk:
        desk.files.put("a.md", "one\n", actor="human:ann")


def killed_after(writes: int, home: Path) -> None:
    """Run the chat, and end as if the power went right after so many writes."""
    with rd.open_desk(home) as desk, checkpointer_of(desk) as checkpointer:
        append, done = desk.ledger.append, 0

        def counted(*appends: Any) -> None:
            nonlocal done
            append(*appends)
            done += 1
            if done == writes:
                os.kill(os.getpid(), signal.SIGKILL)

        desk.ledger.append = counted  # type: ignore[method-assign]
        send(chat(desk, checkpointer)[0])


def main(folder: Path) -> None:
    """Kill one chat after another, each one write later."""
    for writes in range(1, 30):
        home = folder / str(writes)
        prepared(home)
        child = os.fork()
        if not child:
            killed_after(writes, home)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if os.WIFEXITED(status):
            print(writes)
            sys.exit(os.waitstatus_to_exitcode(status))
        assert os.WTERMSIG(status) == signal.SIGKILL


if __name__ == "__main__":
    main(Path(sys.argv[1]))
