"""The full-text indexes over the desk's files, which triggers keep: searched, made anew, compared with the files."""

import json
from collections.abc import Collection, Sequence
from typing import Any

from researchdesk.state.queries import Query
from researchdesk.stores.sqlite.connection import Connection, begin, dbapi, roll_back
from researchdesk.stores.sqlite.full_text import any_of

INDEXES = ("desk_words", "desk_trigrams")
PATH_WEIGHT = 4.0
"""How much more a word of a file's path says than one of its content."""

_LIVE = "SELECT desk_id, id, path, content_hash FROM desk_files WHERE deleted = 0 AND kind <> 'folder'"
_INDEXED = "SELECT desk_id, file_id, path, content_hash FROM desk_texts"
_AMONG = "(? IS NULL OR t.file_id IN (SELECT value FROM json_each(?)))"


def search(
    db: Connection, desk_id: str, query: Query, *, among: Collection[str] | None, limit: int
) -> list[list[str]]:
    """As `Ledger.search_files`."""
    of_files = (desk_id, *(None if among is None else json.dumps(list(among)),) * 2)
    return [
        _best(db, "desk_words", any_of(query.words), of_files, limit),
        _best(db, "desk_trigrams", any_of(query.trigrams), of_files, limit),
        _containing(db, query.pieces, of_files, limit),
    ]


def _best(db: Connection, index: str, expression: str, of_files: tuple[Any, ...], limit: int) -> list[str]:
    if not expression:
        return []
    found = db.execute(
        f"SELECT t.file_id FROM {index} CROSS JOIN desk_texts t ON t.number = {index}.rowid "  # in this order
        f"WHERE {index} MATCH ? AND t.desk_id = ? AND {_AMONG} "
        f"ORDER BY bm25({index}, {PATH_WEIGHT}, 1.0), t.file_id LIMIT ?",
        (expression, *of_files, limit),
    )
    return [row[0] for row in found]


def _containing(db: Connection, pieces: Sequence[str], of_files: tuple[Any, ...], limit: int) -> list[str]:
    """Rank by how many of the pieces a file holds, the shorter ones first; reads every file."""
    if not pieces:
        return []
    # The library's own folding of letters ends with ASCII.
    spelled = [tuple(dict.fromkeys((one, one.upper(), one.capitalize()))) for one in pieces]
    held = " + ".join(
        f"({' OR '.join('instr(v.body, ?) OR instr(v.path, ?)' for _ in spellings)})" for spellings in spelled
    )
    found = db.execute(
        f"SELECT file_id FROM (SELECT t.file_id, length(v.body) AS size, {held} AS held "
        "FROM desk_texts t JOIN desk_bodies_as_text v USING (number) "
        f"WHERE t.desk_id = ? AND {_AMONG}) WHERE held > 0 ORDER BY held DESC, size, file_id LIMIT ?",
        (*(one for spellings in spelled for one in spellings for _ in range(2)), *of_files, limit),
    )
    return [row[0] for row in found]


def rebuild(db: Connection) -> None:
    """Make the indexes anew from the files, whatever they held."""
    db.execute(f"DELETE FROM desk_texts WHERE (desk_id, file_id, path, content_hash) NOT IN ({_LIVE})")
    for index in INDEXES:
        db.execute(f"INSERT INTO {index} ({index}) VALUES ('rebuild')")


def faults(db: Connection) -> list[str]:
    """The files that are not indexed as they stand, and the indexes of something else than the files; writes nothing.

    The comparison takes the write lock, for a moment.
    """
    strays = db.execute(
        f"SELECT DISTINCT desk_id, id FROM (SELECT * FROM ({_LIVE} EXCEPT {_INDEXED}) "
        f"UNION ALL SELECT * FROM ({_INDEXED} EXCEPT {_LIVE})) ORDER BY 1, 2"
    ).fetchall()
    wrong = [
        f"file {file_id} of desk '{desk_id}' cannot be found as it stands" for desk_id, file_id in strays
    ]
    return wrong + [
        f"the search index '{index}' does not fit the files" for index in INDEXES if not _fits(db, index)
    ]


def _fits(db: Connection, index: str) -> bool:
    begin(db)
    try:
        db.execute(f"INSERT INTO {index} ({index}, rank) VALUES ('integrity-check', 1)")
    except dbapi.DatabaseError as problem:
        if "malformed" not in str(problem):
            raise
        return False
    finally:
        roll_back(db)
    return True
