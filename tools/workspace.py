"""The facade that opens a desk: its ledger, its sessions, and what is done to whole sessions.

This is the only module that opens databases.
"""

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from researchdesk.state import events as ev
from researchdesk.state.desk.policies import NO_POLICIES, Policies
from researchdesk.state.errors import LedgerCorrupt, NotFound, Unavailable, UsageError
from researchdesk.state.ids import session_stream, stream_owner
from researchdesk.state.names import clean_id
from researchdesk.state.session_list import Sessions, SessionSummary
from researchdesk.state.vocabulary import PROFILES, RESEARCH_LABEL, Profile, one_of
from researchdesk.stores.jsonl import Imported, export_lines
from researchdesk.stores.ledger import ENDED, Ledger
from researchdesk.stores.locks import FileLocks, Locks, holder_name
from researchdesk.stores.notes import NotesFiles
from researchdesk.stores.postgres.address import Address, is_address, parse_address
from researchdesk.stores.sqlite.ledger import SqliteLedger
from researchdesk.stores.transfer import Copied, OnCopy
from researchdesk.stores.verify import VerifyReport, rebuild, verify
from researchdesk.tools.approving import Approving
from researchdesk.tools.bundle import import_file, write_bundle
from researchdesk.tools.door import Session
from researchdesk.tools.extending import Extending
from researchdesk.tools.forking import fork
from researchdesk.tools.handing_off import Draft, hand_off
from researchdesk.tools.iolog import Log, read_log
from researchdesk.tools.mirroring import Mirroring
from researchdesk.tools.moving import copy_desk
from researchdesk.tools.proof import quote_problems
from researchdesk.tools.purging import purge
from researchdesk.tools.records import Records, utc_now
from researchdesk.tools.sources.gathering import Sources
from researchdesk.tools.sourcing import Sourcing
from researchdesk.tools.writing import whole_file

HOME_VARIABLE = "RESEARCHDESK_HOME"
DEFAULT_HOME = ".researchdesk"
_MADE_BY_USE = ("reports", "index.sqlite", "checkpoints.sqlite")


