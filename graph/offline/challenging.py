"""Challenges: a search for what would break a claim or an answer, and what its passages say.

A rule sees a contradiction only where another publisher tells a disjoint value of the same bound and unit, or says
nearly the same with an opposite modal. It never refutes.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from researchdesk.graph.offline.answers import answer_to, plural
from researchdesk.graph.offline.asking import asks_for_agreement, content_of, questions_to_answer
from researchdesk.graph.offline.calls import Call, challenge, change, outcome, search
from researchdesk.graph.offline.compare import FOCUSED, speaks_of, stance
from researchdesk.graph.offline.feedback import is_telling
from researchdesk.graph.offline.gathering import focus_words, folded, tried
from researchdesk.graph.offline.language import language_of
from researchdesk.graph.offline.modals import can_read
from researchdesk.graph.offline.opposites import differs, opposed
from researchdesk.graph.offline.passages import Sentence, sentences
from researchdesk.graph.offline.programs import is_program
from researchdesk.graph.offline.question import Question, read_question
from researchdesk.graph.offline.sentences import score
from researchdesk.graph.offline.sources import known_of
from researchdesk.graph.offline.statements import evidence_of, said_by
from researchdesk.graph.offline.terms import UNSPACED, Rarity, words
from researchdesk.graph.offline.values import is_statement, values
from researchdesk.graph.offline.view import Asked, Claim, OpenChallenge, View

CHALLENGES = {"quick": 6, "standard": 16, "deep": 30}
"""Challenged claims of one run."""
PAIRS = {"quick": 4, "standard": 6, "deep": 8}
"""Challenges with their searches in one answer; a prompt of a scope shows so many."""
HITS = 6
QUERY_WORDS, SHOWN = 7, 300
ASKED_FOR = re.compile(r'Search for "(.*?)", then record')
ONLY_CHALLENGE = re.compile(r"needs 1 more survived challenge")
COUNTER_WORDS = {
    "german": "nicht kein außer Ausnahme", "french": "pas sauf exception jamais", "spanish": "no salvo excepto nunca",
    "italian": "non salvo eccezione mai", "portuguese": "não exceto salvo nunca",
    "dutch": "niet geen behalve uitzondering", "russian": "не кроме исключение нельзя",
}  # fmt: skip
WHYS = {"number": "another number is told", "negation": "it is negated"}
DOUBTFUL = "It is worded the other way, whether of the same case rules cannot tell"
UNREADABLE = "Opposed wordings are not recognised in the language of this claim, so that rules cannot tell."
UNSPACED_COUNTER = "ない 不要 例外 除く"
"""Words of other languages by which a passage would say the opposite."""


@dataclass(frozen=True, slots=True)
class Attack:
    """How a claim of some kind is attacked: the opposite in words, what would be found, words to search it with."""

    strategy: str
    opposite: str
    expected: str
    words: str


FIGURE = Attack(
    "counterexample",
    "Another value holds, or fewer or more will do otherwise",
    "A passage of another publisher that tells a different value of the same unit for the same matter",
    "different otherwise fewer more exception",
)
AGAINST = Attack(
    "direct_negation",
    "It is required, recommended or allowed after all",
    "A passage of another publisher that requires or allows what this sentence rejects",
    "required allowed recommended mandatory",
)
FOR = Attack(
    "direct_negation",
    "It is not required, is discouraged or forbidden, or somebody is exempt",
    "A passage of another publisher that rejects what this sentence asks for, or exempts from it",
    "not discouraged forbidden exempt",
)
OTHER = Attack(
    "boundary_condition",
    "It is otherwise, or holds only in some cases, with an exception",
    "A passage that says the opposite, or names a case in which this does not hold",
    "only except otherwise instead limitation",
)


# -- opening ------------------------------------------------------------------------------------------------------


def next_challenges(view: View, question: Question, *, room: int) -> list[Call]:
    """Challenges of claims of the question in progress, each with its search; the most telling claims come first.

    Args:
        room: calls that this answer may still hold.
    """
    if view.failed("challenge"):
        return []
    asked = tried(view)
    calls: list[Call] = []
    for claim in due(view, question)[: min(PAIRS.get(view.scope_level, 6), room // 2)]:
        attack = attack_on(claim, question)
        query = query_on(claim, question, attack, asked)
        if not query:
            continue
        asked.add(folded(query))
        calls.append(
            challenge(
                "claim",
                claim.id,
                attack.strategy,
                negation=f"{attack.opposite} ({counter_words(question, attack)}): {claim.text[:SHOWN]}",
                expected=attack.expected,
                query=query,
            )
        )
        calls.append(search(query, limit=HITS))
    return calls


def due(view: View, question: Question) -> list[Claim]:
    """The claims to challenge now, within the question's share of all challenges."""
    claims = {claim.id: claim for claim in view.standing if claim.question_id == view.working.id}
    opened = {one.target_id for one in view.challenges}
    done = sum(claim.challenged or claim.id in opened for claim in claims.values())
    share = -(-CHALLENGES.get(view.scope_level, 16) // max(1, len(questions_to_answer(view))))
    waiting = [claim for key, claim in claims.items() if not claim.challenged and key not in opened]
    told = {key for one in view.contradictions for key in (one.claim_id, one.other_id)}
    best = evidence_of(waiting, known_of(view), question)
    order = {one.claim_id: place for place, one in enumerate(best)}
    waiting.sort(
        key=lambda claim: (
            not lacks_only_a_challenge(claim),
            claim.id not in told,
            claim.kind != "figure",
            order.get(claim.id, len(order)),
        )
    )
    return waiting[: max(0, share - done)]


def lacks_only_a_challenge(claim: Claim) -> bool:
    return bool(ONLY_CHALLENGE.search(claim.lacks)) and "source" not in claim.lacks


def attack_on(claim: Claim, question: Question) -> Attack:
    if claim.kind == "figure":
        return FIGURE
    return {"against": AGAINST, "for": FOR}.get(stance(said_by(claim)[1]), OTHER)


def counter_words(question: Question, attack: Attack) -> str:
    """Words that a passage against the claim would hold, in the language of the question."""
    own = UNSPACED_COUNTER if re.search(f"[{UNSPACED}]", question.text) else ""
    own = own or COUNTER_WORDS.get(language_of(question.text), "")
    return f"{own} {attack.words}".strip()


def query_on(claim: Claim, question: Question, attack: Attack, asked: set[str]) -> str:
    """What the claim is about, and words of its opposite that it does not hold; "" where all was asked before."""
    held = set(words(claim.text))
    counter = [word for word in counter_words(question, attack).split() if not set(words(word)) & held][:3]
    own = [
        word
        for word in dict.fromkeys(words(said_by(claim)[1]))
        if is_telling(word) and question.vocabulary.term(word)
    ]
    focus = [word for word in own if question.vocabulary.term(word) in {*question.focus, *question.learned}]
    rest = [word for word in own if word not in focus]
    if not counter:
        return ""
    for most in (QUERY_WORDS, QUERY_WORDS + 3, QUERY_WORDS + 6):
        query = " ".join([*focus[:4], *rest[: max(1, most - len(focus[:4]))], *counter])
        if folded(query) not in asked:
            return query
    return ""


AGREEMENT = Attack(
    "direct_negation",
    "It stands otherwise between the publishers",
    "A passage in which one publisher contradicts another on this, or takes back what it said",
    "contradicts conflict disagree supersedes",
)
CONCLUSION = Attack(
    "newer_evidence",
    "It is out of date, superseded by something newer",
    "A newer passage that revises or withdraws what the answer says",
    "newer updated revised superseded",
)


def answer_challenge(view: View, asked: Asked, answer: str) -> list[Call]:
    """A challenge of a question's answer as it will be given, with its search; none where it was made or cannot be."""
    attack = CONCLUSION if asked.depth == 0 else AGREEMENT if asks_for_agreement(asked.text) else OTHER
    question = read_question(content_of(asked.text))
    query = " ".join([*focus_words(question), *counter_words(question, attack).split()[:4]])
    if view.failed("challenge") or is_made(view, asked.id, query):
        return []
    return [
        challenge(
            "question_answer",
            asked.id,
            attack.strategy,
            negation=f"{attack.opposite} ({counter_words(question, attack)}): {answer[:SHOWN]}",
            expected=attack.expected,
            query=query,
        ),
        search(query, limit=HITS),
    ]


def is_made(view: View, question_id: str, query: str) -> bool:
    """True where the answer of a question was challenged with this query, as far as that is shown."""
    if any(one.target_id == question_id for one in view.challenges):
        return True
    own = view.working.attempts if view.working.id == question_id else ()
    return any(one.kind == "challenge" and folded(one.query) == folded(query) for one in own)


# -- closing ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Shown:
    """A passage that a challenge's search brought; ``source_id`` is "" where its document is no source."""

    text: str
    title: str
    origin: str
    source_id: str
    locator: str


def next_outcomes(view: View, question: Question) -> list[Call]:
    """The results of the open challenges; a search that is still to be made is made."""
    found = passages_by_query(view)
    claims = {claim.id: claim for claim in view.claims}
    calls: list[Call] = []
    for one in view.challenges:
        if one.search == "waiting" and not view.failed("search_sources"):
            calls.append(search(one.query, limit=HITS))
            continue
        closed = closing(one, claims.get(one.target_id), found.get(folded(one.query), []), view, question)
        calls.append(closed)
        claim = claims.get(one.target_id)
        if claim and lacks_only_a_challenge(claim) and closed.arguments["outcome"] == "survived":
            calls.append(change(claim.id, status="VERIFIED"))
    return calls


def some_hidden(view: View) -> bool:
    """True where the last answer opened more challenges than the view shows."""
    return sum(one.tool == "challenge" and not one.failed for one in view.last) > len(view.challenges)


def verifiable(view: View) -> list[Call]:
    """Claims that may be VERIFIED and are not yet."""
    refused = view.failed("notes_update")
    return [] if refused else [change(one.id, status="VERIFIED") for one in view.claims if one.verifiable]


def passages_by_query(view: View) -> dict[str, list[Shown]]:
    """What the last searches brought, and what is known of found documents, by query."""
    found: dict[str, list[Shown]] = {}
    announced: list[str] = []
    for result in view.last:
        if result.tool == "challenge" and not result.failed:
            announced += ASKED_FOR.findall(result.text)[:1]
        if result.tool != "search_sources":
            continue
        # Where the room for arguments was short, the challenge before it names the query.
        query = str(result.arguments.get("query", "")) or (announced.pop(0) if announced else "")
        if query in announced:
            announced.remove(query)
        told = [Shown(one.text, one.title, one.origin, one.source_id, one.locator) for one in result.passages]
        found.setdefault(folded(query), []).extend(told)
    for hit in view.found:
        shown = Shown(hit.snippet, hit.title, hit.origin, "", hit.locator)
        found.setdefault(folded(hit.query), []).append(shown)
    return found


def closing(
    one: OpenChallenge, claim: Claim | None, passages: Sequence[Shown], view: View, question: Question
) -> Call:
    """How a challenge came out, by the passages of its search."""
    if one.search in {"failed", "waiting"}:
        return outcome(one.id, "inconclusive", "The search of this challenge failed.")
    if one.search == "nothing":
        return outcome(one.id, "inconclusive", "The search found nothing, which proves nothing.")
    if not passages:
        return outcome(one.id, "inconclusive", "What its search found is not at hand any more.")
    attacked = [claim] if claim else answering_claims(view, one.target_id, question)
    found = [first_against(each, passages, view, question) for each in attacked]
    against = next((told for told in found if told), None)
    if against is None:
        if claim and not can_read(said_by(claim)[1]) and claim.kind != "figure":
            return outcome(one.id, "inconclusive", UNREADABLE)
        return outcome(one.id, "survived", looked_at(attacked, passages, view, of_claim=claim is not None))
    shown, why = against
    if claim is None:
        why = f"One of its claims is told otherwise: {why}"
    if why == DOUBTFUL or claim is None:
        return outcome(
            one.id, "inconclusive", f"{why} ({shown.origin}): {' '.join(shown.text.split())[:SHOWN]}"
        )
    quote = " ".join(shown.text.split())[:SHOWN]
    if not shown.source_id:
        return outcome(
            one.id, "inconclusive", f"{why} in a document that is not archived ({shown.locator}): {quote}"
        )
    holds = origin_of(claim, view) if claim else ""
    return outcome(
        one.id,
        "weakened",
        f"It holds for {holds}; {why} ({shown.origin}, {shown.source_id}): {quote}",
        sources=[shown.source_id],
    )


def answering_claims(view: View, question_id: str, question: Question) -> list[Claim]:
    """The claims that an answer stands on, or will stand on."""
    asked = next((one for one in view.questions if one.id == question_id), None)
    if asked is None:
        return []
    ids = asked.claim_ids or answer_to(view, asked, question).claim_ids
    return [claim for claim in view.standing if claim.id in ids]


def looked_at(attacked: Sequence[Claim], passages: Sequence[Shown], view: View, *, of_claim: bool) -> str:
    """What was looked for, in how many passages of which publishers, and by which rule."""
    counts = Counter(passage.origin or "unknown publisher" for passage in passages)
    own = {origin for claim in attacked for origin in origins_of(claim, view)}
    told = ", ".join(f"{origin} {count}" for origin, count in counts.items())
    rule = "nearly the same words with an opposite modal word, a negation or another number"
    if any(claim.kind == "figure" for claim in attacked):
        rule = f"another value in the same unit for the same matter, or {rule}"
    whom = "it" if of_claim else f"the answer's {plural(len(attacked), 'claim')}"
    others = "" if set(counts) - own else "; all are of publishers that say it themselves"
    return (
        f"By word rules no passage that its one search showed is against {whom}. Looked at: "
        f"{plural(len(passages), 'passage')} ({told}){others}. Looked for: {rule}. Other wordings are not recognised."
    )


def origins_of(claim: Claim, view: View) -> set[str]:
    known = {source.source_id: source.origin for source in view.sources}
    return {known[link.source_id] for link in claim.supports if link.source_id in known}


def origin_of(claim: Claim, view: View) -> str:
    origins = {source.source_id: source.origin for source in view.sources}
    return ", ".join(dict.fromkeys(origins.get(link.source_id) or link.source_id for link in claim.supports))


def first_against(
    claim: Claim, passages: Sequence[Shown], view: View, question: Question
) -> tuple[Shown, str] | None:
    """The first sentence of another publisher that contradicts the claim, with how."""
    own = {
        source.origin
        for source in view.sources
        if source.source_id in {link.source_id for link in claim.links}
    }
    for passage in passages:
        if passage.origin in own or is_program(passage.locator):
            continue
        for sentence in sentences(passage.text):
            why = contradicts(claim, sentence, passage.title, question)
            if why:
                return Shown(
                    sentence.text, passage.title, passage.origin, passage.source_id, passage.locator
                ), why
    return None


def contradicts(claim: Claim, sentence: Sentence, title: str, question: Question) -> str:
    """How a sentence contradicts a claim, "" where it does not as far as rules can see."""
    said = said_by(claim)[1]
    above = Sentence(
        sentence.text, sentence.start, sentence.end, f"{title} › {sentence.heading}", sentence.kind
    )
    scored = score(above, question, rarity=Rarity.over([]))
    if not is_statement(sentence.clean):
        return ""
    if how := opposed(said, sentence.clean, question):
        return "the opposite is said" if how == "clear" else DOUBTFUL
    answers = scored.focus >= FOCUSED and speaks_of(sentence.clean, scored.about, question)
    comparable = claim.kind == "figure" and answers and same_heads(said, sentence.clean, question)
    if comparable and disjoint(said, sentence.clean, question):
        return "another value is told"
    return WHYS.get(differs(said, sentence.clean, question), "")


def same_heads(one: str, other: str, question: Question) -> bool:
    """Whether both say what the question asks of its subject, or neither does."""
    return question.has_head(one) == question.has_head(other)


def disjoint(one: str, other: str, question: Question) -> bool:
    """Whether two statements tell values of one asked bound and unit, and none in common."""
    left, right = told_values(one, question), told_values(other, question)
    shared = left.keys() & right.keys()
    return bool(shared) and all(not left[key] & right[key] for key in shared)


def told_values(text: str, question: Question) -> dict[tuple[str, str], set[float]]:
    found: dict[tuple[str, str], set[float]] = {}
    for value in values(text, vocabulary=question.vocabulary):
        if question.answers_in(value.unit) and value.bound in question.bounds:
            found.setdefault((value.bound, value.unit), set()).add(value.number)
    return found
