"""The commands `mirror sync`, `sql`, `snapshot` and `export`: what agents did, for SQL and for other programs."""

import contextlib
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from researchdesk.graph.cli_options import HomeOption, JsonOption, existing_desk, local_home
from researchdesk.graph.console import note, result, result_json, result_table
from researchdesk.graph.exits import Exit
from researchdesk.graph.limiting import memory_limit
from researchdesk.state.errors import Unavailable
from researchdesk.tools.mirroring import ANSWER_SECONDS, mirror_in

if TYPE_CHECKING:
    from researchdesk.stores.mirror.mirror import Mirror

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


@contextlib.contextmanager
def _mirror(home: str, *, sync: bool) -> Iterator[tuple["Mirror", str]]:
    """The mirror, brought up to date where that is wanted and can be done, and how far it is behind."""
    try:
        desk = existing_desk(home)
    except Unavailable:
        # A mirror that may only be read answers all the same, without its ledger.
        folder = local_home(home)
        if folder is None or not (mirror := mirror_in(folder)).path.exists():
            raise
        yield (
            mirror,
            "the desk cannot be opened here, so this is its mirror as it was synced last" if sync else "",
        )
        return
    with desk:
        yield desk.mirror, desk.late(desk.sync_mirror()) if sync else ""


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
        if check and synced.ok and not differences:
            note("the mirror equals the ledger, row for row")
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
    ] = ANSWER_SECONDS,
    no_sync: NoSyncOption = False,
) -> None:
    """Ask the mirror; docs/mirror.md lists its tables and views, `SHOW TABLES` too.

    The query runs in a DuckDB that can neither change anything nor reach files, extensions or the network.
    """
    from researchdesk.graph.cells import csv_text, named_rows, texts

    asked = sys.stdin.read() if query == "-" else query
    rows = limit if limit is not None else (TABLE_ROWS if format == "table" else 0)
    with _mirror(home, sync=not no_sync) as (mirror, late), memory_limit(MEMORY_BYTES):
        found = mirror.answer(asked, limit=rows, seconds=timeout)
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
    with _mirror(home, sync=not no_sync) as (mirror, late):
        mirror.snapshot(Path(file).absolute())
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
    with _mirror(home, sync=not no_sync) as (mirror, late):
        files = mirror.export(Path(folder).absolute())
    result("\n".join(str(path) for path in files))
    if late:
        note(late)
