"""Queries as a service takes them, and what it answers as plain text."""

import html
import re
from dataclasses import dataclass

from researchdesk.state.limits import NAME_CHARS, SNIPPET_CHARS
from researchdesk.tools.sources.ports import SearchFailed

_TAG = re.compile(r"<(?:/?[A-Za-z][^<>]{0,500}|!--.{0,2000}?--)>", re.DOTALL)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u2060\ufeff\ud800-\udfff]")
_WORD = re.compile(r"\w")


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryLimit:
    """What a service takes as a query, at most; 0 words means any number."""

    chars: int
    words: int = 0


def fitting(query: str, limit: QueryLimit, *, service: str) -> str:
    """The query without needless white space, cut after the last word that fits.

    Raises:
        SearchFailed: ``search_bad_query`` where no word is left.
    """
    words = query.split()
    if not _WORD.search(query):
        raise SearchFailed(
            "search_bad_query", "The query holds no word to search for; name what is looked for."
        )
    if limit.words:
        words = words[: limit.words]
    kept: list[str] = []
    length = -1
    for word in words:
        length += len(word) + 1
        if length > limit.chars:
            break
        kept.append(word)
    if not kept:
        raise SearchFailed(
            "search_bad_query",
            f"{service} takes queries of at most {limit.chars} characters, and the first word alone is longer.",
        )
    return " ".join(kept)


def plain(text: object, *, chars: int = SNIPPET_CHARS) -> str:
    """A snippet as plain text: tags away, entities read, white space folded; cut at a word. "" for no string."""
    if not isinstance(text, str):
        return ""
    words = html.unescape(_TAG.sub("", text[: 20 * chars]))
    folded = " ".join(_CONTROL.sub("", words).split())
    if len(folded) <= chars:
        return folded
    head, _, tail = folded[:chars].rpartition(" ")
    return head or tail


def title(text: object) -> str | None:
    """A title as plain text, None where there is none."""
    return plain(text, chars=NAME_CHARS) or None
