"""The rows of the events of an investigation; `state.rows` calls it for them."""

from dataclasses import dataclass
from typing import assert_never

from researchdesk.state import events as ev
from researchdesk.state.challenges import Challenge
from researchdesk.state.claims import Assumption, Claim, Contradiction, Datapoint, Gap
from researchdesk.state.investigation import Investigation
from researchdesk.state.notes_grammar import render
from researchdesk.state.questions import Attempt, Question
from researchdesk.state.row_changes import Row, RowChange, Stamp, insert, json_text
from researchdesk.state.workspace import Workspace, record_id

NoteEvent = (
    ev.DatapointRecorded
    | ev.ContradictionRecorded
    | ev.AssumptionRecorded
    | ev.GapRecorded
    | ev.SourceNoted
    | ev.ScratchSet
)


def investigation_rows(
    event: ev.InvestigationEvent, before: Workspace, after: Workspace, stamp: Stamp
) -> tuple[RowChange, ...]:
    """The row changes of one event of an investigation."""
    assert after.session is not None and after.investigation is not None
    return _Writer(
        session=after.session.session_id,
        stamp=stamp,
        before=before.investigation or Investigation(),
        last_seq=before.touched.get(record_id(event)) or 0,
        after=after,
    ).changes(event)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Writer:
    """Writes the rows of one event. ``last_seq`` is the event that wrote the record before, 0 for none."""

    session: str
    stamp: Stamp
    before: Investigation
    last_seq: int
    after: Workspace

    def changes(self, event: ev.InvestigationEvent) -> tuple[RowChange, ...]:
        notes = self.before.notes
        match event:
            case ev.QuestionRecorded():
                return self._question(event)
            case ev.DependencyRecorded():
                return (self._dependency(event.question_id, event.depends_on),)
            case ev.AttemptRecorded():
                old_attempt = self.before.frontier.attempts.get(event.attempt.id)
                return self._put(
                    "frontier_attempts",
                    _attempt(event.attempt),
                    _attempt(old_attempt) if old_attempt else None,
                )
            case ev.ClaimRecorded():
                old_claim = notes.claims.get(event.claim.id)
                return self._put("claims", _claim(event.claim), _claim(old_claim) if old_claim else None)
            case ev.ClaimSourceRecorded():
                return (self._link(event),)
            case ev.ChallengeRecorded():
                return self._challenge(event.challenge)
            case ev.NotesVersionRecorded():
                return (self._version(event),)
            case _:
                return self._note(event)

    def _put(self, table: str, new: Row, old: Row | None) -> tuple[RowChange, ...]:
        """An updatable row: its values between the session and the sequence of the event that wrote it."""
        change = RowChange(
            table=table,
            new=(self.session, *new, self.stamp.seq),
            old=(self.session, *old, self.last_seq) if old else None,
        )
        return (change,)

    def _question(self, event: ev.QuestionRecorded) -> tuple[RowChange, ...]:
        question, step = event.question, event.transition
        old = self.before.frontier.questions.get(question.id)
        transition = insert(
            "frontier_transitions",
            self.session,
            step.question_id,
            step.seq,
            step.from_status or None,
            step.to_status,
            step.trigger,
            step.actor,
            step.reason,
            step.priority,
            self.stamp.seq,
            self.stamp.ts,
        )
        edges = () if old else tuple(self._dependency(question.id, key) for key in question.depends_on)
        row = self._put("frontier_questions", _question(question), _question(old) if old else None)
        return (*row, transition, *edges)

    def _dependency(self, question_id: str, on: str) -> RowChange:
        return insert("frontier_deps", self.session, question_id, on, self.stamp.seq)

    def _link(self, event: ev.ClaimSourceRecorded) -> RowChange:
        link = event.link
        position = len(self.before.notes.claims[event.claim_id].links)
        place = (link.quote, link.quote_start, link.quote_end, link.quotes_other_source)
        about = (event.claim_id, position, link.source_id, link.artifact_id, link.stance)
        return insert("claim_sources", self.session, *about, *place, self.stamp.seq, self.stamp.ts)

    def _challenge(self, challenge: Challenge) -> tuple[RowChange, ...]:
        old = self.before.challenges.by_id.get(challenge.id)
        named = old.source_ids if old else ()
        sources = tuple(
            insert("challenge_sources", self.session, challenge.id, key, position)
            for position, key in enumerate(challenge.source_ids)
            if key not in named
        )
        return (*self._put("challenges", _challenge(challenge), _challenge(old) if old else None), *sources)

    def _version(self, event: ev.NotesVersionRecorded) -> RowChange:
        assert self.after.investigation is not None
        text = render(self.after.investigation.notes)
        about = (self.after.notes_version, self.stamp.seq, event.reason)
        return insert("notes_versions", self.session, *about, text, event.text_hash, self.stamp.ts)

    def _note(self, event: NoteEvent) -> tuple[RowChange, ...]:
        notes = self.before.notes
        match event:
            case ev.DatapointRecorded():
                old_point = notes.datapoints.get(event.datapoint.id)
                return self._put(
                    "datapoints", _datapoint(event.datapoint), _datapoint(old_point) if old_point else None
                )
            case ev.ContradictionRecorded():
                old = notes.contradictions.get(event.contradiction.id)
                return self._put(
                    "contradictions",
                    _contradiction(event.contradiction),
                    _contradiction(old) if old else None,
                )
            case ev.AssumptionRecorded():
                old_assumption = notes.assumptions.get(event.assumption.id)
                return self._put(
                    "open_points", _open(event.assumption), _open(old_assumption) if old_assumption else None
                )
            case ev.GapRecorded():
                old_gap = notes.gaps.get(event.gap.id)
                return self._put("open_points", _open(event.gap), _open(old_gap) if old_gap else None)
            case ev.SourceNoted():
                key = event.source_id
                noted: Row | None = (key, notes.sources[key].note) if self.last_seq else None
                return self._put("source_notes", (key, event.note), noted)
            case ev.ScratchSet():
                return ()  # it stands in the versions of the notes
        assert_never(event)


def _question(q: Question) -> Row:
    about = (q.id, q.parent_id or None, q.depth, q.kind, q.text, q.why, q.status, q.priority)
    settled = (q.answer, json_text(q.claim_ids), q.assumption, q.reopens, q.attempts_before)
    return (*about, *settled, q.created_seq, q.trans_seq)


def _attempt(a: Attempt) -> Row:
    what = (a.question_id, a.seq, a.id, a.kind, a.query, a.outcome, a.results)
    return (*what, a.challenge_id or None, a.under or None, a.cause or None)


def _claim(c: Claim) -> Row:
    return (c.id, c.question_id or None, c.text, c.kind, c.value, c.unit, c.status, c.scope, c.check, c.note)


def _challenge(c: Challenge) -> Row:
    asked = (c.id, c.target_kind, c.target_id, c.strategy, c.negation, c.expected_if_false, c.query)
    found = (c.status, c.outcome or None, c.evidence, c.result_claim_id or None, c.attempt_id or None)
    return (*asked, *found, c.cause or None)


def _datapoint(d: Datapoint) -> Row:
    return (d.id, d.label, d.value, d.unit, d.as_of, d.about)


def _contradiction(c: Contradiction) -> Row:
    return (c.id, c.claim_id, c.other_id, c.differs, c.status, c.note)


def _open(point: Assumption | Gap) -> Row:
    kind = "gap" if isinstance(point, Gap) else "assumption"
    return (point.id, kind, point.text, point.question_id or None)
