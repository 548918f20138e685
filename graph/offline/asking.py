"""What is asked under the objective: its own questions one by one, and whether the publishers agree."""

import re
from collections.abc import Sequence

from researchdesk.graph.offline.question import POLAR, read_question
from researchdesk.graph.offline.terms import UNSPACED
from researchdesk.graph.offline.view import Asked, View
from researchdesk.state.limits import QUESTION_CHARS
from researchdesk.state.sameness import same_question

AGREE = "Do the publishers agree on this: "
VALUES = "Which values do the sources tell on this: "
RULES = "What do the sources require or advise on this: "
SAYINGS = "What do the sources say on this: "
LEADS = (AGREE, VALUES, RULES, SAYINGS, "What does this change about the conclusion: ",
         "What holds instead of this: ")  # fmt: skip
"""What may stand before the words that a question is about; the last two are asked by code."""
MOST_PARTS = 4
LEAST_WORDS = 3
SENTENCE_END = re.compile(r"(?<=[?？])\s*|(?<=[.。;；])\s+")
ASKING = "how|what|why|when|where|which|who|whether|do|does|did|is|are|was|should|must|may|can|could|will|would|has"
JOINED = re.compile(rf"(?:[,;]\s*(?:(?:and|or|but)\s+)?|\s+(?:and|or|but)\s+)(?=(?:{ASKING})\b)", re.I)
ASKS = re.compile(rf"(?:\w+\s+)?(?:{ASKING})\b", re.I)
AGREEMENT = re.compile(
    r"\b(?:agree|disagree|consisten\w*|consensus|contradict\w*|conflict\w*|differ|vary|the same)\b",
    re.IGNORECASE,
)
THOSE = re.compile(
    r"\b(?:they|them|these|those|sources?|publishers?|guidelines?|guidance|documents?|standards?|recommendations?|(?:the|all|both)\s+\w+s)\b",
    re.IGNORECASE,
)
DESCRIBED = re.compile(r"(?:how|what|why|which|who)\b", re.IGNORECASE)
POINTING = re.compile(r"\b(?:it|its|they|them|their|this|that|these|those)\b", re.IGNORECASE)
AGREEMENT_WORDS = 8
"""A part that asks whether sources agree names nothing else; a longer one asks about a thing."""


def content_of(text: str) -> str:
    """The words that a question is about, without what this module or code put before them."""
    return next((text.removeprefix(lead) for lead in LEADS if text.startswith(lead)), text)


def asks_for_agreement(text: str) -> bool:
    return text.startswith(AGREE)


def parts_of(objective: str) -> list[str]:
    """The questions that an objective holds, without those that ask whether sources agree; itself where it is one."""
    whole = " ".join(objective.split())
    sentences = [part.strip() for part in SENTENCE_END.split(whole) if part.strip()]
    asking = [part for part in sentences if part.endswith(("?", "？"))] or [whole]
    parts = [piece for sentence in asking for piece in pieces(sentence)]
    content = [part for part in parts if not only_asks_for_agreement(part)]
    content = [with_context(part, content[0]) for part in content]
    unlike: list[str] = []
    for part in content:
        if not any(same_question(part, other) for other in unlike):
            unlike.append(part)
    return unlike[:MOST_PARTS] or [whole]


def pieces(sentence: str) -> list[str]:
    """A sentence cut where another question begins in it, if each piece is one; what asks for agreement in any case."""
    cuts = list(JOINED.finditer(sentence))
    if cuts and only_asks_for_agreement(sentence[cuts[-1].end() :]):
        return [*pieces(asked(sentence[: cuts[-1].start()])), asked(sentence[cuts[-1].end() :])]
    cut = [piece.strip() for piece in JOINED.split(sentence) if piece.strip()]
    if len(cut) < 2 or not all(ASKS.match(piece) and len(piece.split()) >= LEAST_WORDS for piece in cut):
        return [sentence]
    return list(map(asked, cut))


def asked(piece: str) -> str:
    """A piece of a sentence as a question of its own."""
    return f"{capital(piece.strip()).rstrip(' ,;.?')}?"


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def only_asks_for_agreement(part: str) -> bool:
    return bool(
        not DESCRIBED.match(part)
        and AGREEMENT.search(part)
        and THOSE.search(part)
        and len(part.split()) <= AGREEMENT_WORDS
    ) and not re.search(f"[{UNSPACED}]", part)


def with_context(part: str, first: str) -> str:
    """A part that points back ("how is it stored?") with the words of the first one that say at what."""
    if part is first or not POINTING.search(part):
        return part
    question = read_question(first)
    named = [
        word
        for word in re.findall(r"[\w-]+", first)
        if question.vocabulary.term(word.lower()) in question.subject
    ]
    return f"{part.rstrip('?')} ({' '.join(dict.fromkeys(named))})?" if named else part


def children_of(objective: str, *, most: int) -> list[str]:
    """The questions to add under the objective: what it asks, and last whether the publishers agree on that.

    Args:
        most: how many may be added; none where that leaves no room for both.
    """
    parts = parts_of(objective)
    if most < 2:
        return []
    parts = parts[: most - 1]
    if len(parts) == 1:
        parts = [named(parts[0])] if same_question(parts[0], objective) else parts
    return [*parts, cut(f"{AGREE}{'; '.join(map(content_of, parts))}")]


def named(part: str) -> str:
    """The one question of an objective in words of its own, by what would answer it."""
    question = read_question(part)
    lead = VALUES if question.wants_number else RULES if POLAR.match(part) else SAYINGS
    return cut(f"{lead}{part}")


def cut(text: str) -> str:
    return text if len(text) <= QUESTION_CHARS else f"{text[: QUESTION_CHARS - 1].rstrip()}…"


def questions_to_answer(view: View) -> list[Asked]:
    """The questions under the objective that ask for something to be found, whatever became of them but pruning."""
    return [
        one
        for one in view.questions
        if one.depth > 0 and one.status != "pruned" and not asks_for_agreement(one.text)
    ]


def left_to_answer(view: View) -> Sequence[Asked]:
    return [one for one in questions_to_answer(view) if not one.is_settled]
