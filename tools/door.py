"""The one door: every tool call, of a model or of a person, goes through `Session.call`.

A call is looked up, checked, planned, gathered for, decided, folded and committed, in this order and once. The
commit is one transaction: domain events, the record of the call, the relational rows and the bodies. Replaying
a call returns what was recorded; a refused call leaves its record and nothing else.
"""

import contextlib
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from string import ascii_lowercase
from typing import Any

import orjson

from researchdesk.state import events as ev
from researchdesk.state.cleaning import CleanedArguments, clean_arguments, clean_text
from researchdesk.state.errors import Conflict, IntegrityError, NotFound, Refusal
from researchdesk.state.ids import CallId, session_stream
from researchdesk.state.names import clean_id
from researchdesk.state.redaction import is_plain, redact
from researchdesk.state.run import ResearchRun
from researchdesk.state.stowing import Stow, unstow
from researchdesk.state.vocabulary import PROFILES, RESEARCH_LABEL, CallStatus
from researchdesk.state.workspace import IllegalTransition, Workspace
from researchdesk.stores.codec import Refs, StoredEvent
from researchdesk.stores.ledger import Append, Head, HeadMoved, Lease
from researchdesk.stores.replay import Projection, extend
from researchdesk.tools.records import Records
from researchdesk.tools.sources.gathering import TAKEN, Haul, Sources, Taken, gather
from researchdesk.tools.spec import Bodies, Decision, Fetch, Gathered, Need, Search, ToolSpec
from researchdesk.tools.validation import checked, filled, input_digest

