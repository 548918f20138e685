"""Opening a mirror's file: one process at a time, in a DuckDB that loads and reaches nothing else."""

import contextlib
import fcntl
import os
import re
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, TypeVar

import duckdb
from duckdb import DuckDBPyConnection

MIRROR: Final = "mirror"
"""The name of the mirror's database, where another one is open beside it."""
_CLOSED_OFF: Final[dict[str, Any]] = {
    "allow_community_extensions": False,
    "allow_persistent_secrets": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "python_enable_replacements": False,
}
_LOCKED: Final = ("Could not set lock", "Unique file handle conflict", "different configuration")
_HOLDER: Final = re.compile(r"\(PID (\d+)\)")
_KEPT_OPTIMIZERS: Final = "'filter_pushdown', 'join_filter_pushdown'"
PAUSE_SECONDS: Final = 0.01
_FULL: Final = {
    "No space left": "no space is left on the device; free some, then try again",
    "Disk quota": "the disk quota is used up; free some, then try again",
    "File too large": "a file may not grow that large here; raise the limit, then try again",
}
_DAMAGED: Final = ("Corrupt", "IO Error: Could not read")
_MAGIC: Final = b"DUCK"
_MAGIC_AT: Final = 8
_KINDS: Final = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFDIR: "a folder",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


T = TypeVar("T")
_held: set[int] = set()


def _close_in_child() -> None:
    """A forked child must not keep its parent's turn."""
    for number in _held:
        os.close(number)
    _held.clear()


os.register_at_fork(after_in_child=_close_in_child)


class Locked(Exception):
    """Somebody else has the file open; says who."""


class Irregular(Exception):
    """What stands at a path is no file, and was not opened, which could wait for ever; says what it is."""


def _check_regular(path: Path) -> None:
    """That a path leads to a regular file, or to nothing.

    Raises:
        Irregular: it does not.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return
    except OSError as problem:
        raise Irregular(f"{path.name}: {problem.strerror}") from None
    if not stat.S_ISREG(mode):
        kind = _KINDS.get(stat.S_IFMT(mode), "something else")
        raise Irregular(f"{path.name} is no file but {kind}")


def is_duckdb(path: Path) -> bool:
    """Whether a file of DuckDB stands at a path; it may be broken all the same."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(_MAGIC_AT + len(_MAGIC))[_MAGIC_AT:] == _MAGIC


def check_duckdb(path: Path) -> None:
    """That a file of DuckDB stands at a path.

    Raises:
        Irregular: it is something else.
    """
    _check_regular(path)
    if not is_duckdb(path):
        raise Irregular(f"{path.name} is no DuckDB file")


def log_of(path: Path) -> Path:
    """The file beside a DuckDB file that holds what is not in it yet."""
    return path.with_name(f"{path.name}.wal")


def _check_openable(path: Path) -> None:
    _check_regular(path)
    _check_regular(log_of(path))


def is_full(problem: Exception) -> bool:
    """Whether something could not be written because there is no room for it."""
    return any(sign in str(problem) for sign in _FULL)


def is_damaged(problem: Exception) -> bool:
    """Whether a block of the file is not as it was written, which DuckDB finds when it reads that block."""
    return str(problem).startswith(_DAMAGED)


def reason(problem: Exception) -> str:
    """What is wrong, in one line."""
    full = next((why for sign, why in _FULL.items() if sign in str(problem)), "")
    if full:  # DuckDB says so at the end of a long message
        return full
    if isinstance(problem, OSError) and problem.strerror:
        return f"{problem.strerror}: {problem.filename}" if problem.filename else problem.strerror
    return (str(problem).strip() or type(problem).__name__).splitlines()[0]


@contextlib.contextmanager
def turn(path: Path, *, exclusive: bool, patience: float) -> Iterator[None]:
    """The right to open the mirror at ``path``: alone, or beside others who only read.

    Who only reads goes on without it where the lock file can neither be made nor opened: DuckDB locks its file too.

    Raises:
        Locked: others had it for longer than ``patience`` seconds.
        Irregular: the lock file beside it is none.
        OSError: it cannot be made.
    """
    wanted = fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH
    number = _lock_file(path.with_name(f"{path.name}.lock"), may_fail=not exclusive)
    if number is None:
        yield
        return
    _held.add(number)
    try:
        _patiently(lambda: _lock(number, wanted), patience=patience)
        yield
    finally:
        _held.discard(number)
        os.close(number)


