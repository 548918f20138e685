"""Words learned from what was found: balanced pseudo-relevance feedback (RM3).

The best passages are dealt round robin over folders, so that one publisher's vocabulary does not drown the
others'; the terms most typical of them widen the next search.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

from researchdesk.graph.offline.language import STOP_WORDS, language_of
from researchdesk.graph.offline.passages import clean
from researchdesk.graph.offline.terms import Vocabulary, words

PASSAGES = 14
TERMS = 10
COMMON_WORDS = """
    additional allow applicable application apply appropriate available based better case cases change check common
    consider contain content create data default define defined describe described detail different document
    documentation ensure example examples following follow follows form function guide guidance help high however
    http https html img href include including includes information level list long low main md method name note
    number options order page part possible process provide provided provides recommend recommended reference
    references require required requirement requirements result return see section set should simple specific
    specified standard support system table text time type types user users value values verify version want web
    within work www com org true false null non ie eg import def class return self assert none str int
    bool dict tuple py const let var"""
COMMON = frozenset(COMMON_WORDS.split())
Item = TypeVar("Item")


def deal(items: Iterable[Item], group: Callable[[Item], Hashable], limit: int) -> list[Item]:
    """At most ``limit`` items, one of each group in turn; groups in the order of their first item."""
    piles: dict[Hashable, list[Item]] = defaultdict(list)
    for item in items:
        piles[group(item)].append(item)
    dealt: list[Item] = []
    depth = 0
    while len(dealt) < limit and any(len(pile) > depth for pile in piles.values()):
        dealt.extend(pile[depth] for pile in piles.values() if len(pile) > depth)
        depth += 1
    return dealt[:limit]


def expansion(
    question: str, passages: Sequence[tuple[Hashable, str]], *, vocabulary: Vocabulary, limit: int = TERMS
) -> list[str]:
    """Words (not stems) to add to a search, best first.

    Args:
        question: what was searched; its own words are never repeated.
        passages: ``(group, text)``, best first, already dealt over the groups.
        limit: most words to return.
    """
    asked = {vocabulary.term(word) for word in words(question)}
    weights: dict[str, float] = defaultdict(float)
    groups: dict[str, set[Hashable]] = defaultdict(set)
    forms: dict[str, Counter[str]] = defaultdict(Counter)
    share = Counter(group for group, _ in passages)
    for group, text in passages:
        stops = STOP_WORDS[language_of(text)]  # the question may be too short to tell its language
        found = [
            (vocabulary.term(word), word)
            for word in words(clean(text))
            if is_telling(word) and word not in stops
        ]
        kept = [(term, word) for term, word in found if term and term not in asked]
        near = len({term for term, _ in found} & asked) / max(len(asked), 1)
        for term, word in kept:
            weights[term] += near / (share[group] * len(kept))
            groups[term].add(group)
            forms[term][word] += 1
    shared = 1 if len(share) < 3 else 2
    ranked = sorted(weights, key=lambda term: (len(groups[term]) < shared, -weights[term], term))
    return [min(forms[term], key=lambda word: (-forms[term][word], word)) for term in ranked[:limit]]


def is_telling(word: str) -> bool:
    """False for words that every text of a kind holds, bare numbers and crumbs."""
    return word not in COMMON and not word.isdigit() and (len(word) > 2 or not word.isascii())
