"""The command that works: `work`."""

import contextlib
from typing import TYPE_CHECKING, Annotated

import typer

from researchdesk.graph.cli_options import HomeOption, JsonOption, opened_desk

if TYPE_CHECKING:
    from researchdesk.graph.worker import Shift
    from researchdesk.tools.workspace import Desk


def work(
    jobs: Annotated[
        int,
        typer.Option(
            "--jobs", min=1, max=256, metavar="N", help="Worker processes; one that dies is replaced."
        ),
    ] = 1,
    once: Annotated[
        bool,
        typer.Option("--once", help="Drive one session (each worker), then end; none waits: end at once."),
    ] = False,
    until_empty: Annotated[
        bool, typer.Option("--until-empty", help="End when no session waits that can be driven here.")
    ] = False,
    poll: Annotated[
        float,
        typer.Option(
            "--poll", min=0.1, max=86_400, metavar="SECONDS", help="How often to look when nothing waits."
        ),
    ] = 2.0,
    home: HomeOption = "",
    json: JsonOption = False,
    child: Annotated[bool, typer.Option("--child", hidden=True)] = False,
) -> None:
    """Drive the sessions that wait in a desk, oldest first: queued ones, and those whose driver stopped or died.

    Any number of workers, on any number of machines, share a desk: each session is driven by one of them. Ctrl-C and
    SIGTERM stop after the step in work. stderr has a line for each session that is taken, ended or left; --json
    writes the same as one JSON object a line. Exit: 0; 1 when, with --once or --until-empty, a session could not be
    driven here; 3 when a session was left unfinished because of a stop.
    """
    from researchdesk.graph.stopping import end_with_parent, stoppable
    from researchdesk.graph.supervising import supervise
    from researchdesk.graph.worker import Shift
    from researchdesk.state.errors import UsageError

    if once and until_empty:
        raise UsageError("--once ends after one session, --until-empty when none waits; choose one")
    shift = Shift(once=once, until_empty=until_empty, poll=poll)
    with stoppable(quiet=child) as control:
        if child:
            end_with_parent(control)
        if jobs == 1:
            from researchdesk.graph.output import Output
            from researchdesk.graph.worker import Worker

            with opened_desk(home) as desk:
                if not child:
                    _tell_waiting(desk, "working in")
                out = Output(control=control, json=json)
                code = Worker(desk=desk, shift=shift, out=out).work()
                if control.drain_requested and not child:
                    _tell_waiting(desk, "stopped; in")
        else:
            with opened_desk(home) as desk:
                _tell_waiting(desk, f"{jobs} processes work in")
            command = _command(shift, home=home, json=json)
            code = supervise(command, jobs=jobs, ends=shift.ends, control=control)
            if control.drain_requested:
                with opened_desk(home) as desk:
                    _tell_waiting(desk, "stopped; in")
    raise typer.Exit(code)


def _command(shift: "Shift", *, home: str, json: bool) -> list[str]:
    """The arguments of one worker; a home that the environment names is not put where other users can read it."""
    given = {"--home": home, "--poll": str(shift.poll)}
    flags = {"--once": shift.once, "--until-empty": shift.until_empty, "--json": json}
    return [
        "work",
        "--child",
        *(part for name, value in given.items() if value for part in (name, value)),
        *(name for name, wanted in flags.items() if wanted),
    ]


def _tell_waiting(desk: "Desk", what: str) -> None:
    from researchdesk.graph.console import note
    from researchdesk.graph.waiting import waiting

    with contextlib.suppress(Exception):
        count = len(waiting(desk))
        note(
            f"{what} {desk.where}: {count} session{'' if count == 1 else 's'} wait{'s' if count == 1 else ''}"
        )
