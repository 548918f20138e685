"""A real desk with very many sessions: a few that were really recorded, and all of their rows again under other names.

Each copy has new session ids, later times, new hashes and new ids of messages; its texts are those of the first, and
its chains would not verify. Writing so many through the tools would take an hour.
"""

import hashlib
import math
import re
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from call_cost import Caller, Survey, claim, resolution, taken_up

from researchdesk.graph.runner import run_research
from researchdesk.state.ids import session_stream
from researchdesk.state.tables import TABLES, Table
from researchdesk.state.vocabulary import INVESTIGATION_LABELS
from researchdesk.stores.mirror.schema import EVENTS, column_type
from researchdesk.stores.sqlite.connection import Connection
from researchdesk.tools.sources.gathering import Sources
from researchdesk.tools.workspace import Desk

ANN = "human:ann"
ASKED = "What is the mirror, what does a claim need, and how are sources archived?"


# -- the first sessions -------------------------------------------------------------------------------------------


def recorded(desk: Desk, corpus: Path) -> list[str]:
    """Three runs of the embedded model, one of them stopped with questions open; an investigation; an agent."""
    run_research(desk, ASKED, corpus=[corpus], scope="standard", session_id="whole")
    run_research(desk, "What is the mirror?", corpus=[corpus], scope="quick", session_id="short")
    run_research(desk, ASKED, corpus=[corpus], scope="standard", session_id="stopped", max_steps=4)
    questions(desk, "questions")
    agent(desk, "agent")
    return ["whole", "short", "stopped", "questions", "agent"]


def questions(desk: Desk, session_id: str) -> None:
    """A long investigation as its questions see it: forty, each taken up and resolved but the last."""
    sources = Sources(providers=(Survey(),), fetchers=(Survey(),))
    call = Caller(desk.session(session_id, labels=INVESTIGATION_LABELS, sources=sources), "call_")
    call(
        "deep_research_start", objective="How many swifts are there?", scope_level="deep", template="general"
    )
    call("archive_source", locator="https://site0.org/")
    call("notes_append", section="Unverified", entries=[claim(0)])
    for number in range(39):
        key = taken_up(call, number)
        if number < 38:
            call("resolve_question", **resolution(key))


def agent(desk: Desk, session_id: str) -> None:
    """An agent reads and changes thirty files; a person approves most of it, rejects some, and some waits."""
    call = Caller(desk.session(session_id, labels=(), profile="desk"), "call_")
    for n in range(30):
        file = desk.files.put(f"notes/{n}.md", f"# Note {n}\n\n{'Some text. ' * 40}\n", actor=ANN)
        call("desk_read_file", file=file.id)
        change = {"file": file.id, "base_version": file.content_hash, "mode": "append", "content": "More.\n"}
        made = call.session.call("desk_update_file", change, tool_call_id=f"change_{n}")
        if n % 6 < 5:
            said = "reject" if n % 6 == 2 else "approve"
            waiting = desk.proposal(str(made.data["proposal_id"]))
            desk.decide(waiting.id, said, actor=ANN, proposal_hash=waiting.hash)


# -- many of them -------------------------------------------------------------------------------------------------


@cache
def moment(ts: str) -> datetime:
    return datetime.fromisoformat(ts)


def later(ts: str, n: int) -> str:
    """So many times seven minutes later; no time stays none."""
    return (moment(ts) + timedelta(minutes=7 * n)).isoformat(timespec="microseconds") if ts else ts


def renamed(name: str, n: int) -> str:
    return f"{name}-{n}"


def fresh(text: str, n: int) -> str:
    """Another text of as many hexadecimal digits."""
    return hashlib.sha256(f"{n} {text}".encode()).hexdigest()[: len(text)]


def fresh_id(name: str, n: int) -> str:
    return name[:2] + fresh(name[2:], n)


def of_other_run(message_id: str, n: int) -> str:
    """The id of a message with its model run's part made anew."""
    return re.sub("(?<=lc_run--)[0-9a-f]{8}", lambda found: fresh(found[0], n), message_id)


def change_of(table: str, column: str) -> Callable[[str, int], str] | None:
    """What becomes of a column in the ``n``-th copy; None where it stays."""
    match table, column:
        case (_, "session_id" | "stream"):
            return renamed
        case ("messages", "id") | ("tool_calls", "message_id"):
            return of_other_run
        case ("events", "event_id") | ("proposals", "id"):
            return fresh_id
        case ("events", "hash" | "prev_hash"):
            return fresh
        case _:
            return later if column_type(table, column) == "TIMESTAMPTZ" else None


class Copies:
    """The rows of a session in one table, and writing them again for another session."""

    def __init__(self, db: Connection, table: Table, session_id: str) -> None:
        columns = [name for name in table.columns if name != "global_seq"]
        named = ", ".join(f'"{name}"' for name in columns)
        of, owner = ("stream", session_stream(session_id)) if table is EVENTS else ("session_id", session_id)
        self.table = table.name
        self.rows = db.execute(f"SELECT {named} FROM {table.name} WHERE {of} = ?", (owner,)).fetchall()
        self._insert = f"INSERT INTO {table.name} ({named}) VALUES ({', '.join('?' * len(columns))})"
        self._changes = [change_of(table.name, name) for name in columns]

    def write(self, db: Connection, n: int) -> None:
        """The ``n``-th copy."""
        db.executemany(self._insert, [self._copy(row, n) for row in self.rows])

    def _copy(self, row: Sequence[Any], n: int) -> list[Any]:
        pairs = zip(row, self._changes, strict=True)
        return [change(value, n) if change and value is not None else value for value, change in pairs]


def multiply(db: Connection, sessions: Sequence[str], *, rows: int, counted: Sequence[str]) -> None:
    """Write the sessions again and again until these tables hold about so many rows."""
    tables = [
        EVENTS,
        *(table for table in TABLES.values() if table.key[0] == "session_id"),
        TABLES["proposals"],
    ]
    copies = [found for name in sessions for table in tables if (found := Copies(db, table, name)).rows]
    each = sum(len(found.rows) for found in copies if found.table in counted)
    for n in range(1, max(2, math.ceil(rows / each))):
        db.execute("BEGIN IMMEDIATE")
        for found in copies:
            found.write(db, n)
        db.execute("COMMIT")
