"""The one door: every tool call, of a model or of a person, goes through `Session.call`.

A call is looked up, checked, planned, gathered for, decided, folded and committed, in this order and once. The
commit is one transaction: domain events, the record of the call, the relational rows and the bodies. Replaying
a call returns what was recorded; a refused call leaves its record and nothing else.
"""

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from researchdesk.state import events as ev
from researchdesk.state.copying import changed
from researchdesk.state.desk.panels import PANEL_TYPES, PanelType
from researchdesk.state.desk.policies import NO_POLICIES, Policies
from researchdesk.state.errors import Conflict, IntegrityError, Refusal
from researchdesk.state.ids import CallId, session_stream
from researchdesk.state.limits import RESULT_TOKENS
from researchdesk.state.names import clean_id
from researchdesk.state.redaction import redact
from researchdesk.state.stowing import Stow
from researchdesk.state.tokens import cut
from researchdesk.state.workspace import IllegalTransition, Workspace
from researchdesk.stores.codec import Refs, StoredEvent
from researchdesk.stores.ledger import HeadMoved, Lease
from researchdesk.stores.replay import Projection, extend
from researchdesk.tools.calls import Call, checked_call, raw_digest, read_call
from researchdesk.tools.investigating import Investigating
from researchdesk.tools.permissions import alike, forbidden, permitted
from researchdesk.tools.records import Records
from researchdesk.tools.results import ToolResult, is_purged, replayed, result_text, text_again
from researchdesk.tools.showing import Showing, desk_events
from researchdesk.tools.sources.gathering import Sources
from researchdesk.tools.spec import Decision, DeskView, Fetch, Need, Search, ToolSpec
from researchdesk.tools.supply import supply, take

__all__ = ["Session", "ToolResult"]

COMMIT_TRIES = 100


