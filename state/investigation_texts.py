"""How far an investigation came, in words that fit on one line."""

from collections.abc import Mapping, Sequence
from typing import Any


def checked_text(coverage: Mapping[str, Any]) -> str:
    """Coverage and what was verified, in one line; ``challenged``, ``verified`` and ``total`` are counts of claims."""
    challenged, verified, total = (coverage[key] for key in ("challenged", "verified", "total"))
    return f"checked {challenged} of {total} claim{'' if total == 1 else 's'}; {verified} verified"


def lacking_text(lacking: Mapping[str, int]) -> str:
    """What claims lack to be verified, in one line; "" where none is left to verify.

    Args:
        lacking: ``total`` claims that are not verified, of which ``sources`` and ``challenges`` lack these.
    """
    total = lacking["total"]
    needs = (
        ("another independent source", lacking["sources"]),
        ("a survived challenge", lacking["challenges"]),
    )
    told = [f"{count} of {total} need{'s' if count == 1 else ''} {what}" for what, count in needs if count]
    return ", ".join(told)


def independence_text(links: int, clusters: Sequence[Sequence[str]]) -> str:
    """How many independent origins that many links come to, and why not more: "5 links, 1 origin: …".

    Args:
        clusters: for each independent cluster of sources what ties its members together, in words.
    """
    origins = len(clusters)
    text = f"{links} link{'' if links == 1 else 's'}, {origins} origin{'' if origins == 1 else 's'}"
    reasons = [reason for cluster in clusters for reason in cluster]
    return f"{text}: {'; '.join(reasons)}" if reasons else text
