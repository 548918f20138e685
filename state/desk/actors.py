"""Who decides about the desk: a person, or a policy that a person set; an agent never does."""

import re

from researchdesk.state.errors import Refusal, UsageError

_FORM = re.compile(r"(human|policy|agent):[^\x00-\x1f\x7f]{1,120}")


def clean_actor(actor: str) -> str:
    """``human:<name>``, ``policy:<name>`` or ``agent:<session>``, as it may be recorded.

    Raises:
        UsageError: it has not that form.
    """
    if not _FORM.fullmatch(actor) or actor != actor.strip():
        raise UsageError(f"an actor is written human:<name> or policy:<name>, not {actor[:140]!r}")
    return actor


def deciding_actor(actor: str) -> str:
    """The actor of a decision.

    Raises:
        Refusal: ``forbidden`` for an agent.
        UsageError: as `clean_actor`.
    """
    if is_agent(clean_actor(actor)):
        raise Refusal("forbidden", f"{actor} may not approve proposals.")
    return actor


def is_agent(actor: str) -> bool:
    """Whether a model acts."""
    return actor.startswith("agent:")


def agent_of(session_id: str) -> str:
    """The actor that a session's model is."""
    return f"agent:{session_id}"[:126]
