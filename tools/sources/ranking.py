"""Ranking: stems and trigrams by bm25, short pieces by scanning, meaning by nearness, and the whole document by bm25.

Each ranking's scores are divided by its best one and added up, weighted. A passage says little of what the rest of
its document is about, so its document's own score is one of them.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from researchdesk.state.queries import Query
from researchdesk.stores.sqlite.connection import Connection
from researchdesk.stores.sqlite.full_text import any_of

# Chosen on the training claims of SciFact, where others near them do as well.
_WORDS, _TRIGRAMS, _PIECES, _MEANING, _DOCUMENT = 1.0, 0.3, 1.0, 1.5, 1.0

Ranked = list[tuple[int, float]]
"""Ids with their scores, which are above 0, best first."""

Nearest = Callable[[Connection, str, int], Ranked]
"""From the roots (a JSON list) and a depth to the passages nearest in meaning, best first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPassage:
    """A passage that answers a query, and the file it stands in; ``score`` is comparable within one search."""

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
    words, trigrams = any_of(query.words), any_of(query.trigrams)
    rankings = [
        (_WORDS, _best(connection, "words", words, listed, depth, shared=shared)),
        (_TRIGRAMS, _best(connection, "trigrams", trigrams, listed, depth, shared=shared)),
        (_PIECES, _containing(connection, query.pieces, listed, depth)),
    ]
    if nearest is not None:
        rankings.append((_MEANING, nearest(connection, listed, depth)))
    scores: defaultdict[int, float] = defaultdict(float)
    for weight, ranked in rankings:
        for passage, score in _weighted(ranked, weight).items():
            scores[passage] += score
    documents = _best(connection, "documents", words, listed, depth, shared=shared)
    document_scores = _weighted(documents, _DOCUMENT)
    rows = connection.execute(
        "SELECT p.id, f.root, f.path, f.title, f.media_type, f.stated_origin, p.start, p.heading, p.body, f.id "
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
            score=scores[row[0]] + document_scores.get(row[9], 0.0),
        )
        for row in rows
    ]


def _weighted(ranked: Ranked, weight: float) -> dict[int, float]:
    """The scores in parts of the best one, times the weight."""
    return {one: weight * score / ranked[0][1] for one, score in ranked}


def _best(
    connection: Connection, table: str, expression: str, roots: str, depth: int, *, shared: bool
) -> Ranked:
    """Rank passages or documents by bm25; the roots are looked up only where the index holds others too."""
    if not expression:
        return []
    if not shared:
        statement = f"SELECT rowid, -rank FROM {table} WHERE {table} MATCH ? ORDER BY rank, rowid LIMIT ?"
        return connection.execute(statement, (expression, depth)).fetchall()
    file = "t.rowid" if table == "documents" else "(SELECT file FROM passages WHERE id=t.rowid)"
    statement = (
        f"SELECT t.rowid, -t.rank FROM {table} t CROSS JOIN files f ON f.id={file} "  # in this order
        f"WHERE {table} MATCH ? AND f.root IN (SELECT value FROM json_each(?)) ORDER BY t.rank, t.rowid LIMIT ?"
    )
    return connection.execute(statement, (expression, roots, depth)).fetchall()


def _containing(connection: Connection, pieces: Sequence[str], roots: str, depth: int) -> Ranked:
    """Rank by how many of the pieces a passage holds; scans, so it serves only scripts without spaces."""
    if not pieces:
        return []
    count = " + ".join("(instr(p.body, ?) > 0)" for _ in pieces)
    return connection.execute(
        # Of those that hold as many, the shorter ones say more of it.
        f"SELECT id, held + 1.0 / (2 + length(body)) AS score FROM (SELECT p.id, p.body, {count} AS held "
        "FROM passages p JOIN files f ON f.id=p.file WHERE f.root IN (SELECT value FROM json_each(?))) "
        "WHERE held > 0 ORDER BY score DESC, id LIMIT ?",
        (*pieces, roots, depth),
    ).fetchall()