def _lock_file(path: Path, *, may_fail: bool) -> int | None:
    """The lock file, opened and made where needed; None where it may fail and does."""
    _check_regular(path)
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        if not may_fail:
            raise
    with contextlib.suppress(OSError):
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    return None


def _lock(number: int, wanted: int) -> None:
    try:
        fcntl.flock(number, wanted | fcntl.LOCK_NB)
    except BlockingIOError:
        raise Locked("it is in use by another process or thread at this moment") from None


def _patiently(work: Callable[[], T], *, patience: float) -> T:
    deadline = time.monotonic() + patience
    while True:
        try:
            return work()
        except Locked:
            if time.monotonic() > deadline:
                raise
        time.sleep(PAUSE_SECONDS)


@contextlib.contextmanager
def for_writing(path: Path) -> Iterator[DuckDBPyConnection]:
    """The file, made where it is missing, until the block ends; then all that was committed stands in it.

    A process that dies before leaves the file as it was: it can be made anew, so no log is written beside it.

    Raises:
        Locked: another program has it open.
        Irregular: it is no file.
        duckdb.Error: it is no sound DuckDB file, or cannot be made.
    """
    _check_openable(path)
    # One thread, and few of the optimizer's steps: a sync is many small statements beside a run that works. The file
    # is written when it is let go: no log grows before, and a checkpoint in between would only be done twice.
    settings = {
        **_CLOSED_OFF,
        "threads": 1,
        "pandas_analyze_sample": 0,
        "force_compression": "zstd",
        "checkpoint_threshold": "1TB",
    }
    connection = duckdb.connect(":memory:", config=settings)
    try:
        with _translated():
            connection.execute(
                f"ATTACH {literal(path)} AS {MIRROR} (TYPE duckdb, RECOVERY_MODE no_wal_writes)"
            ).fetchall()
        connection.execute(f"USE {MIRROR}").fetchall()
        names = (
            f"SELECT string_agg(name, ',') FROM duckdb_optimizers() WHERE name NOT IN ({_KEPT_OPTIMIZERS})"
        )
        ((rarely_needed,),) = connection.execute(names).fetchall()
        connection.execute(f"SET disabled_optimizers = '{rarely_needed}'").fetchall()
        yield connection
        _detach(connection)
    finally:
        connection.close()


def _detach(connection: DuckDBPyConnection) -> None:
    """Let go of the mirror's file, with all that was committed in it; what is in memory stays."""
    connection.execute("USE memory").fetchall()
    connection.execute(f"DETACH {MIRROR}").fetchall()


@contextlib.contextmanager
def for_reading(path: Path, *, patience: float, keep: bool = False) -> Iterator[DuckDBPyConnection]:
    """A DuckDB in memory beside which the file stands as `MIRROR`, for reading only, until the block ends.

    Args:
        keep: leave the memory open for whoever has something in it; the file is let go in any case.

    Raises:
        Locked: another program had it open for longer than ``patience`` seconds.
        Irregular: it is no file.
        duckdb.Error: it is no sound DuckDB file.
    """
    _check_openable(path)
    connection = duckdb.connect(":memory:", config=_CLOSED_OFF)
    try:
        _patiently(lambda: _attach(connection, path), patience=patience)
        yield connection
        if keep:
            _detach(connection)
    except BaseException:
        connection.close()
        raise
    if not keep:
        connection.close()


def _attach(connection: DuckDBPyConnection, path: Path) -> None:
    with _translated():
        connection.execute(f"ATTACH {literal(path)} AS {MIRROR} (TYPE duckdb, READ_ONLY)").fetchall()
    connection.execute(f"USE {MIRROR}").fetchall()


def literal(path: Path) -> str:
    """A path as an SQL text."""
    return "'" + str(path).replace("'", "''") + "'"


@contextlib.contextmanager
def _translated() -> Iterator[None]:
    """Tells a file that is in use from one that is broken."""
    try:
        yield
    except duckdb.Error as problem:
        if not any(sign in str(problem) for sign in _LOCKED):
            raise
        holder = _HOLDER.search(str(problem))
        who = f"process {holder[1]}" if holder else "another program"
        raise Locked(f"{who} has it open") from None
