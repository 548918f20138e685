"""A desk whose store fails, or whose process ends, at its n-th write."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from researchdesk.stores.sqlite.connection import connect, dbapi
from researchdesk.stores.sqlite.ledger import SqliteLedger
from researchdesk.tools.workspace import Desk

WRITES = ("BEGIN", "INSERT", "UPDATE", "DELETE", "COMMIT", "CREATE", "DROP")
_WORDS = re.compile(r"\A(?:\s|--[^\n]*\n)*")
ERRORS = ("disk I/O error", "database or disk is full", "database is locked", "interrupted")


class Plan:
    """Which write fails, and whether it fails before or after it was done; counts all of them.

    With ``dies`` the process ends there, as a kill ends it.
    """

    def __init__(self, nth: int = 0, *, done: bool = False, dies: bool = False) -> None:
        self.nth, self.done, self.dies, self.count = nth, done, dies, 0

    def run(self, sql: str, work: Callable[[], Any]) -> Any:
        if not _WORDS.sub("", sql).startswith(WRITES):
            return work()
        self.count += 1
        if self.count != self.nth:
            return work()
        if self.done:
            work()
        if self.dies:
            os._exit(9)
        raise dbapi.OperationalError(ERRORS[self.nth % len(ERRORS)])


class Faulty:
    """A connection whose writes go by a plan."""

    def __init__(self, path: Path, plan: Plan) -> None:
        self._real = connect(path)
        self._plan = plan

    def execute(self, sql: str, parameters: Any = ()) -> Any:
        return self._plan.run(sql, lambda: self._real.execute(sql, parameters))

    def executemany(self, sql: str, parameters: Any) -> Any:
        return self._plan.run(sql, lambda: self._real.executemany(sql, parameters))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


def faulty_desk(home: Path, plan: Plan) -> Desk:
    ledger = SqliteLedger(home / "ledger.sqlite", open_file=lambda path: Faulty(path, plan))  # type: ignore[arg-type, return-value]
    return Desk(home, ledger, clock=lambda: "2026-01-01T00:00:00.000000+00:00")
