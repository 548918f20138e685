"""The projection of one session: everything its next decision needs, folded from its events.

`evolve` is the only way forward. It refuses an event that is illegal after what came before, so that
neither a decision nor a damaged ledger can produce a state that the rules do not allow.
"""

from __future__ import annotations  # the persistent maps are generic for type checkers only

from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import assert_never

from rpds import HashTrieMap, HashTrieSet

from researchdesk.state import events as ev
from researchdesk.state.bodies import Bodies, bodies_after, releasable, release
from researchdesk.state.chat import NO_CHAT, Chat, hear, settle, speak
from researchdesk.state.copying import changed, maker
from researchdesk.state.errors import Refusal
from researchdesk.state.gains import is_gain
from researchdesk.state.investigation import Investigation
from researchdesk.state.investigation_fold import add_source, evolve_investigation
from researchdesk.state.notes import Notes
from researchdesk.state.run import ResearchRun, evolve_run, start_run
from researchdesk.state.usage import NOTHING_SPENT, Spending, Usage, spend, spend_nothing


class IllegalTransition(ValueError):
    """An event that the rules do not allow at this point."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenTurn:
    """A recorded answer some of whose calls have no record yet."""

    turn_id: str
    calls: tuple[ev.AskedCall, ...]
    waiting: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSeen:
    """What the next prompt and the breakers need of a recorded call."""

    turn_id: str
    tool_call_id: str
    name: str
    input_digest: str
    status: str
    code: str
    entity_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingCall:
    """A call whose record says that a person has to decide first."""

    record: ev.CallRecorded
    message_id: str
    seq: int


_seen = maker(CallSeen)  # one a call: folding makes thousands
RECENT_CALLS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """A session and its run, as they stand after ``seq`` events."""

    seq: int = 0
    session: ev.SessionOpened | None = None
    config: ev.RunConfigured | None = None
    run: ResearchRun | None = None
    called: int = 0
    """Requests to a model, answered or not."""
    answered: int = 0
    pending_request: ev.ModelCalled | None = None
    pending_seq: int = 0
    failures_in_row: int = 0
    last_failure: ev.ModelFailed | None = None
    last_answer: ev.ModelAnswered | None = None
    silent_answers: int = 0
    """Answers in a row that held no tool call."""
    open_turn: OpenTurn | None = None
    spending: Spending = NOTHING_SPENT
    recent_calls: tuple[CallSeen, ...] = ()
    call_counts: HashTrieMap[str, int] = field(default_factory=HashTrieMap)
    """How often the model made each call, by input digest."""
    refused_by_code: HashTrieMap[str, int] = field(default_factory=HashTrieMap)
    refused_locators: HashTrieMap[str, str] = field(default_factory=HashTrieMap)
    progress_turn: int = 0
    """Ordinal of the last answer one of whose calls was new and worked."""
    gained_turn: int = 0
    """Ordinal of the last answer in which something came: see `state.gains`."""
    resumed_after: int = 0
    """Ordinal of the last answer when the run was taken up again."""
    purged_artifacts: HashTrieSet[str] = field(default_factory=HashTrieSet)
    """Artifacts whose text was removed for good; nobody reads it any more, even where another one keeps its bytes."""
    bodies: Bodies = field(default_factory=HashTrieMap)
    """Every body that an event named, by hash."""
    draft: ev.HandoffDrafted | None = None
    investigation: Investigation | None = None
    """Questions, notes and challenges; None until the objective is recorded as a question."""
    pending_calls: HashTrieMap[str, PendingCall] = field(default_factory=HashTrieMap)
    """The calls that wait for a person's decision, by `pending_key`."""
    chat: Chat = NO_CHAT
    notes_version: int = 0
    touched: HashTrieMap[str, int] = field(default_factory=HashTrieMap)
    """The sequence of the last event of each record of the investigation, by the record's id."""

    @property
    def notes(self) -> Notes | None:
        """The notes of the investigation; None before it begins."""
        return self.investigation.notes if self.investigation else None

    @property
    def standing_bodies(self) -> tuple[str, ...]:
        """The hashes of the bodies that have to be there, sorted."""
        return tuple(sorted(key for key, body in self.bodies.items() if not body.released_seq))

    @property
    def tokens(self) -> int:
        """Tokens spent in all, estimates for requests whose answer never came."""
        return self.spent.tokens

    @property
    def cost(self) -> Decimal | None:
        """US dollars spent in all, counted like `tokens`; None where a price is not known."""
        return self.spent.cost

    @property
    def spent(self) -> Usage:
        """Requests, tokens and money in all."""
        return self.spending_so_far.total

    @property
    def spending_so_far(self) -> Spending:
        """What is spent, the request included that waits for its answer."""
        request = self.pending_request
        return spend(self.spending, request, self.config, None) if request else self.spending


