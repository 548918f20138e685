"""How much of what runs claim was challenged, against how much of it is verified: one mark a run."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Final

import altair as alt

from researchdesk.evals.plots.plot import Chart, Plot, Rows
from researchdesk.evals.plots.style import (
    BLUE,
    DARK,
    GREEN,
    GREY,
    INK,
    LINE,
    ORANGE,
    QUIET,
    RED,
    data,
    finished,
    nothing,
    told,
)
from researchdesk.evals.plots.subjects import Subjects, forked_from, several
from researchdesk.graph.words import outcome
from researchdesk.state.investigation_views import checked
from researchdesk.tools.shown import Shown
from researchdesk.tools.workspace import Desk

NAMED: Final = 12
_COLOURS: Final = (BLUE, ORANGE, GREEN, RED, "#cc79a7", "#56b4e9", DARK)
_OTHERS: Final = "other models"
_SHAPES: Final = {"quick": "triangle-up", "standard": "circle", "deep": "square"}


def plot_coverage(subjects: Subjects) -> Plot:
    """Challenged claims of all claims (across) against verified claims of all claims (up), a mark for each run.

    Of a desk its forks are left out, as they share claims with the runs that they began as; named ones are shown.
    """
    found = [session for session in several(subjects) if session.run is not None]
    sessions = [session for session in found if not (isinstance(subjects, Desk) and forked_from(session))]
    rows = [row for row in map(_row, sessions) if row["claims"]]
    title = "Coverage and rate of runs"
    left_out, forks = len(sessions) - len(rows), len(found) - len(sessions)
    if not rows:
        why = f"None of {len(sessions)} runs holds a claim." if sessions else "There is no run yet."
        return nothing(title=title, lines=(), why=why)
    _name_models(rows)
    lines = (
        f"{len(rows)} run{'' if len(rows) == 1 else 's'}, a mark each: its area grows with the number of claims."
        + (f" {left_out} without claims are not shown." if left_out else "")
        + (f" {forks} fork{'' if forks == 1 else 's'} of runs are not shown." if forks else ""),
        "Challenged: a search for the opposite ran and was judged. Verified: two independent sources and a survived "
        "challenge.",
        "Nothing lies above the line: what was not challenged cannot be verified.",
    )
    return finished(_chart(rows), title=title, lines=lines, rows=rows)


def _row(session: Shown) -> dict[str, Any]:
    found, run, config = checked(session.investigation), session.run, session.workspace.config
    assert run is not None
    total = found.total
    rate, covered = (part / total if total else 0.0 for part in (found.verified, found.challenged))
    model = told(config.model, 60) if config else "not recorded"
    origin = told(forked_from(session), 60)
    about = f"{f'fork of {origin}, ' if origin else ''}{model}, {run.scope_level}, {outcome(run)}"
    return {
        "session": told(session.id, 60),
        "forked_from": origin,
        "model": model,
        "scope": run.scope_level,
        "outcome": outcome(run),
        "claims": total,
        "coverage": round(covered, 4),
        "rate": round(rate, 4),
        "tip": f"{told(session.id, 60)} ({about}): {found.challenged} of {total} "
        f"claims challenged, {found.verified} verified",
    }


def _name_models(rows: Rows) -> None:
    """Say for each row by which model it is coloured: there are fewer colours than models may be."""
    counted: dict[str, int] = defaultdict(int)
    for row in rows:
        counted[row["model"]] += 1
    ranked = sorted(counted, key=lambda name: (-counted[name], name))
    room = len(_COLOURS) if len(ranked) <= len(_COLOURS) else len(_COLOURS) - 1
    for row in rows:
        row["coloured"] = row["model"] if row["model"] in ranked[:room] else _OTHERS


def _labels(rows: Rows) -> Rows:
    """The names at each place, for as many places as can be read."""
    places: dict[tuple[float, float], list[str]] = defaultdict(list)
    for row in rows:
        origin = f" (fork of {row['forked_from']})" if row["forked_from"] else ""
        places[row["coverage"], row["rate"]].append(row["session"] + origin)
    if len(places) > NAMED:
        return []
    return [
        {
            "coverage": x,
            "rate": y,
            "text": ", ".join(names[:3]) + (f" and {len(names) - 3} more" * (len(names) > 3)),
        }
        for (x, y), names in places.items()
    ]


def _models(rows: Rows) -> Sequence[str]:
    names = sorted({row["coloured"] for row in rows} - {_OTHERS})
    return [*names, _OTHERS] if any(row["coloured"] == _OTHERS for row in rows) else names


def _chart(rows: Rows) -> Chart:
    models = _models(rows)
    palette = [GREY if name == _OTHERS else _COLOURS[place] for place, name in enumerate(models)]
    share = alt.Scale(domain=[0, 1], nice=False, padding=14)
    axis = alt.Axis(format="%", tickCount=6)
    across = alt.X("coverage:Q", title="challenged claims of all claims (%)", scale=share, axis=axis)
    up = alt.Y("rate:Q", title="verified claims of all claims (%)", scale=share, axis=axis)
    limit = (
        alt.Chart(data([{"coverage": 0, "rate": 0}, {"coverage": 1, "rate": 1}]))
        .mark_line(color=LINE, strokeDash=[4, 4], strokeWidth=1.5)
        .encode(x="coverage:Q", y="rate:Q")
    )
    scopes = [scope for scope in _SHAPES if any(row["scope"] == scope for row in rows)]
    marks = (
        alt.Chart(data(rows))
        .mark_point(filled=True, opacity=0.85, stroke="white", strokeWidth=0.8)
        .encode(
            across,
            up,
            color=alt.Color("coloured:N", title="model", scale=alt.Scale(domain=models, range=palette)),
            shape=alt.Shape(
                "scope:N",
                title="scope",
                scale=alt.Scale(domain=scopes, range=[_SHAPES[scope] for scope in scopes]),
            ),
            size=alt.Size("claims:Q", scale=alt.Scale(type="sqrt", zero=True, range=[60, 420]), legend=None),
            description="tip:N",
        )
    )
    names = (
        alt.Chart(data(_labels(rows)))
        .mark_text(align="left", baseline="middle", dx=13, fontSize=11.5, color=INK, limit=260)
        .encode(x="coverage:Q", y="rate:Q", text="text:N")
    )
    border = alt.Chart(data([{"text": "verified = challenged"}])).mark_text(
        align="right", baseline="bottom", fontSize=10.5, color=QUIET, angle=315, dx=-30, dy=-4
    )
    told_line = border.encode(x=alt.datum(1), y=alt.datum(1), text="text:N")
    return alt.layer(limit, told_line, marks, names).properties(width=460, height=420)
