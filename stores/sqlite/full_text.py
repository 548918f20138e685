"""Expressions of SQLite's full-text search, made of terms whose signs mean nothing to it."""

from collections.abc import Sequence


def any_of(terms: Sequence[str]) -> str:
    """The expression that finds any of the terms; empty where there is none."""
    return " OR ".join('"' + term.replace('"', '""') + '"' for term in terms)
