"""Deciding about proposals: one transaction holds the decision, the change, and the end of the call that asked for it.

The proposals in the ledger are the lock: a decision is made upon the desk as it stands and is written only if it still
stands so, whoever else decides at the same time and in whatever process.
"""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from researchdesk.state import events as ev
from researchdesk.state.cleaning import clean_arguments, clean_text
from researchdesk.state.copying import changed
from researchdesk.state.desk import events as dv
from researchdesk.state.desk.changes import after_hash_of, outcome_of
from researchdesk.state.desk.desk_state import DeskState
from researchdesk.state.desk.edits import Edit, apply
from researchdesk.state.desk.effects import CallOutcome, derive_effects
from researchdesk.state.desk.judging import Choice, Decision, Edited, after, judge, proposed_action
from researchdesk.state.desk.proposals import Proposal, proposal_hash
from researchdesk.state.desk.proposing import change_shown
from researchdesk.state.desk.settling import Settlement, settlement_of
from researchdesk.state.errors import IntegrityError, NotFound, Refusal
from researchdesk.state.ids import DESK_STREAM, CallId, session_stream
from researchdesk.state.redaction import redact
from researchdesk.state.stowing import Stow
from researchdesk.state.workspace import pending_key
from researchdesk.stores.codec import Refs
from researchdesk.stores.ledger import Append, HeadMoved
from researchdesk.stores.replay import Extension, Projection, extend
from researchdesk.tools.calls import redacted_arguments
from researchdesk.tools.records import Records
from researchdesk.tools.registry import REGISTRY
from researchdesk.tools.results import replayed, text_again
from researchdesk.tools.validation import checked, filled

COMMIT_TRIES = 1_000
WHOLE_DIFF = 200_000
Settled = tuple[Proposal, Settlement]
"""A proposal that was decided, and what its call is told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """What came of a decision: the proposal as it stands now, and what the model that asked for it is told.

    ``replayed``: the same person had decided the same before.
    """

    proposal: Proposal
    text: str
    data: Mapping[str, Any]
    replayed: bool = False

    @property
    def status(self) -> str:
        """The proposal's status; ``stale`` and ``expired`` also where somebody wanted to approve it."""
        return self.proposal.status


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """A proposal as it would run with other arguments: the whole diff, and the hash to decide with."""

    proposal_hash: str
    diff: str


def decide(
    records: Records,
    proposal_id: str,
    choice: Choice,
    *,
    actor: str,
    proposal_hash: str,
    reason: str = "",
    edited_args: Mapping[str, Any] | None = None,
) -> Decided:
    """Decide about a proposal, once; see `Desk.decide`."""
    for _ in range(COMMIT_TRIES):
        projection = records.desk()
        proposal = proposal_of(projection.desk, proposal_id)
        decision = Decision(
            choice=choice,
            actor=actor,
            proposal_hash=proposal_hash,
            at=records.now(),
            reason=redact(clean_text(reason).text).text,
        )
        if edited_args is not None:
            decision = _with_edited(decision, records, projection.desk, proposal, edited_args)
        verdict = judge(projection.desk, proposal, decision, records.text)
        if verdict.replayed:
            return _decided_before(records, proposal, projection.desk)
        with contextlib.suppress(HeadMoved):
            desk = write(records, projection, verdict.events, bodies=verdict.bodies)
            return _decided(desk.proposals[proposal_id], desk)
    raise IntegrityError("the desk is written to without pause; the decision could not be placed")


def preview(records: Records, proposal_id: str, edited_args: Mapping[str, Any] | None = None) -> Preview:
    """What a proposal, or the same call with other arguments, would do now; see `Desk.preview`."""
    desk = records.desk().desk
    proposal = proposal_of(desk, proposal_id)
    arguments, shown, bodies = proposal.final_arguments, proposal.hash, {}
    if edited_args is not None:
        edited = _edited(records, desk, proposal, edited_args)
        arguments, shown, bodies = edited.arguments, edited.hash, dict(edited.bodies)
    return Preview(proposal_hash=shown, diff=_diff(records, desk, proposal, arguments, bodies))


def proposal_of(desk: DeskState, proposal_id: str) -> Proposal:
    """The proposal of that id.

    Raises:
        NotFound: there is none; the message names those that wait.
    """
    proposal = desk.proposals.get(proposal_id)
    if proposal is None:
        waiting = ", ".join(desk.undecided[:10]) or "none"
        raise NotFound(f"no proposal '{proposal_id[:80]}' on this desk; waiting: {waiting}")
    return proposal


def write(
    records: Records,
    projection: Projection,
    events: Sequence[dv.DeskEvent],
    *,
    bodies: Mapping[str, bytes],
) -> DeskState:
    """Write events of the desk, and with them the end of each call whose proposal they decide.

    Raises:
        HeadMoved: somebody wrote meanwhile; nothing was written.
    """
    then = after(projection.desk, tuple(events))
    named = dict.fromkeys(event.proposal_id for event in events if isinstance(event, dv.ENDS))
    settled = [(then.proposals[key], settlement_of(then.proposals[key], then)) for key in named]
    shown = (*events, *_effects(settled))
    own = extend(projection, shown, stream=DESK_STREAM, ts=records.now(), refs=Refs())
    others = list(_session_extensions(records, settled))
    first = changed(own.append, bodies=dict(bodies))
    records.ledger.append(first, *(append for append, _ in others))
    records.remember(DESK_STREAM, own.projection)
    for append, extension in others:
        records.remember(append.stream, extension.projection)
    return own.projection.desk


