"""What a start, a search, a fetch or a new source leaves in an investigation, as events.

Where there is no investigation, they leave nothing.
"""

from researchdesk.state import events as ev
from researchdesk.state.attempts import log_failed_search, log_fetch, log_search
from researchdesk.state.investigation import Investigation, start_investigation
from researchdesk.state.investigation_diff import diff
from researchdesk.state.investigation_fold import add_source, known_source
from researchdesk.state.run import ResearchRun

Events = tuple[ev.InvestigationEvent, ...]


def of_start(objective: str, run: ResearchRun | None = None) -> Events:
    """The first events of an investigation: its objective as a question, and the notes with the run's sources."""
    sources = run.all_sources if run else ()
    begun = start_investigation(objective, map(known_source, sources))
    return diff(Investigation(), begun.investigation, begun.transitions, "notes_append")


def of_search(now: Investigation | None, search: ev.SearchRecorded) -> Events:
    """The attempt that a search was, whether it ran just now or is answered from the record."""
    return () if now is None else diff(now, log_search(now, search), ())


def of_failed_search(now: Investigation | None, query: str, problem: str) -> Events:
    """The attempt that a search was which failed; it proves nothing."""
    return () if now is None else diff(now, log_failed_search(now, query, problem), ())


def of_fetch(now: Investigation | None, locator: str, *, source_id: str, outcome: str) -> Events:
    """The attempt that reading a document was which is a source already, once for each question."""
    if now is None:
        return ()
    tried = now.frontier.tried(now.frontier.working_id)
    if any(attempt.kind == "fetch" and attempt.query == locator for attempt in tried):
        return ()
    return diff(now, log_fetch(now, locator, outcome=outcome, source_id=source_id), ())


def of_failed_fetch(now: Investigation | None, locator: str, problem: str, *, broken_way: bool) -> Events:
    """The attempt that reading a document was which brought nothing; with a broken way it says nothing of it."""
    if now is None:
        return ()
    return diff(now, log_fetch(now, locator, outcome=problem, failed=broken_way), ())


def of_source(now: Investigation | None, source: ev.SourceRecorded) -> Events:
    """What follows the event of a new source: the attempt it came from, if it was fetched, and the notes' version."""
    if now is None:
        return ()
    after = add_source(now, source)
    if source.receipt is not None:
        outcome = source.title or source.url
        after = log_fetch(after, source.url, outcome=outcome, source_id=source.source_id)
    # The source is in the notes by its own event; what is new beside it is the attempt and the version.
    return diff(now, after, (), "notes_append")