class Desk(Approving, Extending, Mirroring, Sourcing):
    """An opened desk: a home folder, or a schema on a PostgreSQL server with a local folder beside it.

    Use it as a context manager, or call `close`. Safe for several threads; several processes may open the same
    desk at the same time.
    """

    def __init__(
        self,
        home: Path,
        ledger: Ledger,
        *,
        clock: Callable[[], str] = utc_now,
        locks: Locks | None = None,
        address: Address | None = None,
    ) -> None:
        self.home = home
        """The local folder: indexes, notes and reports for people to read."""
        self.address = address
        """Where the desk lies on a server, or None where it is the home folder."""
        self.locks = locks or FileLocks(home / "locks")
        self.records = Records(ledger, notes=NotesFiles(home / "notes"), clock=clock)

    @property
    def ledger(self) -> Ledger:
        """The store under this desk."""
        return self.records.ledger

    def __repr__(self) -> str:
        return f"Desk({self.where!r})"

    @property
    def where(self) -> str:
        """What opens this desk again: the folder, or the server's URL without a password."""
        return self.address.shown if self.address else str(self.home.absolute())

    def session(
        self,
        session_id: str,
        *,
        labels: Sequence[str] = (RESEARCH_LABEL,),
        user: str = "",
        parent: str | None = None,
        profile: Profile = "explore",
        sources: Sources | None = None,
        policies: Policies = NO_POLICIES,
    ) -> Session:
        """The session of that id; it is opened with the given rights when it is new.

        Args:
            session_id: letters, digits, ``._:-``, at most 128 characters.
            labels: ``mode:deep_research`` gives a root session the research tools; ``mode:investigation`` beside it
                makes its run keep questions, notes and challenges, and gives it the tools for them.
            user: whose session it is; may be empty.
            parent: the session that this one is a child of; a child gets no research tools.
            profile: what its tools may do; ``explore`` writes nothing but the ledger.
            sources: where it may search and read.
            policies: which changes of the desk that its model asks for need no person; by default none.

        Raises:
            Refusal: the id has not that form.
            UsageError: there is no such profile, or a policy is for a tool whose calls do not wait.
        """
        clean_id(session_id, "session id")
        one_of("profile", profile, PROFILES)
        for tool in policies.auto_approve:
            one_of("auto_approve", tool, self.gated_tools)
        session = replace(self._named(session_id, sources), policies=policies)
        if self.ledger.head(session.stream).count == 0:
            opened = ev.SessionOpened(
                session_id=session_id, labels=tuple(labels), user=user, parent=parent or "", profile=profile
            )
            session.open(opened)
        return session

    def existing(self, session_id: str = "", *, sources: Sources | None = None) -> Session:
        """The session of that id, by default the one that `latest` names.

        Raises:
            NotFound: there is none; the message lists the newest.
        """
        if session_id and self.ledger.head(session_stream(session_id)).count:
            return self._named(session_id, sources)
        # Listing the streams reads the whole index of events: only for what has no head record.
        known = self._session_ids()
        if not known:
            raise NotFound(f"no session in {self.where} yet; start one with `researchdesk run`")
        if session_id and session_id not in known:
            raise NotFound(f"no session '{session_id[:200]}' in {self.where}; it has {', '.join(known[-5:])}")
        return self._named(session_id or self.latest(), sources)

    def _session_ids(self) -> list[str]:
        streams = self.ledger.streams()
        return [stream_owner(name) for name in streams if name == session_stream(stream_owner(name))]

    def _named(self, session_id: str, sources: Sources | None = None) -> Session:
        # Which of the tools it may use, the session's own rights decide.
        return Session(
            id=session_id,
            records=self.records,
            specs=self.every_tool,
            sources=sources or Sources(),
            panel_types=self.panel_types,
        )

    def latest(self) -> str:
        """The research session that was started last, or else the newest session."""
        rows = self.ledger.query(
            "SELECT s.session_id FROM sessions s LEFT JOIN research_runs r USING (session_id) "
            "ORDER BY r.session_id IS NULL, s.created_at DESC LIMIT 1"
        )
        if not rows:
            raise NotFound(f"no session in {self.where} yet; start one with `researchdesk run`")
        return str(rows[0]["session_id"])

    def sessions(self) -> Sessions:
        """All sessions, newest first."""
        rows = self.ledger.query(
            "SELECT s.session_id, s.created_at, coalesce(r.objective, '') AS objective, "
            "coalesce(r.status, 'open') AS status, coalesce(r.stage, '') AS stage, "
            "coalesce(r.stop_reason, '') AS stop_reason, "
            "(SELECT count(*) FROM sources o WHERE o.session_id = s.session_id) AS sources, "
            "(SELECT ts FROM events e WHERE e.stream = 'session:' || s.session_id ORDER BY seq DESC LIMIT 1) "
            "AS updated_at FROM sessions s LEFT JOIN research_runs r USING (session_id) ORDER BY s.created_at DESC"
        )
        drivers = self.drivers([str(row["session_id"]) for row in rows if row["status"] == "active"])
        return Sessions(
            SessionSummary(**row, driver=drivers.get(str(row["session_id"]), ""))  # type: ignore[arg-type]
            for row in rows
        )

    def log(self, session_id: str = "", *, all_sessions: bool = False) -> Log:
        """What was said and called in a session, by default the latest, or in all of them by time.

        Raises:
            NotFound: there is no such session.
        """
        return read_log(self.records, "" if all_sessions else self.existing(session_id).id)

    def drivers(self, session_ids: Sequence[str]) -> dict[str, str]:
        """Who drives which of these sessions at this moment; those that nobody drives are left out."""
        held = self.locks.held(session_ids)
        if not held:
            return {}
        rows = self.ledger.query("SELECT session_id, holder FROM leases")
        holders = {str(row["session_id"]): str(row["holder"]) for row in rows}
        return {name: holders.get(name) or "another process" for name in session_ids if name in held}

    @contextlib.contextmanager
    def driving(self, session: Session) -> Iterator[Session]:
        """The session under its lease: the only driver, whose every write is checked against the newest epoch.

        What is yielded writes nothing any more once the block has ended, so that a thread that outlives its
        driver cannot disturb the next one; ``session`` itself stays as it was.

        Raises:
            SessionBusy: another process drives it.
        """
        lock = self.locks.lock(session.id)
        lock.acquire()
        try:
            lease = self.ledger.take_lease(session.id, holder=holder_name())
            driven = replace(session, lease=lease)
            try:
                yield driven
            finally:
                driven.lease = replace(lease, epoch=ENDED)
        finally:
            lock.release()

    def handoff(self, session_id: str) -> Draft:
        """A new, ordinary session with a draft prompt from a completed run; a second call gives the same one.

        Nothing is sent, no model is called and the research session stays as it is.

        Raises:
            NotFound: there is no such session.
            UsageError: it holds no completed research.
        """
        return hand_off(self.existing(session_id))

    def fork(self, session_id: str, seq: int, *, new_id: str = "") -> Session:
        """A new session that holds the first ``seq`` events of another and goes on from there by itself.

        What a call wrote is taken whole: where ``seq`` lies within a call, the fork holds its last event too. Bodies
        are shared, not copied. Doing the same again gives the session that is there.

        Args:
            new_id: the new session's id; by default the old one's with ``-at-<seq>``.

        Raises:
            NotFound: there is no such session, or it has no such event.
            UsageError: that is no number of an event, or another session has the new id.
        """
        session = self.existing(session_id)
        return fork(session, seq, new_id or f"{session.id}-at-{seq}")

    def verify(self, session_id: str = "") -> VerifyReport:
        """Check every byte of one session, or of the whole desk, and that every quotation stands in its source."""
        streams = [session_stream(self.existing(session_id).id)] if session_id else None
        report = verify(self.ledger, streams=streams)
        if not report.ok:
            return report
        names = [session_id] if session_id else self._session_ids()
        problems = tuple(problem for name in names for problem in quote_problems(self.records, name))
        return replace(report, problems=problems)

    def rebuild(self, session_id: str) -> int:
        """Write a session's relational rows anew from its events; returns their number."""
        return rebuild(self.ledger, session_stream(self.existing(session_id).id))

    def export(self, session_id: str, path: str | Path) -> Path:
        """Write a session to a file: ``.jsonl`` for the events and bodies alone, else a bundle (zip).

        Raises:
            UsageError, Unavailable: as `whole_file`.
        """
        target = Path(path)
        stream = session_stream(self.existing(session_id).id)
        with whole_file(target) as file:
            if target.suffix == ".jsonl":
                file.writelines(export_lines(self.ledger, stream))
            else:
                write_bundle(self.ledger, stream, file)
        return target

    def import_session(self, path: str | Path) -> Imported:
        """Take an exported session into this desk, whole or not at all.

        Raises:
            NotFound: there is no such file.
            LedgerCorrupt: it is no whole export; the message names the line.
            UsageError: the desk holds another session under its name.
        """
        source = Path(path)
        if not os.path.isfile(source):  # noqa: PTH113 - says no where `Path.is_file` raises
            raise NotFound(f"no file {str(source)[:300]}")
        return import_file(self.ledger, source)

    def copy_to(self, other: "Desk", *, on_progress: OnCopy | None = None) -> Copied:
        """Copy all that this desk holds into another one, of any backend, and verify it there.

        The copy is this desk as it stands now, even while runs go on. Where the other desk holds the beginning of it,
        from an interrupted copy or an older one, what is missing is added; its other sessions stay as they are.
        Leases, checkpoints and rendered reports are not copied: a run goes on from the ledger alone.

        Args:
            on_progress: called with a `CopyProgress` again and again.

        Raises:
            UsageError: both are the same desk, or the other holds a session of the same name with another history;
                nothing was copied. Or somebody wrote to one of the sessions there meanwhile.
            LedgerCorrupt: this desk is damaged; nothing was copied.
            IntegrityError: the other desk does not verify afterwards.
        """
        return copy_desk(self, other, on_progress=on_progress)

    def purge(self, session_id: str, artifact_ids: Sequence[str] = (), *, actor: str, reason: str) -> int:
        """Remove texts for good: of the named artifacts, or of all; their hashes stay. Returns how many bodies went.

        Removed are the artifact's text and raw bytes and the recorded arguments and results that repeat them; a
        body that another artifact or another session stands on goes with the last of them. Found snippets in
        search records stay, they are part of the events.

        Raises:
            NotFound: no such artifact.
        """
        return purge(self.existing(session_id), artifact_ids, actor=actor, reason=reason)

    def close(self) -> None:
        """Release the ledger."""
        self.ledger.close()

    def __enter__(self) -> "Desk":
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()


