"""Whoever drives a chat right now: the session under its lease, its desk, the model, and who approves."""

from collections.abc import Mapping
from dataclasses import dataclass

from researchdesk.graph.driver import AskedFor, Asker, Bound
from researchdesk.graph.options import RunOptions
from researchdesk.state.chat import Chat
from researchdesk.state.desk.desk_state import DeskState
from researchdesk.state.events import ModelAnswered
from researchdesk.state.workspace import PendingCall, pending_key
from researchdesk.tools.permissions import permitted
from researchdesk.tools.spec import ToolSpec
from researchdesk.tools.workspace import Desk

STEPS_A_TURN = 5
CALLS_A_STEP = 8


@dataclass(slots=True, kw_only=True)
class ChatDriver(Asker):
    """The driver of a chat.

    ``tools`` are those that it offers, by name. ``waits`` says whether a turn stops until a person has decided;
    ``approver`` is then who decided, since an answer cannot prove who gave it. ``is_keyed`` says whether this
    invocation's answer came with the id of the question, ``takes_unnamed`` whether one is taken that neither did
    nor names its proposal.
    """

    desk: Desk
    options: RunOptions
    tools: Mapping[str, ToolSpec]
    waits: bool
    approver: str
    read_page_tokens: int
    takes_unnamed: bool = False
    is_keyed: bool = False

    @property
    def model_name(self) -> str:
        return self.options.model

    @property
    def stage(self) -> AskedFor:
        return "chat"

    @property
    def chat(self) -> Chat:
        """The conversation as it stands."""
        return self.session.workspace.chat

    @property
    def files(self) -> DeskState:
        """The desk's files, proposals and panels as they stand."""
        return self.records.desk().desk

    @property
    def may_call(self) -> bool:
        """Whether this step of the turn may still call tools."""
        return self.chat.steps < STEPS_A_TURN

    def bound_model(self) -> Bound:
        """The model with the tools of this step: none at the end of a turn that called tools for long."""
        return self.bound_to(permitted(self.tools.values(), self.session.workspace) if self.may_call else [])

    def waiting(self) -> tuple[PendingCall, ...]:
        """The calls of this turn's last answer that a person has to decide about, in call order.

        None once somebody wrote again: then the turn goes on without waiting.
        """
        answer = self.chat.entries[-1] if self.chat.entries else None
        if not isinstance(answer, ModelAnswered):
            return ()
        pending = self.session.workspace.pending_calls
        found = (pending.get(pending_key(answer.turn_id, call.id)) for call in answer.calls)
        return tuple(call for call in found if call is not None)
