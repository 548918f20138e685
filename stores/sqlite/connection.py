"""The one way to open an SQLite file: which library, which pragmas, and what they are read back as.

Opening a database file twice by two SQLite libraries in one process drops its locks, so every file of a home
folder is opened here. SQLite before 3.51.3 (and the backports 3.50.7 and 3.44.6) can lose a write when a WAL
file is reset; such a library gets the TRUNCATE journal instead.
"""

import contextlib
import random
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from researchdesk.state.errors import (
    IntegrityError,
    LedgerCorrupt,
    ResearchdeskError,
    Unavailable,
    UsageError,
)

if TYPE_CHECKING:
    import sqlite3 as dbapi
else:
    try:
        from pysqlite3 import dbapi2 as dbapi
    except ImportError:  # no wheel for this platform: the gate below decides what the system's library may do
        import sqlite3 as dbapi

BUSY_MS = 30_000
BUSY_TRIES = 5
# Every statement is this package's own, so one that names what is not there meets a damaged file.
DAMAGE = ("UTF-8", "no such ", "unknown function", "malformed")
SYNCHRONOUS = {"NORMAL": 1, "FULL": 2}
__all__ = [
    "Connection",
    "begin",
    "connect",
    "dbapi",
    "journal_mode",
    "roll_back",
    "rows_as_dicts",
    "sqlite_errors",
    "transaction",
]
Connection = dbapi.Connection


def wal_is_safe(version: tuple[int, ...]) -> bool:
    """Whether this SQLite has the fix for the WAL-reset fault."""
    return version >= (3, 51, 3) or (3, 50, 7) <= version < (3, 51) or (3, 44, 6) <= version < (3, 45)


def journal_mode() -> str:
    """The journal that this SQLite library is trusted with: ``wal`` or ``truncate``."""
    return "wal" if wal_is_safe(dbapi.sqlite_version_info) else "truncate"


def connect(path: Path, *, synchronous: str = "FULL") -> Connection:
    """Open a database file for reading and writing, by any thread that holds its owner's lock.

    Raises:
        Unavailable: the file cannot be opened or does not take the pragmas.
        LedgerCorrupt: the file is no database.
    """
    with sqlite_errors(path):
        connection = dbapi.connect(
            str(path),
            isolation_level=None,
            check_same_thread=False,
            timeout=BUSY_MS / 1000,
            cached_statements=256,
        )
        expected = {
            "foreign_keys": 1,
            "trusted_schema": 0,
            "secure_delete": 1,
            "recursive_triggers": 1,
            "busy_timeout": BUSY_MS,
            "fullfsync": 1,
            "checkpoint_fullfsync": 1,
            "journal_mode": journal_mode(),
            "synchronous": SYNCHRONOUS[synchronous],
        }
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute("PRAGMA trusted_schema=OFF")
        connection.execute("PRAGMA secure_delete=ON")  # what is purged is overwritten, not only unlinked
        # Without it, INSERT OR REPLACE would remove rows behind the back of their guards.
        connection.execute("PRAGMA recursive_triggers=ON")
        connection.execute(f"PRAGMA busy_timeout={BUSY_MS}")
        # On macOS a plain fsync leaves data in the drive's own cache; elsewhere these two change nothing.
        connection.execute("PRAGMA fullfsync=ON")
        connection.execute("PRAGMA checkpoint_fullfsync=ON")
        # Two that make one file at the same moment stand in each other's way, for which SQLite does not wait.
        _patiently(connection, f"PRAGMA journal_mode={journal_mode()}")
        connection.execute(f"PRAGMA synchronous={synchronous}")
        for pragma, value in expected.items():
            found = connection.execute(f"PRAGMA {pragma}").fetchone()[0]
            if found != value:
                raise Unavailable(f"{path}: SQLite keeps {pragma}={found} instead of {value}")
        return connection


@contextlib.contextmanager
def transaction(connection: Connection, path: Path) -> Iterator[Connection]:
    """A write transaction, taken at once (never upgraded), rolled back on any error."""
    with sqlite_errors(path):
        try:
            begin(connection)
            yield connection
            connection.execute("COMMIT")
        except BaseException:
            roll_back(connection)
            raise


def begin(connection: Connection) -> None:
    """Begin a write transaction, waiting for other processes."""
    _patiently(connection, "BEGIN IMMEDIATE")


def _patiently(connection: Connection, sql: str) -> None:
    """Run a statement that needs a lock, again while others hold it."""
    for attempt in range(1, BUSY_TRIES + 1):
        try:
            connection.execute(sql)
            return
        except dbapi.OperationalError as problem:
            if attempt == BUSY_TRIES or ("locked" not in str(problem) and "busy" not in str(problem)):
                raise
            time.sleep(random.uniform(0.01, 0.1) * attempt)


def roll_back(connection: Connection) -> None:
    """End a transaction that failed, if there still is one."""
    if connection.in_transaction:
        with contextlib.suppress(dbapi.Error):
            connection.execute("ROLLBACK")


def sqlite_errors(path: Path) -> AbstractContextManager[None]:
    """Turns the library's errors into those of the package, with the file and a way out."""
    return _Translating(path)


class _Translating:
    """As a generator it would take a tenth of a look-up's time."""

    __slots__ = ("_path",)

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, problem: BaseException | None, __: object) -> None:
        if isinstance(problem, dbapi.DatabaseError | dbapi.Warning | UnicodeDecodeError):
            raise _own_error(self._path, problem) from None


def _own_error(path: Path, problem: Exception) -> ResearchdeskError:
    match problem:
        case dbapi.IntegrityError():
            return IntegrityError(
                f"{path}: a row was refused by the database ({problem}); nothing was written"
            )
        case dbapi.ProgrammingError() | dbapi.Warning():
            return UsageError(f"{path}: {problem}")
        case dbapi.OperationalError() if any(sign in str(problem) for sign in DAMAGE):
            return LedgerCorrupt(f"{path}: a stored text or the schema is damaged ({problem})")
        case dbapi.OperationalError():
            return Unavailable(f"{path}: {problem}. Nothing was written; {_way_out(str(problem))}")
        case _:
            return LedgerCorrupt(
                f"{path}: {problem}. The file is damaged or no ledger; restore it from a backup or an export"
            )


def _way_out(problem: str) -> str:
    if "full" in problem:
        return "free some disk space and resume"
    if "locked" in problem or "busy" in problem:
        return "another process writes for very long; try again"
    if "readonly" in problem or "unable to open" in problem:
        return "check that the folder exists and may be written"
    return "what was recorded before is safe; try again"


def rows_as_dicts(cursor: Any) -> list[dict[str, object]]:
    """All rows of a cursor by column name."""
    names = [column[0] for column in cursor.description or ()]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
