"""What a session shows of its run, now or as it stood at an earlier event."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import SupportsIndex

from researchdesk.state.cards import session_card
from researchdesk.state.challenges import Challenges
from researchdesk.state.claim_list import Claims
from researchdesk.state.copying import changed
from researchdesk.state.errors import NotFound, UsageError
from researchdesk.state.falling import Falling, what_falls
from researchdesk.state.frontier import Frontier
from researchdesk.state.ids import session_stream
from researchdesk.state.investigation import Investigation, start_investigation
from researchdesk.state.investigation_fold import known_source
from researchdesk.state.notes import Notes
from researchdesk.state.run import ResearchRun
from researchdesk.state.usage import NOTHING_SPENT, Spending
from researchdesk.state.vocabulary import Outcome
from researchdesk.state.workspace import Workspace
from researchdesk.stores.codec import StoredEvent
from researchdesk.stores.ledger import Ledger
from researchdesk.stores.replay import Projection, follow
from researchdesk.tools.records import Records


class Shown:
    """What a session shows of its run; each value is immutable and stands as of `workspace`."""

    __slots__ = ()
    id: str
    records: Records

    @property
    def workspace(self) -> Workspace:
        """The session's state."""
        raise NotImplementedError

    @property
    def run(self) -> ResearchRun | None:
        """The research run of this session, or None before it starts."""
        return self.workspace.run

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
    def claims(self) -> Claims:
        """The claims of the run, in the order of their ids."""
        run = self.run
        return Claims.of(self.investigation, run.limits) if run else Claims()

    @property
    def challenges(self) -> Challenges:
        """The challenges of the run."""
        return self.investigation.challenges

    @property
    def own_spending(self) -> Spending:
        """What this session spent itself: of a fork, without what the session that it was forked from had spent."""
        now = self.workspace
        if now.session is None or not now.session.forked_from:
            return now.spending_so_far
        stored = first_events(self.records.ledger, self.id, now.seq)
        return _spent_after(now.session.forked_seq, stored)

    def _repr_html_(self) -> str:
        return session_card(self.id, self.workspace)

    def report_texts(self) -> dict[str, str]:
        """The texts of the report, by the key of their section; of one written whole under the key ``report``."""
        run = self.run
        written = {section.key: section.artifact_id for section in run.sections} if run else {}
        if run and run.report_artifact_id and not any(written.values()):
            written = {"report": run.report_artifact_id}
        purged = self.workspace.purged_artifacts
        return {
            key: self.records.text(run.artifacts[artifact_id].content_hash)
            for key, artifact_id in written.items()
            if run and artifact_id and artifact_id not in purged
        }

    def what_falls(
        self, *, without: Iterable[str] = (), flipped: Mapping[str, Outcome] | None = None
    ) -> Falling:
        """The claims, answers and report sentences that lose support without some sources or with other outcomes.

        Args:
            without: the id of a source that is thought away, or several.
            flipped: another outcome for each challenge, by its id.

        Raises:
            NotFound: there is no such source or challenge.
            UsageError: there is no such outcome.
        """
        run = self.run
        if run is None:
            raise NotFound("no research was started in this session")
        # A run without questions has sources all the same, which its report cites.
        sources = map(known_source, run.all_sources)
        asked = self.workspace.investigation or start_investigation(run.objective, sources).investigation
        return what_falls(asked, run.limits, without=without, flipped=flipped, texts=self.report_texts())


def _spent_after(seq: int, stored: Sequence[StoredEvent]) -> Spending:
    """What the events after the first ``seq`` spent; a request that was under way then is of those before."""
    projection = _nothing_spent(follow(Projection(), stored[:seq]))
    lost = projection.workspace.pending_request
    for item in stored[seq:]:
        projection = follow(projection, (item,))
        if lost is not None and projection.workspace.pending_request is not lost:
            projection, lost = _nothing_spent(projection), None
    return projection.workspace.spending_so_far if lost is None else NOTHING_SPENT


def _nothing_spent(projection: Projection) -> Projection:
    return replace(projection, state=changed(projection.workspace, spending=NOTHING_SPENT))


@dataclass(frozen=True, slots=True, kw_only=True)
class Past(Shown):
    """A session as it stood after ``seq`` events, for reading only."""

    id: str
    seq: int
    records: Records
    state: Workspace

    @property
    def workspace(self) -> Workspace:
        """The session's state at that event."""
        return self.state


def first_events(ledger: Ledger, session_id: str, seq: int) -> Sequence[StoredEvent]:
    """The first ``seq`` events of a session.

    Raises:
        NotFound: it has fewer.
        UsageError: that is no number of an event.
    """
    if not isinstance(seq, SupportsIndex):
        raise UsageError(f"an event is named by its number, a whole one, not {seq!r:.80}")
    stored = ledger.read(session_stream(session_id))
    if not 1 <= seq <= len(stored):
        raise NotFound(f"session '{session_id}' has events 1..{len(stored)}, not {seq}")
    return stored[:seq]
