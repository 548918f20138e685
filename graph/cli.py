"""The command line: `researchdesk`, or ``python -m researchdesk.graph.cli``.

Each command loads what it needs when it runs, so that help and looking at a desk start fast. Packages add commands
through the entry-point group ``researchdesk.commands``: a Typer app or a click command under the command's name.
"""

import contextlib
import importlib.metadata
import sys
from typing import Annotated, Any

import typer
import typer.core
import typer.main

from researchdesk.graph import (
    cli_copy,
    cli_desk,
    cli_history,
    cli_keep,
    cli_log,
    cli_mirror,
    cli_proposals,
    cli_questions,
    cli_run,
    cli_show,
    cli_tools,
    cli_work,
)
from researchdesk.graph.console import note
from researchdesk.graph.exits import Exit, tell_error
from researchdesk.graph.stopping import own_process
from researchdesk.graph.streams import open_streams, stdout_failed
from researchdesk.state.errors import Unavailable

COMMANDS_GROUP = "researchdesk.commands"
_HELP_ABOVE = {"plot": "Draw a picture of a run, or of several."}
"""What the commands of the rooms above this one do, told without loading them."""


class _Commands(typer.core.TyperGroup):
    """The commands, with one way to end for all of them."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command; an error that nobody foresaw is one message too."""
        try:
            return super().invoke(ctx)
        except (BrokenPipeError, typer.Exit, typer.Abort):
            raise
        except Exception as problem:
            if hasattr(problem, "exit_code"):  # the parser's own errors know how they are shown
                raise
            raise typer.Exit(tell_error(problem)) from None


app = typer.Typer(
    cls=_Commands,
    help="Durable, auditable deep research: every statement leads back to archived bytes.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _command in (
    *(cli_run.run, cli_run.resume, cli_work.work),
    *(cli_show.status, cli_show.report, cli_show.sources, cli_show.sessions),
    *(cli_log.events, cli_log.log),
    *(cli_keep.handoff, cli_keep.verify, cli_keep.export, cli_keep.import_, cli_keep.purge, cli_keep.rebuild),
    cli_copy.copy,
    *(cli_history.fork, cli_history.falls),
    cli_questions.claims,
    cli_tools.tools,
):
    app.command(_command.__name__.rstrip("_"))(_command)
app.add_typer(cli_questions.app, name="questions")
app.add_typer(cli_desk.app, name="desk")
app.add_typer(cli_proposals.app, name="proposals")
app.add_typer(cli_mirror.app, name="mirror")


def _print_version(wanted: bool) -> None:
    if wanted:
        print(importlib.metadata.version("researchdesk"), flush=True)  # a stdout that takes no more shows now
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """What stands before the command."""


def _add_foreign_commands() -> None:
    """Commands of other packages, each loaded only when it is called; none replaces one of ours."""
    known = {command.name for command in app.registered_commands}
    known |= {group.name for group in app.registered_groups if isinstance(group.name, str)}
    for entry in importlib.metadata.entry_points(group=COMMANDS_GROUP):
        if entry.name not in known:
            known.add(entry.name)
            _add_foreign_command(entry)


def _add_foreign_command(entry: importlib.metadata.EntryPoint) -> None:
    package = entry.dist.name if entry.dist else entry.module
    ours = _HELP_ABOVE.get(entry.name) if package == "researchdesk" else None

    @app.command(
        entry.name,
        help=ours or f"From {package}; `researchdesk {entry.name} --help` says more.",
        context_settings={"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []},
        add_help_option=False,
    )
    def call(ctx: typer.Context) -> None:
        try:
            loaded = entry.load()
        except Exception as problem:
            note(f"researchdesk: the command {entry.name} of {package} cannot be loaded")
            raise typer.Exit(tell_error(problem)) from None
        command = typer.main.get_command(loaded) if isinstance(loaded, typer.Typer) else loaded
        command.main(args=list(ctx.args), prog_name=f"researchdesk {entry.name}")


_add_foreign_commands()


def main() -> None:
    """Run the command line as this process, and exit with its code."""
    own_process()
    try:
        open_streams()
    except Unavailable as problem:
        sys.exit(tell_error(problem))
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        app(prog_name="researchdesk")
    except KeyboardInterrupt:
        sys.exit(Exit.UNFINISHED)
    except OSError as problem:  # the parser's own texts, such as --help
        sys.exit(tell_error(stdout_failed(problem)))


if __name__ == "__main__":
    main()
