"""The log of a long session is read call by call, never all calls again for each message."""

from pathlib import Path

from researchdesk.stores.sqlite.connection import connect
from researchdesk.tools.workspace import open_desk


def test_the_calls_of_a_message_are_found_by_an_index(tmp_path: Path) -> None:
    open_desk(tmp_path).close()
    connection = connect(tmp_path / "ledger.sqlite")
    for where in ("", "WHERE session_id = 's1'"):
        plan = connection.execute(f"EXPLAIN QUERY PLAN SELECT * FROM io_log {where}").fetchall()
        looks = [str(step[-1]) for step in plan if str(step[-1]).startswith("SEARCH t ")]
        assert looks == [
            "SEARCH t USING INDEX tool_calls_by_message (session_id=? AND message_id=?) LEFT-JOIN"
        ]
    connection.close()
