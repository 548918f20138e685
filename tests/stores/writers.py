"""Processes that write to one desk at once, or are killed while they write; run as a script by the tests.

A process that has no other threads forks the writers, so that each costs little to start.
"""

import itertools
import json
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable

from researchdesk.tools.door import Session
from researchdesk.tools.workspace import open_desk

THREADS = 6


def save(session: Session, name: str, size: int = 20_000) -> str:
    """Save a source under the call id ``name``; gives its text."""
    source = {
        "role": "source",
        "name": name,
        "locator": f"file:{name}",
        "content": name * (size // len(name)),
    }
    result = session.call("deep_research_save_artifact", source, tool_call_id=name)
    assert result.status == "success", result.text
    return result.text


def one_after_the_other(home: str, attempt: int, into: int) -> None:
    """Save sources in one session, and tell of each that was acknowledged."""
    session = open_desk(home).existing("s1")
    for n in itertools.count():
        save(session, f"r{attempt}-{n}")
        os.write(into, f"r{attempt}-{n}\n".encode())


def in_threads(home: str, attempt: int, into: int) -> None:
    """Save sources in several sessions at once, so that they share transactions, and tell of each."""
    desk = open_desk(home)

    def work(thread: int) -> None:
        session = desk.existing(f"t{thread}")
        for n in itertools.count():
            save(session, f"t{thread}.r{attempt}-{n}", 2_000)
            os.write(into, f"t{thread}.r{attempt}-{n}\n".encode())

    threads = [threading.Thread(target=work, args=(n,)) for n in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def killed(home: str, rounds: int, work: Callable[[str, int, int], None]) -> list[str]:
    """Start a writer again and again and kill it at some moment; gives the calls that were acknowledged."""
    dice = random.Random(7)
    acknowledged: list[str] = []
    for attempt in range(rounds):
        out, into = os.pipe()
        child = os.fork()
        if child == 0:
            work(home, attempt, into)
        os.close(into)
        lines = os.fdopen(out)
        if attempt % 3:  # else it is killed while it starts
            acknowledged.append(lines.readline().strip())
        time.sleep(dice.uniform(0, 0.05))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        with lines:
            acknowledged += lines.read().split()
    return acknowledged


def together(home: str, count: int) -> dict[str, list[str]]:
    """Two writers of one shared session, of one set of shared calls, and of a session each; gives their texts."""
    pipes = []
    for writer in ("a", "b"):
        out, into = os.pipe()
        if os.fork() == 0:
            desk = open_desk(home)
            shared, own = desk.existing("s1"), desk.existing(f"own-{writer}")
            texts = []
            for n in range(count):
                save(shared, f"{writer}-{n}", 100)
                texts.append(save(shared, f"shared-{n}", 100))
                save(own, f"{writer}-{n}", 100)
            os.write(into, json.dumps(texts).encode())
            os._exit(0)
        os.close(into)
        pipes.append((writer, out))
    results: dict[str, list[str]] = {}
    for writer, out in pipes:
        with os.fdopen(out) as lines:
            results[writer] = json.loads(lines.read() or '["failed"]')
    while True:
        try:
            assert os.waitstatus_to_exitcode(os.wait()[1]) == 0
        except ChildProcessError:
            return results


WORK: dict[str, Callable[[str, int], object]] = {
    "together": together,
    "killed": lambda home, rounds: killed(home, rounds, one_after_the_other),
    "killed-in-threads": lambda home, rounds: killed(home, rounds, in_threads),
}

if __name__ == "__main__":
    what, folder, number = sys.argv[1:]
    print(json.dumps(WORK[what](folder, int(number))))
