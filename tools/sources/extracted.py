"""What extraction yields: one text, where its parts stand, and how it was made."""

import re
from dataclasses import dataclass

from researchdesk.tools.sources.ports import FetchRefused, Section

MAX_TEXT = 5_000_000
"""Characters of extracted text that are archived at most."""
MAX_SECTIONS = 5_000
"""Parts of a page that are kept at most; the text behind them is kept all the same."""

_DROPPED = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """The clean text of one format's parser; offsets of sections are code points into it."""

    text: str
    title: str | None = None
    sections: tuple[Section, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    """A document's text with everything a receipt needs to say about its making.

    ``readable`` is False where most of the text could not be decoded; ``note`` says what was lost.
    """

    text: str
    title: str | None
    sections: tuple[Section, ...]
    media_type: str
    charset: str
    extractor: str
    extractor_version: str
    readable: bool
    note: str


def clean(text: str) -> str:
    """Normalise newlines and drop NUL and surrogates; nothing else is changed."""
    return _DROPPED.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def check_size(characters: int, name: str) -> None:
    """Raise ``fetch_too_large`` where a text has more than `MAX_TEXT` characters."""
    if characters > MAX_TEXT:
        raise FetchRefused("fetch_too_large", f"{name!r} has more than {MAX_TEXT:,} characters of text")
