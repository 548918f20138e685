"""When notes come first: too many documents were fetched since something was noted."""

from researchdesk.state.investigation import Investigation
from researchdesk.state.workspace import Workspace


def noted_sources(investigation: Investigation) -> frozenset[str]:
    """The sources that the notes say something of: linked by a claim, told by a datapoint, or with a note."""
    notes = investigation.notes
    linked = {link.source_id for claim in notes.claims.values() for link in claim.links}
    told = {datapoint.about for datapoint in notes.datapoints.values()}
    return frozenset(linked | told | {key for key, source in notes.sources.items() if source.note})


def must_note(workspace: Workspace) -> bool:
    """Whether so many documents were fetched since the last note that only notes may follow now."""
    run, investigation = workspace.run, workspace.investigation
    if run is None or investigation is None or run.stage != "knowledge_base":
        return False
    return _fetched_since_note(workspace, investigation) >= run.limits.extraction_threshold


def _fetched_since_note(workspace: Workspace, investigation: Investigation) -> int:
    """Fetches that brought a source, since something was last noted of one."""
    touched, notes = workspace.touched, investigation.notes
    told = [*notes.claims, *notes.datapoints, *notes.contradictions, *noted_sources(investigation)]
    last = max((touched.get(key) or 0 for key in told), default=0)
    fetched = (a for a in investigation.frontier.attempts.values() if a.kind == "fetch" and a.found)
    return sum((touched.get(attempt.id) or 0) > last for attempt in fetched)
