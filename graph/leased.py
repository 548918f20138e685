"""A compiled graph that drives each session under its lease, whatever way it is called."""

import asyncio
import threading
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph

from researchdesk.graph.driver import DRIVER_KEY, PARALLEL_CALLS, Asker
from researchdesk.tools.workspace import Desk, open_desk

SUPERSTEPS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """What a graph is really run with: the input, and the config that holds the driver."""

    input: Any
    config: RunnableConfig


Prepare = Callable[[Any, RunnableConfig | None], AbstractContextManager[Invocation]]


class LeasedGraph(CompiledStateGraph[Any, Any, Any, Any]):
    """A graph that prepares each invocation and lets go of the session after it.

    Each factory call makes a class of its own that holds desk and options: `copy` and `with_config` keep the
    class, but would drop attributes of the instance.
    """

    prepare: Prepare

    def stream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Any]:
        """Run the graph under the session's lease; as `Pregel.stream`."""
        with type(self).prepare(input, config) as driven:
            yield from super().stream(driven.input, driven.config, **kwargs)

    async def astream(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[Any]:
        """Run the graph under the session's lease; as `Pregel.astream`."""
        manager = type(self).prepare(input, config)
        driven = await asyncio.to_thread(manager.__enter__)
        try:
            async for item in super().astream(driven.input, driven.config, **kwargs):
                yield item
        except BaseException as problem:
            await asyncio.to_thread(manager.__exit__, type(problem), problem, problem.__traceback__)
            raise
        await asyncio.to_thread(manager.__exit__, None, None, None)


class LazyDesk:
    """The desk of a factory: one that is open, or a home folder that is opened at the first use."""

    def __init__(self, desk: Desk | str | Path | None) -> None:
        self._desk = desk if isinstance(desk, Desk) else None
        self._home = None if isinstance(desk, Desk) else desk
        self._lock = threading.Lock()

    def opened(self) -> Desk:
        """The desk itself."""
        with self._lock:
            if self._desk is None:
                self._desk = open_desk(self._home)
            return self._desk


def is_driven(config: RunnableConfig | None, kind: type[Asker]) -> bool:
    """Whether the caller holds the lease and has put a driver of this kind into the config."""
    return isinstance((config or {}).get("configurable", {}).get(DRIVER_KEY), kind)


def thread_of(config: RunnableConfig | None) -> str:
    """The thread that is named, else a new one: the id of the session."""
    named = (config or {}).get("configurable", {}).get("thread_id")
    return str(named or f"s_{uuid.uuid4().hex[:12]}")


def driven_by(driver: Asker, config: RunnableConfig | None) -> RunnableConfig:
    """The caller's config with the driver in it."""
    configurable = (config or {}).get("configurable", {})
    return {
        "max_concurrency": PARALLEL_CALLS,
        **(config or {}),
        # What LangChain fills in for some ways to call a graph is less than a run needs; budgets end it.
        "recursion_limit": max(SUPERSTEPS, (config or {}).get("recursion_limit", 0)),
        "configurable": {**configurable, "thread_id": driver.session.id, DRIVER_KEY: driver},
    }


G = TypeVar("G", bound=LeasedGraph)


def bound(compiled: CompiledStateGraph[Any, Any, Any, Any], kind: type[G], prepare: Prepare) -> G:
    """The compiled graph as one of ``kind`` that is prepared like this."""
    compiled.__class__ = type(f"Bound{kind.__name__}", (kind,), {"prepare": staticmethod(prepare)})
    return compiled  # type: ignore[return-value]
