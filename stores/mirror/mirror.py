"""The mirror of a ledger as a file: brought up to date, replaced where it is not usable, and asked."""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from typing import Final, Literal

import duckdb
from duckdb import DuckDBPyConnection, DuckDBPyRelation

from researchdesk.state.errors import Unavailable, UsageError
from researchdesk.stores.ledger import Ledger
from researchdesk.stores.mirror.asking import Answer, answer, materialized
from researchdesk.stores.mirror.comparing import differences
from researchdesk.stores.mirror.copies import export, snapshot
from researchdesk.stores.mirror.opening import (
    Irregular,
    Locked,
    check_duckdb,
    for_reading,
    for_writing,
    is_damaged,
    is_full,
    log_of,
    reason,
    turn,
)
from researchdesk.stores.mirror.schema import version
from researchdesk.stores.mirror.syncing import LiveMirror, Unusable, make

SYNC_PATIENCE: Final = 2.0
READ_PATIENCE: Final = 10.0
"""Seconds that a sync waits for its turn, and a question for its turn and for whoever else has the file open."""
_ASIDE: Final = ".old"


@dataclass(frozen=True, slots=True, kw_only=True)
class Synced:
    """How a sync ended, and what it wrote."""

    outcome: Literal["synced", "rebuilt", "skipped", "failed"]
    """``skipped`` where another process has the mirror open, ``failed`` where it cannot be written: it stays behind."""
    events: int = 0
    rows: int = 0
    """Rows that were written, of events and of all tables."""
    note: str = ""
    """Why it was made anew, skipped or failed."""

    @property
    def ok(self) -> bool:
        """Whether the mirror stands where the ledger stood."""
        return self.outcome in ("synced", "rebuilt")


