"""The lock behind a session's lease, and that of the operating system: free at once when its holder dies."""

import fcntl
import os
import socket
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from researchdesk.state.errors import SessionBusy, Unavailable
from researchdesk.state.names import safe_file_name

GRACE_SECONDS = 0.1
"""How long a lock is asked for again: whoever looks whether it is held has it for a moment."""
_held: set[int] = set()


def _close_in_child() -> None:
    """A forked child must not keep its parent's locks alive."""
    for descriptor in list(_held):
        os.close(descriptor)
    _held.clear()


os.register_at_fork(after_in_child=_close_in_child)


def holder_name() -> str:
    """Who holds a lock, for the message to whoever else wants it."""
    return f"process {os.getpid()} on {socket.gethostname()}"


def claim_name(folder: Path, session_id: str) -> bool:
    """Claim a session id that nobody uses yet; False when somebody was first. What is claimed stays claimed.

    Raises:
        Unavailable: the lock file cannot be made.
    """
    path = _lock_path(folder, session_id)
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        return False
    except OSError as problem:
        raise _unusable(path, problem) from None
    return True


def _unusable(path: Path, problem: OSError) -> Unavailable:
    return Unavailable(
        f"cannot write the lock {path}: {problem.strerror}. Check who owns the folder, then try again"
    )


def _lock_path(folder: Path, session_id: str) -> Path:
    return folder / safe_file_name(session_id, suffix=".lock")


class Lock(Protocol):
    """The right to drive one session, held by at most one driver."""

    def acquire(self) -> None:
        """Take it.

        Raises:
            SessionBusy: another driver holds it; the message says who.
            Unavailable: it cannot be had now.
        """

    def release(self) -> None:
        """Give it back; a second time does nothing."""


class Locks(Protocol):
    """The locks of a desk's sessions."""

    def lock(self, session_id: str) -> Lock:
        """The lock of a session; it is not taken yet."""

    def claim(self, session_id: str) -> bool:
        """Claim a session id that nobody uses yet; False when somebody was first. What is claimed stays claimed."""

    def held(self, session_ids: Iterable[str]) -> frozenset[str]:
        """Which of these sessions somebody drives at this moment; nobody is waited for, and nobody disturbed."""


class FileLocks:
    """The locks of a home folder: a file for each session."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def lock(self, session_id: str) -> Lock:
        """As `Locks.lock`."""
        return SessionLock(self._folder, session_id)

    def claim(self, session_id: str) -> bool:
        """As `Locks.claim`.

        Raises:
            Unavailable: the lock file cannot be made.
        """
        return claim_name(self._folder, session_id)

    def held(self, session_ids: Iterable[str]) -> frozenset[str]:
        """As `Locks.held`."""
        return frozenset(name for name in session_ids if _is_held(_lock_path(self._folder, name)))


def _is_held(path: Path) -> bool:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:  # without a file nobody drives; a file that may not be read tells nothing
        return False
    _held.add(descriptor)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        _held.discard(descriptor)
        os.close(descriptor)
    return False


def _taken(descriptor: int) -> bool:
    """Whether the lock could be had."""
    deadline = time.monotonic() + GRACE_SECONDS
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.005)
        else:
            return True


class SessionLock:
    """An exclusive lock on one session of a home folder, held by one process."""

    def __init__(self, folder: Path, session_id: str) -> None:
        self._path = _lock_path(folder, session_id)
        self._session_id = session_id
        self._descriptor = -1

    def acquire(self) -> None:
        """Take the lock.

        Raises:
            SessionBusy: another driver holds it; the message says who.
            Unavailable: the lock file cannot be made or written.
        """
        try:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as problem:
            raise _unusable(self._path, problem) from None
        if not _taken(descriptor):
            who = os.pread(descriptor, 200, 0).decode(errors="replace").strip() or "another process"
            os.close(descriptor)
            raise SessionBusy(
                f"session '{self._session_id}' is being driven by {who}. Wait for it to end, or stop it, then resume."
            )
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, holder_name().encode(), 0)
        self._descriptor = descriptor
        _held.add(descriptor)

    def release(self) -> None:
        """Give the lock back; a second time does nothing."""
        if self._descriptor in _held:
            _held.discard(self._descriptor)
            fcntl.flock(
                self._descriptor, fcntl.LOCK_UN
            )  # a child that was just forked may still hold it open
            os.close(self._descriptor)
        self._descriptor = -1
