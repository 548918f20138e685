"""All tools of the package by family, and the sets in which they are offered."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from researchdesk.tools.desk.specs import ALIASES as DESK_ALIASES
from researchdesk.tools.desk.specs import SPECS as DESK
from researchdesk.tools.investigate.specs import SPECS as INVESTIGATE
from researchdesk.tools.research.specs import SPECS as RESEARCH
from researchdesk.tools.sources.specs import SPECS as SOURCES
from researchdesk.tools.spec import ToolSpec

DeskStyle = Literal["general", "typed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Registry:
    """The families of tools, each in the order in which they are shown."""

    sources: tuple[ToolSpec, ...] = SOURCES
    research: tuple[ToolSpec, ...] = RESEARCH
    investigate: tuple[ToolSpec, ...] = INVESTIGATE
    desk: tuple[ToolSpec, ...] = DESK
    desk_aliases: tuple[ToolSpec, ...] = DESK_ALIASES
    """Narrower names for creating and changing files; who wants them is offered these instead."""

    def families(self) -> Mapping[str, tuple[ToolSpec, ...]]:
        """Every family by its name."""
        return {
            "sources": self.sources,
            "research": self.research,
            "investigate": self.investigate,
            "desk": self.desk,
        }

    @property
    def research_loop(self) -> Mapping[str, ToolSpec]:
        """The tools of a research run that keeps no questions, by name."""
        return {spec.name: spec for spec in (*self.sources, *self.research)}

    @property
    def investigative_loop(self) -> Mapping[str, ToolSpec]:
        """The tools of the investigative loop, by name: those of a research run, and the fifteen of its own."""
        return {**self.research_loop, **{spec.name: spec for spec in self.investigate}}

    @property
    def desk_tools(self) -> Mapping[str, ToolSpec]:
        """The tools that work on the files and panels of a desk, under all their names."""
        return {spec.name: spec for spec in (*self.desk, *self.desk_aliases)}

    def desk_set(self, style: DeskStyle) -> Mapping[str, ToolSpec]:
        """The desk tools that one model is offered, by name: with ``typed`` the narrower names where there are some."""
        wide = {"desk_create_file", "desk_update_file"} if style == "typed" else set()
        kept = [spec for spec in self.desk if spec.name not in wide]
        return {spec.name: spec for spec in (*kept, *(self.desk_aliases if wide else ()))}

    @property
    def every_tool(self) -> Mapping[str, ToolSpec]:
        """All tools by name; which of them a session may use, its rights decide."""
        return {**self.investigative_loop, **self.desk_tools}


REGISTRY = Registry()
