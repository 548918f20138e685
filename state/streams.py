"""The kinds of streams that a ledger holds: where each begins, how it goes on, and which rows it writes."""

from researchdesk.state import events as ev
from researchdesk.state.desk.desk_rows import desk_rows
from researchdesk.state.desk.desk_state import DeskState, IllegalDeskEvent, evolve_desk
from researchdesk.state.desk.events import DESK_EVENT_TYPES
from researchdesk.state.ids import stream_owner
from researchdesk.state.row_changes import RowChange, Stamp
from researchdesk.state.rows import rows as session_rows
from researchdesk.state.workspace import IllegalTransition, Workspace
from researchdesk.state.workspace import evolve as evolve_session

State = Workspace | DeskState
_OF_DESKS = frozenset(DESK_EVENT_TYPES.values())
IllegalEvent = (IllegalTransition, IllegalDeskEvent)
"""What `evolve` raises for an event that cannot follow."""


def initial(stream: str) -> State:
    """The state of a stream of that name before its first event; one of no known kind is taken for a session's."""
    return DeskState() if stream.startswith("desk:") else Workspace()


def evolve(state: State, event: ev.AnyEvent) -> State:
    """The state after one more event.

    Raises:
        IllegalTransition, IllegalDeskEvent: the event cannot follow; the message says why.
    """
    if isinstance(state, Workspace):
        if type(event) in _OF_DESKS:
            raise IllegalTransition("it belongs to a desk, not to a session")
        return evolve_session(state, event)  # type: ignore[arg-type]
    if type(event) not in _OF_DESKS:
        raise IllegalDeskEvent("it belongs to a session, not to a desk")
    return evolve_desk(state, event)  # type: ignore[arg-type]


def rows(
    event: ev.AnyEvent, before: State, after: State, stamp: Stamp, *, stream: str
) -> tuple[RowChange, ...]:
    """The row changes of one event of a stream; the one function that every database is filled by.

    Args:
        event: what happened.
        before: the state it happened in.
        after: the state it led to.
        stamp: its place and time.
        stream: whose event it is.
    """
    if isinstance(before, DeskState) and isinstance(after, DeskState):
        return desk_rows(event, before, after, stamp, desk_id=stream_owner(stream))  # type: ignore[arg-type]
    assert isinstance(before, Workspace) and isinstance(after, Workspace)
    return session_rows(event, before, after, stamp)  # type: ignore[arg-type]
