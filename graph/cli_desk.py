"""The commands about the desk's files: `desk ls`, `cat`, `put`, `mv`, `rm`, `revisions`, `restore`, `search`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from researchdesk.graph import cli_disk, desk_files
from researchdesk.graph.acting import ActorOption, acting
from researchdesk.graph.cli_options import HomeOption, JsonOption, again, existing_desk, opened_desk
from researchdesk.graph.console import note, result, result_json, result_table

if TYPE_CHECKING:
    from researchdesk.state.desk.files import DeskFile
    from researchdesk.tools.files import NewFile
    from researchdesk.tools.workspace import Desk

app = typer.Typer(
    help="The documents and spreadsheets of the desk. Every change keeps what stood before as a revision.",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
FileArgument = Annotated[str, typer.Argument(metavar="FILE", help="Path or id of a file of the desk.")]
MatchOption = Annotated[
    str,
    typer.Option(
        "--if-match",
        metavar="HASH",
        help="Only if the file still has this version: its hash, or the first 12 digits of it.",
        show_default=False,
    ),
]


@app.command("ls")
def ls(
    folder: Annotated[
        str, typer.Argument(metavar="FOLDER", help="A folder, or a file. Default: all", show_default=False)
    ] = "",
    deleted: Annotated[bool, typer.Option("--deleted", help="The deleted files instead.")] = False,
    home: HomeOption = "",
    json: JsonOption = False,
) -> None:
    """List the files in a folder, at any depth."""
    from researchdesk.state.desk.naming import version

    with existing_desk(home) as desk:
        found = desk_files.listed(desk, folder, deleted=deleted)
    if json:
        result_json([desk_files.as_json(file) for file in found])
        return
    if not found:
        begin = f"nothing is here; put a file there: {again(home, 'desk', 'put', 'PATH', 'FILE')}"
        note("nothing was deleted" if deleted else begin)
    result_table(
        ("path", "kind", "rev", "chars", "changed", "by", "id", "version"),
        (
            (
                *(file.path, file.kind, str(file.rev), f"{file.chars:,}", file.updated_at[:19]),
                *(file.updated_by, file.id, version(file.content_hash)),
            )
            for file in found
        ),
        prose=("path", "by"),
    )


@app.command("cat")
def cat(
    file: FileArgument,
    version: Annotated[
        str,
        typer.Option(
            "--version",
            metavar="HASH",
            help="An earlier version, as `revisions` shows it.",
            show_default=False,
        ),
    ] = "",
    area: Annotated[
        str,
        typer.Option(
            "--range", metavar="A1:C5", help="Only these cells of a spreadsheet.", show_default=False
        ),
    ] = "",
    values: Annotated[
        bool, typer.Option("--values", help="Of a spreadsheet: what its formulas come to (extra sheets).")
    ] = False,
    home: HomeOption = "",
    json: JsonOption = False,
) -> None:
    """Print a file; to a pipe or a file exactly as it is, to a terminal without what would act there."""
    from researchdesk.graph.streams import write_out
    from researchdesk.state.desk.grids import write_grid
    from researchdesk.state.desk.sheets import read_range
    from researchdesk.state.errors import UsageError

    with existing_desk(home) as desk:
        found = desk_files.found(desk, file)
        if area and found.kind != "spreadsheet":
            raise UsageError(f"--range is for spreadsheets; {found.path} is a {found.kind}")
        content_hash = desk_files.version_of(desk, found, version) if version else found.content_hash
        if values:
            text = write_grid(desk.files.values(found.id, version=content_hash))
        else:
            text = desk.files.read(found.id, version=content_hash)
    shown = read_range(text, area).text if area else text
    if json:
        result_json({**desk_files.as_json(found), "hash": content_hash, "range": area, "content": shown})
    elif sys.stdout.isatty():
        result(shown)
    else:
        write_out(shown)


@app.command("put")
def put(
    path: Annotated[
        str, typer.Argument(metavar="PATH", help="Where it stands on the desk.", show_default=False)
    ] = "",
    file: Annotated[
        str,
        typer.Argument(metavar="FILE", help="What to put there; - or nothing is stdin.", show_default=False),
    ] = "",
    if_match: MatchOption = "",
    force: Annotated[
        bool, typer.Option("--force", help="Save over whatever version is there; it is kept as a revision.")
    ] = False,
    kind: Annotated[
        Literal["markdown", "spreadsheet", "folder"] | None,
        typer.Option("--kind", help="Of a new file. Default: by its name, .csv is a spreadsheet."),
    ] = None,
    report: Annotated[
        str,
        typer.Option(
            "--report", metavar="SESSION", help="Put the report of a run there.", show_default=False
        ),
    ] = "",
    handoff: Annotated[
        str,
        typer.Option(
            "--handoff",
            metavar="SESSION",
            help="Put the handoff of a completed run there.",
            show_default=False,
        ),
    ] = "",
    actor: ActorOption = "",
    home: HomeOption = "",
    json: JsonOption = False,
) -> None:
    """Put a file on the desk: a new one, or a new version of one that is there.

    A file that is there is only saved over the version that you name, so that nobody's change is lost unseen. PATH may
    be left out for --report and --handoff: reports/SESSION.md and handoffs/SESSION.md.
    """
    from researchdesk.state.errors import UsageError
    from researchdesk.tools.files import NewFile

    who, session = acting(actor), report or handoff
    if (report and handoff) or (session and file) or (force and if_match):
        raise UsageError(
            "name one: FILE, --report SESSION or --handoff SESSION; and one of --if-match and --force"
        )
    if not path and not session:
        raise UsageError("say where: researchdesk desk put PATH [FILE|-]")
    text = "" if session or kind == "folder" else _input(file)
    with existing_desk(home) if session else opened_desk(home) as desk:
        if session:
            text, place = _of_session(desk, session, "report" if report else "handoff")
            path = path or place
        new = NewFile(path=path, content=text, kind=kind)
        saved = _put(desk, new, actor=who, if_match=if_match, force=force, home=home)
    _say(saved, "new" if saved.rev == 1 else "saved", json=json)


@app.command("mv")
def mv(
    file: FileArgument,
    path: Annotated[str, typer.Argument(metavar="PATH", help="Its new path.")],
    if_match: MatchOption = "",
    actor: ActorOption = "",
    home: HomeOption = "",
    json: JsonOption = False,
) -> None:
    """Give a file another path; a folder takes along what is in it."""
    with existing_desk(home) as desk:
        found = desk_files.found(desk, file)
        moved = desk.files.rename(
            found.id, path, actor=acting(actor), if_match=desk_files.matched(found, if_match)
        )
    _say(moved, f"was {found.path}", json=json)


@app.command("rm")
def rm(
    file: FileArgument,
    recursive: Annotated[
        bool, typer.Option("--recursive", "-r", help="A folder with all that is in it.")
    ] = False,
    if_match: MatchOption = "",
    actor: ActorOption = "",
    home: HomeOption = "",
    json: JsonOption = False,
) -> None:
    """Take a file off the desk; `desk restore` brings it back."""
    if recursive:
        _remove_all(file, if_match=if_match, actor=actor, home=home, json=json)
        return
    with existing_desk(home) as desk:
        found = desk_files.found(desk, file)
        gone = desk.files.remove(found.id, actor=acting(actor), if_match=desk_files.matched(found, if_match))
        kept = desk.files.revisions(gone.id)[0]
    if json:
        result_json({**desk_files.as_json(gone), "revision": kept.id})
        return
    result(f"{gone.path} is deleted")
    note(f"bring it back with: {again(home, 'desk', 'restore', kept.id)}")


def _remove_all(folder: str, *, if_match: str, actor: str, home: str, json: bool) -> None:
    from researchdesk.state.errors import UsageError

    if if_match:
        raise UsageError("--if-match names the version of one file; leave it out with --recursive")
    with existing_desk(home) as desk:
        gone = desk.files.remove_all(folder, actor=acting(actor))
        kept = [desk.files.revisions(file.id)[0].id for file in gone]
    if json:
        result_json([{**desk_files.as_json(file), "revision": r} for file, r in zip(gone, kept, strict=True)])
        return
    for file in gone:
        result(f"{file.path} is deleted")
    for file, revision in zip(gone, kept, strict=True):
        note(f"bring {file.path} back with: {again(home, 'desk', 'restore', revision)}")


@app.command("revisions")
def revisions(file: FileArgument, home: HomeOption = "", json: JsonOption = False) -> None:
    """List what a file was before each of its changes, newest first; a deleted file goes by its path or id too."""
    from researchdesk.state.desk.naming import version

    with existing_desk(home) as desk:
        found = desk_files.found(desk, file, deleted=True)
        kept = desk_files.revisions(desk, found)
    if json:
        result_json(kept)
        return
    state = "deleted" if found.deleted else f"version {version(found.content_hash)}"
    note(f"{found.path}: revision {found.rev}, {state}, by {found.updated_by} at {found.updated_at[:19]}")
    result_table(
        ("revision", "rev", "path", "chars", "until", "what", "by", "proposal", "version"),
        (
            (
                *(one["id"], str(one["rev"]), one["path"], f"{one['chars']:,}", one["until"][:19], one["op"]),
                *(one["actor"], one["proposal_id"] or "-", version(one["hash"])),
            )
            for one in kept
        ),
        prose=("path", "by"),
    )


@app.command("restore")
def restore(
    revision: Annotated[str, typer.Argument(metavar="REVISION", help="As `desk revisions` shows it.")],
    actor: ActorOption = "",
    home: HomeOption = "",
    json: JsonOption = False,
) -> None:
    """Bring a file back to what it was; that is a change like any other, and can be undone."""
    with existing_desk(home) as desk:
        restored = desk.files.restore(revision, actor=acting(actor))
    _say(restored, f"restored from {revision}", json=json)


@app.command("search")
def search(
    words: Annotated[list[str], typer.Argument(metavar="WORDS…", help="What to look for.")],
    folder: Annotated[
        str, typer.Option("--folder", metavar="FOLDER", help="Only in this folder.", show_default=False)
    ] = "",
    limit: Annotated[
        int, typer.Option("--limit", min=1, max=1000, metavar="N", help="At most so many.")
    ] = 20,
    home: HomeOption = "",
    json: JsonOption = False,
) -> None:
    """Find words in the files of the desk, the best places first."""
    from dataclasses import asdict

    with existing_desk(home) as desk:
        hits = desk.files.search(" ".join(words), folder=desk_files.folder_of(desk, folder), limit=limit)
    if json:
        result_json([asdict(hit) for hit in hits])
        return
    if not hits:
        note("nothing was found")
    result_table(
        ("file", "place", "text"),
        ((hit.path, hit.ref or f"line {hit.line}", hit.snippet) for hit in hits),
        prose=("file", "text"),
    )


app.command("import")(cli_disk.import_)
app.command("export")(cli_disk.export)


def _input(file: str) -> str:
    """What is to be put on the desk, from a file or from stdin.

    Raises:
        NotFound, Unavailable: there is no such file, or it cannot be read.
        Refusal: it is no text.
        UsageError: a person sits before stdin and named no file.
    """
    from researchdesk.graph.desk_import import decoded, read_text
    from researchdesk.state.errors import NotFound, Refusal, Unavailable, UsageError

    if not file and sys.stdin.isatty():
        raise UsageError("say what to put there: a FILE, or - to type it in")
    try:
        return read_text(Path(file)) if file not in ("", "-") else decoded(sys.stdin.buffer.read())
    except FileNotFoundError:
        raise NotFound(f"no file {file[:300]}") from None
    except OSError as problem:
        raise Unavailable(f"cannot read {file[:300]}: {problem.strerror or problem}") from None
    except Refusal as problem:
        raise Refusal(problem.code, f"{file or 'stdin'}: {problem.text}") from None


def _of_session(desk: "Desk", session: str, what: str) -> tuple[str, str]:
    """The report or the handoff of a session, and the path that it gets on the desk."""
    from researchdesk.graph.rendering import render_report
    from researchdesk.graph.report import read_report
    from researchdesk.state.errors import NotFound
    from researchdesk.state.handoff import handoff_prompt
    from researchdesk.state.names import safe_file_name

    found = desk.existing(session)
    path = f"{what}s/{safe_file_name(found.id, suffix='.md', max_bytes=80)}"
    if what == "report":
        return render_report(read_report(desk, found.id)), path
    if found.run is None:
        raise NotFound(f"session '{found.id}' holds no research to hand off")
    return handoff_prompt(found.id, found.run), path


def _put(desk: "Desk", new: "NewFile", *, actor: str, if_match: str, force: bool, home: str) -> "DeskFile":
    """Make or save a file; a refusal to save over another version says how to go on."""
    from researchdesk.state.errors import Refusal

    there = desk_files.found(desk, new.path) if if_match else desk_files.at(desk, new.path)
    match = desk_files.matched(there, if_match) if there else if_match
    if there and force:
        match = there.content_hash
    try:
        path = there.path if there else new.path
        return desk.files.put(path, new.content, actor=actor, kind=new.kind, if_match=match)
    except Refusal as problem:
        if there is None or problem.code not in ("precondition", "conflict"):
            raise
        read = again(home, "desk", "cat", there.path)
        raise Refusal(
            problem.code,
            f"{problem.text}\nread it:  {read}\nthen save over that version with --if-match "
            f"{there.content_hash}, or over any with --force; what stood there is kept as a revision",
        ) from None


def _say(file: "DeskFile", what: str, *, json: bool) -> None:
    if json:
        result_json(desk_files.as_json(file))
        return
    result(f"{file.path}\nversion {file.content_hash}")
    note(f"{file.path}: {what}, revision {file.rev}, id {file.id}")
