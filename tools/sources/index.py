"""The full-text index of local documents: `index.sqlite`, disposable, shared by processes.

Passages are searched by stem (FTS5 ``porter``) and by ``trigram``, whole documents by stem; see `ranking`. A file
that is damaged is deleted and built anew; whoever loses it meanwhile gets `IndexLost` and refreshes. One that
another version made is built anew too, but its vectors, which depend on nothing but the texts, are taken over.
"""

import fcntl
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from threading import RLock
from typing import Any, TypeVar

from researchdesk.state.errors import LedgerCorrupt, Unavailable
from researchdesk.state.queries import Query
from researchdesk.stores.sqlite.connection import Connection, connect, sqlite_errors, transaction
from researchdesk.tools.sources.dense.vectors import Vectors, take_over
from researchdesk.tools.sources.files import FileStamp
from researchdesk.tools.sources.ranking import FoundPassage, Nearest, rank_passages

Result = TypeVar("Result")

SCHEMA_VERSION = 2
MEANING = "meaning of "
"""Stands before a file's name in the progress of embedding."""

_STEMS = "porter unicode61 remove_diacritics 2"
_SCHEMA = f"""
CREATE TABLE made_with(versions TEXT NOT NULL) STRICT;
CREATE TABLE files(
    id INTEGER PRIMARY KEY, root TEXT NOT NULL, path TEXT NOT NULL, sha256 TEXT NOT NULL,
    size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, ctime_ns INTEGER NOT NULL,
    title TEXT, media_type TEXT NOT NULL, stated_origin TEXT NOT NULL, left_out TEXT NOT NULL,
    UNIQUE(root, path)) STRICT;
CREATE TABLE passages(
    id INTEGER PRIMARY KEY, file INTEGER NOT NULL REFERENCES files(id) ON DELETE CASCADE,
    start INTEGER NOT NULL, heading TEXT NOT NULL, body TEXT NOT NULL) STRICT;
CREATE INDEX passages_of_file ON passages(file);
CREATE VIRTUAL TABLE words USING fts5(
    heading, body, content='passages', content_rowid='id', tokenize='{_STEMS}');
CREATE VIRTUAL TABLE trigrams USING fts5(body, content='passages', content_rowid='id', tokenize='trigram');
-- Holds no text: what an entry was made of is put together again to remove it.
CREATE VIRTUAL TABLE documents USING fts5(body, content='', tokenize='{_STEMS}');
CREATE VIEW document_texts(file, body) AS
    SELECT id, (SELECT group_concat(heading || ' ' || body, ' ') FROM passages WHERE file=files.id) FROM files;
CREATE TRIGGER passage_added AFTER INSERT ON passages BEGIN
    INSERT INTO words(rowid, heading, body) VALUES (new.id, new.heading, new.body);
    INSERT INTO trigrams(rowid, body) VALUES (new.id, new.body);
END;
CREATE TRIGGER passage_removed AFTER DELETE ON passages BEGIN
    INSERT INTO words(words, rowid, heading, body) VALUES ('delete', old.id, old.heading, old.body);
    INSERT INTO trigrams(trigrams, rowid, body) VALUES ('delete', old.id, old.body);
END;
CREATE TRIGGER file_removed BEFORE DELETE ON files BEGIN
    INSERT INTO documents(documents, rowid, body)
        SELECT 'delete', file, body FROM document_texts WHERE file=old.id AND body IS NOT NULL;
END;
"""


