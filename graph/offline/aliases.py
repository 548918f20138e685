"""Other names of what a question is about, as documents themselves give them: "X, commonly known as Y"."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from researchdesk.graph.offline.feedback import is_telling
from researchdesk.graph.offline.passages import clean
from researchdesk.graph.offline.terms import Vocabulary

KNOWN_AS = re.compile(
    r"(?:also |commonly |often |sometimes |generally |otherwise )?"
    r"(?:referred to as|known as|also called|sometimes called|commonly called)(?: an?| the)?\s+",
    re.IGNORECASE,
)
NAME_WORDS = 3
MOST = 2
END_WORDS = "or and if but that which is are was were by for of to in on with as when where"
ENDS = frozenset(END_WORDS.split())


def defining_query(subject: Sequence[str]) -> str:
    """A search that finds where documents name the subject otherwise; "" for what takes more than one word."""
    return f"commonly referred to as a {subject[0]}" if len(subject) == 1 else ""


def aliases(subject: Iterable[str], texts: Iterable[str], vocabulary: Vocabulary) -> list[str]:
    """Other names that the texts give for the subject, most often given first; of nested ones the shortest.

    Args:
        subject: terms of what the question is about.
    """
    wanted = set(subject)
    found: Counter[str] = Counter()
    for text in texts:
        folded = clean(text)
        for cue in KNOWN_AS.finditer(folded):
            left = name_before(folded[max(0, cue.start() - 80) : cue.start()])
            right = name_after(folded[cue.end() : cue.end() + 80])
            for name, other in ((left, right), (right, left)):
                if is_subject(other, wanted, vocabulary) and not wanted & {vocabulary.term(w) for w in name}:
                    found[" ".join(word for word in name if is_telling(word))] += 1
    names = sorted((name for name in found if name), key=lambda name: (-found[name], name))
    return [name for name in names if not any(other != name and other in name for other in names)][:MOST]


def is_subject(name: list[str], wanted: set[str], vocabulary: Vocabulary) -> bool:
    """True where a name is the subject itself, not something that is called after it ("password manager")."""
    return {vocabulary.term(word) for word in name} == wanted


def name_before(text: str) -> list[str]:
    """The words that end a text, back to a stop word or a mark: "(…) the Memorized Secret — " → memorized secret."""
    text = re.split(r"[.;:!?]\s", text.rstrip(" \t—–-(,\"'“"))[-1]
    kept: list[str] = []
    for word in reversed(re.findall(r"[\w-]+|[^\w\s]", text)):
        if not word[0].isalnum() or is_stop(word) or len(kept) == NAME_WORDS:
            break
        kept.append(word.lower())
    return kept[::-1]


def name_after(text: str) -> list[str]:
    kept: list[str] = []
    for word in re.findall(r"[\w-]+|[^\w\s]", text.lstrip("\"'“*_")):
        if not word[0].isalnum() or is_stop(word):
            break
        kept.append(word.lower())
    return kept


def is_stop(word: str) -> bool:
    return word.lower() in ENDS or not Vocabulary("english").terms(word)