def default_home() -> str:
    """What ``$RESEARCHDESK_HOME`` names, a folder or a PostgreSQL desk, else ``./.researchdesk``."""
    return os.environ.get(HOME_VARIABLE) or DEFAULT_HOME


def open_desk(
    home: str | Path | None = None, *, clock: Callable[[], str] = utc_now, make: bool = True
) -> Desk:
    """Open a desk, and make and migrate it where needed.

    Args:
        home: a folder, or ``postgresql://user@host/database?schema=name`` (extra ``postgres``) for a schema that is
            this desk's own; by default ``$RESEARCHDESK_HOME``, else ``./.researchdesk``.
        make: whether a desk on a server that is not there yet is made.

    Raises:
        UsageError: the folder's path is not UTF-8, the URL is none of a desk, or the extra is not installed.
        NotFound: there is no desk on the server and ``make`` is false.
        Unavailable: the folder cannot be made or written, the server cannot be reached, or a newer version wrote it.
        LedgerCorrupt: its ledger file is damaged, or empty although the folder was used.
    """
    named = default_home() if home is None else home
    if is_address(named):
        return _server_desk(parse_address(str(named)), clock=clock, make=make)
    folder = Path(named)
    with _made(folder):
        (folder / "locks").mkdir(parents=True, exist_ok=True)
        _check_not_emptied(folder)
    return Desk(folder, _ledger_in(folder), clock=clock)


