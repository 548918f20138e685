"""The commands that show what happened: `events` (the ledger) and `log` (messages, calls, approvals)."""

from dataclasses import asdict
from typing import Annotated

import typer

from researchdesk.graph.cli_options import HomeOption, JsonOption, SessionArgument, again, existing_desk
from researchdesk.graph.console import note, result_json, result_table


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


def log(
    session: SessionArgument = "",
    home: HomeOption = "",
    all_sessions: Annotated[
        bool,
        typer.Option("--all", help="The sessions of the whole desk, by time, people's and models' alike."),
    ] = False,
    json: JsonOption = False,
) -> None:
    """Show who said and called what, about which file, what came back, and who approved it or why not.

    A call that a person has to approve shows what became of its proposal: pending, executed, rejected, stale,
    expired or failed. A message of a person shows what stood open on the desk when it was sent.
    """
    from researchdesk.state.errors import UsageError

    if all_sessions and session:
        raise UsageError("name a SESSION or --all, not both")
    with existing_desk(home) as desk:
        shown_id = "" if all_sessions else desk.existing(session).id
        found = desk.log(shown_id, all_sessions=all_sessions)
    if json:
        result_json([asdict(message) for message in found])
        return
    columns = ("time", "session", "turn", "who or tool", "about", "status", "decided by", "ms", "text")
    if not found and shown_id:
        note(f"session {shown_id} has no messages or calls; of the whole desk: {again(home, 'log', '--all')}")
    rows = (
        (
            *(row.at, row.session_id, row.turn_id, row.who, row.target, row.status),
            *(row.decided_by, row.duration_ms, row.text),
        )
        for row in found.rows
    )
    shown = [0, *range(1 if all_sessions else 2, len(columns))]
    result_table(
        [columns[at] for at in shown],
        ([row[at] for at in shown] for row in rows),
        prose=("about", "decided by", "text"),
    )
