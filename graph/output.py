"""Where a command that drives runs writes: results to stdout, as text or as JSON lines."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from langgraph.runtime import RunControl

from researchdesk.graph.console import note, result, result_json
from researchdesk.graph.streams import let_go
from researchdesk.state.errors import Unavailable


@dataclass(slots=True)
class Output:
    """Where events and results go; a stdout that takes no more stops the run instead of breaking it."""

    control: RunControl
    json: bool
    failed: bool = False
    """Whether a result could not be written, other than to a reader that went away."""

    def line(self, value: dict[str, Any]) -> None:
        """One JSON line, where JSON was asked for."""
        if self.json:
            self._write(lambda: result_json(value, line=True))

    def text(self, text: str) -> None:
        """Text, where JSON was not asked for."""
        if not self.json:
            self._write(lambda: result(text))

    def _write(self, write: Callable[[], None]) -> None:
        try:
            write()
        except BrokenPipeError:
            self.control.request_drain()
            let_go(sys.stdout)
        except Unavailable as problem:
            self.control.request_drain()
            self.failed = True
            note(f"researchdesk: {problem}")
