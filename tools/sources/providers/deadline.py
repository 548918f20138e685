"""Work that has to end in time: whoever waits goes on at the deadline, whatever the work is doing."""

from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Generic, TypeVar

Result = TypeVar("Result")


class Late(Exception):
    """The work was not done in time; it may still be running."""


class _Answer(Generic[Result]):
    def __init__(self, value: Result | None, problem: BaseException | None) -> None:
        self.value = value
        self.problem = problem


def within(seconds: float, work: Callable[[], Result]) -> Result:
    """Give what ``work`` gives; it runs in a thread of its own that no exit of the process waits for.

    Raises:
        Late: it took longer. Whatever ``work`` raises.
    """
    answers: SimpleQueue[_Answer[Result]] = SimpleQueue()

    def run() -> None:
        try:
            answers.put(_Answer(work(), None))
        except BaseException as problem:
            answers.put(_Answer(None, problem))

    Thread(target=run, name="search", daemon=True).start()
    try:
        answer = answers.get(timeout=seconds)
    except Empty:
        raise Late from None
    if answer.problem is not None:
        raise answer.problem
    return answer.value  # type: ignore[return-value]
