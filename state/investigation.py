"""The investigation as one immutable value: its questions, its notes and its challenges."""

from __future__ import annotations  # the persistent maps are generic for type checkers only

from collections.abc import Iterable
from dataclasses import dataclass, field

from researchdesk.state.challenges import Challenges
from researchdesk.state.claims import Source
from researchdesk.state.frontier import Frontier, start_frontier
from researchdesk.state.notes import Notes, put
from researchdesk.state.questions import Transition


@dataclass(frozen=True, slots=True, kw_only=True)
class Investigation:
    """What is asked, what was found, and what was done to break it."""

    frontier: Frontier = field(default_factory=Frontier)
    notes: Notes = field(default_factory=Notes)
    challenges: Challenges = field(default_factory=Challenges)


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """An investigation after an operation, its transitions in order, and what else it brought, in words."""

    investigation: Investigation
    transitions: tuple[Transition, ...] = ()
    told: tuple[str, ...] = ()


def start_investigation(objective: str, sources: Iterable[Source] = ()) -> Changed:
    """An investigation of the objective, which is its question q_001, with the sources archived so far."""
    moved = start_frontier(objective)
    notes = Notes()
    for source in sources:
        notes = put(notes, source)
    return Changed(
        investigation=Investigation(frontier=moved.frontier, notes=notes), transitions=moved.transitions
    )
