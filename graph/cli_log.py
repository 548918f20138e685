"""The commands that show what happened: `events` (the ledger) and `log` (messages and calls)."""

from dataclasses import asdict
from typing import Annotated

import typer

from researchdesk.graph.cli_options import HomeOption, JsonOption, SessionArgument, existing_desk
from researchdesk.graph.console import result_json, result_table


def events(
    session: SessionArgument = "",
    home: HomeOption = "",
    after: Annotated[
        int,
        typer.Option(
            "--after", min=0, max=2**63 - 1, metavar="N", help="Only events after this sequence number."
        ),
    ] = 0,
    json: Annotated[
        bool, typer.Option("--json", help="Write each event whole, one JSON object a line.")
    ] = False,
) -> None:
    """List the events of a session in order."""
    import orjson

    from researchdesk.graph.words import describe

    with existing_desk(home) as desk:
        found = desk.existing(session).events(after=after)
        if json:
            for item in found:
                fields = asdict(item)
                parsed = {"refs": orjson.loads(item.refs), "payload": orjson.loads(item.payload)}
                result_json({**fields, **parsed}, line=True)
            return
        result_table(
            ("seq", "time", "type", "about"),
            ((str(item.seq), item.ts[:19], item.type, describe(item.event())) for item in found),
            prose=("about",),
        )


def log(session: SessionArgument = "", home: HomeOption = "", json: JsonOption = False) -> None:
    """Show what the model said and called, and what it got back, as a timeline."""
    from researchdesk.graph.iolog import log_lines, read_log

    with existing_desk(home) as desk:
        found = read_log(desk, session)
    if json:
        result_json([asdict(message) for message in found])
        return
    columns = ("time", "turn", "who or tool", "about", "status", "ms", "text")
    result_table(columns, log_lines(found), prose=("about", "text"))
