"""What a chat's model is shown of the desk: files, panels, what is in focus, what waits and what was decided."""

from collections.abc import Iterable
from itertools import islice

from researchdesk.state import events as ev
from researchdesk.state.chat import Chat, SettledCall
from researchdesk.state.desk.context import context_from
from researchdesk.state.desk.desk_state import DeskState
from researchdesk.state.desk.files import DeskFile
from researchdesk.state.desk.prompt import MOST_TITLES_SHOWN, DeskView, Focus
from researchdesk.state.desk.proposals import proposal_id
from researchdesk.state.desk.sheets import dimensions, header_row
from researchdesk.state.desk.viewing import view_of
from researchdesk.state.errors import IntegrityError, NotFound
from researchdesk.state.ids import CallId
from researchdesk.state.redaction import redact
from researchdesk.tools.door import Session

COLUMNS_SHOWN = 40


def chat_view(session: Session, desk: DeskState, news: Iterable[SettledCall]) -> DeskView:
    """The desk for the next request of a session.

    Args:
        session: whose panels and proposals are shown.
        desk: the desk as it stands.
        news: the calls that were decided about since the model's last turn.
    """
    selection = selection_of(session.workspace.chat)
    return view_of(
        desk,
        session.id,
        focus=_focus(session, desk, selection),
        since=_since(desk, session.id, news),
    )


def selection_of(chat: Chat) -> str:
    """What was selected when the last message was sent."""
    heard = (entry for entry in reversed(chat.entries) if isinstance(entry, ev.MessageReceived))
    message = next(heard, None)
    return context_from(message.context).selection if message else ""


def _since(desk: DeskState, session_id: str, news: Iterable[SettledCall]) -> int:
    """The sequence of the desk after which the decisions are news."""
    ids = (
        proposal_id(CallId(session=session_id, turn=call.turn_id, call=call.tool_call_id)) for call in news
    )
    decided = (desk.proposals[key].updated_seq for key in ids if key in desk.proposals)
    return min(decided, default=desk.seq + 1) - 1


def _focus(session: Session, desk: DeskState, selection: str) -> Focus:
    layout = desk.layout(session.id)
    panel = layout.panel(layout.focused)
    file = desk.files.get(panel.file_id) if panel else None
    if file is None or file.deleted or file.kind == "folder":
        return Focus(selection=selection)
    try:
        text = session.records.text(file.content_hash)
    except (NotFound, IntegrityError):  # `verify` names it; a chat goes on without it
        return Focus(selection=selection)
    return _focus_on(file, redact(text).text, selection)


def _focus_on(file: DeskFile, text: str, selection: str) -> Focus:
    if file.kind == "spreadsheet":
        return Focus(
            selection=selection, dimensions=str(dimensions(text)), header=header_row(text)[:COLUMNS_SHOWN]
        )
    titles = (line for line in text.splitlines() if line.startswith("#"))
    return Focus(selection=selection, titles=tuple(islice(titles, MOST_TITLES_SHOWN)))
