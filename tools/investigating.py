"""What a session shows and does of its investigation: projections, its beginning, a person's hand on its questions."""

from collections.abc import Sequence
from pathlib import Path

from researchdesk.state import events as ev
from researchdesk.state import traces
from researchdesk.state.ids import session_stream
from researchdesk.state.investigation import Investigation
from researchdesk.state.workspace import Workspace
from researchdesk.stores.replay import Projection, follow
from researchdesk.tools.running import open_run
from researchdesk.tools.shown import Past, Shown, first_events
from researchdesk.tools.steering import Record, Steering


class Investigating(Shown):
    """The part of a session that concerns its investigation, as it stands now."""

    __slots__ = ()
    record_decided: Record

    @property
    def workspace(self) -> Workspace:
        """The session as it stands now."""
        return self.records.projection(self.id).workspace

    def at(self, seq: int) -> Past:
        """The session as it stood after its event ``seq``, for reading only.

        Raises:
            NotFound: it has no such event.
            UsageError: that is no number of an event.
        """
        stored = first_events(self.records.ledger, self.id, seq)
        return Past(id=self.id, seq=seq, records=self.records, state=follow(Projection(), stored).workspace)

    @property
    def steering(self) -> Steering:
        """A person's hand on the questions of the run."""
        return Steering(record=self.record_decided)

    def start_investigation(self) -> Investigation:
        """Begin the investigation of a run that was started without one; once it is there, nothing happens.

        Raises:
            Refusal: ``not_started``, or ``completed`` when the run is sealed.
        """

        def first(workspace: Workspace) -> Sequence[ev.Event]:
            run = open_run(workspace)
            return () if workspace.investigation else traces.of_start(run.objective, run)

        self.record_decided(first)
        return self.investigation

    def keep_notes(self) -> Path | None:
        """Bring the working copy of the notes to their latest version; None where the run has none."""
        return self.records.keep_notes(self.id)

    def _remember(self, before: Projection, after: Projection, *, looked_at: bool = False) -> None:
        """What follows a commit; a working copy that somebody deleted or changed comes back when notes are used."""
        self.records.remember(session_stream(self.id), after)
        if looked_at or after.workspace.notes_version != before.workspace.notes_version:
            self.keep_notes()
