"""The one function from an event to the relational rows that it writes.

Every database is filled from it, `verify` recomputes rows with it and `rebuild` writes them again. A change
names the row that stood there before, so that the digest over all rows of a stream can be kept in step
without reading them: rows are hashed one by one and their hashes added, modulo 2^256.
"""

import hashlib
from dataclasses import dataclass

import orjson

from researchdesk.state import events as ev
from researchdesk.state.run import ChecklistItem, Section
from researchdesk.state.tables import TABLES, Value
from researchdesk.state.workspace import Workspace

Row = tuple[Value, ...]
MODULUS = 1 << 256
ROLE_ASSISTANT = "assistant"
ROLE_CALLER = "caller"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
    """What the envelope adds to a payload: sequence in the stream and UTC time, ISO 8601."""

    seq: int
    ts: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RowChange:
    """A row as it is after an event, and as it was before (None: it was not there)."""

    table: str
    new: Row
    old: Row | None = None


def row_digest(table: str, row: Row) -> int:
    """The hash of one row as a number."""
    return int.from_bytes(hashlib.sha256(orjson.dumps([table, *row])).digest(), "big")


def shift_digest(digest: str, changes: tuple[RowChange, ...]) -> str:
    """The digest over a stream's rows after ``changes``; 64 hex digits."""
    total = int(digest, 16)
    for change in changes:
        total += row_digest(change.table, change.new)
        if change.old is not None:
            total -= row_digest(change.table, change.old)
    return f"{total % MODULUS:064x}"


NO_ROWS = "0" * 64


def rows(event: ev.Event, before: Workspace, after: Workspace, stamp: Stamp) -> tuple[RowChange, ...]:
    """The row changes of one event.

    Args:
        event: what happened.
        before: the state it happened in.
        after: the state it led to.
        stamp: its place and time.
    """
    assert after.session is not None
    session = after.session.session_id
    return _Writer(session=session, stamp=stamp, before=before, after=after).changes(event)


def _json(value: object) -> str:
    return orjson.dumps(value).decode()


