"""The server's lock behind a session's lease: free as soon as its holder, or its holder's connection, is gone."""

import time
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from psycopg import Connection

from researchdesk.state.errors import SessionBusy
from researchdesk.stores.postgres.connection import connect, postgres_errors
from researchdesk.stores.postgres.ledger import PostgresLedger
from researchdesk.stores.postgres.migrations import lock_number

GRACE_SECONDS = 0.5
_CLAIM = "INSERT INTO leases VALUES (%s, 1, 'nobody yet', %s) ON CONFLICT DO NOTHING RETURNING epoch"
# A lock's number is shown in two halves; everybody may see it.
_HELD = (
    "SELECT (classid::bigint << 32) | objid::bigint AS number FROM pg_locks WHERE locktype = 'advisory' AND granted "
    "AND objsubid = 1 AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)


def _taken(connection: Connection[Any], number: int) -> bool:
    """Whether the lock could be had; the server may notice only after a moment that its holder was killed."""
    deadline = time.monotonic() + GRACE_SECONDS
    while True:
        found = connection.execute("SELECT pg_try_advisory_lock(%s)", (number,)).fetchone()
        if found is not None and found[0]:
            return True
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)


def _number(ledger: PostgresLedger, session_id: str) -> int:
    return lock_number("session", ledger.address.schema, session_id)


class AdvisoryLock:
    """An exclusive lock on one session of a desk, held by a connection of its own."""

    def __init__(self, ledger: PostgresLedger, session_id: str) -> None:
        self._ledger = ledger
        self._session_id = session_id
        self._connection: Connection[Any] | None = None

    def acquire(self) -> None:
        """Take the lock.

        Raises:
            SessionBusy: another driver holds it; the message says who.
            Unavailable: the server cannot be reached.
        """
        address = self._ledger.address
        with postgres_errors(address):
            connection = connect(address)
            number = _number(self._ledger, self._session_id)
            taken = _taken(connection, number)
        if not taken:
            connection.close()
            who = self._ledger.lease_holder(self._session_id) or "another process"
            raise SessionBusy(
                f"session '{self._session_id}' is being driven by {who}. Wait for it to end, or stop it, then resume."
            )
        self._connection = connection

    def release(self) -> None:
        """Give the lock back; a second time does nothing."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class AdvisoryLocks:
    """The locks of a desk on a server."""

    def __init__(self, ledger: PostgresLedger) -> None:
        self._ledger = ledger

    def lock(self, session_id: str) -> AdvisoryLock:
        """The lock of a session; it is not taken yet."""
        return AdvisoryLock(self._ledger, session_id)

    def claim(self, session_id: str) -> bool:
        """Claim a session id that nobody uses yet; False when somebody was first. What is claimed stays claimed."""
        return self._ledger.write_one(_CLAIM, (session_id, datetime.now(UTC).isoformat())) is not None

    def held(self, session_ids: Iterable[str]) -> frozenset[str]:
        """As `Locks.held`; one look at the server for all of them."""
        numbers = {row["number"] for row in self._ledger.query(_HELD)}
        return frozenset(name for name in session_ids if _number(self._ledger, name) in numbers)