def _effects(settled: Sequence[Settled]) -> Iterator[dv.EffectsDerived]:
    for proposal, end in settled:
        if proposal.cause.session_id:
            outcome = CallOutcome(
                call=proposal.cause.call,
                tool=proposal.tool,
                status=end.status,
                code=end.code,
                text=end.text,
                data=end.data,
            )
            yield dv.EffectsDerived(session_id=proposal.cause.session_id, effects=derive_effects(outcome))


def _session_extensions(records: Records, settled: Sequence[Settled]) -> Iterator[tuple[Append, Extension]]:
    """For each session some of whose calls end now, the events that say so."""
    by_session: dict[str, list[Settled]] = {}
    for proposal, end in settled:
        if proposal.cause.session_id:
            by_session.setdefault(proposal.cause.session_id, []).append((proposal, end))
    for session_id, own in by_session.items():
        projection = records.projection(session_id)
        stow = Stow()
        events = [
            _settled(records, proposal.cause.call, end, stow)
            for proposal, end in own
            if pending_key(proposal.cause.turn_id, proposal.cause.tool_call_id)
            in projection.workspace.pending_calls
        ]
        if events:
            stream = session_stream(session_id)
            extension = extend(projection, events, stream=stream, ts=records.now(), refs=Refs())
            yield changed(extension.append, bodies=stow.bodies), extension


def _settled(records: Records, call: CallId, end: Settlement, stow: Stow) -> ev.CallSettled:
    row = records.ledger.call_row(call)
    assert row is not None
    return ev.CallSettled(
        turn_id=call.turn,
        tool_call_id=call.call,
        status=end.status,
        code=end.code,
        text=stow.text(end.text),
        data=orjson.dumps(end.data, option=orjson.OPT_SORT_KEYS).decode(),
        recorded_at=row["created_at"],
    )


def _with_edited(
    decision: Decision,
    records: Records,
    desk: DeskState,
    proposal: Proposal,
    arguments: Mapping[str, Any],
) -> Decision:
    """The decision with other arguments, or with why they cannot run: that matters only if it may still be made."""
    try:
        return changed(decision, edited=_edited(records, desk, proposal, arguments))
    except Refusal as problem:
        return changed(decision, problem=problem)


def _edited(records: Records, desk: DeskState, proposal: Proposal, arguments: Mapping[str, Any]) -> Edited:
    """Other arguments for a proposal's call, checked against the same tool, and what they would lead to.

    Raises:
        Refusal: ``invalid_arguments``: another file, or not the tool's shape.
    """
    spec = REGISTRY.desk_tools[proposal.tool]
    cleaned, _ = redacted_arguments(clean_arguments(dict(arguments)))
    plain = filled(spec, cleaned)
    if plain["file"] not in (proposal.file_id, proposal.path):
        raise Refusal(
            "invalid_arguments", f"file: it has to stay {proposal.file_id}; decide about this file alone."
        )
    checked(spec, plain)
    stow = Stow()
    encoded = stow.arguments(plain).inline
    file = changed(desk.files[proposal.file_id], path=proposal.path, deleted=False)
    action = proposed_action(proposal.tool, encoded, file.kind, lambda key: stow.bodies[key].decode())
    name = proposal_hash(
        tool=proposal.tool,
        arguments=encoded,
        file_id=proposal.file_id,
        base_hash=proposal.base_hash,
        after_hash=after_hash_of(
            outcome_of(action, file, records.text(proposal.base_hash), desk), proposal.base_hash
        ),
    )
    return Edited(arguments=encoded, hash=name, bodies=stow.bodies)


def _diff(
    records: Records, desk: DeskState, proposal: Proposal, arguments: str, bodies: Mapping[str, bytes]
) -> str:
    """The whole of what would change, against the content that the proposal stands on."""
    file = changed(desk.files[proposal.file_id], path=proposal.path)

    def read(key: str) -> str:
        return bodies[key].decode() if key in bodies else records.text(key)

    action = proposed_action(proposal.tool, arguments, file.kind, read)
    base = read(proposal.base_hash)
    changed_text = apply(action, base) if isinstance(action, Edit) else ""
    return change_shown(action, file, base, changed_text, limit=WHOLE_DIFF)


def _decided(proposal: Proposal, desk: DeskState) -> Decided:
    end = settlement_of(proposal, desk)
    return Decided(proposal=proposal, text=end.text, data=end.data)


def _decided_before(records: Records, proposal: Proposal, desk: DeskState) -> Decided:
    """The outcome of a decision as it was recorded, whatever happened to the file since."""
    row = records.ledger.call_row(proposal.cause.call)
    if row is None:
        return changed(_decided(proposal, desk), replayed=True)
    text = text_again(row, lambda: records.projection(proposal.cause.session_id).workspace, records.text)
    return Decided(proposal=proposal, text=text, data=replayed(row, text).data, replayed=True)
