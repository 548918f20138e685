"""Several rankings of the same things as one, by reciprocal rank: only the order in each of them counts."""

from collections.abc import Hashable, Iterable
from typing import TypeVar

Ranked = TypeVar("Ranked", bound=Hashable)

_OFFSET = 60  # the usual constant of reciprocal rank fusion


def merged_ranks(rankings: Iterable[Iterable[Ranked]]) -> dict[Ranked, float]:
    """What any ranking holds with the sum of its reciprocal ranks, best first; of equals, the one met first."""
    scores: dict[Ranked, float] = {}
    for ranking in rankings:
        for rank, one in enumerate(ranking, start=1):
            scores[one] = scores.get(one, 0.0) + 1 / (_OFFSET + rank)
    return dict(sorted(scores.items(), key=lambda item: -item[1]))
