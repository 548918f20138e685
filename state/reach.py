"""What a run could still read: documents that its searches found and that nobody tried to archive."""

from collections.abc import Iterable
from functools import lru_cache

from researchdesk.state import events as ev
from researchdesk.state.frontier import Frontier
from researchdesk.state.locators import UnsafeLocator, parse_locator
from researchdesk.state.run import ResearchRun


def untried_leads(run: ResearchRun, frontier: Frontier, refused: Iterable[str]) -> tuple[ev.Found, ...]:
    """The best hit of each such document, in the order in which they were found.

    Args:
        refused: locators that could not be archived.
    """
    tried = {attempt.query for attempt in frontier.attempts.values() if attempt.kind == "fetch"}
    for source in run.fetched_sources:
        assert source.receipt is not None
        # Under the locator that was asked for stands what it was redirected to.
        tried |= {source.url, source.receipt.requested}
    spelled = {_canonical(locator) for locator in (*tried, *refused)}
    return tuple(lead.best for locator, lead in run.leads.items() if locator not in spelled)


@lru_cache(maxsize=4096)
def _canonical(locator: str) -> str:
    try:
        return str(parse_locator(locator))
    except UnsafeLocator:
        return locator
