"""Which rows an event may have written, told from its payload alone: where a sync looks in the ledger's tables.

What the rows hold is never derived here, the one function of `state.streams` filled the tables. A place too many costs
a look-up; a test holds that none is missing. Of an event that is not known here, or that an older schema wrote, every
row of its owner counts as touched.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import orjson

from researchdesk.state.events import SCHEMA_VERSION
from researchdesk.state.ids import stream_owner
from researchdesk.state.row_changes import Row
from researchdesk.state.tables import tables_of
from researchdesk.stores.codec import StoredEvent


class Place(NamedTuple):
    """The rows of a table whose first columns have these values.

    ``is_new`` where no such row stood there before the event.
    """

    table: str
    values: Row
    is_new: bool = False


class Since(NamedTuple):
    """The rows of a table that events of its owner wrote from this one on, by a column that never changes."""

    table: str
    column: str
    owner: str
    seq: int


class Turn(NamedTuple):
    """The row of `model_calls` whose request this turn answered, which an answer does not name: it counts answers."""

    owner: str
    turn_id: str


Touched = Place | Since | Turn


@dataclass(frozen=True, slots=True)
class _Key:
    """Where the values of a `Place` behind the owner's stand in a payload: names, dots for what is inside."""

    table: str
    paths: tuple[tuple[str, ...], ...]
    is_new: bool


@dataclass(frozen=True, slots=True)
class _From:
    table: str
    column: str


@dataclass(frozen=True, slots=True)
class _Turn:
    table: str


def _new(table: str, *paths: str) -> _Key:
    return _Key(table, _split(paths), is_new=True)


def _changed(table: str, *paths: str) -> _Key:
    return _Key(table, _split(paths), is_new=False)


def _split(paths: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(path.split(".")) for path in paths)


_RUN = _changed("research_runs")
_BODIES = _From("session_bodies", "named_seq")
_PROPOSAL = _changed("proposals", "proposal_id")
_TURN = _Turn("model_calls")
_DESK_BODIES = _From("desk_bodies", "named_seq")
_TOUCHED: Final[dict[str, tuple[_Key | _From | _Turn, ...]]] = {
    "session_opened": (_new("sessions"),),
    "run_configured": (_RUN,),
    "research_started": (_RUN, _changed("checklist_items"), _changed("report_sections")),
    "research_artifact_recorded": (
        _new("artifacts", "artifact_id"),
        _new("artifact_sources", "artifact_id"),
        _new("artifact_quotes", "artifact_id"),
        _BODIES,
    ),
    "source_recorded": (_new("sources", "source_id"), _new("receipts", "source_id"), _BODIES),
    "search_recorded": (_From("searches", "seq"),),
    "research_checklist_updated": (_changed("checklist_items", "item_id"),),
    "research_step_recorded": (_new("research_steps", "step"), _new("inspected_refs", "step")),
    "research_checkpoint_recorded": (_RUN, _From("checkpoints", "seq")),
    "research_stopped": (_RUN,),
    "research_blocked": (_RUN,),
    "research_resumed": (_RUN,),
    "research_completed": (_RUN,),
    "artifact_purged": (_From("purges", "seq"), _changed("session_bodies")),
    "model_called": (_new("model_calls", "ordinal"),),
    "model_answered": (_TURN, _new("messages", "message_id"), _BODIES),
    "model_failed": (_changed("model_calls", "ordinal"),),
    "call_recorded": (_new("tool_calls", "turn_id", "tool_call_id"), _BODIES),
    "call_settled": (_changed("tool_calls", "turn_id", "tool_call_id"), _BODIES),
    "message_received": (_new("messages", "message_id"), _BODIES),
    "handoff_drafted": (_new("drafts"),),
    "question_recorded": (
        _changed("frontier_questions", "question.id"),
        _new("frontier_transitions", "transition.question_id", "transition.seq"),
        _From("frontier_deps", "state_seq"),
    ),
    "dependency_recorded": (_From("frontier_deps", "state_seq"),),
    "attempt_recorded": (_changed("frontier_attempts", "attempt.question_id", "attempt.seq"),),
    "claim_recorded": (_changed("claims", "claim.id"),),
    "claim_source_recorded": (_From("claim_sources", "state_seq"),),
    "datapoint_recorded": (_changed("datapoints", "datapoint.id"),),
    "contradiction_recorded": (_changed("contradictions", "contradiction.id"),),
    "assumption_recorded": (_changed("open_points", "assumption.id"),),
    "gap_recorded": (_changed("open_points", "gap.id"),),
    "source_noted": (_changed("source_notes", "source_id"),),
    "scratch_set": (),
    "challenge_recorded": (_changed("challenges", "challenge.id"), _changed("challenge_sources", "challenge.id")),
    "notes_version_recorded": (_From("notes_versions", "state_seq"),),
    "file_created": (_new("desk_files", "file_id"), _DESK_BODIES),
    "file_changed": (_changed("desk_files", "file_id"), _From("file_revisions", "seq"), _DESK_BODIES),
    "proposal_made": (_new("proposals", "proposal_id"), _DESK_BODIES),
    "proposal_approved": (_PROPOSAL, _DESK_BODIES),
    "proposal_rejected": (_PROPOSAL,),
    "proposal_lapsed": (_PROPOSAL,),
    "proposal_executed": (_PROPOSAL,),
    "proposal_failed": (_PROPOSAL,),
    "effects_derived": (_changed("panels", "session_id"),),
}  # fmt: skip
_SOMETIMES: Final = {
    "call_recorded": ("messages",),
    "research_artifact_recorded": ("report_sections", "research_runs"),
}
"""The tables that only some events of a type write to, beside those above."""
_READ: Final = frozenset(
    kind
    for kind, specs in _TOUCHED.items()
    if any(isinstance(spec, _Turn) or (isinstance(spec, _Key) and spec.paths) for spec in specs)
)