class IndexLost(Unavailable):
    """The index was damaged and is empty now; refresh and ask again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownFile:
    """What the index recorded of a file; ``left_out`` is the reason why it has no passages, "" where it has."""

    path: str
    sha256: str
    stamp: FileStamp
    title: str | None = None
    media_type: str = ""
    stated_origin: str = ""
    left_out: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedPassage:
    """A passage to be searched: where it starts in the extracted text, the headings above it, its words."""

    start: int
    heading: str
    body: str


class Index:
    """One process's hand on the index file; safe for threads, and after a fork.

    Raises (any method): IndexLost after damage, Unavailable where the file cannot be opened or written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = RLock()
        self._connection: Connection | None = None
        self._process = 0
        self._is_empty = False  # made by this process, which has not asked yet what it holds

    def known(self, root: str) -> dict[str, KnownFile]:
        """Give all files recorded under a root, by path."""

        def read(connection: Connection) -> list[tuple[Any, ...]]:
            self._is_empty = False
            return connection.execute(
                "SELECT path, sha256, size, mtime_ns, ctime_ns, title, media_type, stated_origin, left_out "
                "FROM files WHERE root=?",
                (root,),
            ).fetchall()

        rows = self._do(read)
        return {
            row[0]: KnownFile(
                path=row[0],
                sha256=row[1],
                stamp=FileStamp(size=row[2], mtime_ns=row[3], ctime_ns=row[4]),
                title=row[5],
                media_type=row[6],
                stated_origin=row[7],
                left_out=row[8],
            )
            for row in rows
        }

    def put(self, root: str, files: Sequence[tuple[KnownFile, Sequence[IndexedPassage]]]) -> None:
        """Record files with their passages, replacing what was there, in one transaction."""

        def write(connection: Connection) -> None:
            with transaction(connection, self.path):
                for file, found in files:
                    _delete(connection, root, file.path)
                    _insert(connection, root, file, found)

        self._do(write)

    def restamp(self, root: str, stamps: Sequence[tuple[str, FileStamp]]) -> None:
        """Record new stamps of files whose bytes are unchanged."""

        def write(connection: Connection) -> None:
            with transaction(connection, self.path):
                connection.executemany(
                    "UPDATE files SET size=?, mtime_ns=?, ctime_ns=? WHERE root=? AND path=?",
                    [(stamp.size, stamp.mtime_ns, stamp.ctime_ns, root, path) for path, stamp in stamps],
                )

        self._do(write)

    def drop(self, root: str, paths: Sequence[str]) -> None:
        """Forget files."""

        def write(connection: Connection) -> None:
            with transaction(connection, self.path):
                for path in paths:
                    _delete(connection, root, path)

        self._do(write)

    def embed(
        self, vectors: Vectors, *, roots: Sequence[str], progress: Callable[[int, int, str], None] | None
    ) -> int:
        """Give each passage of these roots its vector, some at a time, so that others can read meanwhile."""
        missing = self._do(lambda connection: vectors.missing(connection, roots))
        done = 0
        while True:
            count, file = self._do(lambda connection: vectors.embed_some(connection, self.path, roots))
            if not count:
                break
            done += count
            if progress:
                progress(done, max(done, missing), f"{MEANING}{file}")
        self._do(lambda connection: vectors.forget_unused(connection, self.path))
        return done

    def search(
        self, query: Query, *, roots: Sequence[str], depth: int, nearest: Nearest | None = None
    ) -> list[FoundPassage]:
        """Give passages of these roots, best first; each of the rankings contributes at most ``depth``."""

        def ranked(connection: Connection) -> list[FoundPassage]:
            if self._is_empty:
                raise IndexLost(f"{self.path} was lost and is built anew")
            return rank_passages(connection, query, roots=roots, depth=depth, nearest=nearest)

        return self._do(ranked)

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            if self._connection is not None and self._process == os.getpid():
                self._connection.close()
            self._connection = None

    def _do(self, work: Callable[[Connection], Result]) -> Result:
        with self._lock:
            try:
                with sqlite_errors(self.path):
                    return work(self._open())
            except LedgerCorrupt:
                self.close()
                self._discard_if_damaged()
                raise IndexLost(f"{self.path} was damaged and is built anew") from None

    def _open(self) -> Connection:
        if self._connection is None or self._process != os.getpid():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with _locked(self.path):
                self._connection = _usable(self.path)
                if self._connection is None:
                    self._connection, self._is_empty = _created(self.path), True
            self._process = os.getpid()
        return self._connection

    def _discard_if_damaged(self) -> None:
        with _locked(self.path):
            (_usable(self.path, thorough=True) or _created(self.path)).close()


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Let one process at a time create or replace the file."""
    descriptor = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _usable(path: Path, *, thorough: bool = False) -> Connection | None:
    """Open an index that this version made; None where there is none, or another one."""
    if not path.exists():
        return None
    connection = None
    try:
        connection = connect(path, synchronous="NORMAL")
        with sqlite_errors(path):
            schema = connection.execute("PRAGMA user_version").fetchone()[0]
            made_with = connection.execute("SELECT versions FROM made_with").fetchone()
            sound = not thorough or connection.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok"
        if schema == SCHEMA_VERSION and made_with == (_versions(),) and sound:
            return connection
    except (LedgerCorrupt, Unavailable) as problem:
        if isinstance(problem, Unavailable) and "no such table" not in str(problem):
            raise
    if connection is not None:
        connection.close()
    return None


def _created(path: Path) -> Connection:
    """Put a new index in the place of what is there, with the vectors of that where they can be read."""
    fresh = Path(f"{path}.new")
    _remove(fresh)
    connection = connect(fresh, synchronous="NORMAL")
    with sqlite_errors(fresh):
        connection.executescript(f"BEGIN IMMEDIATE;{_SCHEMA}PRAGMA user_version={SCHEMA_VERSION};")
        connection.execute("INSERT INTO made_with VALUES (?)", (_versions(),))
        connection.execute("COMMIT")
    if path.exists():
        take_over(connection, path)
    connection.close()
    _remove(path)
    fresh.rename(path)
    return connect(path, synchronous="NORMAL")


def _remove(path: Path) -> None:
    for suffix in ("", "-wal", "-shm", "-journal"):
        with suppress(FileNotFoundError):
            Path(f"{path}{suffix}").unlink()


def _versions() -> str:
    """Name the extractors: with another version of one, texts and offsets may differ."""
    found = {}
    for package in ("trafilatura", "pypdfium2", "python-docx", "charset-normalizer"):
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return json.dumps(found, sort_keys=True)


def _delete(connection: Connection, root: str, path: str) -> None:
    connection.execute("DELETE FROM files WHERE root=? AND path=?", (root, path))


def _insert(connection: Connection, root: str, file: KnownFile, found: Sequence[IndexedPassage]) -> None:
    stamp = file.stamp
    stamped = (stamp.size, stamp.mtime_ns, stamp.ctime_ns)
    described = (file.title, file.media_type, file.stated_origin, file.left_out)
    row = connection.execute(
        "INSERT INTO files(root, path, sha256, size, mtime_ns, ctime_ns, title, media_type, stated_origin, left_out) "
        "VALUES (?,?,?,?,?,?,?,?,?,?) RETURNING id",
        (root, file.path, file.sha256, *stamped, *described),
    ).fetchone()
    connection.executemany(
        "INSERT INTO passages(file, start, heading, body) VALUES (?,?,?,?)",
        [(row[0], passage.start, passage.heading, passage.body) for passage in found],
    )
    connection.execute(
        "INSERT INTO documents(rowid, body) "
        "SELECT file, body FROM document_texts WHERE file=? AND body IS NOT NULL",
        row,
    )
