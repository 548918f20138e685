"""What the commands share: their common options, and the desk that they open."""

from __future__ import annotations

import os
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
    """The home folder that an option, the environment or the default names.

    Raises:
        UsageError: it begins with the ``~name`` of nobody.
    """
    from researchdesk.state.errors import UsageError
    from researchdesk.tools.workspace import default_home

    named = Path(home) if home else default_home()
    try:
        return named.expanduser()
    except RuntimeError:
        raise UsageError(f"there is no home folder for {str(named)[:300]!r}; write --home in full") from None


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
    # `os.path` says no where `Path` raises, as for a name that is too long.
    if not home.startswith(("postgresql:", "postgres:")) and not os.path.isfile(folder / "ledger.sqlite"):  # noqa: PTH113
        raise NotFound(
            f"no desk in {str(folder)[:300]}; name one with --home, or start with "
            "`researchdesk run OBJECTIVE --corpus PATH`"
        )
    return opened_desk(home)
