"""Asking a person about a proposal: the payload of the interrupt, what may be answered, and the decision that follows.

The interrupt is only a doorbell: an answer goes through the desk's one door, which looks at the ledger.
"""

from typing import Annotated, Any, Final

import orjson
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter
from pydantic.alias_generators import to_camel

from researchdesk.state.desk.labels import label, quoted
from researchdesk.state.desk.proposals import Proposal
from researchdesk.state.errors import Refusal
from researchdesk.state.events import Stowed
from researchdesk.state.stowing import unstow_arguments
from researchdesk.tools.workspace import Desk

EDITABLE_CHARS: Final = 8_000
"""A call with longer arguments is shown by their beginnings, so it cannot be edited in an answer."""
SHOWN_CHARS: Final = 400
_YES: Final = frozenset({"approve", "accept"})
_NO: Final = frozenset({"reject", "ignore", "respond", "response"})
_NAMING: Final = ("proposal_id", "proposal_hash", "proposalId", "proposalHash")
UNNAMED: Final = (
    "The answer says neither by the question's id nor by proposal_id and proposal_hash what it is about, so it was not "
    "taken."
)


class Answer(BaseModel):
    """A person's answer; one without approved decides nothing, and what others decided meanwhile is taken over."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, alias_generator=to_camel, validate_by_name=True, validate_by_alias=True
    )

    approved: bool | None = None
    edited_args: dict[str, Any] | None = Field(
        default=None, description="Arguments to run instead, for the same tool and file."
    )
    tool: str = Field(default="", description="The tool of edited_args, which has to stay the same.")
    reason: str = Field(default="", description="Why not; a deletion is rejected only with a reason.")
    proposal_id: str = Field(default="", description="The proposal that is answered.")
    proposal_hash: str = Field(default="", description="The hash of what was shown.")

    @property
    def is_named(self) -> bool:
        """Whether it says what it answers."""
        return bool(self.proposal_id and self.proposal_hash)


def _read(value: Any) -> Any:
    """An answer in the one form, from any that a client of LangGraph, LangChain or AG-UI gives."""
    if isinstance(value, list) and len(value) == 1:
        return _read(value[0])
    if value is None or isinstance(value, bool):
        return {"approved": value}
    if not isinstance(value, dict):
        return value
    if "__agui_cancelled__" in value:
        return {}
    if "decisions" in value:
        return _read(value["decisions"])
    said = value.get("type", value.get("decision"))
    if said is None:
        return value
    return _decision(str(said), value)


def _decision(said: str, value: dict[str, Any]) -> Any:
    """The decision types of LangChain and of the agent inbox."""
    named = {key: value[key] for key in _NAMING if key in value}
    given = value.get("args")
    if said in _YES:
        return {"approved": True, "edited_args": value.get("edited_args"), **named}
    if said in _NO:
        reason = value.get("message") or value.get("reason") or (given if isinstance(given, str) else "")
        return {"approved": False, "reason": reason, **named}
    if said == "edit":
        edited = value.get("edited_action") or given
        edited = edited if isinstance(edited, dict) else {}
        if not isinstance(edited.get("args"), dict):
            return value  # of no known form: what was proposed is not what an edit wants
        tool = edited.get("name") or edited.get("action") or ""
        return {"approved": True, "edited_args": edited["args"], "tool": tool, **named}
    return value


AnswerSchema = Annotated[Answer, BeforeValidator(_read)]
"""What an interrupt takes for an answer; an answer of another shape is refused before anything is saved."""
_ANSWER_JSON: Final = TypeAdapter(AnswerSchema).json_schema()


def question(desk: Desk, proposal: Proposal, *, problem: str = "", tool_call_id: str = "") -> dict[str, Any]:
    """The payload of the interrupt for one proposal.

    It is read alike by clients of LangChain's human-in-the-loop middleware (Agent Chat UI, LangGraph Studio), by the
    agent inbox and by AG-UI; ``proposal_id`` and ``proposal_hash`` are for an answer to give back.

    Args:
        desk: where the proposal lies.
        proposal: what is asked about.
        problem: why the last answer was not taken.
        tool_call_id: the call's id among the messages, where the ledger has another.
    """
    arguments = _arguments(desk, proposal)
    is_editable = len(orjson.dumps(arguments)) <= EDITABLE_CHARS
    shown = arguments if is_editable else _beginnings(arguments)
    title = f"{proposal.verb.capitalize()} {quoted(proposal.path)}?"
    message = f"{problem} {title}".strip()
    description = f"{message}\n\n{_fenced(proposal.diff)}"
    edits = ["edit"] if is_editable else []
    return {
        "type": "tool_approval",
        "reason": "tool_call",
        "message": message,
        "tool_call_id": tool_call_id or proposal.cause.tool_call_id,
        "proposal_id": proposal.id,
        "proposal_hash": proposal.hash,
        "expires_at": proposal.expires_at or None,
        "name": proposal.tool,
        "args": shown,
        "description": description,
        "action_requests": [{"name": proposal.tool, "args": shown, "description": description}],
        "review_configs": [
            {"action_name": proposal.tool, "allowed_decisions": ["approve", *edits, "reject"]}
        ],
        "action_request": {"action": proposal.tool, "args": shown},
        "config": {
            "allow_accept": True,
            "allow_edit": is_editable,
            "allow_respond": True,
            "allow_ignore": False,
        },
        "response_schema": _ANSWER_JSON,
    }


def take(desk: Desk, proposal: Proposal, answer: Answer, *, actor: str) -> str:
    """Decide as the answer says; why it was not taken, or empty.

    An answer that says nothing decides nothing.
    """
    if answer.approved is None:
        return ""
    if (answer.proposal_id or proposal.id) != proposal.id:
        return f"The answer was about {label(answer.proposal_id, 40)}."
    if (answer.tool or proposal.tool) != proposal.tool:
        return f"The answer was about a call of {label(answer.tool, 40)}, and another tool cannot be run instead."
    try:
        edited = _edited(desk, proposal, answer)
        named = answer.proposal_hash or proposal.hash
        if edited is not None and named == proposal.hash:
            named = desk.preview(proposal.id, edited).proposal_hash
        desk.decide(
            proposal.id,
            "approve" if answer.approved else "reject",
            actor=actor,
            proposal_hash=named,
            reason=answer.reason,
            edited_args=edited,
        )
    except Refusal as refusal:
        return refusal.text
    return ""


def _edited(desk: Desk, proposal: Proposal, answer: Answer) -> dict[str, Any] | None:
    """The arguments to run instead, None where they are those that were proposed."""
    if not answer.approved or answer.edited_args is None:
        return None
    return None if answer.edited_args == _arguments(desk, proposal) else answer.edited_args


def _arguments(desk: Desk, proposal: Proposal) -> dict[str, Any]:
    return unstow_arguments(Stowed(inline=proposal.arguments), desk.records.text)


def _beginnings(arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments with long ones cut."""
    return {name: _beginning(value) for name, value in arguments.items()}


def _beginning(value: Any) -> Any:
    text = value if isinstance(value, str) else orjson.dumps(value).decode()
    return value if len(text) <= SHOWN_CHARS else f"{text[:SHOWN_CHARS]} … ({len(text):,} characters)"


def _fenced(diff: str) -> str:
    """A diff as a block of Markdown that it cannot end."""
    fence = "```"
    while fence in diff:
        fence += "`"
    return f"{fence}diff\n{diff.rstrip()}\n{fence}"
