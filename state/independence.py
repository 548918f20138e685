"""Which sources are independent of each other, and why the others are not.

Sources fall into clusters: two are in one when they share an origin, when their texts are nearly the same
(syndication, mirrors), or when one is declared to repeat the other. The text signature is a MinHash of its
shingles (the lowest of their hashes); it is computed once, when a source is archived, and stored, so that a replay
stays equal.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from heapq import nsmallest
from typing import Protocol

SIGNATURE_VERSION = "bk1"
SLOTS = 64
HASH_DIGITS = 12
SHINGLE_WORDS = 5
SHINGLE_LETTERS = 12
NEAR_DUPLICATE = 0.5
"""Estimated Jaccard similarity from which two texts are nearly the same: a reprint in a page twice as long has it.

Among 321 documents of two publishers on one subject no pair of different publishers reaches 0.4.
"""
MIN_SHINGLES = 8
_WORD = re.compile(r"\w+")


def signature(text: str) -> str:
    """A text's signature: version, colon, its `SLOTS` lowest shingle hashes in hex; "" for a text too short.

    Shingles are runs of `SHINGLE_WORDS` words, of `SHINGLE_LETTERS` letters where words are not spaced.
    """
    shingles = _shingles(text)
    if len(shingles) < MIN_SHINGLES:
        return ""
    hashes = {blake2b(item.encode("utf-8", "replace"), digest_size=6).hexdigest() for item in shingles}
    return f"{SIGNATURE_VERSION}:{''.join(nsmallest(SLOTS, hashes))}"


def _shingles(text: str) -> set[str]:
    found = _WORD.findall(text.casefold())
    if found and sum(map(len, found)) / len(found) > SHINGLE_LETTERS:
        joined = "".join(found)
        return {joined[n : n + SHINGLE_LETTERS] for n in range(len(joined) - SHINGLE_LETTERS + 1)}
    return {" ".join(found[n : n + SHINGLE_WORDS]) for n in range(len(found) - SHINGLE_WORDS + 1)}


def similarity(one: str, other: str) -> float:
    """Estimated share of common shingles (Jaccard), 0.0 to 1.0; 0.0 where signatures cannot be compared."""
    left, right = _lowest(one), _lowest(other)
    if not left or not right or one.partition(":")[0] != other.partition(":")[0]:
        return 0.0
    # The lowest hashes of the union are a fair sample of it; those in both sets are the common part.
    sample = nsmallest(min(SLOTS, max(len(left), len(right))), left | right)
    return sum(item in left and item in right for item in sample) / len(sample)


@lru_cache(maxsize=4096)
def _lowest(stored: str) -> frozenset[str]:
    hashes = stored.partition(":")[2]
    return frozenset(hashes[n : n + HASH_DIGITS] for n in range(0, len(hashes), HASH_DIGITS))


def near_duplicates(own: str, others: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Which of the others, (source id, signature) each, have nearly the same text."""
    return tuple(
        key
        for key, theirs in others
        if _may_be_near(own, theirs) and similarity(own, theirs) >= NEAR_DUPLICATE
    )


def _may_be_near(one: str, other: str) -> bool:
    """Whether two signatures share enough hashes; the sample that decides holds no more common ones than they do."""
    left, right = _lowest(one), _lowest(other)
    return len(left & right) >= NEAR_DUPLICATE * min(SLOTS, max(len(left), len(right)))


class Origin(Protocol):
    """What independence needs to know of a source."""

    @property
    def id(self) -> str: ...
    @property
    def origin(self) -> str: ...
    @property
    def near_duplicates(self) -> tuple[str, ...]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """Sources that count as one, in the order given, and one sentence for each tie between them."""

    source_ids: tuple[str, ...]
    reasons: tuple[str, ...]


def independence(sources: Iterable[Origin], repeats: Iterable[tuple[str, str]] = ()) -> tuple[Cluster, ...]:
    """The clusters of the sources, in the order of their first members.

    Args:
        sources: each at most once.
        repeats: declarations (source id, what it repeats): another source's id, or the name of something outside,
            which ties together all that repeat it.
    """
    given = tuple(sources)
    ties = _Ties({source.id: source.id for source in given})
    first_of: dict[str, str] = {}
    for source in given:
        first = first_of.setdefault(source.origin, source.id)
        ties.tie(first, source.id, f"{first} and {source.id} share {source.origin}")
    for source in given:
        for twin in source.near_duplicates:
            if twin in ties.parent:
                ties.tie(twin, source.id, f"{twin} and {source.id} have nearly the same text")
    for source_id, repeated in repeats:
        if source_id in ties.parent:
            outside = (
                repeated if repeated in ties.parent else f"outside:{' '.join(repeated.casefold().split())}"
            )
            ties.tie(outside, source_id, f"{source_id} is declared to repeat {repeated}")
    return ties.clusters(tuple(source.id for source in given))


class _Ties:
    """Union of ids; remembers the reasons that joined something."""

    def __init__(self, parent: dict[str, str]) -> None:
        self.parent = parent
        self.reasons: list[tuple[str, str]] = []

    def root(self, key: str) -> str:
        self.parent.setdefault(key, key)
        while self.parent[key] != key:
            key = self.parent[key]
        return key

    def tie(self, one: str, other: str, reason: str) -> None:
        known = one in self.parent
        left, right = self.root(one), self.root(other)
        if left != right:
            self.parent[right] = left
            if known:
                self.reasons.append((other, reason))

    def clusters(self, order: tuple[str, ...]) -> tuple[Cluster, ...]:
        members: dict[str, list[str]] = {}
        for key in order:
            members.setdefault(self.root(key), []).append(key)
        return tuple(
            Cluster(
                source_ids=tuple(keys),
                reasons=tuple(reason for key, reason in self.reasons if self.root(key) == root),
            )
            for root, keys in members.items()
        )
