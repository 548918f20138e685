"""From what was searched and fetched to the attempts of the question in progress.

A search belongs to the open challenge that asked for its query, else to the question in progress, else to the
objective. What was tried before with the same query is not logged twice.
"""

from dataclasses import replace

from researchdesk.state import events as ev
from researchdesk.state.challenges import Challenge, link_attempt, question_of_challenge
from researchdesk.state.frontier_moves import attempt
from researchdesk.state.investigation import Investigation
from researchdesk.state.sameness import normal_query, same_query
from researchdesk.state.vocabulary import Cause


def log_search(investigation: Investigation, search: ev.SearchRecorded) -> Investigation:
    """The investigation in which a search that ran is an attempt."""
    found = len(search.documents)
    outcome = f"{found} documents by {search.provider}" if found else f"nothing by {search.provider}"
    if search.failed:
        outcome += f"; no answer from {', '.join(name for name, _ in search.failed)}"
    # Where somebody did not answer, that nothing was found proves nothing.
    empty: Cause = "infrastructure" if search.failed else "evidence"
    return _log_query(
        investigation, search.query, outcome=outcome, results=found, cause=None if found else empty
    )


def log_failed_search(investigation: Investigation, query: str, problem: str) -> Investigation:
    """The investigation in which a search that failed is an attempt; it proves nothing."""
    return _log_query(investigation, query, outcome=problem, results=0, cause="infrastructure")


def log_fetch(
    investigation: Investigation, locator: str, *, outcome: str, source_id: str = "", failed: bool = False
) -> Investigation:
    """The investigation in which a fetch is an attempt; ``source_id`` is what it archived, "" for nothing."""
    frontier = investigation.frontier
    cause: Cause | None = "infrastructure" if failed else None if source_id else "evidence"
    moved = attempt(
        frontier,
        frontier.working_id,
        kind="fetch",
        query=locator,
        outcome=f"{source_id}: {outcome}" if source_id else outcome,
        results=1 if source_id else 0,
        cause=cause,
    )
    return replace(investigation, frontier=moved.frontier)


def _log_query(
    investigation: Investigation, query: str, *, outcome: str, results: int, cause: Cause | None
) -> Investigation:
    frontier = investigation.frontier
    challenge = _asked_by(investigation, query)
    question = question_of_challenge(challenge, investigation.notes) if challenge else frontier.working_id
    if challenge is None and _ran_before(investigation, question, query):
        return investigation
    moved = attempt(
        frontier,
        question,
        kind="challenge" if challenge else "search",
        query=query,
        outcome=outcome,
        results=results,
        challenge_id=challenge.id if challenge else "",
        cause=cause,
    )
    after = replace(investigation, frontier=moved.frontier)
    if challenge is None:
        return after
    run = moved.frontier.tried(question)[-1]
    linked = link_attempt(investigation.challenges, challenge.id, run)
    return replace(after, challenges=linked.challenges)


def _asked_by(investigation: Investigation, query: str) -> Challenge | None:
    """The open challenge that waits for this query: never searched, or its search failed."""
    attempts = investigation.frontier.attempts
    for challenge in investigation.challenges.open:
        run = attempts.get(challenge.attempt_id)
        waits = run is None or run.cause == "infrastructure"
        if waits and same_query(challenge.query, query):
            return challenge
    return None


def _ran_before(investigation: Investigation, question_id: str, query: str) -> bool:
    wanted = normal_query(query)
    return any(
        a.kind == "search" and a.results is not None and a.cause != "infrastructure"
        for a in investigation.frontier.tried(question_id)
        if normal_query(a.query) == wanted
    )
