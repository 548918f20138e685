"""The full-text index over the desk's files, which a trigger keeps: searched, made anew, compared with the files."""

from collections.abc import Collection, Sequence
from typing import Any, LiteralString

from psycopg import Connection

from researchdesk.state.queries import Query

# How rare a term weighs as in bm25. That the desk's name is not looked up lets the server take the index of the texts.
_START: LiteralString = """
WITH size AS MATERIALIZED (
        SELECT count(*) AS files, avg(octet_length(folded)) AS usual FROM desk_texts WHERE desk_id = %(desk)s),"""
_END: LiteralString = """
    weights AS MATERIALIZED (
        SELECT term, greatest(ln((min(files) - count(*) + 0.5) / (count(*) + 0.5)), 1e-6)::float8 AS weight
        FROM found, size GROUP BY term)
SELECT file_id FROM found JOIN weights USING (term) WHERE %(among)s::text[] IS NULL OR file_id = ANY (%(among)s)
GROUP BY file_id ORDER BY sum(score * weight) DESC, file_id LIMIT %(limit)s"""
# A word of the path weighs four times one of the content.
_WORDS: LiteralString = f"""{_START}
    terms AS MATERIALIZED (
        SELECT term, plainto_tsquery('desk_words', spaced(without_accents(term))) AS asked
        FROM unnest(%(terms)s::text[]) AS term),
    found AS MATERIALIZED (
        SELECT t.file_id, term, ts_rank('{{0.25, 0.25, 0.25, 1}}', t.words, asked, 1)::float8 AS score
        FROM terms JOIN desk_texts AS t ON t.words @@ asked WHERE numnode(asked) > 0 AND t.desk_id || '' = %(desk)s),
{_END}"""
_TRIGRAMS: LiteralString = f"""{_START}
    terms AS MATERIALIZED (
        SELECT term, trigrams(term) AS threes FROM unnest(%(terms)s::text[]) AS given, lower_case(given) AS term),
    held AS MATERIALIZED (
        SELECT t.file_id, term, octet_length(t.folded) AS size,
            (octet_length(t.folded) - octet_length(replace(t.folded, term, ''))) / octet_length(term) AS times
        FROM terms JOIN desk_texts AS t ON t.trigrams @> threes
        WHERE strpos(t.folded, term) > 0 AND t.desk_id || '' = %(desk)s),
    found AS MATERIALIZED (
        SELECT file_id, term, (times * 2.2 / (times + 1.2 * (0.25 + 0.75 * held.size / usual)))::float8 AS score
        FROM held, size),
{_END}"""
_PIECES: LiteralString = """
SELECT file_id FROM (
    SELECT t.file_id, length(t.folded) AS size,
        (SELECT count(*) FROM unnest(%(terms)s::text[]) AS term WHERE strpos(t.folded, lower_case(term)) > 0) AS held
    FROM desk_texts AS t
    WHERE t.desk_id = %(desk)s AND (%(among)s::text[] IS NULL OR t.file_id = ANY (%(among)s))
) AS counted WHERE held > 0 ORDER BY held DESC, size, file_id LIMIT %(limit)s
"""
_STRAYS = """
SELECT DISTINCT coalesce(t.desk_id, n.desk_id), coalesce(t.file_id, n.file_id)
FROM desk_texts_now AS n FULL JOIN desk_texts AS t USING (desk_id, file_id)
WHERE (t.path, t.content_hash, t.folded) IS DISTINCT FROM (n.path, n.content_hash, n.folded) ORDER BY 1, 2
"""


def search(
    db: Connection[Any], desk_id: str, query: Query, *, among: Collection[str] | None, limit: int
) -> list[list[str]]:
    """As `Ledger.search_files`."""
    given = {"desk": desk_id, "among": None if among is None else list(among), "limit": limit}

    def ids(sql: LiteralString, terms: Sequence[str]) -> list[str]:
        return [row[0] for row in db.execute(sql, given | {"terms": list(terms)})] if terms else []

    with db.transaction(force_rollback=True):
        # The server takes the table for a small one: it does not count the texts that it would have to unpack.
        db.execute("SET LOCAL enable_seqscan = off")
        found = [ids(_WORDS, query.words), ids(_TRIGRAMS, query.trigrams)]
    return [*found, ids(_PIECES, query.pieces)]


def empty(db: Connection[Any], desk_id: str) -> None:
    """Forget what is indexed of a desk, whose files are about to be written anew."""
    db.execute("DELETE FROM desk_texts WHERE desk_id = %s", (desk_id,))


def faults(db: Connection[Any]) -> list[str]:
    """The files that are not indexed as they stand."""
    return [
        f"file {file_id} of desk '{desk_id}' cannot be found as it stands"
        for desk_id, file_id in db.execute(_STRAYS)
    ]
