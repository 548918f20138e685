"""A person's or model's query as words, substrings and pieces to look for; user text is never search syntax.

Words are searched by stem; in scripts without spaces a run of characters is cut into trigrams, and into
bigrams for a plain substring scan, because a full-text index knows neither of their words.
"""

import re
from dataclasses import dataclass, replace

MAX_QUERY = 10_000
_MAX_TERMS = 64
_MAX_PIECES = 32
_MAX_TERM = 64

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_TERM = re.compile(rf"[{_UNSPACED}]+|[^\W{_UNSPACED}]+")
_IS_UNSPACED = re.compile(rf"[{_UNSPACED}]")
_UNSEARCHABLE = re.compile(r"[\x00-\x20\x7f-\x9f\ud800-\udfff]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What is asked of each index, in lower case; an empty value asks nothing of it.

    ``words`` are found by their stem, ``trigrams`` as substrings of three characters or more, and ``pieces``
    shorter ones as they are.
    """

    words: tuple[str, ...]
    trigrams: tuple[str, ...]
    pieces: tuple[str, ...]


def parse_query(text: str) -> Query | None:
    """Read a query; None where it holds no word at all. Only the first `MAX_QUERY` characters count."""
    terms = list(dict.fromkeys(term[:_MAX_TERM].lower() for term in _TERM.findall(text[:MAX_QUERY])))[
        :_MAX_TERMS
    ]
    if not terms:
        return None
    unspaced = [term for term in terms if _IS_UNSPACED.match(term)]
    spaced = [term for term in terms if len(term) >= 3 and not _IS_UNSPACED.match(term)]
    runs = [gram for term in unspaced for gram in _grams(term, 3) if len(gram) == 3]
    pieces = [gram for term in unspaced for gram in _grams(term, 2)]
    return Query(
        words=tuple(terms),
        trigrams=tuple(dict.fromkeys([*spaced, *runs][: 2 * _MAX_TERMS])),
        pieces=tuple(dict.fromkeys(pieces))[:_MAX_PIECES],
    )


def parse_literal_query(text: str) -> Query | None:
    """As `parse_query`, for texts in which a query is also looked for as it stands, signs and all (``=SUM(B2``).

    What has fewer than three characters is a piece where there is nothing longer to go by.
    """
    query = parse_query(text) or Query(words=(), trigrams=(), pieces=())
    whole = _UNSEARCHABLE.sub(" ", text[:MAX_QUERY]).strip()[:_MAX_TERM].strip().lower()
    if len(whole) >= 3:
        return replace(query, trigrams=tuple(dict.fromkeys((*query.trigrams, whole))))
    if not whole:
        return None
    return replace(query, pieces=tuple(dict.fromkeys((*query.pieces, whole))))


def _grams(term: str, size: int) -> list[str]:
    return [term[index : index + size] for index in range(max(1, len(term) - size + 1))]
