"""The commands about whole sessions: `handoff`, `verify`, `export`, `import`, `purge`, `rebuild`."""

import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from researchdesk.graph.cli_options import HomeOption, JsonOption, SessionArgument, existing_desk, opened_desk
from researchdesk.graph.console import note, result, result_json
from researchdesk.graph.exits import Exit
from researchdesk.state.names import safe_file_name


def handoff(session: SessionArgument = "", home: HomeOption = "", json: JsonOption = False) -> None:
    """Prepare a new task from a completed run: a new session with a draft prompt. Nothing is sent."""
    with existing_desk(home) as desk:
        draft = desk.handoff(desk.existing(session).id)
    if json:
        result_json({**asdict(draft), "sent": False})
        return
    result(f"{draft.session_id}\n\n{draft.prompt}")
    note(f"The draft waits in session {draft.session_id}. Nothing was sent, no model was called.")


def verify(
    what: Annotated[
        str,
        typer.Argument(
            metavar="SESSION|BUNDLE", help="Session id, or an exported file. Default: the whole desk"
        ),
    ] = "",
    home: HomeOption = "",
    json: JsonOption = False,
) -> None:
    """Check every byte: the hash chain, the rows, the bodies. Exit: 0 all is well, 4 something is wrong."""
    from researchdesk.graph.bundles import verify_bundle
    from researchdesk.state.errors import NotFound

    if what and os.path.isfile(what):  # noqa: PTH113 - says no where `Path.is_file` raises
        report = verify_bundle(what)
    elif "/" in what or what.endswith((".zip", ".jsonl")):
        raise NotFound(f"no such file: {what[:300]}")
    else:
        with existing_desk(home) as desk:
            report = desk.verify(what)
    if json:
        result_json({"ok": report.ok, **asdict(report)})
    else:
        counts = ", ".join(f"{count:,} {name}" for name, count in report.checked.items())
        lines = [f"problem: {problem}" for problem in report.problems]
        result("\n".join([*lines, f"{'ok' if report.ok else 'NOT OK'}: checked {counts}"]))
        note(f"store: {report.store}")
    if not report.ok:
        raise typer.Exit(Exit.INTEGRITY)


def export(
    session: SessionArgument = "",
    home: HomeOption = "",
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="File to write: .jsonl for events and bodies alone, else a bundle (zip) with rows beside them. "
            "Folders that are missing are made.",
            show_default=False,
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Write a session to a file that another desk can import."""
    from researchdesk.state.errors import UsageError

    with existing_desk(home) as desk:
        session_id = desk.existing(session).id
        if out is None:
            raise UsageError("say where to write with --out FILE (.zip or .jsonl)")
        path = desk.export(session_id, out)
    if json:
        result_json({"session_id": session_id, "path": str(path), "bytes": path.stat().st_size})
    else:
        result(str(path))


def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A bundle or .jsonl file of `export`.")],
    home: HomeOption = "",
    json: JsonOption = False,
) -> None:
    """Take an exported session into the desk, whole or not at all."""
    with opened_desk(home) as desk:
        imported = desk.import_session(file)
    if json:
        result_json(asdict(imported))
        return
    result(imported.session_id)
    state = "was here already" if imported.already_here else "was imported"
    note(f"session {imported.session_id} {state}: {imported.events:,} events, {imported.bodies:,} bodies")


def purge(
    session: Annotated[str, typer.Argument(metavar="SESSION", help="Session id.")],
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; it stays in the ledger.")],
    actor: Annotated[
        str, typer.Option("--actor", metavar="human:NAME", help="Who decided it; it stays in the ledger.")
    ],
    artifact: Annotated[
        list[str],
        typer.Option(
            "--artifact", metavar="ID", help="Only this artifact; repeat it for several. Default: all"
        ),
    ] = [],  # noqa: B006 - typer copies it
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    home: HomeOption = "",
    json: JsonOption = False,
) -> None:
    """Remove archived bodies and written texts for good; their hashes stay as a tombstone.

    The rendered report in the home folder goes too. Events never change, so what they hold themselves stays: names,
    summaries, found snippets and short quotations. With --artifact, only that text goes: notes, sections and reports
    that were made from it have to be named too; without it, all of the session's texts go. Your own files, exports
    and the index of your folder (index.sqlite, which may be deleted at any time) are not touched.
    """
    from researchdesk.state.errors import UsageError

    if not actor.startswith("human:") or not actor[6:].strip() or not reason.strip():
        raise UsageError("a purge needs --actor human:NAME and a --reason")
    with existing_desk(home) as desk:
        run = desk.existing(session).run
        what = ", ".join(artifact) or f"all {len(run.artifacts) if run else 0} artifacts"
        if not yes:
            _confirm(f"Remove the bodies of {what} in session {session} for good?")
        removed = desk.purge(session, artifact, actor=actor, reason=reason.strip())
        (desk.home / "reports" / safe_file_name(session, suffix=".md")).unlink(missing_ok=True)
    if json:
        result_json({"session_id": session, "removed": removed})
    else:
        result(f"{removed} bodies removed; their hashes stay")


def _confirm(question: str) -> None:
    from researchdesk.state.errors import UsageError

    if not sys.stdin.isatty():
        raise UsageError("a purge cannot be undone: confirm it with --yes")
    typer.confirm(question, abort=True, err=True)


def rebuild(session: SessionArgument = "", home: HomeOption = "", json: JsonOption = False) -> None:
    """Write a session's relational rows anew from its events."""
    with existing_desk(home) as desk:
        session_id = desk.existing(session).id
        rows = desk.rebuild(session_id)
    if json:
        result_json({"session_id": session_id, "rows": rows})
    else:
        result(f"{rows:,} rows of session {session_id} written anew")
