"""What a session shows and does of its investigation: projections, its beginning, a person's hand on its questions."""

from collections.abc import Sequence
from pathlib import Path

from researchdesk.state import events as ev
from researchdesk.state import traces
from researchdesk.state.challenges import Challenges
from researchdesk.state.claims import Claim
from researchdesk.state.frontier import Frontier
from researchdesk.state.investigation import Investigation
from researchdesk.state.notes import Notes
from researchdesk.state.workspace import Workspace
from researchdesk.stores.replay import Projection
from researchdesk.tools.records import Records
from researchdesk.tools.running import open_run
from researchdesk.tools.steering import Record, Steering


class Investigating:
    """The part of a session that concerns its investigation; what is shown is immutable and stands as of now."""

    __slots__ = ()
    id: str
    records: Records
    record_decided: Record

    @property
    def workspace(self) -> Workspace:
        """The session as it stands now."""
        return self.records.projection(self.id).workspace

    @property
    def investigation(self) -> Investigation:
        """The questions, notes and challenges of the run; empty before they begin."""
        return self.workspace.investigation or Investigation()

    @property
    def frontier(self) -> Frontier:
        """The questions of the run."""
        return self.investigation.frontier

    @property
    def notes(self) -> Notes:
        """The notes of the run."""
        return self.investigation.notes

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The claims of the run, in the order of their ids."""
        return tuple(self.notes.all_claims)

    @property
    def challenges(self) -> Challenges:
        """The challenges of the run."""
        return self.investigation.challenges

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
        self.records.remember(self.id, after)
        if looked_at or after.workspace.notes_version != before.workspace.notes_version:
            self.keep_notes()
