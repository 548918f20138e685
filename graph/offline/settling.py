"""Answering the question in progress and taking up the next one, up to the checkpoint that opens the report."""

from researchdesk.graph.offline.answers import Answer, answer_to, claims_for
from researchdesk.graph.offline.asking import asks_for_agreement, left_to_answer
from researchdesk.graph.offline.calls import Call, checkpoint, prune, resolve, retry, search, take_up
from researchdesk.graph.offline.challenging import answer_challenge, next_challenges
from researchdesk.graph.offline.gathering import (
    HITS,
    OBJECTIVE,
    focus_words,
    folded,
    is_challenged,
    read_for,
    tried,
    turned,
)
from researchdesk.graph.offline.question import Question
from researchdesk.graph.offline.records import is_off_topic, next_records
from researchdesk.graph.offline.view import Asked, Claim, View

LAST_TURNS = 3
"""With so few answers left for gathering nothing is challenged any more."""
NO_TIME = "too few steps were left to challenge it"
NO_SEARCH = "its challenge could not be made"
UNANSWERED = "No passage that was read answers this."
NO_WORD = (
    "no word of the question occurs in the documents. Where they are in another language, ask in theirs; else in the "
    "words that they use"
)
ASSUMED = "No archived source answers this; it is left open, and nothing is concluded from it"


def settle(view: View, question: Question, *, room: int, turns: int | None) -> list[Call]:
    """What is still due before the question in progress is answered, then its answer and the next question."""
    own = working_question(view)
    answer = answer_to(view, own, question)
    claims = claims_for(view, own, question)
    if not answer.claim_ids or is_off_topic(view, question, claims):
        return give_up(view, question, claims)
    calls: list[Call] = []
    asks = own.depth > 0 and not asks_for_agreement(own.text)
    if asks and not is_challenged(view, own.id) and not view.failed("notes_append"):
        calls = next_records(view, question, claims)
    if turns is None or turns > LAST_TURNS:
        challenges = next_challenges(view, question, room=room - len(calls))
        if len(calls) + len(challenges) + 2 <= room:  # the last of them, beside which there is room
            challenges += answer_challenge(view, own, answer.text)
        if challenges:
            return [*calls, *challenges]
        reason = NO_SEARCH if view.failed("challenge") or view.failed("resolve_question") else ""
    else:
        reason = NO_TIME
    return [*calls, *resolved(view, own, answer, reason, turns)]


def working_question(view: View) -> Asked:
    """The question in progress with what the list of questions tells of it."""
    own = view.working
    listed = next((one for one in view.questions if one.id == own.id), None)
    return Asked(
        id=own.id,
        text=own.text,
        depth=own.depth,
        status="in_progress",
        depends_on=listed.depends_on if listed else (),
    )


def waiting_questions(view: View) -> list[Asked]:
    return [one for one in view.questions if one.depth > 0 and one.status in {"pending", "blocked"}]


def next_question(view: View, waiting: list[Asked]) -> list[Call]:
    """The next question is taken up; one that waits for what was given up is dropped."""
    lost = {one.id for one in view.questions if one.status in {"unresolvable", "pruned"}}
    dropped = [
        prune(one.id, f"{', '.join(sorted(set(one.depends_on) & lost)) or 'what it waits for'} has no answer")
        for one in waiting
        if one.status == "blocked"
    ]
    if any(one.status == "pending" for one in waiting):
        return [*dropped, take_up()]
    return dropped if not view.failed("prune_branch") else []


def resolved(view: View, own: Asked, answer: Answer, reason: str, turns: int | None) -> list[Call]:
    """The answer, then the next question; after the objective's answer the report is opened."""
    calls = [resolve(own.id, answer.text, claims=answer.claim_ids, reason=reason)]
    if own.id == OBJECTIVE:
        return [*calls, to_report(view)]
    waiting = [one for one in waiting_questions(view) if one.id != own.id]
    if not waiting:
        return [*calls, *next_answers(view, reason, OBJECTIVE)]
    calls.append(take_up())
    if [(one.status, asks_for_agreement(one.text)) for one in waiting] == [("pending", True)]:
        calls += next_answers(view, reason, waiting[0].id)
    return calls


