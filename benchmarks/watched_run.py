"""A research run that writes down what it does and dies where it is told to: the child of `kill_and_resume.py`.

What it does is seen from outside the package, by wrapping a few methods in this process alone.
"""

import contextlib
import hashlib
import os
import re
import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
from langgraph.runtime import RunControl

from researchdesk.graph.offline.model import OfflineChatModel
from researchdesk.graph.runner import resume_research, run_research
from researchdesk.state.errors import NotFound, UsageError
from researchdesk.stores.sqlite.ledger import SqliteLedger
from researchdesk.tools.sources.corpus import Corpus
from researchdesk.tools.workspace import open_desk

QUESTION = "What minimum password length do current guidelines require, and do they agree?"
SESSION = "r1"
_BOUNDARY = re.compile(r'boundary=\\?"[^"\\]*\\?"')
_STEPS = re.compile(r'"steps_left":\d+|"(?:tokens_left|writing_reserve)":[^,}]*')


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """Where a run ends: ``seconds`` after its start (the parent's business), or at the ``at``-th time of ``kind``.

    Kinds: ``write`` (before the transaction), ``inside`` it, ``written`` (after its commit), ``staged`` (after a
    gathered document was staged), ``fetched`` (before it is), ``answered`` (before the answer is recorded).
    """

    kind: str
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One attempt to bring the run of ``home`` to its end; ``log`` gets a line for each thing that it does."""

    home: Path
    corpus: Path
    log: Path
    moment: Moment | None = None
    signals: bool = False


class _Watch:
    """Appends lines to the log and sends the signal when the moment has come."""

    def __init__(self, job: Job) -> None:
        self._file = os.open(job.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._job = job
        self._seen: Counter[str] = Counter()
        self._lock = threading.Lock()

    def note(self, kind: str, *values: object) -> None:
        """One line, whole or not at all."""
        os.write(self._file, "\t".join([kind, *map(str, values)]).encode() + b"\n")

    def reached(self, kind: str) -> None:
        """Die here if this is the moment."""
        moment = self._job.moment
        with self._lock:
            self._seen[kind] += 1
            if moment is not None and (moment.kind, moment.at) == (kind, self._seen[kind]):
                os.kill(os.getpid(), signal.SIGTERM if self._job.signals else signal.SIGKILL)


def drive(job: Job) -> None:
    """Run or resume, then exit: 0 completed, 3 ended early or blocked, 5 stopped by a signal."""
    sys.stderr = (job.home / "stderr.txt").open("a")
    watch = _Watch(job)
    _watch_ledger(watch)
    _watch_world(watch)
    control = RunControl()
    if job.signals:
        signal.signal(signal.SIGTERM, lambda *_: control.request_drain("SIGTERM"))
    watch.note("started")
    with open_desk(job.home) as desk:
        try:
            result = resume_research(desk, SESSION, control=control)
        except (NotFound, UsageError):  # nothing, or not even the question, was recorded
            result = run_research(
                desk,
                QUESTION,
                corpus=[job.corpus],
                scope="quick",
                template="general",
                session_id=SESSION,
                control=control,
            )
    watch.note("ended", result.status, result.drained)
    code = 5 if result.drained else 0 if result.status == "completed" and not result.stop_reason else 3
    sys.stderr.flush()
    os._exit(code)


def _watch_ledger(watch: _Watch) -> None:
    append, move_head, stage = SqliteLedger.append, SqliteLedger._move_head, SqliteLedger.stage

    def appended(self: SqliteLedger, transaction: Any) -> None:
        watch.reached("write")
        append(self, transaction)
        for event in transaction.events:
            watch.note("event", event.seq, event.hash, event.type)
        watch.reached("written")

    def inside(self: SqliteLedger, db: Any, transaction: Any) -> None:
        watch.reached("inside")
        move_head(self, db, transaction)

    def staged(self: SqliteLedger, call: Any, **what: Any) -> None:
        stage(self, call, **what)
        page = orjson.loads(what["receipt"]).get("page")
        if page:
            watch.note("staged", page["receipt"]["requested"])
        watch.reached("staged")

    _replace(SqliteLedger, append=appended, _move_head=inside, stage=staged)


def _watch_world(watch: _Watch) -> None:
    fetch, generate = Corpus.fetch, OfflineChatModel._generate

    def fetched(self: Corpus, locator: str) -> Any:
        found = fetch(self, locator)
        watch.note("fetched", locator)
        watch.reached("fetched")
        return found

    def answered(self: OfflineChatModel, messages: list[Any], *rest: Any, **more: Any) -> Any:
        watch.note("asked", view_digest(str(messages[-1].content)))
        answer = generate(self, messages, *rest, **more)
        watch.reached("answered")
        return answer

    _replace(Corpus, fetch=fetched)
    _replace(OfflineChatModel, _generate=answered)


def _replace(owner: type, **methods: Callable[..., Any]) -> None:
    for name, method in methods.items():
        setattr(owner, name, method)


def view_digest(prompt: str) -> str:
    """The hash of what a prompt shows, without its random boundaries and the count of requests left."""
    plain = _STEPS.sub("", _BOUNDARY.sub("", prompt))
    return hashlib.sha256(plain.encode("utf-8", "replace")).hexdigest()[:16]


def read_log(path: Path) -> list[list[str]]:
    """The lines of a log, split; in the order in which they were written."""
    with contextlib.suppress(FileNotFoundError):
        return [line.split("\t") for line in path.read_text().splitlines()]
    return []


def attempts(lines: list[list[str]]) -> Iterator[list[list[str]]]:
    """The lines of each attempt."""
    starts = [n for n, line in enumerate(lines) if line[0] == "started"]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        yield lines[start:end]