def _ledger_in(folder: Path) -> SqliteLedger:
    path = folder / "ledger.sqlite"
    try:
        return SqliteLedger(path)
    except Unavailable:
        if _is_writable(folder) and (_is_writable(path) or not path.exists()):
            raise
    raise Unavailable(
        f"the desk in {str(folder)[:300]} may not be written here, and a ledger is written to while it is read: copy "
        "the folder, or ask the mirror that lies in it (`researchdesk mirror sql`, which needs only to read)"
    )


def _is_writable(path: Path) -> bool:
    return os.access(path, os.W_OK)


def _server_desk(address: Address, *, clock: Callable[[], str], make: bool) -> Desk:
    """A desk on a server; indexes and readable copies lie in a local folder, in the default home."""
    try:
        from researchdesk.stores.postgres.ledger import PostgresLedger
        from researchdesk.stores.postgres.locks import AdvisoryLocks
    except ImportError as problem:
        raise UsageError(
            f"a PostgreSQL desk needs its driver ({problem}); install it with: pip install 'researchdesk[postgres]'"
        ) from None
    ledger = PostgresLedger.open(address, make=make)
    local = default_home()
    folder = Path(DEFAULT_HOME if is_address(local) else local) / "postgres" / address.folder
    try:
        with _made(folder):
            pass
    except BaseException:
        ledger.close()
        raise
    return Desk(folder, ledger, clock=clock, locks=AdvisoryLocks(ledger), address=address)


@contextlib.contextmanager
def _made(folder: Path) -> Iterator[None]:
    """Makes a folder before what is done in it, with errors for whoever named it."""
    try:
        str(folder).encode()
        folder.mkdir(parents=True, exist_ok=True)
        if not (ignore := folder / ".gitignore").exists():
            ignore.write_text("*\n")  # a desk inside a repository is nobody's change to commit
        yield
    except OSError as problem:
        verb = "write to" if os.path.isdir(folder) else "make"  # noqa: PTH112 - says no where `Path` raises
        raise Unavailable(f"cannot {verb} the home folder {str(folder)[:300]}: {problem.strerror}") from None
    except UnicodeEncodeError:
        raise UsageError(f"the home folder's path {str(folder)!r} is not UTF-8; choose another one") from None


def _check_not_emptied(folder: Path) -> None:
    """An empty ledger file is that of a new desk only where nothing else was ever left by one."""
    ledger = folder / "ledger.sqlite"
    if not ledger.exists() or ledger.stat().st_size:
        return
    if any((folder / "locks").glob("*.lock")) or any((folder / name).exists() for name in _MADE_BY_USE):
        raise LedgerCorrupt(
            f"{ledger} is empty, yet this home folder has been used: its sessions are lost. Restore the file from a "
            "backup, or move the folder away and import your exports into a new one; nothing was changed"
        )
