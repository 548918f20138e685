"""What an application adds to its desk: tools of its own, and types of panels."""

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final, get_args

from researchdesk.state.desk.panels import PANEL_TYPES, PanelType
from researchdesk.state.errors import UsageError
from researchdesk.state.vocabulary import one_of
from researchdesk.tools.registry import REGISTRY, DeskStyle
from researchdesk.tools.schema_lint import lint_schema
from researchdesk.tools.spec import ToolSpec

_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")


class Extending:
    """The part of a desk that may be added to; the ledger knows nothing of it."""

    own_tools: Mapping[str, ToolSpec] = MappingProxyType({})
    """The tools that were added, by name."""
    panel_types: tuple[PanelType, ...] = PANEL_TYPES
    """The types of panels, in the order in which they are asked whether they show a file."""

    def extend(self, *, tools: Iterable[ToolSpec] = (), panel_types: Iterable[PanelType] = ()) -> None:
        """Add tools and types of panels; sessions that are opened from now on have them.

        Args:
            tools: none of them with a name that is taken, and none whose calls have to wait for a person.
            panel_types: these are asked before those that are there.

        Raises:
            UsageError: a name is taken or has no usable form, providers do not take a schema, or a tool is gated.
        """
        added = {spec.name: self._checked(spec) for spec in tools}
        self.own_tools = MappingProxyType({**self.own_tools, **added})
        self.panel_types = (*panel_types, *self.panel_types)

    def desk_set(self, style: DeskStyle = "general") -> Mapping[str, ToolSpec]:
        """The tools on the desk that a model is offered, the added ones last.

        Raises:
            UsageError: there is no such style.
        """
        one_of("style", style, get_args(DeskStyle))
        own = {name: spec for name, spec in self.own_tools.items() if spec.on_desk}
        return {**REGISTRY.desk_set(style), **own}

    @property
    def every_tool(self) -> Mapping[str, ToolSpec]:
        """All tools by name; which of them a session may use, its rights decide."""
        return {**REGISTRY.every_tool, **self.own_tools}

    @property
    def gated_tools(self) -> tuple[str, ...]:
        """The names of the tools whose calls wait for a person."""
        return tuple(name for name, spec in self.every_tool.items() if spec.gated)

    def _checked(self, spec: ToolSpec) -> ToolSpec:
        if not _NAME.fullmatch(spec.name) or spec.name in self.every_tool:
            raise UsageError(
                f"no tool can be added as {spec.name[:80]!r}: a name is a new one of small letters, digits and _"
            )
        if spec.gated:
            raise UsageError(
                f"{spec.name} changes or deletes, which a person has to approve; only the desk's own changes can be "
                "proposed. Make it create, or let the model call desk_update_file"
            )
        problems = lint_schema(spec.schema())
        if problems:
            raise UsageError(f"the arguments of {spec.name} are not taken by all providers: {problems[0]}")
        return spec
