"""All tools of the package by family, and the sets in which they are offered."""

from collections.abc import Mapping
from dataclasses import dataclass

from researchdesk.tools.investigate.specs import SPECS as INVESTIGATE
from researchdesk.tools.research.specs import SPECS as RESEARCH
from researchdesk.tools.sources.specs import SPECS as SOURCES
from researchdesk.tools.spec import ToolSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Registry:
    """The families of tools, each in the order in which they are shown."""

    sources: tuple[ToolSpec, ...] = SOURCES
    research: tuple[ToolSpec, ...] = RESEARCH
    investigate: tuple[ToolSpec, ...] = INVESTIGATE

    def families(self) -> Mapping[str, tuple[ToolSpec, ...]]:
        """Every family by its name."""
        return {"sources": self.sources, "research": self.research, "investigate": self.investigate}

    @property
    def research_loop(self) -> Mapping[str, ToolSpec]:
        """The tools of a research run that keeps no questions, by name."""
        return {spec.name: spec for spec in (*self.sources, *self.research)}

    @property
    def investigative_loop(self) -> Mapping[str, ToolSpec]:
        """The tools of the investigative loop, by name: those of a research run, and the fifteen of its own."""
        return {**self.research_loop, **{spec.name: spec for spec in self.investigate}}


REGISTRY = Registry()
