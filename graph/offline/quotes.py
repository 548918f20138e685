"""Quotes in the body of an evidence note: one line each, with its source and the heading above it.

    - "Verifiers SHALL …" [s_003] — 5.1.1.2 Memorized Secret Verifiers

A quote that holds straight quotation marks stands between typographic ones.
"""

import re
from dataclasses import dataclass

LINE = re.compile(r'^- (?:"(?P<straight>.+)"|“(?P<curly>.+)”) \[(?P<source>s_\d+)\](?: — (?P<heading>.*))?$')
CITATION = re.compile(r"\[[sc]_\d+\]")


@dataclass(frozen=True, slots=True)
class Quote:
    """A quote, folded to one line, of one source."""

    text: str
    source_id: str
    heading: str = ""


def quoted(text: str) -> str:
    """The text between quotation marks that do not occur in it, on one line."""
    folded = " ".join(text.split())
    return f"“{folded}”" if '"' in folded else f'"{folded}"'


def can_be_quoted(text: str) -> bool:
    """False where the text could be taken for a citation or would end its own quotation marks."""
    return not CITATION.search(text) and not ('"' in text and ("“" in text or "”" in text))


def render_quote(quote: Quote) -> str:
    heading = f" — {' '.join(quote.heading.split())}" if quote.heading else ""
    return f"- {quoted(quote.text)} [{quote.source_id}]{heading}"


def parse_quotes(body: str) -> list[Quote]:
    """The quotes of a note's body in order; other lines are passed over."""
    found = (LINE.match(line.strip()) for line in body.splitlines())
    return [
        Quote(line["straight"] or line["curly"], line["source"], line["heading"] or "")
        for line in found
        if line
    ]
