"""Who acts at the command line: the person that an option, the environment or the login names."""

import getpass
import os
from typing import Annotated, Final

import typer

ACTOR_VARIABLE: Final = "RESEARCHDESK_ACTOR"

ActorOption = Annotated[
    str,
    typer.Option(
        "--actor",
        metavar="human:NAME",
        help=f"Who does it; it stays in the ledger. Default: ${ACTOR_VARIABLE}, else human: and your login name",
        show_default=False,
    ),
]


def acting(actor: str) -> str:
    """The actor of a command.

    Raises:
        UsageError: it has not the form ``human:<name>`` or ``policy:<name>``, or nobody is named.
    """
    from researchdesk.state.desk.actors import clean_actor

    return clean_actor(actor or os.environ.get(ACTOR_VARIABLE, "") or f"human:{_login()}")


def _login() -> str:
    from researchdesk.state.errors import UsageError

    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        raise UsageError(
            f"nobody is logged in here; say who you are with --actor human:NAME or ${ACTOR_VARIABLE}"
        ) from None