@dataclass(frozen=True, slots=True)
class Mirror:
    """The mirror at ``path``; opened for each work and closed again, so that other processes have their turn."""

    path: Path

    def sync(self, ledger: Ledger, *, rebuild: bool = False) -> Synced:
        """Bring the mirror to where the ledger stands.

        A mirror that is broken, of another ledger or of another version is made anew; whatever else stands at its
        path is set aside. A link to a mirror is followed; nothing else that a link leads to is touched. Nothing that
        is wrong with the mirror is raised.

        Args:
            rebuild: make it anew in any case.

        Raises:
            Unavailable, LedgerCorrupt: the ledger cannot be read.
        """
        try:
            with turn(self.path, exclusive=True, patience=SYNC_PATIENCE):
                return self._sync(ledger, rebuild=rebuild)
        except Locked as problem:
            return Synced(outcome="skipped", note=f"the mirror is in use: {problem}")
        except (duckdb.Error, OSError, Irregular) as problem:
            return Synced(outcome="failed", note=f"the mirror cannot be written: {reason(problem)}")

    def _sync(self, ledger: Ledger, *, rebuild: bool) -> Synced:
        why, aside = "", None
        _remove(_part(self._place))  # what a killed process was making
        if os.path.lexists(self.path):
            try:
                if not rebuild:
                    with for_writing(self.path) as connection:
                        loaded = LiveMirror(connection).sync(ledger)
                    return Synced(outcome="synced", events=loaded.events, rows=loaded.rows)
                check_duckdb(self.path)
            except Unusable as problem:
                why = f"{problem}; it was made anew"
            except (duckdb.Error, Irregular) as problem:
                if is_full(problem):
                    raise
                if self._place != self.path:
                    raise Irregular(
                        f"{reason(problem)}; it is a link to {self._place}, which stays as it is: remove the link"
                    ) from problem
                aside = _aside(self.path)
                why = f"it was no sound mirror ({reason(problem)}); it was made anew, the old file is {aside.name}"
        return self._build(ledger, why, aside=aside)

    def _build(self, ledger: Ledger, why: str, *, aside: Path | None) -> Synced:
        """Make the mirror beside the one that is there, and put it in its place when it is whole."""
        place = self._place
        part = _part(place)
        try:
            with for_writing(part) as connection:
                make(connection)
                loaded = LiveMirror(connection).sync(ledger)
            if aside is not None:
                place.replace(aside)
            log_of(self.path).unlink(missing_ok=True)  # of what goes now
            part.replace(place)
        finally:
            _remove(part)
        outcome: Literal["synced", "rebuilt"] = "rebuilt" if why else "synced"
        return Synced(outcome=outcome, events=loaded.events, rows=loaded.rows, note=why)

    @property
    def _place(self) -> Path:
        """Where the file lies; a link that leads to none is taken as it stands."""
        return self.path.resolve() if self.path.is_symlink() and self.path.is_file() else self.path

    def behind(self, ledger: Ledger) -> int:
        """How many events of the ledger are not in the mirror yet.

        Raises:
            Unavailable: as `answer`.
        """
        with self._opened() as connection:
            ((here,),) = connection.execute("SELECT coalesce(max(global_seq), 0) FROM events").fetchall()
        found = ledger.query("SELECT coalesce(max(global_seq), 0) AS newest FROM events")
        return max(0, int(str(found[0]["newest"])) - int(here))

    def answer(self, sql: str, *, limit: int, seconds: float | None) -> Answer:
        """The rows of one SELECT that cannot change, load or reach anything.

        Args:
            limit: rows at most; 0 for all.
            seconds: how long it may take; None for any time.

        Raises:
            UsageError: it is no such statement, it cannot be answered, or it took too long.
            Unavailable: there is no mirror, or another process has it open.
        """
        with self._opened() as connection:
            return answer(connection, sql, limit=limit, seconds=seconds)

    def relation(self, sql: str, *, seconds: float | None) -> DuckDBPyRelation:
        """The same as a relation in memory; the mirror is closed again when this returns.

        Args:
            seconds: as `answer`.

        Raises:
            UsageError, Unavailable: as `answer`.
        """
        with self._opened(keep=True) as connection:
            return materialized(connection, sql, seconds=seconds)

    def snapshot(self, target: Path) -> None:
        """Write the mirror to a file of its own, which any number of processes may open for reading.

        Raises:
            UsageError: something else than a DuckDB file stands there.
            Unavailable: as `answer`, or the file cannot be written.
        """
        with self._opened() as connection:
            if target.exists() and target.samefile(self.path):
                raise UsageError(f"{target} is the mirror itself; name another file")
            snapshot(connection, target)

    def export(self, folder: Path) -> list[Path]:
        """Write every table and view to a Parquet file in a new folder.

        Raises:
            UsageError: the folder is there and not empty.
            Unavailable: as `answer`, or the folder cannot be written.
        """
        with self._opened() as connection:
            return export(connection, folder)

    def differences(self, ledger: Ledger) -> list[str]:
        """Where the mirror is not what the ledger holds at this moment; empty where it is equal row for row.

        Raises:
            Unavailable: as `answer`.
        """
        with self._opened() as connection, ledger.snapshot() as frozen:
            return differences(connection, frozen)

    @contextlib.contextmanager
    def _opened(self, *, keep: bool = False) -> Iterator[DuckDBPyConnection]:
        try:
            with (
                turn(self.path, exclusive=False, patience=READ_PATIENCE),
                for_reading(self.path, patience=READ_PATIENCE, keep=keep) as connection,
            ):
                if connection.execute("SELECT schema FROM mirror_info").fetchall() != [(version(),)]:
                    raise Unavailable(
                        f"{self.path} was made by another version; run: researchdesk mirror sync"
                    )
                yield connection
        except Locked as problem:
            raise Unavailable(
                f"{self.path}: {problem}. Try again; a copy that is made while it is free can be asked at any time "
                "(researchdesk mirror snapshot FILE)"
            ) from None
        except (duckdb.Error, OSError, Irregular) as problem:
            again = " --rebuild" if is_damaged(problem) else ""
            raise Unavailable(
                f"there is no usable mirror at {self.path} ({reason(problem)}); run: researchdesk mirror sync{again}"
            ) from None


def _part(path: Path) -> Path:
    return path.with_name(f"{path.name}.part")


def _aside(path: Path) -> Path:
    """Where to set aside what stands at a path: a file takes the place of the last one, a folder none."""
    first = path.with_name(path.name + _ASIDE)
    names = chain([first], (first.with_name(f"{first.name}.{number}") for number in count(2)))
    return next(
        name for name in names if not (os.path.lexists(name) and (_is_folder(name) or _is_folder(path)))
    )


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)
    log_of(path).unlink(missing_ok=True)
