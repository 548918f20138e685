"""The commands that look at runs: `status`, `report`, `sources`, `sessions`."""

import contextlib
import sys
import time
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from researchdesk.graph.cli_options import HomeOption, JsonOption, SessionArgument, existing_desk
from researchdesk.graph.console import clear, note, result, result_json, result_table, show

if TYPE_CHECKING:
    from researchdesk.tools.workspace import Desk


def status(
    session: SessionArgument = "",
    home: HomeOption = "",
    json: JsonOption = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Show changes until the run is completed or blocked.")
    ] = False,
    interval: Annotated[
        float,
        typer.Option("--interval", min=0.1, max=86_400, metavar="SECONDS", help="How often --watch looks."),
    ] = 1.0,
) -> None:
    """Show where a run stands."""
    with existing_desk(home) as desk:
        session_id = desk.existing(session).id
        if not watch:
            _show_status(_status(desk, session_id), json=json, line=False)
            return
        with contextlib.suppress(KeyboardInterrupt):
            _watch(desk, session_id, json=json, interval=interval)


def _watch(desk: "Desk", session_id: str, *, json: bool, interval: float) -> None:
    shown = 0
    while True:
        found = desk.existing(session_id)
        seq, view = found.workspace.seq, _status(desk, session_id)
        if seq != shown:
            if sys.stdout.isatty() and not json:
                clear()
            _show_status(view, json=json, line=True)
            shown = seq
        if view["status"] in ("completed", "blocked"):
            return
        time.sleep(interval)


def _status(desk: "Desk", session_id: str) -> dict[str, Any]:
    from researchdesk.state.errors import NotFound
    from researchdesk.state.views import status_view

    found = desk.existing(session_id)
    if found.run is None:
        raise NotFound(f"session '{session_id}' holds no research")
    rows = desk.ledger.query(
        "SELECT ts FROM events WHERE stream = ? ORDER BY seq DESC LIMIT 1", (found.stream,)
    )
    view = status_view(found.workspace, updated_at=str(rows[0]["ts"]))
    return {**view, "driver": desk.drivers([session_id]).get(session_id, "")}


def _show_status(view: dict[str, Any], *, json: bool, line: bool) -> None:
    if json:
        result_json(view, line=line)
        return
    from researchdesk.graph.status import status_table

    show(status_table(view))


def report(
    session: SessionArgument = "",
    home: HomeOption = "",
    form: Annotated[
        Literal["md", "html", "json", "bibtex", "csl"],
        typer.Option("--format", help="md, html (one self-contained page), json, or the references alone."),
    ] = "md",
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="Write to this file instead of stdout; folders that are missing are made.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Print a run's report, or the draft of one whose sections are begun; there is none while a run still gathers."""
    from researchdesk.graph.rendering import render_report
    from researchdesk.graph.report import read_report

    with existing_desk(home) as desk:
        text = render_report(read_report(desk, session), form)
    if out is None:
        result(text)
        return
    from researchdesk.tools.writing import whole_file

    with whole_file(out) as file:
        file.write(text.encode())
    note(f"report  {out}")


def sources(session: SessionArgument = "", home: HomeOption = "", json: JsonOption = False) -> None:
    """List the sources that a run archived."""
    from dataclasses import asdict

    from researchdesk.graph.report import read_sources

    with existing_desk(home) as desk:
        found = read_sources(desk, session)
    if json:
        result_json([{k: v for k, v in asdict(ref).items() if k != "number"} for ref in found])
        return
    result_table(
        ("id", "title", "publisher", "locator", "chars", "read", "hash", "provenance"),
        (
            (
                ref.source_id,
                ref.title or "Untitled",
                ref.publisher,
                ref.locator,
                f"{ref.chars:,}",
                ref.read_at[:10],
                ref.short_hash,
                ("supplied" if ref.supplied else "fetched") + (", purged" if ref.purged else ""),
            )
            for ref in found
        ),
        prose=("title", "publisher", "locator"),
    )


def _state(status: str, stop_reason: str | None) -> str:
    """A session's status as a person reads it: a completed run that was stopped early is partial."""
    if not stop_reason:
        return status
    return f"{'partial' if status == 'completed' else status} ({stop_reason})"


def sessions(home: HomeOption = "", json: JsonOption = False) -> None:
    """List the sessions of the desk, newest first."""
    from dataclasses import asdict

    from researchdesk.graph.costs import costs_by_session, dollars

    with existing_desk(home) as desk:
        found, costs = desk.sessions(), costs_by_session(desk)
    spent = {one.session_id: costs.get(one.session_id, Decimal(0)) for one in found}
    if json:
        amounts = {key: None if cost is None else float(round(cost, 6)) for key, cost in spent.items()}
        result_json([{**asdict(one), "cost_usd": amounts[one.session_id]} for one in found])
        return
    driven = any(one.driver for one in found)
    result_table(
        (
            "session",
            "status",
            "stage",
            *(["driver"] if driven else []),
            "sources",
            "cost",
            "updated",
            "objective",
        ),
        (
            (
                one.session_id,
                _state(one.status, one.stop_reason),
                one.stage,
                *([one.driver or "-"] if driven else []),
                str(one.sources),
                dollars(spent[one.session_id]),
                one.updated_at[:19],
                one.objective[:200],
            )
            for one in found
        ),
        prose=("objective",),
    )
