"""Ranking: stems and trigrams by bm25, short pieces by scanning, meaning by nearness, merged by reciprocal rank."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from researchdesk.stores.sqlite.connection import Connection
from researchdesk.tools.sources.query import Query

_RANK_OFFSET = 60  # the usual constant of reciprocal rank fusion
_WORDS, _TRIGRAMS, _PIECES, _MEANING = 1.0, 0.3, 1.0, 1.0

Nearest = Callable[[Connection, str, int], list[int]]
"""From the roots (a JSON list) and a depth to the passages nearest in meaning, best first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPassage:
    """A passage that answers a query, and the file it stands in; ``score`` is a sum of reciprocal ranks."""

    root: str
    path: str
    title: str | None
    media_type: str
    stated_origin: str
    start: int
    heading: str
    body: str
    score: float


def rank_passages(
    connection: Connection, query: Query, *, roots: Sequence[str], depth: int, nearest: Nearest | None = None
) -> list[FoundPassage]:
    """Give the passages under ``roots``, best first; each of the rankings contributes at most ``depth``."""
    connection.execute("BEGIN")  # one state of the index for all that is read
    try:
        found = _search(connection, query, json.dumps(list(roots)), depth, nearest)
    finally:
        connection.execute("COMMIT")
    return sorted(found, key=lambda passage: (-passage.score, passage.root, passage.path, passage.start))


def _search(
    connection: Connection, query: Query, listed: str, depth: int, nearest: Nearest | None
) -> list[FoundPassage]:
    others = "SELECT EXISTS(SELECT 1 FROM files WHERE root NOT IN (SELECT value FROM json_each(?)))"
    shared = bool(connection.execute(others, (listed,)).fetchone()[0])
    rankings = [
        (_WORDS, _ranked(connection, "words", query.words, listed, depth, shared=shared)),
        (_TRIGRAMS, _ranked(connection, "trigrams", query.trigrams, listed, depth, shared=shared)),
        (_PIECES, _containing(connection, query.pieces, listed, depth)),
    ]
    if nearest is not None:
        rankings.append((_MEANING, nearest(connection, listed, depth)))
    scores: dict[int, float] = {}
    for weight, ids in rankings:
        for rank, passage in enumerate(ids, start=1):
            scores[passage] = scores.get(passage, 0.0) + weight / (_RANK_OFFSET + rank)
    rows = connection.execute(
        "SELECT p.id, f.root, f.path, f.title, f.media_type, f.stated_origin, p.start, p.heading, p.body "
        "FROM passages p JOIN files f ON f.id=p.file WHERE p.id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(scores)),),
    )
    return [
        FoundPassage(
            root=row[1],
            path=row[2],
            title=row[3],
            media_type=row[4],
            stated_origin=row[5],
            start=row[6],
            heading=row[7],
            body=row[8],
            score=scores[row[0]],
        )
        for row in rows
    ]


def _ranked(
    connection: Connection, table: str, expression: str, roots: str, depth: int, *, shared: bool
) -> list[int]:
    """Rank by bm25; the roots are looked up only where the index holds others too."""
    if not expression:
        return []
    if not shared:
        statement = f"SELECT rowid FROM {table} WHERE {table} MATCH ? ORDER BY rank, rowid LIMIT ?"
        return [row[0] for row in connection.execute(statement, (expression, depth))]
    statement = (
        f"SELECT t.rowid FROM {table} t JOIN passages p ON p.id=t.rowid JOIN files f ON f.id=p.file "
        f"WHERE {table} MATCH ? AND f.root IN (SELECT value FROM json_each(?)) ORDER BY t.rank, t.rowid LIMIT ?"
    )
    return [row[0] for row in connection.execute(statement, (expression, roots, depth))]


def _containing(connection: Connection, pieces: Sequence[str], roots: str, depth: int) -> list[int]:
    """Rank by how many of the pieces a passage holds; scans, so it serves only scripts without spaces."""
    if not pieces:
        return []
    count = " + ".join("(instr(p.body, ?) > 0)" for _ in pieces)
    rows = connection.execute(
        f"SELECT p.id, {count} AS held FROM passages p JOIN files f ON f.id=p.file "
        "WHERE held > 0 AND f.root IN (SELECT value FROM json_each(?)) "
        "ORDER BY held DESC, length(p.body), p.id LIMIT ?",
        (*pieces, roots, depth),
    )
    return [row[0] for row in rows]
