"""A change that waits for a person: what it would do, what it stands on, and how it was decided."""

import hashlib
from dataclasses import dataclass
from typing import Literal

import orjson

from researchdesk.state.desk.files import Cause
from researchdesk.state.desk.markup import card, table
from researchdesk.state.ids import CallId

ProposalStatus = Literal["pending", "approved", "rejected", "expired", "stale", "executed", "failed"]
Guard = Literal["file", "cells"]
Verb = Literal["change", "rename", "delete"]

NEXT: dict[ProposalStatus, frozenset[ProposalStatus]] = {
    "pending": frozenset({"approved", "rejected", "expired", "stale"}),
    "approved": frozenset({"executed", "failed"}),
    "rejected": frozenset(),
    "expired": frozenset(),
    "stale": frozenset(),
    "executed": frozenset(),
    "failed": frozenset(),
}
"""What may follow each status."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A gated tool call that has not run: whoever approves it names ``hash``, which stands for what was shown."""

    id: str
    cause: Cause
    tool: str
    arguments: str
    """Canonical JSON, long texts as references to bodies (`state.stowing`)."""
    file_id: str
    path: str
    verb: Verb
    destructive: bool
    guard: Guard
    base_hash: str
    after_hash: str
    diff: str
    """How the file would change, cut to what a list shows; the whole of it follows from base and after."""
    hash: str
    depends_on: str
    supersedes: str
    expires_at: str
    """ISO 8601, UTC; empty for never."""
    created_at: str
    created_seq: int
    updated_seq: int
    shadow: str = ""
    """The policy that would have approved it, where policies only watch."""
    status: ProposalStatus = "pending"
    decided_by: str = ""
    decided_at: str = ""
    reason: str = ""
    approved_arguments: str = ""
    """The arguments as a person edited them; empty where it ran as it was proposed."""
    executed_at: str = ""
    error: str = ""

    @property
    def is_approved(self) -> bool:
        """Whether somebody said yes, whatever came of it."""
        return self.status in ("approved", "executed", "failed")

    @property
    def final_arguments(self) -> str:
        """What ran, or would run."""
        return self.approved_arguments or self.arguments

    @property
    def asked_by(self) -> str:
        """The session whose model asked for it, or who else did."""
        return f"session {self.cause.session_id}" if self.cause.session_id else "a person"

    def _repr_html_(self) -> str:
        by = f"{self.decided_by} at {self.decided_at[:19]}" if self.decided_by else ""
        fields = {
            "status": self.status,
            "decided by": by,
            "reason": self.reason,
            "error": self.error,
            "asked by": f"{self.asked_by} with {self.tool} at {self.created_at[:19]}",
            "expires": self.expires_at[:19],
            "builds on": self.depends_on,
            "hash": self.hash,
        }
        return card(f"Proposal {self.id}: {self.verb} {self.path}", fields, diff=self.diff)


class Proposals(list[Proposal]):
    """Proposals in a list, which a notebook shows as a table with the diff of each that waits under it."""

    def _repr_html_(self) -> str:
        columns = ("proposal", "status", "what", "file", "asked by", "asked at", "decided by", "reason")
        rows = (
            (
                *(made.id, made.status, made.verb, made.path, made.asked_by, made.created_at[:19]),
                *(made.decided_by, made.reason or made.error),
            )
            for made in self
        )
        waiting = "".join(made._repr_html_() for made in self if made.status == "pending")
        return table(columns, rows, caption=f"Proposals: {len(self)}") + waiting


def proposal_id(call: CallId) -> str:
    """The id of the proposal that this call makes."""
    return f"p_{call.digest(12)}"


def proposal_hash(*, tool: str, arguments: str, file_id: str, base_hash: str, after_hash: str) -> str:
    """The hash that names a proposed change."""
    parts = orjson.dumps([tool, arguments, file_id, base_hash, after_hash])
    return f"sha256:{hashlib.sha256(parts).hexdigest()}"
