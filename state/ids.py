"""Ids that code derives: from the identity of a call, or from how many there are."""

import hashlib
import unicodedata

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from researchdesk.state.errors import Refusal
from researchdesk.state.limits import OBJECTIVE_CHARS

SESSION_ID_CHARS = 128


@dataclass(frozen=True, slots=True, kw_only=True, config=ConfigDict(extra="forbid"))
class CallId:
    """The identity of one tool call; the ledger holds each at most once.

    ``turn`` is empty for a call that a person or a program makes outside a model's turn.
    """

    session: str
    turn: str
    call: str

    def digest(self, size: int = 16) -> str:
        """Hex digits of the identity's hash, ``size`` of them."""
        joined = "\x1f".join((self.session, self.turn, self.call))
        return hashlib.sha256(joined.encode()).hexdigest()[:size]


def artifact_id(call: CallId) -> str:
    """The id of the artifact that this call records."""
    return f"a_{call.digest()}"


def numbered(prefix: str, ordinal: int) -> str:
    """``s_001`` style ids; they grow wider after 999."""
    return f"{prefix}_{ordinal:03d}"


def continuation_ids(session_id: str) -> tuple[str, ...]:
    """The ids that a session which continues this one may get, best first; each a legal one and this session's own."""
    digest = hashlib.sha256(session_id.encode()).hexdigest()[:12]
    own = f"{session_id[: SESSION_ID_CHARS - 18]}-{digest}-next"
    return (f"{session_id}-next", own) if len(session_id) <= SESSION_ID_CHARS - 5 else (own,)


def session_stream(session_id: str) -> str:
    """The ledger stream of a session."""
    return f"session:{session_id}"


def stream_owner(stream: str) -> str:
    """The id of the session or desk whose stream this is."""
    return stream.partition(":")[2]


DESK_ID = "main"
DESK_STREAM = f"desk:{DESK_ID}"
"""The stream of the desk's files; a ledger has one desk."""


def content_hash(body: bytes) -> str:
    """The address of a body in the blob store."""
    return f"sha256:{hashlib.sha256(body).hexdigest()}"


def fold_objective(text: str) -> str:
    """The objective in its one written form: NFC, white space folded, 1..2,000 characters."""
    folded = " ".join(unicodedata.normalize("NFC", text).split())
    if not folded:
        raise Refusal("invalid_arguments", "objective: it is empty. State the question to research.")
    if len(folded) > OBJECTIVE_CHARS:
        raise Refusal(
            "invalid_arguments",
            f"objective: it has {len(folded):,} characters, the limit is {OBJECTIVE_CHARS:,}. Shorten it; "
            "put background material into the corpus.",
        )
    return folded
