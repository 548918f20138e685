"""The commands `mirror sync`, `sql`, `snapshot` and `export`: what agents did, for SQL and for other programs."""

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

import typer

from researchdesk.graph.cli_options import HomeOption, JsonOption, existing_desk
from researchdesk.graph.console import note, result, result_json, result_table
from researchdesk.graph.exits import Exit
from researchdesk.graph.limiting import memory_limit

app = typer.Typer(
    help="The whole record as one DuckDB database, to be asked with SQL. It may be deleted at any time.",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
TABLE_ROWS = 1_000
MEMORY_BYTES = 2 * 1024**3
"""What answering may take; DuckDB's own limit leaves out the texts that functions make."""
CELL_CHARS = 500
NoSyncOption = Annotated[
    bool, typer.Option("--no-sync", help="Take the mirror as it stands instead of bringing it up to date.")
]


@app.command("sync")
def sync(
    home: HomeOption = "",
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Make it anew.")] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Compare it with the ledger afterwards, row for row.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Bring the mirror to where the ledger stands. Exit: 1 where it could not be done, or the check found something."""
    with existing_desk(home) as desk:
        synced = desk.sync_mirror(rebuild=rebuild)
        differences = desk.mirror.differences(desk.ledger) if check and synced.ok else []
    if json:
        result_json({**asdict(synced), "ok": synced.ok, **({"differences": differences} if check else {})})
    else:
        if synced.note:
            note(synced.note)
        result(
            "\n".join([f"{synced.outcome}: {synced.events:,} new events, {synced.rows:,} rows", *differences])
        )
    if differences or not synced.ok:
        raise typer.Exit(Exit.FAILED)


@app.command("sql")
def sql(
    query: Annotated[str, typer.Argument(metavar="SQL", help="One SELECT; - reads it from stdin.")],
    home: HomeOption = "",
    format: Annotated[
        Literal["table", "csv", "json"], typer.Option("--format", help="How the rows are written.")
    ] = "table",
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit",
            min=0,
            metavar="N",
            help=f"Rows at most, 0 for all. Default: {TABLE_ROWS} in a table, all otherwise",
            show_default=False,
        ),
    ] = None,
    timeout: Annotated[
        float, typer.Option("--timeout", min=0.1, max=86_400, metavar="SECONDS", help="How long it may take.")
    ] = 60,
    no_sync: NoSyncOption = False,
) -> None:
    """Ask the mirror; docs/mirror.md lists its tables and views, `SHOW TABLES` too.

    The query runs in a DuckDB that can neither change anything nor reach files, extensions or the network.
    """
    from researchdesk.graph.cells import csv_text, named_rows, texts

    asked = sys.stdin.read() if query == "-" else query
    rows = limit if limit is not None else (TABLE_ROWS if format == "table" else 0)
    with existing_desk(home) as desk:
        late = "" if no_sync else desk.late(desk.sync_mirror())
        with memory_limit(MEMORY_BYTES):
            found = desk.mirror.answer(asked, limit=rows, seconds=timeout)
    match format:
        case "json":
            result_json(named_rows(found.columns, found.types, found.rows))
        case "csv":
            result(csv_text(found.columns, found.rows))
        case "table":
            result_table(
                found.columns, (texts(row, limit=CELL_CHARS) for row in found.rows), prose=found.columns
            )
    if found.more:
        note(f"only the first {rows:,} rows are shown; --limit N shows others, 0 all")
    if late:
        note(late)


@app.command("snapshot")
def snapshot(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The file to write; an older one is replaced.")],
    home: HomeOption = "",
    no_sync: NoSyncOption = False,
) -> None:
    """Copy the mirror to a file that many programs may open for reading at once, while a run goes on."""
    with existing_desk(home) as desk:
        late = "" if no_sync else desk.late(desk.sync_mirror())
        desk.mirror.snapshot(Path(file).absolute())
    result(file)
    if late:
        note(late)


@app.command("export")
def export(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="A new or an empty folder.")],
    home: HomeOption = "",
    no_sync: NoSyncOption = False,
) -> None:
    """Write every table and view to a Parquet file."""
    with existing_desk(home) as desk:
        late = "" if no_sync else desk.late(desk.sync_mirror())
        files = desk.mirror.export(Path(folder).absolute())
    result("\n".join(str(path) for path in files))
    if late:
        note(late)