@dataclass(slots=True)
class Session(Investigating):
    """A session: its projections, its calls, its events. Safe for several threads.

    ``lease`` is set while a driver holds the session; every write then checks that it is still the newest.
    """

    id: str
    records: Records = field(repr=False)
    specs: Mapping[str, ToolSpec] = field(repr=False)
    sources: Sources = field(default_factory=Sources, repr=False)
    lease: Lease | None = None
    policies: Policies = NO_POLICIES
    """What a person settled beforehand about changes of the desk that this session's model asks for."""
    panel_types: tuple[PanelType, ...] = field(default=PANEL_TYPES, repr=False)
    """The types of panels that its calls may open."""

    @property
    def stream(self) -> str:
        """The session's stream in the ledger."""
        return session_stream(self.id)

    def events(self, *, after: int = 0) -> list[StoredEvent]:
        """The session's events after a sequence, in order."""
        return self.records.ledger.read(self.stream, after=after)

    def tools(self) -> list[ToolSpec]:
        """The tools that this session may use, each under one name."""
        return permitted((spec for spec in self.specs.values() if not spec.is_alias), self.workspace)

    def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        tool_call_id: str,
        turn_id: str = "",
        problem: str = "",
    ) -> ToolResult:
        """Do a tool call, once.

        Args:
            name: the tool.
            arguments: its arguments; missing ones are filled with "", [] or 0.
            tool_call_id: the caller's id of this call, unique within the turn.
            turn_id: the model's turn, or "" for a call by a person or a program.
            problem: why the arguments could not be read at all; the call is then recorded as refused.

        Returns:
            The result; a refusal comes back as a result with status ``error`` and its code in ``data``.

        Raises:
            Refusal: the tool-call id has no usable form.
            Conflict: this identity was used before with another tool or other arguments.
            LeaseLost, Unavailable, LedgerCorrupt, IntegrityError: nothing was recorded.
        """
        started = time.monotonic()
        identity, raw = self._identity(turn_id, tool_call_id), raw_digest(name, arguments)
        again = self._again(identity, raw)
        if again is not None:
            return again
        call = read_call(identity, name, arguments, self.specs)
        self.records.know_input(identity, raw, call.digest)
        if problem:
            call = replace(call, refusal=Refusal("invalid_arguments", problem))
        for _ in range(COMMIT_TRIES):
            with contextlib.suppress(HeadMoved):
                return self._decide_and_commit(call, started)
        raise IntegrityError(f"session '{self.id}' is written to without pause; the call could not be placed")

    def recorded_text(self, *, turn_id: str, tool_call_id: str) -> str:
        """The text of a recorded call's result; empty while it has no record or when it was purged."""
        row = self.records.ledger.call_row(CallId(session=self.id, turn=turn_id, call=tool_call_id))
        return "" if row is None or is_purged(row, self.workspace) else result_text(row, self.records.text)

    def recorded(self, *, turn_id: str, tool_call_id: str) -> ToolResult | None:
        """The result of a recorded call as it stands now; None while it has no record."""
        row = self.records.ledger.call_row(CallId(session=self.id, turn=turn_id, call=tool_call_id))
        return None if row is None else self._replayed(row)

    def gather(
        self, name: str, arguments: Mapping[str, Any], *, tool_call_id: str, turn_id: str = ""
    ) -> None:
        """Do only the part of a call that reaches the world, and stage it for the `call` that follows.

        Calls of one turn may be gathered in parallel; what is staged already is not fetched again.
        """
        call = read_call(self._identity(turn_id, tool_call_id), name, arguments, self.specs)
        row = self.records.ledger.call_row(call.id)
        if row is not None:
            self._same_input(call, row)
            return
        call, workspace = checked_call(call), self.workspace
        if call.refusal:
            return
        try:
            need = self._need(call, workspace)
        except Refusal:
            return
        if isinstance(need, Search | Fetch):
            with contextlib.suppress(HeadMoved):
                take(call, need, records=self.records, sources=self.sources)

    def open(self, opened: ev.SessionOpened, *more: ev.Event) -> None:
        """Begin the session with these events, unless it is begun already."""
        extension = extend(
            Projection(), (opened, *more), stream=self.stream, ts=self.records.now(), refs=Refs()
        )
        with contextlib.suppress(HeadMoved):
            self.records.ledger.append(extension.append)

    def record(
        self, events: Sequence[ev.Event], *, turn_id: str = "", bodies: Mapping[str, bytes] | None = None
    ) -> int:
        """Append events of the run's own machinery (requests, answers, stops); returns the new sequence.

        Raises:
            IllegalTransition: an event that cannot follow now; nothing was written.
        """
        return self.record_decided(lambda workspace: events, turn_id=turn_id, bodies=bodies)

    def record_decided(
        self,
        decide: Callable[[Workspace], Sequence[ev.Event]],
        *,
        turn_id: str = "",
        bodies: Mapping[str, bytes] | None = None,
    ) -> int:
        """Append what ``decide`` makes of the state as it stands; it is asked again when somebody was faster."""
        for _ in range(COMMIT_TRIES):
            projection = self.records.projection(self.id)
            events = tuple(decide(projection.workspace))
            if not events:
                return projection.head.count
            refs = Refs(run=self.id if projection.workspace.run else "", turn=turn_id)
            extension = extend(projection, events, stream=self.stream, ts=self.records.now(), refs=refs)
            drops = tuple(key for e in events if isinstance(e, ev.ArtifactPurged) for key in e.hashes)
            append = changed(extension.append, bodies=bodies or {}, drops=drops, lease=self.lease)
            try:
                self.records.ledger.append(append)
            except HeadMoved:
                continue
            self._remember(projection, extension.projection)
            return extension.projection.head.count
        raise IntegrityError(f"session '{self.id}' is written to without pause; nothing was recorded")

    # -- one call -----------------------------------------------------------------------------------------------

    def _identity(self, turn_id: str, tool_call_id: str) -> CallId:
        turn = clean_id(turn_id, "turn_id") if turn_id else ""
        return CallId(session=self.id, turn=turn, call=clean_id(tool_call_id, "tool_call_id"))

    def _again(self, identity: CallId, raw: str) -> ToolResult | None:
        """The recorded result of the very same call by this process: its arguments need no second reading."""
        digest = self.records.known_input(identity, raw)
        row = self.records.ledger.call_row(identity) if digest else None
        if row is None or row["input_digest"] != digest:
            return None
        return self._replayed(row)

    def _replayed(self, row: Mapping[str, str]) -> ToolResult:
        result = replayed(row, text_again(row, lambda: self.workspace, self.records.text))
        call = CallId(session=row["session_id"], turn=row["turn_id"], call=row["id"])
        return replace(
            result, effects=self._showing(row["name"]).effects(call, row["name"], row["code"], result)
        )

    def _same_input(self, call: Call, row: Mapping[str, str]) -> None:
        if row["input_digest"] != call.digest:
            raise Conflict(
                f"call '{call.id.call}' was recorded as {row['name']} with other arguments; "
                "use a new tool_call_id for a new call"
            )

    def _decide_and_commit(self, call: Call, started: float) -> ToolResult:
        head, row = self.records.ledger.look_up(call.id)
        if row is not None:
            self._same_input(call, row)
            return self._replayed(row)
        call = checked_call(call)
        if call.spec is not None and call.spec.proves:
            self.records.forget(self.id)
        projection = self.records.projection(self.id, head=head)
        desk = self.records.desk() if call.spec is not None and call.spec.on_desk else None
        if projection.head.count != head.count:
            raise HeadMoved(self.stream)  # the call may be among what was recorded since it was looked up
        decision, code = self._decision(call, projection.workspace, desk)
        stow = Stow()
        record = self._call_record(call, decision, code, stow, started)
        refs = Refs(run=self.id if projection.workspace.run else "", turn=call.id.turn, call=call.id.call)
        try:
            extension = extend(
                projection, (*decision.events, record), stream=self.stream, ts=self.records.now(), refs=refs
            )
        except IllegalTransition as problem:
            raise IntegrityError(
                f"call '{call.id.call}' ({call.name}) in session '{self.id}' would break the run's rules: {problem}"
            ) from problem
        append = changed(
            extension.append,
            bodies={**decision.bodies, **stow.bodies},
            settles=call.id,
            adopts=decision.adopts,
            lease=self.lease,
        )
        result = ToolResult(
            text=decision.text,
            data=decision.data,
            status=decision.status,
            replayed=False,
            seq=extension.projection.head.count,
        )
        # As it will be read back, so that a repeated call has the very same effects.
        as_recorded = replace(result, data=orjson.loads(record.data))
        effects = self._showing(call.name).effects(call.id, call.name, code, as_recorded)
        self.records.append(append, desk, desk_events(decision, effects, session_id=self.id), refs=refs)
        self._remember(projection, extension.projection, looked_at=call.name.startswith("notes_"))
        return replace(result, effects=effects)

    def _decision(self, call: Call, workspace: Workspace, desk: Projection | None) -> tuple[Decision, str]:
        """The decision on a call, and the code of a refusal."""
        try:
            if call.refusal is not None:
                raise call.refusal
            need = self._need(call, workspace)
            assert call.spec is not None
            view = self._view(desk) if desk else None
            gathered = supply(call, need, workspace, records=self.records, sources=self.sources, desk=view)
            decision = call.spec.decide(workspace, call.parsed, gathered, call.id)
            return decision, decision.code
        except Refusal as refusal:
            kind, key = call.spec.subject(call.parsed) if call.spec and call.parsed else ("", "")
            text = redact(refusal.text).text
            refused = Decision(
                text=cut(text, RESULT_TOKENS)[0] if call.spec and call.spec.on_desk else text,
                data={"code": refusal.code},
                entity_type=kind,
                entity_id=key,
                status="error",
            )
            return refused, refusal.code

    def _view(self, desk: Projection) -> DeskView:
        return DeskView(
            state=desk.desk,
            read=self.records.text,
            now=self.records.now(),
            policies=self.policies,
            panel_types=self.panel_types,
        )

    def _showing(self, tool: str) -> Showing:
        return Showing(panel_types=self.panel_types, spec=self.specs.get(tool))

    def _need(self, call: Call, workspace: Workspace) -> Need:
        if call.spec is None:
            known = ", ".join(alike(call.name, permitted(self.specs.values(), workspace)))
            raise Refusal(
                "unknown_tool", f"There is no tool '{call.name}'. This session has: {known or 'none'}."
            )
        refusal = forbidden(call.spec, workspace)
        if refusal is not None:
            raise refusal
        return call.spec.needs(workspace, call.parsed, call.id)

    def _call_record(
        self, call: Call, decision: Decision, code: str, stow: Stow, started: float
    ) -> ev.CallRecorded:
        spec = call.spec
        arguments = stow.arguments(call.arguments, always=spec.stows if spec else ())
        text = stow.text(decision.text, always=bool(spec and spec.stows_result and not code))
        return ev.CallRecorded(
            turn_id=call.id.turn,
            tool_call_id=call.id.call,
            name=call.name,
            input_digest=call.digest,
            arguments=arguments,
            status=decision.status,
            code=code,
            text=text,
            data=orjson.dumps(dict(decision.data), option=orjson.OPT_SORT_KEYS).decode(),
            entity_type=decision.entity_type,
            entity_id=decision.entity_id,
            duration_ms=round((time.monotonic() - started) * 1000),
        )
