"""The one function from an event to the relational rows that it writes.

Every database is filled from it, `verify` recomputes rows with it and `rebuild` writes them again. A change
names the row that stood there before, so that the digest over all rows of a stream can be kept in step
without reading them: rows are hashed one by one and their hashes added, modulo 2^256.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from researchdesk.state import events as ev
from researchdesk.state.bodies import Body, named_bodies
from researchdesk.state.copying import changed
from researchdesk.state.investigation_rows import investigation_rows
from researchdesk.state.row_changes import (
    NO_ROWS,
    Row,
    RowChange,
    Stamp,
    insert,
    json_text,
    row_digest,
    shift_digest,
)
from researchdesk.state.run import ChecklistItem, Section
from researchdesk.state.workspace import Workspace, pending_key

__all__ = ["NO_ROWS", "Row", "RowChange", "Stamp", "row_digest", "rows", "shift_digest"]

ROLE_ASSISTANT = "assistant"
ROLE_CALLER = "caller"
ROLE_USER = "user"


def rows(event: ev.Event, before: Workspace, after: Workspace, stamp: Stamp) -> tuple[RowChange, ...]:
    """The row changes of one event.

    Args:
        event: what happened.
        before: the state it happened in.
        after: the state it led to.
        stamp: its place and time.
    """
    assert after.session is not None
    if isinstance(event, ev.InvestigationEvent):
        return investigation_rows(event, before, after, stamp)
    session = after.session.session_id
    return _Writer(session=session, stamp=stamp, before=before, after=after).changes(event)


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
        return (*((run,) if run else ()), *own, *self._body_changes(event))

    def _body_changes(self, event: ev.Event) -> Iterator[RowChange]:
        """The rows of the bodies that this event named first, let go or came back to."""
        before, after = self.before.bodies, self.after.bodies
        if before is after:
            return
        for key in event.hashes if isinstance(event, ev.ArtifactPurged) else named_bodies(event):
            new, old = self._body_row(key, after[key]), before.get(key)
            if old is None:
                yield RowChange(table="session_bodies", new=new)
            elif old.released_seq != after[key].released_seq:
                yield RowChange(table="session_bodies", new=new, old=self._body_row(key, old))

    def _body_row(self, key: str, body: Body) -> Row:
        return (self.session, key, body.named_seq, body.released_seq or None)

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
            json_text(config.corpus if config else ()),
            config.model if config else "",
            run.created_seq,
            run.notes_id,
        )

    def _session_opened(self, e: ev.SessionOpened) -> tuple[RowChange, ...]:
        labels = json_text(e.labels)
        row = (self.session, labels, e.user, e.parent, e.profile, e.continues, self.stamp.ts)
        return (insert("sessions", *row),)

    def _research_started(self, _: ev.ResearchStarted) -> tuple[RowChange, ...]:
        assert self.after.run is not None
        items = (self._item_row(n, item) for n, item in enumerate(self.after.run.checklist))
        sections = (self._section_row(n, section) for n, section in enumerate(self.after.run.sections))
        return (
            *(insert("checklist_items", *row) for row in items),
            *(insert("report_sections", *row) for row in sections),
        )

    def _item_row(self, position: int, item: ChecklistItem) -> Row:
        update = item.update
        return (
            self.session,
            item.item_id,
            position,
            item.title,
            item.status,
            json_text(update.evidence_artifact_ids if update else ()),
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
            insert("artifacts", *artifact),
            *(insert("artifact_sources", *key, parent, n) for n, parent in enumerate(e.source_artifact_ids)),
            *(
                insert("artifact_quotes", *key, n, q.source_id, q.start, q.end)
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
        text = (e.signature, json_text(e.near_duplicates))
        source = insert("sources", self.session, e.source_id, *origin, self.stamp.seq, self.stamp.ts, *text)
        return (source, self._receipt(e.source_id, e.receipt)) if e.receipt else (source,)

    def _receipt(self, source_id: str, r: ev.Receipt) -> RowChange:
        return insert(
            "receipts",
            self.session,
            source_id,
            r.requested,
            r.locator,
            json_text(r.redirects),
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
            json_text([[m.title, m.start, m.end, m.page] for m in r.sections]),
            r.redactions,
            int(r.readable),
            r.note,
        )

    def _search_recorded(self, e: ev.SearchRecorded) -> tuple[RowChange, ...]:
        result = (e.query, e.provider, len(e.documents), e.total)
        return (insert("searches", self.session, self.stamp.seq, *result, self.stamp.ts),)

    def _research_step_recorded(self, e: ev.StepRecorded) -> tuple[RowChange, ...]:
        step = insert(
            "research_steps",
            self.session,
            e.step,
            e.kind,
            e.status,
            e.objective,
            e.summary,
            json_text(e.roots),
            json_text(e.keywords),
            json_text(e.ignored_paths),
            e.stopping_condition,
            e.expected_evidence,
            json_text(e.evidence_artifact_ids),
            json_text(e.worker_run_ids),
            e.blocked_reason,
            self.stamp.seq,
            self.stamp.ts,
        )
        refs = (
            (self.session, e.step, n, ref.kind, ref.locator, ref.label, ref.source_artifact_id or None)
            for n, ref in enumerate(e.inspected_refs)
        )
        return (step, *(insert("inspected_refs", *row) for row in refs))

    def _research_checkpoint_recorded(self, e: ev.CheckpointRecorded) -> tuple[RowChange, ...]:
        return (
            insert(
                "checkpoints",
                self.session,
                self.stamp.seq,
                e.round,
                e.stage,
                e.status,
                e.summary,
                json_text(e.open_questions),
                json_text(e.next_steps),
                json_text(e.artifact_ids),
                json_text(e.task_ids),
                self.stamp.ts,
            ),
        )

    def _artifact_purged(self, e: ev.ArtifactPurged) -> tuple[RowChange, ...]:
        what = (e.artifact_id, json_text(e.hashes), e.actor, e.reason, self.stamp.ts)
        return (insert("purges", self.session, self.stamp.seq, *what),)

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
        return (answered, insert("messages", self.session, e.message_id, e.turn_id, *content))

    def _model_failed(self, e: ev.ModelFailed) -> tuple[RowChange, ...]:
        request = self.before.pending_request
        assert request is not None
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
        return (*message, RowChange(table="tool_calls", new=self._call_row(e, message_id, self.stamp)))

    def _call_row(self, e: ev.CallRecorded, message_id: str, stamp: Stamp) -> Row:
        return (
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
            stamp.seq,
            stamp.ts,
        )

    def _call_settled(self, e: ev.CallSettled) -> tuple[RowChange, ...]:
        pending = self.before.pending_calls[pending_key(e.turn_id, e.tool_call_id)]
        settled = changed(pending.record, status=e.status, code=e.code, text=e.text, data=e.data)
        stamp = Stamp(seq=pending.seq, ts=e.recorded_at)
        old, new = (self._call_row(call, pending.message_id, stamp) for call in (pending.record, settled))
        return (RowChange(table="tool_calls", new=new, old=old),)

    def _message_received(self, e: ev.MessageReceived) -> tuple[RowChange, ...]:
        content = (ROLE_USER, e.text.inline, e.text.hash, e.context, self.stamp.seq, self.stamp.ts)
        return (insert("messages", self.session, e.message_id, "", *content),)

    def _message_of(self, e: ev.CallRecorded) -> tuple[str, tuple[RowChange, ...]]:
        """The message that a call belongs to; a call outside a turn brings one of its own."""
        if e.turn_id:
            assert self.before.last_answer is not None
            return self.before.last_answer.message_id, ()
        message_id = f"call:{e.tool_call_id}"
        content = (ROLE_CALLER, f"called {e.name}", "", "", self.stamp.seq, self.stamp.ts)
        return message_id, (insert("messages", self.session, message_id, "", *content),)

    def _handoff_drafted(self, e: ev.HandoffDrafted) -> tuple[RowChange, ...]:
        return (insert("drafts", self.session, e.draft_id, e.from_session, e.prompt, self.stamp.ts),)
