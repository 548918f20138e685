"""What the commands share: their common options, and the desk that they open."""

from __future__ import annotations

import os
import shlex
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
        help="Home folder of the desk, or postgresql://user@host/database?schema=name. Default: $RESEARCHDESK_HOME, "
        "else ./.researchdesk",
        show_default=False,
    ),
]
SessionArgument = Annotated[
    str,
    typer.Argument(
        metavar="SESSION",
        help="Session id. Default: the research session started last, else the newest session",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Write JSON to stdout.")]


def _named_home(home: str) -> str | Path:
    """The home folder, or the PostgreSQL desk, that an option, the environment or the default names.

    Raises:
        UsageError: it begins with the ``~name`` of nobody.
    """
    from researchdesk.state.errors import UsageError
    from researchdesk.stores.postgres.address import is_address
    from researchdesk.tools.workspace import default_home

    if is_address(home or default_home()):
        return home or default_home()
    named = Path(home or default_home())
    try:
        return named.expanduser()
    except RuntimeError:
        raise UsageError(f"there is no home folder for {str(named)[:300]!r}; write --home in full") from None


def local_home(home: str) -> Path | None:
    """The home folder that an option, the environment or the default names; None where that is a desk on a server.

    Raises:
        UsageError: it begins with the ``~name`` of nobody.
    """
    named = _named_home(home)
    return named if isinstance(named, Path) else None


def again(home: str, *words: str) -> str:
    """A command that a person may type next, upon the same desk; a password in its URL is not shown."""
    from researchdesk.stores.postgres.address import shown_home

    return shlex.join(["researchdesk", *words, *(["--home", shown_home(home)] if home else [])])


def opened_desk(home: str) -> Desk:
    """The desk of a home folder, made where it is missing."""
    from researchdesk.tools.workspace import open_desk

    return open_desk(_named_home(home))


def existing_desk(home: str, *, option: str = "--home") -> Desk:
    """The desk of a home folder that is there already; looking at nothing makes nothing.

    Args:
        option: what names the folder, for the message.

    Raises:
        NotFound: the folder, or the schema, holds no desk.
    """
    from researchdesk.state.errors import NotFound
    from researchdesk.tools.workspace import open_desk

    named = _named_home(home)
    # `os.path` says no where `Path` raises, as for a name that is too long.
    if isinstance(named, Path) and not os.path.isfile(named / "ledger.sqlite"):  # noqa: PTH113
        raise NotFound(
            f"no desk in {str(named)[:300]}; name one with {option}, or begin one with "
            "`researchdesk run OBJECTIVE --corpus PATH` or `researchdesk desk put PATH FILE`"
        )
    return open_desk(named, make=False)
