"""One worker: it takes the sessions that wait in a desk, one after the other, and drives each to its end."""

import contextlib
import os
import time
from dataclasses import asdict, dataclass, field
from typing import Any

from researchdesk.graph.console import note
from researchdesk.graph.costs import dollars
from researchdesk.graph.exits import Exit, error_text
from researchdesk.graph.output import Output
from researchdesk.graph.plain import one_line
from researchdesk.graph.rendering import keep_copy, render_report
from researchdesk.graph.report import read_report
from researchdesk.graph.runner import RunResult
from researchdesk.graph.waiting import take_up, waiting
from researchdesk.graph.words import outcome, outcome_text
from researchdesk.state.errors import LeaseLost, SessionBusy, Unavailable
from researchdesk.stores.locks import holder_name
from researchdesk.tools.door import Session
from researchdesk.tools.sources.ports import StoppedEarly
from researchdesk.tools.workspace import Desk

FIRST_PAUSE, LONGEST_PAUSE = 30.0, 3600.0
"""Seconds until a session that failed here is tried here again; each time twice as long."""
LONGEST_SILENCE = 60.0
"""Seconds until a desk that could not be asked is asked again, at most."""
SHOWN = 300
"""Characters of a text that a line shows: short lines of several processes do not run into each other."""
_STEP = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """How long a worker works: until one session is driven, until none waits, or until it is told to stop."""

    once: bool = False
    until_empty: bool = False
    poll: float = 2.0
    """Seconds between two looks where nothing waits."""

    @property
    def ends(self) -> bool:
        """Whether it ends by itself."""
        return self.once or self.until_empty


@dataclass(slots=True)
class Worker:
    """Drives waiting sessions of a desk in this process; several of them share a desk by its locks alone.

    A session that cannot be driven here (no such corpus, no key for its model) is told of with its reason, left for
    other workers, and tried here again after a pause; the others go on meanwhile.
    """

    desk: Desk
    shift: Shift
    out: Output
    _later: dict[str, float] = field(default_factory=dict)
    _tries: dict[str, int] = field(default_factory=dict)
    _unfinished: bool = False

    def work(self) -> Exit:
        """Work until the shift ends; 1 where a shift that ends by itself leaves failures, 3 where it was stopped."""
        silence = self.shift.poll
        while not self._stops:
            try:
                took = self._take_one()
            except Unavailable as problem:
                if self.shift.ends:
                    raise
                note(f"the desk cannot be asked: {error_text(problem)}; asked again in {silence:.0f} s")
                self._rest(silence)
                silence = min(2 * silence, LONGEST_SILENCE)
                continue
            silence = self.shift.poll
            if self.shift.once or (self.shift.until_empty and not took):
                break
            if not took:
                self._rest(self.shift.poll)
        if self._unfinished:
            return Exit.UNFINISHED
        return Exit.FAILED if self.shift.ends and self._later else Exit.COMPLETED

    @property
    def _stops(self) -> bool:
        return self.out.control.drain_requested

    def _rest(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while not self._stops and (left := until - time.monotonic()) > 0:
            time.sleep(min(_STEP, left))

    def _take_one(self) -> bool:
        """Drive the first session that can be had; False where there is none."""
        return any(
            self._take(session_id)
            for session_id in waiting(self.desk)
            if not self._stops and self._is_due(session_id)
        )

    def _is_due(self, session_id: str) -> bool:
        failed = session_id in self._later
        return not failed or (not self.shift.ends and time.monotonic() >= self._later[session_id])

    def _take(self, session_id: str) -> bool:
        """Drive a session; False where it cannot be had, or cannot be driven here."""
        began = time.monotonic()
        try:
            ended = take_up(self.desk, session_id, control=self.out.control, on_taken=self._tell_taken)
        except SessionBusy:
            return False
        except LeaseLost as problem:
            self._tell_left(session_id, problem)
            return True
        except StoppedEarly:
            self._tell_stopped(session_id)
            return True
        except Exception as problem:
            return self._failed(session_id, problem, began)
        if ended is None:
            return False
        if ended.status != "active":
            self._later.pop(session_id, None)
            self._tell_ended(ended, began)
        elif ended.drained:
            self._tell_stopped(session_id)
        else:
            return self._failed(session_id, Unavailable("its driving ended before the run did"), began)
        return True

    def _failed(self, session_id: str, problem: Exception, began: float) -> bool:
        """What an error means: the run is blocked by it for good, or it may go on later or elsewhere."""
        with contextlib.suppress(Exception):  # the first error is the one to tell
            run = self.desk.existing(session_id).run
            if run is not None and run.status == "blocked":
                ended = RunResult(
                    session_id=session_id,
                    status=run.status,
                    stage=run.stage,
                    stop_reason=run.stop_reason,
                    blocked_reason=run.blocked_reason,
                    report_artifact_id=run.report_artifact_id,
                )
                self._tell_ended(ended, began)
                return True
        tries = self._tries.get(session_id, 0)
        pause = min(FIRST_PAUSE * 2**tries, LONGEST_PAUSE)
        self._tries[session_id] = tries + 1
        self._later[session_id] = time.monotonic() + pause
        self._tell_left(session_id, problem, pause=None if self.shift.ends else pause)
        return False

    # -- what is said ---------------------------------------------------------------------------------------------

    def _tell_taken(self, driven: Session) -> None:
        run = driven.run
        assert run is not None
        note(f"taken   {driven.id}  by process {os.getpid()}: {one_line(run.objective, limit=160)}")
        known = {"stage": run.stage, "seq": driven.workspace.seq}
        self._line("session.taken", driven.id, objective=one_line(run.objective, limit=SHOWN), **known)

    def _tell_ended(self, ended: RunResult, began: float) -> None:
        session = self.desk.existing(ended.session_id)
        run = session.run
        assert run is not None
        path, seconds = None, time.monotonic() - began
        if ended.report_artifact_id:
            path = keep_copy(self.desk, session.id, render_report(read_report(self.desk, session.id)))
        money = f", {dollars(session.workspace.cost)}" if session.workspace.cost != 0 else ""
        note(f"ended   {session.id}  {outcome_text(run)} ({seconds:.1f} s{money})")
        known = asdict(ended) | {"blocked_reason": one_line(ended.blocked_reason, limit=SHOWN)}
        known.pop("session_id")
        self._line(
            "session.ended",
            session.id,
            **known,
            outcome=outcome(run),
            seconds=round(seconds, 3),
            report_path=str(path) if path else None,
        )

    def _tell_stopped(self, session_id: str) -> None:
        self._unfinished = True
        note(
            f"left    {session_id}  stopped as asked; the next worker, or `researchdesk resume`, goes on with it"
        )
        self._line("session.left", session_id, reason="stopped", error=None, again_in=None)

    def _tell_left(self, session_id: str, problem: Exception, *, pause: float | None = None) -> None:
        overtaken = isinstance(problem, LeaseLost)
        said = one_line(error_text(problem), limit=SHOWN)
        when = "" if pause is None else f"; tried here again in {pause:.0f} s"
        note(f"left    {session_id}  {said}{when}")
        self._line(
            "session.left",
            session_id,
            reason="overtaken" if overtaken else "failed",
            error={"type": type(problem).__name__, "message": said},
            again_in=pause,
        )

    def _line(self, kind: str, session_id: str, **more: Any) -> None:
        self.out.line({"type": kind, "session_id": session_id, "worker": holder_name(), **more})
