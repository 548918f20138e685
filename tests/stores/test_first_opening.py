"""Opening a ledger file that others make at the same moment."""

import time
from pathlib import Path
from typing import Any

import pytest

from researchdesk.state.errors import Unavailable
from researchdesk.stores.sqlite.connection import BUSY_TRIES, connect, dbapi, journal_mode


class Crowded(dbapi.Connection):
    """Somebody else is switching the journal of the same new file: SQLite then fails at once, without waiting."""

    in_the_way = 0

    def execute(self, sql: str, *parameters: Any) -> Any:
        if sql == f"PRAGMA journal_mode={journal_mode()}" and Crowded.in_the_way:
            Crowded.in_the_way -= 1
            raise dbapi.OperationalError("database is locked")
        return super().execute(sql, *parameters)


@pytest.mark.parametrize(("times", "opens"), [(1, True), (BUSY_TRIES - 1, True), (BUSY_TRIES, False)])
def test_a_file_that_another_process_is_making_is_opened_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, times: int, opens: bool
) -> None:
    real = dbapi.connect
    monkeypatch.setattr(dbapi, "connect", lambda *given, **more: real(*given, factory=Crowded, **more))
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    monkeypatch.setattr(Crowded, "in_the_way", times)
    if opens:
        connect(tmp_path / "new.sqlite").close()
    else:
        with pytest.raises(Unavailable, match="database is locked"):
            connect(tmp_path / "new.sqlite")
