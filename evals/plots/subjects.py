"""What is plotted: the newest run of a desk, a session, a session as it stood, or several of them."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final, Literal

from researchdesk.state.errors import UsageError
from researchdesk.state.events import AnyEvent
from researchdesk.tools.shown import Shown, first_events
from researchdesk.tools.workspace import Desk

Subject = Desk | Shown
Subjects = Desk | Shown | Iterable[Shown]
By = Literal["time", "events"]
_UNITS: Final = (("hours", 3_600.0, 7_200.0), ("minutes", 60.0, 180.0))


def one(subject: Subject) -> Shown:
    """The session; of a desk the research that was started last.

    Raises:
        NotFound: the desk has none.
    """
    return subject.existing() if isinstance(subject, Desk) else subject


def several(subjects: Subjects) -> Sequence[Shown]:
    """The sessions; of a desk all with a research run, oldest first."""
    if isinstance(subjects, Shown):
        return (subjects,)
    if isinstance(subjects, Desk):
        return [subjects.existing(row.session_id) for row in reversed(subjects.sessions()) if row.objective]
    return tuple(subjects)


def forked_from(session: Shown) -> str:
    """The session that it is a fork of, or empty."""
    opened = session.workspace.session
    return opened.forked_from if opened else ""


class Course:
    """The events of a session and where each lies on an axis: by their number, or by the time since the first.

    Attributes:
        title: of the axis, with its unit.
    """

    def __init__(self, session: Shown, by: By) -> None:
        if by not in ("time", "events"):
            raise UsageError(f"a course is shown by 'time' or by 'events', not by {by!r:.100}")
        seq = session.workspace.seq
        stored = first_events(session.records.ledger, session.id, seq) if seq else ()
        self.events: list[tuple[float, AnyEvent]]
        if by == "events":
            self.title = "event of the session (number)"
            self.events = [(float(item.seq), item.event()) for item in stored]
            return
        times = [datetime.fromisoformat(item.ts) for item in stored]
        passed = [(time - times[0]).total_seconds() for time in times]
        unit, size = next(
            ((name, size) for name, size, least in _UNITS if passed and passed[-1] >= least), ("seconds", 1.0)
        )
        self.title = f"time since the session began ({unit})"
        self.events = [
            (round(seconds / size, 4), item.event()) for seconds, item in zip(passed, stored, strict=True)
        ]

    @property
    def end(self) -> float:
        """Where the last event lies."""
        return self.events[-1][0] if self.events else 0.0