def tables_touched(item: StoredEvent) -> Iterable[str]:
    """The tables that events of this type may write to."""
    known = _known(item)
    if known is None:
        return tables_of(item.stream)
    return (*(spec.table for spec in known), *_SOMETIMES.get(item.type, ()))


def _known(item: StoredEvent) -> tuple[_Key | _From | _Turn, ...] | None:
    return _TOUCHED.get(item.type) if item.schema_version == SCHEMA_VERSION else None


def touched(item: StoredEvent) -> Iterator[Touched]:
    """Where the rows of an event stand; what several events touch may come several times."""
    owner = stream_owner(item.stream)
    known = _known(item)
    if known is None:
        yield from (Place(table, (owner,)) for table in tables_of(item.stream))
        return
    # The longest payloads, those of searches, need not be read.
    payload = orjson.loads(item.payload) if item.type in _READ else {}
    for spec in known:
        if isinstance(spec, _From):
            yield Since(spec.table, spec.column, owner, item.seq)
        elif isinstance(spec, _Turn):
            yield Turn(owner, payload["turn_id"])
        else:
            yield Place(spec.table, (owner, *[_at(payload, path) for path in spec.paths]), spec.is_new)
    yield from _sometimes(item.type, payload, owner)


def _sometimes(kind: str, payload: Mapping[str, Any], owner: str) -> Iterator[Place]:
    """The rows that only some events of a type write."""
    if kind == "call_recorded" and not payload["turn_id"]:
        yield Place("messages", (owner, f"call:{payload['tool_call_id']}"), is_new=True)
    elif kind == "research_artifact_recorded":
        if payload["role"] == "report_section":
            yield Place("report_sections", (owner,))
        elif payload["role"] in ("report", "handoff"):
            yield Place("research_runs", (owner,))


def _at(payload: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        payload = payload[name]
    return payload