def _insert(table: str, *values: Value) -> RowChange:
    assert len(values) == len(TABLES[table].columns), table
    return RowChange(table=table, new=values)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Writer:
    """Writes the rows of one event; each private method is named after the event it serves."""

    session: str
    stamp: Stamp
    before: Workspace
    after: Workspace

    def changes(self, event: ev.Event) -> tuple[RowChange, ...]:
        write = getattr(self, f"_{ev.EVENT_NAMES[type(event)]}", None)
        own: tuple[RowChange, ...] = write(event) if write else ()
        run = self._run_change()
        return (run, *own) if run else own

    def _run_change(self) -> RowChange | None:
        """The run's own row, where this event changed it."""
        if self.before.run is self.after.run and self.before.config is self.after.config:
            return None
        old, new = self._run_row(self.before), self._run_row(self.after)
        return RowChange(table="research_runs", new=new, old=old) if new and new != old else None

    def _run_row(self, workspace: Workspace) -> Row | None:
        run, config = workspace.run, workspace.config
        if run is None:
            return None
        return (
            self.session,
            run.objective,
            run.scope_level,
            run.template.name,
            run.stage,
            run.status,
            run.round,
            run.stop_reason,
            run.blocked_reason,
            run.report_artifact_id or None,
            run.handoff_artifact_id or None,
            _json(config.corpus if config else ()),
            config.model if config else "",
            run.created_seq,
        )

    def _session_opened(self, e: ev.SessionOpened) -> tuple[RowChange, ...]:
        labels = _json(e.labels)
        row = (self.session, labels, e.user, e.parent, e.profile, e.continues, self.stamp.ts)
        return (_insert("sessions", *row),)

    def _research_started(self, _: ev.ResearchStarted) -> tuple[RowChange, ...]:
        assert self.after.run is not None
        items = (self._item_row(n, item) for n, item in enumerate(self.after.run.checklist))
        sections = (self._section_row(n, section) for n, section in enumerate(self.after.run.sections))
        return (
            *(_insert("checklist_items", *row) for row in items),
            *(_insert("report_sections", *row) for row in sections),
        )

    def _item_row(self, position: int, item: ChecklistItem) -> Row:
        update = item.update
        return (
            self.session,
            item.item_id,
            position,
            item.title,
            item.status,
            _json(update.evidence_artifact_ids if update else ()),
            update.blocked_reason if update else "",
            item.updated_seq,
        )

    def _section_row(self, position: int, section: Section) -> Row:
        return (
            self.session,
            section.key,
            position,
            section.title,
            section.status,
            section.artifact_id or None,
            section.updated_seq,
        )

    def _research_artifact_recorded(self, e: ev.ArtifactRecorded) -> tuple[RowChange, ...]:
        artifact = (
            self.session,
            e.artifact_id,
            e.role,
            e.name,
            e.summary,
            e.locator,
            e.content_hash,
            e.chars,
            e.provenance,
            e.report_section_key,
            e.report_section_status,
            e.redactions,
            self.stamp.seq,
            self.stamp.ts,
        )
        key = (self.session, e.artifact_id)
        return (
            _insert("artifacts", *artifact),
            *(_insert("artifact_sources", *key, parent, n) for n, parent in enumerate(e.source_artifact_ids)),
            *(
                _insert("artifact_quotes", *key, n, q.source_id, q.start, q.end)
                for n, q in enumerate(e.quotes)
            ),
            *(self._section_changes() if e.role == "report_section" else ()),
        )

    def _section_changes(self) -> tuple[RowChange, ...]:
        assert self.before.run is not None and self.after.run is not None
        pairs = zip(self.before.run.sections, self.after.run.sections, strict=True)
        return tuple(
            RowChange(table="report_sections", new=self._section_row(n, new), old=self._section_row(n, old))
            for n, (old, new) in enumerate(pairs)
            if old != new
        )

    def _research_checklist_updated(self, _: ev.ChecklistUpdated) -> tuple[RowChange, ...]:
        assert self.before.run is not None and self.after.run is not None
        pairs = zip(self.before.run.checklist, self.after.run.checklist, strict=True)
        return tuple(
            RowChange(table="checklist_items", new=self._item_row(n, new), old=self._item_row(n, old))
            for n, (old, new) in enumerate(pairs)
            if old != new
        )

    def _source_recorded(self, e: ev.SourceRecorded) -> tuple[RowChange, ...]:
        origin = (e.artifact_id, e.url, e.domain, e.origin, e.origin_reason, e.title)
        source = _insert("sources", self.session, e.source_id, *origin, self.stamp.seq, self.stamp.ts)
        return (source, self._receipt(e.source_id, e.receipt)) if e.receipt else (source,)

    def _receipt(self, source_id: str, r: ev.Receipt) -> RowChange:
        return _insert(
            "receipts",
            self.session,
            source_id,
            r.requested,
            r.locator,
            _json(r.redirects),
            r.status,
            r.media_type,
            r.charset,
            r.extractor,
            r.extractor_version,
            r.fetched_at,
            r.raw_hash,
            r.raw_bytes,
            int(r.raw_kept),
            r.text_hash,
            r.title,
            _json([[m.title, m.start, m.end, m.page] for m in r.sections]),
            r.redactions,
            int(r.readable),
            r.note,
        )

    def _search_recorded(self, e: ev.SearchRecorded) -> tuple[RowChange, ...]:
        result = (e.query, e.provider, len(e.documents), e.total)
        return (_insert("searches", self.session, self.stamp.seq, *result, self.stamp.ts),)

    def _research_step_recorded(self, e: ev.StepRecorded) -> tuple[RowChange, ...]:
        step = _insert(
            "research_steps",
            self.session,
            e.step,
            e.kind,
            e.status,
            e.objective,
            e.summary,
            _json(e.roots),
            _json(e.keywords),
            _json(e.ignored_paths),
            e.stopping_condition,
            e.expected_evidence,
            _json(e.evidence_artifact_ids),
            _json(e.worker_run_ids),
            e.blocked_reason,
            self.stamp.seq,
            self.stamp.ts,
        )
        refs = (
            (self.session, e.step, n, ref.kind, ref.locator, ref.label, ref.source_artifact_id or None)
            for n, ref in enumerate(e.inspected_refs)
        )
        return (step, *(_insert("inspected_refs", *row) for row in refs))

    def _research_checkpoint_recorded(self, e: ev.CheckpointRecorded) -> tuple[RowChange, ...]:
        return (
            _insert(
                "checkpoints",
                self.session,
                self.stamp.seq,
                e.round,
                e.stage,
                e.status,
                e.summary,
                _json(e.open_questions),
                _json(e.next_steps),
                _json(e.artifact_ids),
                _json(e.task_ids),
                self.stamp.ts,
            ),
        )

    def _artifact_purged(self, e: ev.ArtifactPurged) -> tuple[RowChange, ...]:
        rest = (e.artifact_id, e.actor, e.reason, self.stamp.ts)
        return tuple(_insert("purges", self.session, self.stamp.seq, key, *rest) for key in e.hashes)

    def _model_called(self, e: ev.ModelCalled) -> tuple[RowChange, ...]:
        return (RowChange(table="model_calls", new=self._asked_row(e, self.stamp.seq)),)

    def _asked_row(self, e: ev.ModelCalled, seq: int) -> Row:
        head = (self.session, e.ordinal, "", e.model, e.stage, "asked", e.request_digest)
        return (*head, e.input_tokens, 0, 0, "", "", seq)

    def _model_answered(self, e: ev.ModelAnswered) -> tuple[RowChange, ...]:
        request = self.before.pending_request
        assert request is not None
        head = (self.session, request.ordinal, e.turn_id, request.model, request.stage, "answered")
        tokens = (
            e.request_digest,
            e.input_tokens,
            e.output_tokens,
            int(e.usage_reported),
            e.finish_reason,
            "",
        )
        answered = RowChange(
            table="model_calls",
            new=(*head, *tokens, self.before.pending_seq),
            old=self._asked_row(request, self.before.pending_seq),
        )
        content = (ROLE_ASSISTANT, e.text.inline, e.text.hash, "", self.stamp.seq, self.stamp.ts)
        return (answered, _insert("messages", self.session, e.message_id, e.turn_id, *content))

    def _model_failed(self, e: ev.ModelFailed) -> tuple[RowChange, ...]:
        request = self.before.pending_request
        if request is None:
            return ()
        head = (
            self.session,
            request.ordinal,
            "",
            request.model,
            request.stage,
            "failed",
            request.request_digest,
        )
        failed: Row = (*head, request.input_tokens, 0, 0, e.code, e.detail, self.before.pending_seq)
        old = self._asked_row(request, self.before.pending_seq)
        return (RowChange(table="model_calls", new=failed, old=old),)

    def _call_recorded(self, e: ev.CallRecorded) -> tuple[RowChange, ...]:
        message_id, message = self._message_of(e)
        call = _insert(
            "tool_calls",
            self.session,
            e.turn_id,
            e.tool_call_id,
            message_id,
            e.name,
            e.arguments.inline,
            e.text.inline,
            e.text.hash,
            e.data,
            e.entity_type,
            e.entity_id,
            e.status,
            e.code,
            e.input_digest,
            e.duration_ms,
            self.stamp.seq,
            self.stamp.ts,
        )
        return (*message, call)

    def _message_of(self, e: ev.CallRecorded) -> tuple[str, tuple[RowChange, ...]]:
        """The message that a call belongs to; a call outside a turn brings one of its own."""
        if e.turn_id:
            assert self.before.last_answer is not None
            return self.before.last_answer.message_id, ()
        message_id = f"call:{e.tool_call_id}"
        content = (ROLE_CALLER, f"called {e.name}", "", "", self.stamp.seq, self.stamp.ts)
        return message_id, (_insert("messages", self.session, message_id, "", *content),)

    def _handoff_drafted(self, e: ev.HandoffDrafted) -> tuple[RowChange, ...]:
        return (_insert("drafts", self.session, e.draft_id, e.from_session, e.prompt, self.stamp.ts),)
