"""The command `copy`: a whole desk into another home."""

from dataclasses import asdict
from typing import Annotated

import typer

from researchdesk.graph.cli_options import JsonOption, existing_desk, opened_desk
from researchdesk.graph.console import note, result, result_json
from researchdesk.graph.exits import Exit


def copy(
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="HOME",
            help="Where to copy to: a folder, or postgresql://user@host/database?schema=name. It is made where it "
            "is missing.",
            show_default=False,
        ),
    ],
    source: Annotated[
        str,
        typer.Option(
            "--from",
            metavar="HOME",
            help="The desk to copy, named in the same way. Default: $RESEARCHDESK_HOME, else ./.researchdesk",
            show_default=False,
        ),
    ] = "",
    json: JsonOption = False,
) -> None:
    """Copy a whole desk into another home, from any backend to any other, and verify it there.

    Every event keeps its bytes, hash, time and place; rows, bodies and what unfinished calls have fetched come along.
    The copy is the desk as it stands when the command starts, runs may go on meanwhile. A copy that was interrupted,
    or an older one, is completed by the same command; sessions that only the target has stay as they are. A session
    that the target holds with another history is refused, and nothing is copied.

    Not copied, because the ledger alone is enough: leases (a copy has no driver), LangGraph's checkpoints (`resume`
    goes on without them), indexes, and rendered reports (`researchdesk report` writes them anew). Working copies of
    notes are written from the ledger. Exit: 0 all is there and verified, 4 the source or the copy is damaged.
    """
    from researchdesk.graph.copying import CopyView
    from researchdesk.state.errors import UsageError

    if not to.strip():
        raise UsageError("say where to copy to with --to HOME")
    with existing_desk(source, option="--from") as desk, opened_desk(to) as other:
        try:
            with CopyView() as view:
                copied = desk.copy_to(other, on_progress=view.update)
        except KeyboardInterrupt:
            note("stopped; what was copied is whole, the same command goes on from there")
            raise typer.Exit(Exit.UNFINISHED) from None
        places = {"from": desk.where, "to": other.where}
    if json:
        result_json({"ok": True, **places, **asdict(copied)})
        return
    checked = ", ".join(f"{count:,} {name}" for name, count in copied.checked.items())
    result(
        f"copied {copied.events:,} events of {copied.streams:,} streams, {copied.rows:,} rows and {copied.bodies:,} "
        f"bodies ({copied.body_bytes:,} bytes); {copied.events_before:,} events were there already\n"
        f"ok: checked {checked}"
    )
    note(f"{places['from']} -> {places['to']}")
