"""The commands between the desk and a disk: `desk import` and `desk export`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from researchdesk.graph import desk_files
from researchdesk.graph.acting import ActorOption, acting
from researchdesk.graph.cli_options import HomeOption, JsonOption, existing_desk, opened_desk
from researchdesk.graph.console import note, result_json, result_table

if TYPE_CHECKING:
    from researchdesk.graph.desk_export import Written
    from researchdesk.tools.workspace import Desk


def import_(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILES…", help="Documents, CSV, workbooks and folders.")
    ],
    to: Annotated[
        str,
        typer.Option("--to", metavar="FOLDER", help="Folder of the desk to put them in.", show_default=False),
    ] = "",
    force: Annotated[
        bool, typer.Option("--force", help="Save over files with another text; it is kept as a revision.")
    ] = False,
    actor: ActorOption = "",
    home: HomeOption = "",
    json: JsonOption = False,
) -> None:
    """Put files of a disk on the desk, all of them or none: .md, .txt, .csv, .xlsx, and folders of such.

    Each sheet of a workbook becomes a CSV. What a folder holds besides is left out and named; a file that you name
    and that cannot be read ends the command before anything is put there. A text that is there already stays.
    """
    from researchdesk.graph.desk_import import read_paths
    from researchdesk.state.errors import Refusal

    who = acting(actor)
    found = read_paths(files, folder=to)
    if found.problems:
        named = "\n".join(f"{one.path}: {one.why}" for one in found.problems)
        raise Refusal("bad_file", f"nothing was imported, since this cannot be read:\n{named}")
    with opened_desk(home) as desk:
        try:
            made = desk.files.put_all(found.files, actor=who, replace=force)
        except Refusal as problem:
            more = (
                " --force saves over it and keeps what it was."
                if problem.code == "exists" and not force
                else ""
            )
            raise Refusal(problem.code, f"{problem.text} Nothing was imported.{more}") from None
    if json:
        left_out = [{"path": one.path, "why": one.why} for one in found.left_out]
        result_json({"files": [desk_files.as_json(file) for file in made], "left_out": left_out})
        return
    for one in found.left_out:
        note(f"left out  {one.path}: {one.why}")
    result_table(
        ("path", "kind", "chars", "id"),
        ((file.path, file.kind, f"{file.chars:,}", file.id) for file in made),
        prose=("path",),
    )


def export(
    name: Annotated[
        str,
        typer.Argument(metavar="FOLDER_OR_FILE", help="What to write. Default: all", show_default=False),
    ] = "",
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR_OR_FILE",
            help="A folder for a folder; for a file a folder or a file. FILE.xlsx makes one workbook of the "
            "spreadsheets of a folder.",
            show_default=False,
        ),
    ] = None,
    xlsx: Annotated[
        bool, typer.Option("--xlsx", help="Write each spreadsheet as a workbook, not as CSV.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Write over files that are there.")] = False,
    home: HomeOption = "",
    json: JsonOption = False,
) -> None:
    """Write files of the desk to a disk; names that are not safe on every system are made so.

    CSV is written as it is kept, formulas too. In a workbook, formulas that would reach out of it stand as text.
    """
    from researchdesk.state.errors import UsageError

    if out is None:
        raise UsageError("say where to write with --out DIR_OR_FILE")
    with existing_desk(home) as desk:
        written = _export(desk, name, out, xlsx=xlsx, force=force)
    for one in written:
        if one.held_back:
            note(f"{one.to}: formulas that reach out stand as text in {', '.join(one.held_back[:20])}")
    if json:
        result_json(
            [{"path": one.path, "to": str(one.to), "held_back": list(one.held_back)} for one in written]
        )
        return
    result_table(
        ("file", "written to"), ((one.path, str(one.to)) for one in written), prose=("file", "written to")
    )


def _export(desk: "Desk", name: str, out: Path, *, xlsx: bool, force: bool) -> "list[Written]":
    from researchdesk.graph.desk_export import write_file, write_folder, write_sheets

    file = desk_files.at(desk, name.rstrip("/")) if name else None
    if file is not None and file.kind != "folder":
        return [write_file(desk.files, file, out, workbook=xlsx, replace=force)]
    folder = desk_files.folder_of(desk, name)
    if out.suffix.casefold() == ".xlsx" and not out.is_dir():
        return [write_sheets(desk.files, folder, out, replace=force)]
    return write_folder(desk.files, folder, out, workbooks=xlsx, replace=force)
