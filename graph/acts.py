"""The node `act` and the way to it: one task for each call of a turn, which gathers and decides nothing."""

import asyncio
import contextvars
import functools
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal

from langchain_core.runnables import RunnableConfig, RunnableLambda
from langgraph.types import Send
from typing_extensions import TypedDict

from researchdesk.graph.driver import PARALLEL_CALLS, Asker, driver_of
from researchdesk.graph.turns import gather_call

_pool = ThreadPoolExecutor(max_workers=PARALLEL_CALLS, thread_name_prefix="researchdesk-act")


class OneCall(TypedDict, total=False):
    """What a task is given: the id of its call."""

    call_id: str


def tasks(state: Any) -> list[Send] | Literal["observe"]:
    """A task for each call that is open, or on to `observe` where there is none."""
    return [Send("act", {"call_id": call}) for call in state.get("calls", [])] or "observe"


def act(state: OneCall, config: RunnableConfig) -> dict[str, Any]:
    """Gather for one call; nothing is decided here, so tasks may end in any order."""
    gather_call(driver_of(config, Asker), state["call_id"])  # type: ignore[type-abstract]
    return {}


def on_own_pool(
    node: Callable[[Any, RunnableConfig], Any],
) -> Callable[[Any, RunnableConfig], Awaitable[Any]]:
    """A node on a pool of its own: the event loop's default pool is smaller than a turn."""

    async def run(state: Any, config: RunnableConfig) -> Any:
        loop = asyncio.get_running_loop()
        # The context is what a node's stream writer is found by.
        context = contextvars.copy_context()
        return await loop.run_in_executor(_pool, functools.partial(context.run, node, state, config))

    return run


ACT = RunnableLambda(act, afunc=on_own_pool(act))
