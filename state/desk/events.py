"""What can happen to a desk: files come, change and go, proposals are made and decided, panels open and close."""

from typing import Literal

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from researchdesk.state.desk.effects import DeskEffect
from researchdesk.state.desk.files import Cause, ChangeOp, FileKind
from researchdesk.state.desk.proposals import Guard, Verb
from researchdesk.state.references import referenced

STRICT = ConfigDict(extra="forbid")


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class FileCreated:
    """A file appeared; its content is the body under ``content_hash``."""

    file_id: str
    path: str
    kind: FileKind
    content_hash: str
    chars: int
    actor: str
    at: str
    cause: Cause


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class FileChanged:
    """A file got another content, name or neither (deleted), after what stood there was kept as a revision."""

    file_id: str
    op: ChangeOp
    path: str
    content_hash: str
    chars: int
    deleted: bool
    actor: str
    at: str
    proposal_id: str = ""
    revision_id: str = ""
    """The revision that keeps what stood there; empty where a person goes on with a change of a moment ago."""


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class ProposalMade:
    """A gated call waits for a decision."""

    proposal_id: str
    cause: Cause
    tool: str
    arguments: str
    file_id: str
    path: str
    verb: Verb
    destructive: bool
    guard: Guard
    base_hash: str
    after_hash: str
    diff: str
    proposal_hash: str
    created_at: str
    depends_on: str = ""
    supersedes: str = ""
    expires_at: str = ""
    shadow: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class ProposalApproved:
    """Somebody who may said yes; what follows in the same transaction says what came of it."""

    proposal_id: str
    actor: str
    at: str
    edited_arguments: str = ""
    edited_hash: str = ""
    """The proposal's hash with the edited arguments, where they were edited."""


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class ProposalRejected:
    """Somebody said no."""

    proposal_id: str
    actor: str
    at: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class ProposalLapsed:
    """The proposal can no longer run: too late, or what it stood on is gone."""

    proposal_id: str
    status: Literal["expired", "stale"]
    actor: str
    at: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class ProposalExecuted:
    """An approved change was made; the event before says which."""

    proposal_id: str
    at: str


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class ProposalFailed:
    """An approved change could not be made; nothing was changed."""

    proposal_id: str
    error: str


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class EffectsDerived:
    """What a session's call, or a person at its panels, made visible; the layout follows from these."""

    session_id: str
    effects: tuple[DeskEffect, ...]
    by_person: bool = False


DeskEvent = (
    FileCreated
    | FileChanged
    | ProposalMade
    | ProposalApproved
    | ProposalRejected
    | ProposalLapsed
    | ProposalExecuted
    | ProposalFailed
    | EffectsDerived
)
#: With one of these a proposal is decided for good.
ENDS = (ProposalRejected, ProposalLapsed, ProposalExecuted, ProposalFailed)
DESK_EVENT_TYPES: dict[str, type[DeskEvent]] = {
    "file_created": FileCreated,
    "file_changed": FileChanged,
    "proposal_made": ProposalMade,
    "proposal_approved": ProposalApproved,
    "proposal_rejected": ProposalRejected,
    "proposal_lapsed": ProposalLapsed,
    "proposal_executed": ProposalExecuted,
    "proposal_failed": ProposalFailed,
    "effects_derived": EffectsDerived,
}


def bodies_of(event: DeskEvent) -> tuple[str, ...]:
    """The hashes of the bodies that an event names, each once."""
    match event:
        case FileCreated() | FileChanged():
            return (event.content_hash,)
        case ProposalMade():
            after = (event.after_hash,) if event.after_hash else ()
            return tuple(dict.fromkeys((*after, *referenced(event.arguments))))
        case ProposalApproved():
            return referenced(event.edited_arguments)
        case _:
            return ()
