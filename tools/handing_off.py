"""Handing a finished run on: a new, ordinary session with a draft prompt that nobody has sent."""

from dataclasses import dataclass

from researchdesk.state import events as ev
from researchdesk.state.errors import UsageError
from researchdesk.state.handoff import handoff_prompt
from researchdesk.state.ids import continuation_ids
from researchdesk.tools.door import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A prompt that waits in a new session; nobody has sent it."""

    session_id: str
    draft_id: str
    prompt: str


def hand_off(session: Session) -> Draft:
    """The draft that continues a completed run; a second call gives the same one.

    Raises:
        UsageError: no research was started in the session or it is not completed, or other sessions took the names.
    """
    if session.run is None:
        raise UsageError(f"session '{session.id}' holds no research to hand off")
    prompt = handoff_prompt(session.id, session.run)
    names = continuation_ids(session.id)
    for name in names:
        target = Session(id=name, records=session.records, specs=session.specs)
        drafted = ev.HandoffDrafted(draft_id=f"draft_{name}", from_session=session.id, prompt=prompt)
        target.open(ev.SessionOpened(session_id=name, profile="desk", continues=session.id), drafted)
        draft = target.workspace.draft
        if draft is not None and draft.from_session == session.id:
            return Draft(session_id=name, draft_id=draft.draft_id, prompt=draft.prompt)
    raise UsageError(
        f"{' and '.join(names)} are taken by sessions that do not continue '{session.id}'; export '{session.id}', "
        "import it into another home folder and hand it off there"
    )
