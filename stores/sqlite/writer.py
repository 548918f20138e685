"""The one writer of a process: what several threads want to write at the same time shares a transaction, and its fsync.

A thread that finds nobody writing writes at once, by itself. Who comes meanwhile waits in a queue; when the
transaction is through, the first of the queue does the work of all who wait, each in a savepoint of its own, so that
one that fails is undone alone. Nobody returns before the commit that holds their work.
"""

import threading
from collections import deque
from collections.abc import Callable
from typing import Any, TypeVar

from researchdesk.stores.sqlite.connection import Connection, begin, dbapi, roll_back

T = TypeVar("T")
Work = Callable[[Connection], T]
GROUP = 64
"""How many share one transaction at most."""


class _Job:
    """Something to write, and how that ended."""

    __slots__ = ("awake", "error", "leads", "result", "work")

    def __init__(self, work: Work[Any]) -> None:
        self.work = work
        self.result: Any = None
        self.error: Exception | None = None
        self.leads = False
        """Whether the thread that waits for this has to do the work of all."""
        self.awake = threading.Lock()
        self.awake.acquire()


class Writer:
    """Runs functions of a connection in write transactions; safe for any number of threads.

    Args:
        connection: used only under ``lock``, which readers of the same connection take too.
    """

    def __init__(self, connection: Connection, lock: Any) -> None:
        self._connection = connection
        self._lock = lock
        self._queue: deque[_Job] = deque()
        self._busy = False
        self._mutex = threading.Lock()

    def write(self, work: Work[T]) -> T:
        """What ``work`` gives, once that is committed; it may be run again when its first try was rolled back.

        Raises:
            Exception: what ``work`` raised, or the library's error where the transaction failed; nothing was written.
        """
        job: _Job | None = None
        leads = False
        try:
            with self._mutex:
                if not self._busy:
                    leads = self._busy = True
                else:
                    job = _Job(work)
                    self._queue.append(job)
            if job is None:
                return self._alone(work)
            job.awake.acquire()
            leads = job.leads
            if leads:
                self._together(job)
        except BaseException:
            leads = leads or self._left(job)
            raise
        finally:
            if leads:
                self._pass_on()
        if job.error is not None:
            raise job.error
        result: T = job.result
        return result

    def _left(self, job: _Job | None) -> bool:
        """Take back what an interrupted thread waits for; whether it was to lead the others, who must not wait on."""
        with self._mutex:
            if job is not None and job in self._queue:
                self._queue.remove(job)
            return job is not None and job.leads

    def _pass_on(self) -> None:
        """Wake the next to lead, or leave the writer free."""
        with self._mutex:
            if not self._queue:
                self._busy = False
                return
            job = self._queue.popleft()
            job.leads = True
            job.awake.release()

    def _alone(self, work: Work[T]) -> T:
        """One piece of work in a transaction of its own."""
        with self._lock:
            db = self._connection
            try:
                begin(db)
                result = work(db)
                db.execute("COMMIT")
            except BaseException:
                roll_back(db)
                raise
            return result

    def _together(self, first: _Job) -> None:
        """The work of all who wait, in one transaction; the others are woken when it ended."""
        with self._mutex:
            others = [self._queue.popleft() for _ in range(min(len(self._queue), GROUP - 1))]
        jobs = [first, *others]
        try:
            if others:
                self._share(jobs)
            else:
                self._settle(first)
        except BaseException:
            for job in others:
                job.error = job.error or dbapi.OperationalError("interrupted")
            raise
        finally:
            for job in others:
                job.awake.release()

    def _settle(self, job: _Job) -> None:
        """One job by itself."""
        try:
            job.result = self._alone(job.work)
        except Exception as problem:
            job.error = problem

    def _share(self, jobs: list[_Job]) -> None:
        """All jobs in one transaction; what a constraint refuses only at the commit is done again one by one."""
        with self._lock:
            db = self._connection
            try:
                begin(db)
                for job in jobs:
                    _try(db, job)
                db.execute("COMMIT")
                return
            except dbapi.IntegrityError:
                roll_back(db)
            except Exception as problem:  # nothing of this was written: all who thought so are told
                roll_back(db)
                for job in jobs:
                    job.error = job.error or problem
                return
            except BaseException:
                roll_back(db)
                raise
            for job in jobs:
                if job.error is None:
                    self._settle(job)


def _try(db: Connection, job: _Job) -> None:
    """One job within the transaction; when it fails, nothing of it stays.

    Raises:
        Exception: the transaction is gone, and with it what others wrote.
    """
    db.execute("SAVEPOINT own")
    try:
        job.result = job.work(db)
    except Exception as problem:
        if not db.in_transaction:
            raise
        db.execute("ROLLBACK TO own")
        job.error = problem
    db.execute("RELEASE own")
