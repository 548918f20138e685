"""The vectors of passages in the index file, kept by what they were made from, and the nearest of them to a query."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from researchdesk.state.errors import ResearchdeskError
from researchdesk.stores.sqlite.connection import Connection, sqlite_errors, transaction
from researchdesk.tools.sources.dense.embedder import Embedder

if TYPE_CHECKING:
    import numpy

# Texts that have nothing to do with each other stay below it; a query that nothing answers finds nothing.
LEAST_NEARNESS = 0.3
_BATCH = 64
_SCHEMA = """
CREATE TABLE IF NOT EXISTS vectors(hash BLOB PRIMARY KEY, vector BLOB NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS embedded(passage INTEGER PRIMARY KEY, hash BLOB NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS loose(hash BLOB PRIMARY KEY) STRICT, WITHOUT ROWID;
CREATE TRIGGER IF NOT EXISTS passage_unembedded AFTER DELETE ON passages BEGIN
    INSERT OR IGNORE INTO loose SELECT hash FROM embedded WHERE passage=old.id;
    DELETE FROM embedded WHERE passage=old.id;
END;
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Matrix:
    """The vectors of some roots as they stood at one state of the file."""

    state: tuple[int, int, str]
    passages: "numpy.ndarray"
    vectors: "numpy.ndarray"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Passage:
    id: int
    path: str
    hash: bytes
    text: str


class Vectors:
    """Embeds what is not embedded yet, and finds what is near; safe for threads."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._lock = Lock()
        self._matrix: _Matrix | None = None

    def missing(self, connection: Connection, roots: Sequence[str]) -> int:
        """How many passages of these roots have no vector yet; prepares the file."""
        connection.executescript(_SCHEMA)
        (count,) = connection.execute(f"SELECT count(*) {_WITHOUT}", (json.dumps(list(roots)),)).fetchone()
        return int(count)

    def embed_some(self, connection: Connection, path: Path, roots: Sequence[str]) -> tuple[int, str]:
        """Embed the next passages in one transaction; gives how many, and the file of the last; 0 when all are done."""
        passages = list(self._next(connection, roots))
        if not passages:
            return 0, ""
        known = self._known(connection, passages)
        new = list({passage.hash: passage for passage in passages if passage.hash not in known}.values())
        stored = self._embedded(new) if new else []
        with transaction(connection, path):
            connection.executemany("INSERT OR IGNORE INTO vectors VALUES (?,?)", stored)
            connection.executemany(
                # A passage that another process removed meanwhile gets none.
                "INSERT OR REPLACE INTO embedded SELECT id, ? FROM passages WHERE id=?",
                [(passage.hash, passage.id) for passage in passages],
            )
        return len(passages), passages[-1].path

    def forget_unused(self, connection: Connection, path: Path) -> None:
        """Remove the vectors that passages had and no passage has any more.

        Those of another index stay until that corpus is embedded too, see `take_over`.
        """
        with transaction(connection, path):
            connection.execute(
                "DELETE FROM vectors WHERE hash IN (SELECT hash FROM loose) AND hash NOT IN (SELECT hash FROM embedded)"
            )
            connection.execute("DELETE FROM loose")

    def nearest(self, query: str) -> Callable[[Connection, str, int], list[tuple[int, float]]]:
        """Embed a query; what comes back gives the passages nearest to it and how near, in one state of the file."""
        import numpy

        wanted = self._embedder.embed([query])[0]

        def passages(connection: Connection, roots: str, depth: int) -> list[tuple[int, float]]:
            matrix = self._loaded(connection, roots)
            nearness = matrix.vectors @ wanted
            near = numpy.flatnonzero(nearness >= LEAST_NEARNESS)
            best = near[numpy.lexsort((matrix.passages[near], -nearness[near]))[:depth]]
            return [(int(matrix.passages[place]), float(nearness[place])) for place in best]

        return passages

    def forget_loaded(self) -> None:
        """Read the vectors anew at the next query, as after another file took the index's place."""
        with self._lock:
            self._matrix = None

    def _next(self, connection: Connection, roots: Sequence[str]) -> Iterator[_Passage]:
        rows = connection.execute(
            f"SELECT p.id, f.path, p.heading, p.body {_WITHOUT} ORDER BY p.id LIMIT {_BATCH}",
            (json.dumps(list(roots)),),
        ).fetchall()
        for row in rows:
            text = "\n".join(filter(None, (row[2], row[3])))
            key = sha256(f"{self._embedder.name}\0{text}".encode()).digest()[:16]
            yield _Passage(id=row[0], path=row[1], hash=key, text=text)

    def _embedded(self, passages: Sequence[_Passage]) -> list[tuple[bytes, bytes]]:
        rows = self._embedder.embed([passage.text for passage in passages])
        return [
            (passage.hash, row.astype("float16").tobytes())
            for passage, row in zip(passages, rows, strict=True)
        ]

    def _known(self, connection: Connection, passages: Sequence[_Passage]) -> set[bytes]:
        marks = ",".join("?" * len(passages))
        statement = f"SELECT hash FROM vectors WHERE hash IN ({marks})"
        return {bytes(row[0]) for row in connection.execute(statement, [one.hash for one in passages])}

    def _loaded(self, connection: Connection, roots: str) -> _Matrix:
        version = connection.execute("PRAGMA data_version").fetchone()[0]
        changes = connection.execute("SELECT total_changes()").fetchone()[0]
        state = (version, changes, roots)
        with self._lock:
            if self._matrix is None or self._matrix.state != state:
                self._matrix = self._read(connection, roots, state)
            return self._matrix

    def _read(self, connection: Connection, roots: str, state: tuple[int, int, str]) -> _Matrix:
        import numpy

        rows = connection.execute(
            "SELECT e.passage, v.vector FROM embedded e JOIN vectors v USING(hash) "
            "JOIN passages p ON p.id=e.passage JOIN files f ON f.id=p.file "
            "WHERE f.root IN (SELECT value FROM json_each(?)) ORDER BY e.passage",
            (roots,),
        ).fetchall()
        packed = numpy.frombuffer(b"".join(row[1] for row in rows), dtype=numpy.float16)
        return _Matrix(
            state=state,
            passages=numpy.array([row[0] for row in rows], dtype=numpy.int64),
            vectors=packed.astype(numpy.float32).reshape(-1, self._embedder.dimensions),
        )


def take_over(connection: Connection, other: Path) -> None:
    """Copy the vectors that passages of another index have, whatever else that holds; nothing where it is damaged.

    They are found again by what they were made from, so that texts that are read anew need not be embedded anew.
    """
    connection.executescript(_SCHEMA)
    with suppress(ResearchdeskError), sqlite_errors(other):
        connection.execute("ATTACH ? AS other", (str(other),))
        try:
            if connection.execute("PRAGMA other.quick_check(1)").fetchone() == ("ok",):
                connection.execute(
                    "INSERT INTO vectors SELECT hash, vector FROM other.vectors "
                    "WHERE hash IN (SELECT hash FROM other.embedded)"
                )
        finally:
            connection.execute("DETACH other")


_WITHOUT = (
    "FROM passages p JOIN files f ON f.id=p.file LEFT JOIN embedded e ON e.passage=p.id "
    "WHERE e.passage IS NULL AND f.root IN (SELECT value FROM json_each(?))"
)
