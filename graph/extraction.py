"""When notes come first: too many sources were fetched in a row of which the notes say nothing."""

from researchdesk.state.investigation import Investigation
from researchdesk.state.run import ResearchRun
from researchdesk.state.workspace import Workspace


def noted_sources(investigation: Investigation) -> frozenset[str]:
    """The sources that the notes say something of: linked by a claim, told by a datapoint, or with a note."""
    notes = investigation.notes
    linked = {link.source_id for claim in notes.claims.values() for link in claim.links}
    told = {datapoint.about for datapoint in notes.datapoints.values()}
    return frozenset(linked | told | {key for key, source in notes.sources.items() if source.note})


def must_note(workspace: Workspace) -> bool:
    """Whether so many sources were fetched without a note that only notes may follow now."""
    run, investigation = workspace.run, workspace.investigation
    if run is None or investigation is None or run.stage != "knowledge_base":
        return False
    return _fetched_since_note(run, investigation) >= run.limits.extraction_threshold


def _fetched_since_note(run: ResearchRun, investigation: Investigation) -> int:
    """How many of the newest readable sources, in a row, the notes say nothing of."""
    noted = noted_sources(investigation)
    count = 0
    for source in reversed(run.fetched_sources):
        if source.source_id in noted:
            break
        count += source.receipt is not None and source.receipt.readable
    return count