def pending_key(turn_id: str, tool_call_id: str) -> str:
    """Under which `Workspace.pending_calls` has a call; neither id has a slash."""
    return f"{turn_id}/{tool_call_id}"


def fold(events: Iterable[ev.Event], start: Workspace | None = None) -> Workspace:
    """The state after all of ``events``, from ``start`` or from nothing."""
    workspace = start or Workspace()
    for event in events:
        workspace = evolve(workspace, event)
    return workspace


def evolve(workspace: Workspace, event: ev.Event) -> Workspace:
    """The state after one more event.

    Raises:
        IllegalTransition: the event cannot follow; the message says why.
    """
    _require(
        workspace.session is not None or isinstance(event, ev.SessionOpened), "the session is not opened"
    )
    after = _apply(workspace, event, seq=workspace.seq + 1)
    assert after.seq == workspace.seq + 1
    return _with_bodies(after, workspace, event)


def _with_bodies(after: Workspace, before: Workspace, event: ev.Event) -> Workspace:
    artifact, asked = "", None
    if isinstance(event, ev.CallRecorded):
        artifact = after.run.artifact_of(event.entity_type, event.entity_id) if after.run else ""
        if event.turn_id and before.open_turn:
            asked = next((call for call in before.open_turn.calls if call.id == event.tool_call_id), None)
    bodies = bodies_after(after.bodies, event, seq=after.seq, artifact=artifact, asked=asked)
    return after if bodies is after.bodies else changed(after, bodies=bodies)


def _require(condition: bool, problem: str) -> None:
    if not condition:
        raise IllegalTransition(problem)


def _apply(workspace: Workspace, event: ev.Event, *, seq: int) -> Workspace:
    # Copying a state is what folding costs, so each event makes one copy, its sequence included.
    match event:
        case ev.CallRecorded():  # two of three events
            return _close_call(workspace, event, seq=seq)
        case ev.SessionOpened():
            _require(workspace.session is None, "the session is opened already")
            return changed(workspace, seq=seq, session=event)
        case ev.RunConfigured():
            return changed(workspace, seq=seq, config=event)
        case ev.ResearchStarted():
            _require(workspace.run is None, "the research is started already")
            return changed(workspace, seq=seq, run=start_run(event, seq=seq))
        case ev.ModelCalled() | ev.ModelAnswered() | ev.ModelFailed():
            return _apply_model(workspace, event, seq=seq)
        case ev.ArtifactPurged():
            return _purge(workspace, event, seq=seq)
        case ev.CallSettled():
            key = pending_key(event.turn_id, event.tool_call_id)
            _require(
                key in workspace.pending_calls, f"call '{event.tool_call_id}' does not wait for a decision"
            )
            chat = settle(workspace.chat, event, seq=seq)
            return changed(workspace, seq=seq, pending_calls=workspace.pending_calls.remove(key), chat=chat)
        case ev.MessageReceived():
            try:
                return changed(workspace, seq=seq, chat=hear(workspace.chat, event))
            except ValueError as problem:
                raise IllegalTransition(str(problem)) from None
        case ev.HandoffDrafted():
            _require(workspace.draft is None, "the draft is written already")
            return changed(workspace, seq=seq, draft=event)
        case (
            ev.ArtifactRecorded()
            | ev.SourceRecorded()
            | ev.SearchRecorded()
            | ev.ChecklistUpdated()
            | ev.StepRecorded()
            | ev.CheckpointRecorded()
            | ev.ResearchStopped()
            | ev.ResearchBlocked()
            | ev.ResearchResumed()
            | ev.ResearchCompleted()
        ):
            _require(workspace.run is not None, "the research is not started")
            assert workspace.run is not None
            _require(
                not isinstance(event, ev.ResearchResumed) or _can_be_resumed(workspace),
                "the run is active and has neither stopped nor failed, there is nothing to resume",
            )
            try:
                run = evolve_run(workspace.run, event, seq=seq)
            except (ValueError, Refusal) as problem:
                raise IllegalTransition(str(problem)) from None
            after = changed(workspace, seq=seq, run=run, gained_turn=_gained_turn(workspace, event))
            if isinstance(event, ev.SourceRecorded) and workspace.investigation is not None:
                return changed(after, investigation=add_source(workspace.investigation, event))
            return _afresh(after) if isinstance(event, ev.ResearchResumed) else after
        case _:
            return _investigate(workspace, event, seq=seq)


