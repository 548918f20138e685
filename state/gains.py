"""Which events bring a run further, and which only keep it busy: searches, attempts, views, priorities, scratch."""

from researchdesk.state import events as ev
from researchdesk.state.investigation import Investigation
from researchdesk.state.run import ResearchRun

_RECORDS = (
    ev.ArtifactRecorded,
    ev.SourceRecorded,
    ev.ClaimRecorded,
    ev.ClaimSourceRecorded,
    ev.DatapointRecorded,
    ev.ContradictionRecorded,
    ev.AssumptionRecorded,
    ev.GapRecorded,
    ev.SourceNoted,
)


def is_gain(event: ev.Event, run: ResearchRun | None, investigation: Investigation | None) -> bool:
    """Whether something came: a source or another artifact, a note, or another stage or status.

    Args:
        run, investigation: as they were before the event.
    """
    match event:
        case ev.QuestionRecorded():
            return event.transition.from_status != event.transition.to_status
        case ev.ChallengeRecorded():
            old = investigation.challenges.by_id.get(event.challenge.id) if investigation else None
            return old is None or old.status != event.challenge.status
        case ev.CheckpointRecorded():
            return run is None or run.stage != event.stage
        case _:
            return isinstance(event, _RECORDS)
