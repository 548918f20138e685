"""The first answer of a run: a look at the documents, and the objective split into questions."""

from researchdesk.graph.offline.asking import asks_for_agreement, children_of, content_of
from researchdesk.graph.offline.calls import Call, add_question, search, take_up
from researchdesk.graph.offline.gathering import HITS, OBJECTIVE, folded, opening_searches, read_for, shorten
from researchdesk.graph.offline.view import View

WHY = "The objective asks for it"
WHY_AGREE = "An answer that publishers contradict is another one than an answer they share"
ATOMIC = "It asks one thing, and this run has no room for questions under it"


def opening(view: View) -> list[Call]:
    """The objective's first searches, its questions, and the first of them taken up; none where that was refused."""
    if view.failed("add_question") or view.failed("frontier_next"):
        return []
    most = view.limits.max_questions - len(view.questions or (1,)) if view.limits.max_depth else 0
    texts = children_of(view.objective, most=most)
    searches = opening_searches(view)
    if not texts:
        return [*searches, take_up(ATOMIC)] if not view.sources else searches
    ids = [f"q_{number:03}" for number in range(2, len(texts) + 2)]
    added = [
        add_question(
            OBJECTIVE,
            text,
            why=WHY_AGREE if asks_for_agreement(text) else WHY,
            depends_on=ids[:-1] if asks_for_agreement(text) else (),
        )
        for text in texts
    ]
    first = read_for(view, ids[0], texts[0])
    query = shorten(" ".join(content_of(texts[0]).split()), first)
    own = (
        []
        if any(folded(str(one.arguments["query"])) == folded(query) for one in searches)
        else [search(query, limit=HITS)]
    )
    return [*searches, *added, take_up(), *own]