def _purge(workspace: Workspace, event: ev.ArtifactPurged, *, seq: int) -> Workspace:
    known = workspace.run.artifacts if workspace.run else ()
    _require(event.artifact_id in known, f"no artifact '{event.artifact_id}' in this session")
    purged = workspace.purged_artifacts.insert(event.artifact_id)
    for key in event.hashes:
        _require(
            releasable(workspace.bodies, key, purged=purged), f"something in the session stands on body {key}"
        )
    bodies = release(workspace.bodies, event.hashes, seq=seq)
    return changed(workspace, seq=seq, purged_artifacts=purged, bodies=bodies)


def _investigate(workspace: Workspace, event: ev.InvestigationEvent, *, seq: int) -> Workspace:
    _require(workspace.run is not None, "the research is not started")
    assert workspace.run is not None
    _require(workspace.run.stage != "completed", "the run is completed and takes no further events")
    try:
        after = evolve_investigation(workspace.investigation, event, workspace.run)
    except ValueError as problem:
        raise IllegalTransition(str(problem)) from None
    if isinstance(event, ev.NotesVersionRecorded):
        return changed(workspace, seq=seq, notes_version=workspace.notes_version + 1)
    key = record_id(event)
    touched = workspace.touched.insert(key, seq) if key else workspace.touched
    gained_turn = _gained_turn(workspace, event)
    return changed(workspace, seq=seq, investigation=after, touched=touched, gained_turn=gained_turn)


def _gained_turn(workspace: Workspace, event: ev.Event) -> int:
    gained = is_gain(event, workspace.run, workspace.investigation)
    return workspace.answered if gained else workspace.gained_turn


def record_id(event: ev.InvestigationEvent) -> str:
    """The id under which `Workspace.touched` keeps the record that an event writes anew; "" for none."""
    match event:
        case ev.QuestionRecorded():
            return event.question.id
        case ev.AttemptRecorded():
            return event.attempt.id
        case ev.ClaimRecorded():
            return event.claim.id
        case ev.DatapointRecorded():
            return event.datapoint.id
        case ev.ContradictionRecorded():
            return event.contradiction.id
        case ev.AssumptionRecorded():
            return event.assumption.id
        case ev.GapRecorded():
            return event.gap.id
        case ev.ChallengeRecorded():
            return event.challenge.id
        case ev.SourceNoted():
            return event.source_id
        case _:
            return ""


def _can_be_resumed(workspace: Workspace) -> bool:
    run = workspace.run
    assert run is not None
    # A completed run is refused by the run itself, in its own words.
    return bool(run.status != "active" or run.stop_reason or workspace.failures_in_row)


def _afresh(workspace: Workspace) -> Workspace:
    """Whoever takes up a run again gets every try: what a breaker counted begins anew."""
    return changed(
        workspace,
        failures_in_row=0,
        last_failure=None,
        silent_answers=0,
        progress_turn=workspace.answered,
        gained_turn=workspace.answered,
        resumed_after=workspace.answered,
    )