def next_answers(view: View, reason: str, question_id: str) -> list[Call]:
    """What follows an answer at once: the challenge of the next one, or with too few steps the next answers."""
    asked = next((one for one in view.questions if one.id == question_id), None)
    if asked is None:
        return []
    text = view.objective if question_id == OBJECTIVE else asked.text
    asked = asked.model_copy(update={"text": text})
    answer = answer_to(view, asked, read_for(view, question_id, text))
    if reason != NO_TIME:
        return answer_challenge(view, asked, answer.text) if answer.claim_ids else []
    if not answer.claim_ids:
        return []
    calls = [resolve(question_id, answer.text, claims=answer.claim_ids, reason=reason)]
    return (
        [*calls, to_report(view)]
        if question_id == OBJECTIVE
        else [*calls, *next_answers(view, reason, OBJECTIVE)]
    )


def give_up(view: View, question: Question, claims: list[Claim]) -> list[Call]:
    """Another search while there is one left, then the question is given up with an assumption."""
    own = view.working
    if view.failed("retry_question"):
        return []
    if own.searches_left > 0:
        query = another_query(view, question)
        why = "nothing that was read answers it"
        if query:
            return [retry(own.id, query, why=why), search(query, limit=HITS)]
        return [resolve(own.id, UNANSWERED, claims=(), reason="no other query in its words is left")]
    lacking = (
        next_records(view, question, claims)
        if own.id != OBJECTIVE and not view.failed("notes_append")
        else []
    )
    after = [] if own.id == OBJECTIVE else [take_up()] if waiting_questions(view) else []
    return [*lacking, retry(own.id, "", why="its searches are spent", assumption=ASSUMED), *after]


def another_query(view: View, question: Question) -> str:
    """A query in the words of the question that was not made before; "" where no other is left."""
    asked = tried(view)
    focus = focus_words(question)
    options = [" ".join(focus), *(turned(question, times) for times in range(1, 6)), *focus]
    return next((query for query in options if query and folded(query) not in asked), "")


def to_report(view: View) -> Call:
    return checkpoint(
        max(1, view.round),
        "report_writing",
        summary=f"{view.coverage.total} claims of {len(view.sources) + view.sources_not_shown} archived sources, "
        f"{view.coverage.challenged} of them challenged.",
        open_questions=[one.text for one in view.questions if one.status == "unresolvable"],
        evidence=[source.artifact_id for source in view.sources if source.noted],
    )


def end_of_gathering(view: View) -> list[Call]:
    """The checkpoint that opens the report, where nothing else is left to do; what is refused is given up."""
    if view.failed("deep_research_checkpoint") or not view.sources:
        return []
    return [to_report(view)]


def nothing_found(view: View) -> list[Call]:
    """The end of a run without any source, with its reason; it may be taken up again."""
    if view.failed("deep_research_checkpoint"):
        return []
    hits = sum(one.results for one in view.searches)
    reason = f"nothing was found for '{view.objective[:300]}' in {len(view.searches)} searches: {NO_WORD}"
    if hits:
        codes = ", ".join(sorted({one.code for one in view.refused if one.code}))
        reason = f"no document of those that {len(view.searches)} searches found could be archived"
        reason += f" ({codes})." if codes else "."
    if failed := [result for result in view.failed("search_sources") if result.text]:
        reason = f"the search failed: {failed[0].text.strip()[:300]}"
    open_questions = [view.objective, *(one.text for one in left_to_answer(view))]
    return [
        checkpoint(
            max(1, view.round),
            "knowledge_base",
            status="blocked",
            summary=f"no evidence: {reason}",
            open_questions=list(dict.fromkeys(open_questions)),
        )
    ]
