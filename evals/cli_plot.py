"""The command that draws pictures of runs: `plot`. It is found through the entry points ``researchdesk.commands``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from researchdesk.graph.cli_options import HomeOption, existing_desk
from researchdesk.graph.console import note, result
from researchdesk.state.errors import UsageError

if TYPE_CHECKING:
    from researchdesk.evals.plots import Plot
    from researchdesk.tools.workspace import Desk

Kind = Literal["frontier", "claims", "timeline", "sources", "coverage", "cost"]

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command()
def plot(
    kind: Annotated[
        Kind, typer.Argument(metavar="KIND", help="frontier, claims, timeline, sources, coverage, cost.")
    ],
    sessions: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SESSION",
            help="Session ids. Default: the research started last; for coverage all runs of the desk.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="Write to this file, whose name ends with .svg, .html or .png. Default: SVG on stdout.",
            show_default=False,
        ),
    ] = None,
    by: Annotated[
        Literal["time", "events"],
        typer.Option("--by", help="What claims and timeline run along: time, or the number of the event."),
    ] = "time",
    home: HomeOption = "",
) -> None:
    """Draw a picture of a run, or of several.

    frontier: its questions as a tree. claims: its claims by status, from beginning to end. timeline: requests and
    calls, by tool and by question. sources: which source speaks for or against which claim. coverage: of all claims
    how many were challenged and how many are verified, a mark a run. cost: tokens and money, by stage and tool.
    """
    with existing_desk(home) as desk:
        made = _made(desk, kind, sessions or [], by)
        if out is None:
            result(made.svg())
        else:
            made.save(out)
            note(f"{kind}  {out}")


def _made(desk: "Desk", kind: Kind, names: list[str], by: Literal["time", "events"]) -> "Plot":
    try:
        from researchdesk.evals import plots
    except ImportError as problem:
        raise UsageError(str(problem)) from None
    if kind == "coverage":
        return plots.plot_coverage([desk.existing(name) for name in names] if names else desk)
    if kind == "cost":
        return plots.plot_cost([desk.existing(name) for name in names or [""]])
    if len(names) > 1:
        raise UsageError(f"{kind} shows one session, got {len(names)}; coverage and cost compare several")
    session = desk.existing(names[0] if names else "")
    match kind:
        case "frontier":
            return plots.plot_frontier(session)
        case "claims":
            return plots.plot_claims(session, by=by)
        case "timeline":
            return plots.plot_timeline(session, by=by)
        case "sources":
            return plots.plot_sources(session)