def _apply_model(
    workspace: Workspace, event: ev.ModelCalled | ev.ModelAnswered | ev.ModelFailed, *, seq: int
) -> Workspace:
    match event:
        case ev.ModelCalled():
            _require(
                event.ordinal == workspace.called + 1, f"request {event.ordinal} follows {workspace.called}"
            )
            _require(workspace.open_turn is None, "the last turn is still open")
            return changed(
                workspace,
                seq=seq,
                spending=_spend(workspace, workspace.pending_request),
                called=event.ordinal,
                pending_request=event,
                pending_seq=seq,
            )
        case ev.ModelAnswered():
            return _apply_answer(workspace, event, seq=seq)
        case ev.ModelFailed():
            request = workspace.pending_request
            _require(request is not None, "no request waits that could have failed")
            assert request is not None
            _require(
                event.ordinal == request.ordinal, f"request {request.ordinal} waits, not {event.ordinal}"
            )
            return changed(
                workspace,
                seq=seq,
                spending=_spend(workspace, request)
                if event.charged
                else spend_nothing(workspace.spending, request),
                pending_request=None,
                failures_in_row=workspace.failures_in_row + 1,
                last_failure=event,
            )
    assert_never(event)


def _apply_answer(workspace: Workspace, event: ev.ModelAnswered, *, seq: int) -> Workspace:
    request = workspace.pending_request
    _require(workspace.open_turn is None, "the last turn is still open")
    _require(request is not None, "no request waits for an answer")
    _require(event.ordinal == workspace.answered + 1, f"answer {event.ordinal} follows {workspace.answered}")
    ids = [call.id for call in event.calls]
    _require(len(set(ids)) == len(ids), "two calls of the answer share an id")
    turn = OpenTurn(turn_id=event.turn_id, calls=event.calls, waiting=frozenset(ids)) if ids else None
    chats = request is not None and request.stage == "chat"
    return changed(
        workspace,
        seq=seq,
        chat=speak(workspace.chat, event, seq=seq) if chats else workspace.chat,
        answered=event.ordinal,
        pending_request=None,
        failures_in_row=0,
        last_answer=event,
        open_turn=turn,
        silent_answers=0 if ids else workspace.silent_answers + 1,
        spending=_spend(workspace, request, event),
    )


def _spend(
    workspace: Workspace, request: ev.ModelCalled | None, answer: ev.ModelAnswered | None = None
) -> Spending:
    return spend(workspace.spending, request, workspace.config, answer) if request else workspace.spending


def _close_call(workspace: Workspace, event: ev.CallRecorded, *, seq: int) -> Workspace:
    turn = workspace.open_turn
    if event.turn_id:
        _require(turn is not None and turn.turn_id == event.turn_id, f"turn '{event.turn_id}' is not open")
        assert turn is not None
        _require(
            event.tool_call_id in turn.waiting, f"call '{event.tool_call_id}' does not wait for a record"
        )
        waiting = turn.waiting - {event.tool_call_id}
        turn = changed(turn, waiting=waiting) if waiting else None
    seen = _seen(
        turn_id=event.turn_id,
        tool_call_id=event.tool_call_id,
        name=event.name,
        input_digest=event.input_digest,
        status=event.status,
        code=event.code,
        entity_id=event.entity_id,
    )
    refused = workspace.refused_by_code
    if event.code:
        refused = refused.insert(event.code, (refused.get(event.code) or 0) + 1)
    locators = workspace.refused_locators
    if event.code and event.entity_type == "locator":
        locators = locators.insert(event.entity_id, event.code)
    counts = workspace.call_counts
    if event.turn_id:
        counts = counts.insert(event.input_digest, (counts.get(event.input_digest) or 0) + 1)
    if event.status == "pending":
        message_id = workspace.last_answer.message_id if event.turn_id and workspace.last_answer else ""
        waiting_call = PendingCall(
            record=event, message_id=message_id or f"call:{event.tool_call_id}", seq=seq
        )
        key = pending_key(event.turn_id, event.tool_call_id)
        workspace = changed(workspace, pending_calls=workspace.pending_calls.insert(key, waiting_call))
    return changed(
        workspace,
        seq=seq,
        open_turn=turn,
        progress_turn=workspace.answered if _is_progress(workspace, event) else workspace.progress_turn,
        recent_calls=(*workspace.recent_calls, seen)[-RECENT_CALLS:],
        call_counts=counts,
        refused_by_code=refused,
        refused_locators=locators,
    )


def _is_progress(workspace: Workspace, event: ev.CallRecorded) -> bool:
    """A call that worked and was not made before; looking at the status moves nothing."""
    return (
        event.status == "success"
        and event.name != "deep_research_status"
        and event.input_digest not in workspace.call_counts
    )
