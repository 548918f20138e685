"""What a run could still read: documents that its searches found and that nobody tried to archive."""

from collections.abc import Container

from researchdesk.state import events as ev
from researchdesk.state.frontier import Frontier
from researchdesk.state.run import ResearchRun


def untried_leads(run: ResearchRun, frontier: Frontier, refused: Container[str]) -> tuple[ev.Found, ...]:
    """The best hit of each such document.

    Args:
        refused: locators that could not be archived.
    """
    tried = {attempt.query for attempt in frontier.attempts.values() if attempt.kind == "fetch"}
    for source in run.fetched_sources:
        assert source.receipt is not None
        # Under the locator that was asked for stands what it was redirected to.
        tried |= {source.url, source.receipt.requested}
    return tuple(
        lead.best for locator, lead in run.leads.items() if locator not in tried and locator not in refused
    )