COMMIT_TRIES = 100
NAME_CHARS = 64
PURGED = "The text of this result was removed for good; what the call did still stands."
BOUNDARY_LETTERS = 16
_LETTERS = bytes(ord(ascii_lowercase[byte % 26]) for byte in range(256))


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What a call gives back.

    ``text`` is for a model, ``data`` for a program (``data["code"]`` names a refusal), ``seq`` is the session's
    sequence after the call.
    """

    text: str
    data: Mapping[str, Any]
    status: CallStatus
    replayed: bool
    seq: int
    effects: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    """A call that was cleaned and checked, as far as that went."""

    id: CallId
    name: str
    digest: str
    arguments: Mapping[str, Any]
    redactions: int
    spec: ToolSpec | None = None
    parsed: Any = None
    refusal: Refusal | None = None


@dataclass(slots=True)
class Session:
    """A session: its projections, its calls, its events. Safe for several threads.

    ``lease`` is set while a driver holds the session; every write then checks that it is still the newest.
    """

    id: str
    records: Records
    specs: Mapping[str, ToolSpec]
    sources: Sources = field(default_factory=Sources)
    lease: Lease | None = None

    @property
    def stream(self) -> str:
        """The session's stream in the ledger."""
        return session_stream(self.id)

    @property
    def workspace(self) -> Workspace:
        """The session as it stands now, folded from the ledger."""
        return self.records.projection(self.id).workspace

    @property
    def run(self) -> ResearchRun | None:
        """The research run of this session, or None before it starts."""
        return self.workspace.run

    def events(self, *, after: int = 0) -> list[StoredEvent]:
        """The session's events after a sequence, in order."""
        return self.records.ledger.read(self.stream, after=after)

    def tools(self) -> list[ToolSpec]:
        """The tools that this session may use."""
        return [spec for spec in self.specs.values() if _forbidden(spec, self.workspace) is None]

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
        call = self._read_call(name, arguments, tool_call_id=tool_call_id, turn_id=turn_id)
        if problem:
            call = replace(call, refusal=Refusal("invalid_arguments", problem))
        for _ in range(COMMIT_TRIES):
            with contextlib.suppress(HeadMoved):
                return self._decide_and_commit(call, started)
        raise IntegrityError(f"session '{self.id}' is written to without pause; the call could not be placed")

    def recorded_text(self, *, turn_id: str, tool_call_id: str) -> str:
        """The text of a recorded call's result; empty while it has no record or when it was purged."""
        row = self.records.ledger.call_row(CallId(session=self.id, turn=turn_id, call=tool_call_id))
        return "" if row is None or self._is_purged(row) else self._result_text(row)

    def gather(
        self, name: str, arguments: Mapping[str, Any], *, tool_call_id: str, turn_id: str = ""
    ) -> None:
        """Do only the part of a call that reaches the world, and stage it for the `call` that follows.

        Calls of one turn may be gathered in parallel; what is staged already is not fetched again.
        """
        call = self._read_call(name, arguments, tool_call_id=tool_call_id, turn_id=turn_id)
        if call.refusal or self._recorded(call):
            return
        try:
            need = self._need(call, self.workspace)
        except Refusal:
            return
        if isinstance(need, Search | Fetch):
            with contextlib.suppress(HeadMoved):
                self._taken(call, need)

    def open(self, opened: ev.SessionOpened, *more: ev.Event) -> None:
        """Begin the session with these events, unless it is begun already."""
        extension = extend(
            Projection(), (opened, *more), stream=self.stream, ts=self.records.now(), refs=Refs()
        )
        append = Append(
            stream=self.stream,
            head=Head(),
            events=extension.events,
            rows=extension.rows,
            rows_digest=extension.projection.head.rows_digest,
        )
        with contextlib.suppress(HeadMoved):
            self.records.ledger.append(append)

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
            append = Append(
                stream=self.stream,
                head=projection.head,
                events=extension.events,
                rows=extension.rows,
                rows_digest=extension.projection.head.rows_digest,
                bodies=bodies or {},
                drops=tuple(key for e in events if isinstance(e, ev.ArtifactPurged) for key in e.hashes),
                lease=self.lease,
            )
            try:
                self.records.ledger.append(append)
            except HeadMoved:
                continue
            self.records.remember(self.id, extension.projection)
            return extension.projection.head.count
        raise IntegrityError(f"session '{self.id}' is written to without pause; nothing was recorded")

    # -- reading a call ---------------------------------------------------------------------------------------

    def _read_call(
        self, name: str, arguments: Mapping[str, Any], *, tool_call_id: str, turn_id: str
    ) -> _Call:
        """Clean and redact the arguments, then check them against the tool's schema."""
        turn = clean_id(turn_id, "turn_id") if turn_id else ""
        identity = CallId(session=self.id, turn=turn, call=clean_id(tool_call_id, "tool_call_id"))
        name = redact(clean_text(name).text).text[:NAME_CHARS]
        try:
            cleaned = clean_arguments(dict(arguments))
        except Refusal as unreadable:
            digest = input_digest(name, {"unreadable": unreadable.text})
            return _Call(
                id=identity, name=name, digest=digest, arguments={}, redactions=0, refusal=unreadable
            )
        plain, redactions = redacted_arguments(cleaned)
        spec = self.specs.get(name)
        if spec is None:
            known = ", ".join(spec.name for spec in self.tools())
            unknown = Refusal(
                "unknown_tool", f"There is no tool '{name}'. This session has: {known or 'none'}."
            )
            digest = input_digest(name, plain)
            return _Call(
                id=identity, name=name, digest=digest, arguments=plain, redactions=0, refusal=unknown
            )
        plain = filled(spec, plain)
        parsed: Any = None
        refusal: Refusal | None = None
        try:
            parsed = checked(spec, plain)
        except Refusal as problem:
            refusal = problem
        return _Call(
            id=identity,
            name=name,
            digest=input_digest(name, plain),
            arguments=plain,
            redactions=redactions,
            spec=spec,
            parsed=parsed,
            refusal=refusal,
        )

    def _recorded(self, call: _Call) -> ToolResult | None:
        row = self.records.ledger.call_row(call.id)
        if row is None:
            return None
        if row["input_digest"] != call.digest:
            raise Conflict(
                f"call '{call.id.call}' was recorded as {row['name']} with other arguments; "
                "use a new tool_call_id for a new call"
            )
        return ToolResult(
            text=self._result_text(row),
            data=orjson.loads(row["data"]),
            status=row["status"],  # type: ignore[arg-type]
            replayed=True,
            seq=int(row["seq"]),
        )

    def _result_text(self, row: Mapping[str, str]) -> str:
        if self._is_purged(row):
            return PURGED
        return unstow(ev.Stowed(inline=row["result"], hash=row["result_hash"]), self.records.text)

    def _is_purged(self, row: Mapping[str, str]) -> bool:
        """Whether a call's result repeated a text that was removed since."""
        workspace = self.workspace
        if not row["result_hash"] or workspace.run is None:
            return False
        subject = workspace.run.artifact_of(row["entity_type"], row["entity_id"])
        return subject in workspace.purged_artifacts

    # -- deciding ---------------------------------------------------------------------------------------------

    def _decide_and_commit(self, call: _Call, started: float) -> ToolResult:
        if call.spec is not None and call.spec.proves:
            self.records.forget(self.id)
        projection = self.records.projection(self.id)
        # Looked up after the fold: what was recorded until then is found, what comes later moves the head.
        recorded = self._recorded(call)
        if recorded is not None:
            return recorded
        decision, code = self._decision(call, projection.workspace)
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
        self.records.ledger.append(
            Append(
                stream=self.stream,
                head=projection.head,
                events=extension.events,
                rows=extension.rows,
                rows_digest=extension.projection.head.rows_digest,
                bodies={**decision.bodies, **stow.bodies},
                settles=call.id,
                adopts=decision.adopts,
                lease=self.lease,
            )
        )
        self.records.remember(self.id, extension.projection)
        return ToolResult(
            text=decision.text,
            data=decision.data,
            status=decision.status,
            replayed=False,
            seq=extension.projection.head.count,
        )

    def _decision(self, call: _Call, workspace: Workspace) -> tuple[Decision, str]:
        """The decision on a call, and the code of a refusal."""
        try:
            if call.refusal is not None:
                raise call.refusal
            assert call.spec is not None
            need = self._need(call, workspace)
            gathered = self._gathered(call, need, workspace)
            return call.spec.decide(workspace, call.parsed, gathered, call.id), ""
        except Refusal as refusal:
            kind, key = call.spec.subject(call.parsed) if call.spec and call.parsed else ("", "")
            refused = Decision(
                text=redact(refusal.text).text,
                data={"code": refusal.code},
                entity_type=kind,
                entity_id=key,
                status="error",
            )
            return refused, refusal.code

    def _need(self, call: _Call, workspace: Workspace) -> Need:
        assert call.spec is not None
        forbidden = _forbidden(call.spec, workspace)
        if forbidden is not None:
            raise forbidden
        return call.spec.needs(workspace, call.parsed, call.id)

    def _call_record(
        self, call: _Call, decision: Decision, code: str, stow: Stow, started: float
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

    # -- gathering --------------------------------------------------------------------------------------------

    def _gathered(self, call: _Call, need: Need, workspace: Workspace) -> Gathered:
        boundary = new_boundary()
        if isinstance(need, Bodies):
            texts, problems = self._texts(need.artifact_ids, workspace)
            return Gathered(boundary=boundary, redactions=call.redactions, texts=texts, problems=problems)
        taken = self._taken(call, need)
        return Gathered(
            boundary=boundary,
            redactions=call.redactions,
            search=taken.search,
            page=taken.page,
            failure=taken.failure,
        )

    def _texts(
        self, artifact_ids: Sequence[str], workspace: Workspace
    ) -> tuple[dict[str, str], dict[str, str]]:
        """Bodies of the session's own artifacts, and why those that cannot be trusted cannot."""
        texts: dict[str, str] = {}
        problems: dict[str, str] = {}
        for key in artifact_ids:
            assert workspace.run is not None
            content = workspace.run.artifacts[key].content_hash
            if key in workspace.purged_artifacts:  # its bytes may still be there for another one
                problems[key] = f"Artifact {key}: its body was purged."
                continue
            try:
                texts[key] = self.records.text(content)
            except IntegrityError as problem:
                problems[key] = f"Artifact {key}: {problem}."
            except NotFound:
                problems[key] = f"Artifact {key}: its body is missing from the ledger."
        return texts, problems

    def _taken(self, call: _Call, need: Search | Fetch) -> Taken:
        """What was staged for this call, or what the world gives now, staged before it is used."""
        with self.records.alone(call.id):
            staged = self.records.ledger.staged(call.id)
            if staged is not None and staged.input_digest == call.digest:
                return TAKEN.validate_json(staged.receipt)
            if self.records.ledger.call_row(call.id) is not None:
                raise HeadMoved(self.stream)  # another thread was faster
            haul: Haul = gather(need, self.sources)
            receipt = TAKEN.dump_json(haul.taken).decode()
            self.records.ledger.stage(call.id, input_digest=call.digest, receipt=receipt, bodies=haul.bodies)
            return haul.taken


def new_boundary() -> str:
    """A random word for an envelope; letters alone, so that its size in estimated tokens is always the same."""
    return secrets.token_bytes(BOUNDARY_LETTERS).translate(_LETTERS).decode()


def redacted_arguments(cleaned: CleanedArguments) -> tuple[dict[str, Any], int]:
    """The arguments without secrets, and how many were taken out."""
    arguments: dict[str, Any] = cleaned.value
    if is_plain(cleaned.text):
        return arguments, 0
    count = 0

    def clean(value: Any) -> Any:
        nonlocal count
        if isinstance(value, str):
            redacted = redact(value)
            count += redacted.count
            return redacted.text
        if isinstance(value, list):
            return [clean(item) for item in value]
        if isinstance(value, dict):
            return {clean(key): clean(item) for key, item in value.items()}
        return value

    return {clean(key): clean(value) for key, value in arguments.items()}, count


def _forbidden(spec: ToolSpec, workspace: Workspace) -> Refusal | None:
    """Why this session may not use the tool, or None when it may."""
    session = workspace.session
    assert session is not None
    if spec.capability not in PROFILES[session.profile]:
        return Refusal(
            "not_permitted",
            f"{spec.name} needs the right to {spec.capability}, which profile "
            f"'{session.profile}' does not give.",
        )
    if spec.root_only and (RESEARCH_LABEL not in session.labels or session.parent):
        return Refusal(
            "not_permitted", f"{spec.name} belongs to a root session with the label {RESEARCH_LABEL}."
        )
    return None
