"""What the commands share: their common options, and the desk that they open."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from researchdesk.tools.workspace import Desk

HomeOption = Annotated[
    str,
    typer.Option(
        "--home",
        metavar="DIR",
        help="Home folder of the desk. Default: $RESEARCHDESK_HOME, else ./.researchdesk",
        show_default=False,
    ),
]
SessionArgument = Annotated[
    str,
    typer.Argument(metavar="SESSION", help="Session id. Default: the research session started last"),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Write JSON to stdout.")]


def home_folder(home: str) -> Path:
    """The home folder that an option, the environment or the default names."""
    from researchdesk.tools.workspace import default_home

    return (Path(home) if home else default_home()).expanduser()


def opened_desk(home: str) -> Desk:
    """The desk of a home folder, made where it is missing."""
    from researchdesk.tools.workspace import open_desk

    return open_desk(home if home.startswith(("postgresql:", "postgres:")) else home_folder(home))


def existing_desk(home: str) -> Desk:
    """The desk of a home folder that is there already; looking at nothing makes nothing.

    Raises:
        NotFound: the folder holds no desk.
    """
    from researchdesk.state.errors import NotFound

    folder = home_folder(home)
    if not home.startswith(("postgresql:", "postgres:")) and not (folder / "ledger.sqlite").is_file():
        raise NotFound(
            f"no desk in {folder}; name one with --home, or start with `researchdesk run OBJECTIVE --corpus PATH`"
        )
    return opened_desk(home)
