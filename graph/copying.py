"""How a copy of a desk is followed on stderr: a bar on a terminal, a line now and then anywhere else."""

import sys
from types import TracebackType
from typing import Self

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from researchdesk.graph.console import note, progress_console
from researchdesk.stores.transfer import CopyProgress, CopyStage

EVENTS_A_LINE = 10_000
_NOW: dict[CopyStage, str] = {
    "checking": "checking the source",
    "copying": "copying events",
    "verifying": "verifying the copy",
}
_DONE: dict[CopyStage, str] = {"checking": "checked", "copying": "copied", "verifying": "verified"}


class CopyView:
    """Shows how far a copy is; a context manager whose `update` is the copy's ``on_progress``."""

    def __init__(self) -> None:
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._last = CopyProgress(stage="checking")

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
            self._bar = Progress(*columns, console=progress_console(), transient=True)
            self._bar.start()
            self._task = self._bar.add_task(_NOW["checking"], total=None)
        return self

    def update(self, progress: CopyProgress) -> None:
        """The copy is that far."""
        last, self._last = self._last, progress
        if self._bar is not None and self._task is not None:
            self._bar.update(
                self._task,
                description=_NOW[progress.stage],
                completed=progress.done,
                total=progress.total or None,
            )
        elif progress.stage == last.stage and progress.done // EVENTS_A_LINE > last.done // EVENTS_A_LINE:
            note(f"  {_DONE[progress.stage]} {progress.done:,} of {progress.total:,} events")

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
