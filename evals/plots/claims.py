"""How many claims a run held, by status, and how many of them were challenged, from its beginning to its end."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import altair as alt

from researchdesk.evals.plots.plot import Chart, Plot, Rows
from researchdesk.evals.plots.style import CLAIM_LOOKS, DARK, INK, WIDTH, colours, data, finished, nothing
from researchdesk.evals.plots.subjects import By, Course, Subject, one
from researchdesk.graph.words import CLAIM_WORDS
from researchdesk.state import events as ev
from researchdesk.state.vocabulary import ClaimStatus

POINTS: Final = 300
CHALLENGED: Final = "challenged"
_ORDER: Final[tuple[ClaimStatus, ...]] = ("VERIFIED", "UNVERIFIED", "REFUTED", "RETRACTED")


def plot_claims(subject: Subject, *, by: By = "time") -> Plot:
    """Claims by status over the run, stacked, and a line for those that were challenged.

    Args:
        by: ``time``, or ``events`` for the number of the event: pauses take no room, and the same run looks the same.
    """
    session = one(subject)
    course = Course(session, by)
    title = f"Claims by status · {session.id}"
    moments = _thinned(list(_moments(course)), course.end)
    if not moments:
        return nothing(title=title, lines=(), why="No claim has been noted yet.")
    last = moments[-1]
    counted = ", ".join(f"{last.of[key]:,} {CLAIM_WORDS[key]}" for key in _ORDER if last.of[key])
    lines = (
        f"At the end: {counted}; {last.challenged:,} challenged (dashed line).",
        "Challenged: a search for the opposite ran and was judged. Withdrawn claims do not count as challenged.",
    )
    rows = [row for moment in moments for row in moment.rows()]
    return finished(_chart(rows, course.title), title=title, lines=lines, rows=rows)


@dataclass(frozen=True, slots=True)
class _Moment:
    """How many claims there were at a place of the run."""

    x: float
    of: Counter[ClaimStatus]
    challenged: int

    def rows(self) -> Iterator[dict[str, Any]]:
        """A row for each status, and one for the challenged claims."""
        for order, key in enumerate(_ORDER):
            yield {"x": self.x, "status": CLAIM_WORDS[key], "claims": self.of[key], "order": order}
        yield {"x": self.x, "status": CHALLENGED, "claims": self.challenged, "order": len(_ORDER)}


def _moments(course: Course) -> Iterator[_Moment]:
    """The counts at the beginning, after each event that changed one, and at the end."""
    status: dict[str, ClaimStatus] = {}
    counted: Counter[ClaimStatus] = Counter()
    ran: set[str] = set()
    for x, event in course.events:
        if isinstance(event, ev.ClaimRecorded):
            if not status:
                yield _Moment(0.0, Counter(), 0)
            if event.claim.id in status:
                counted[status[event.claim.id]] -= 1
            counted[event.claim.status] += 1
            status[event.claim.id] = event.claim.status
            if event.claim.status == "RETRACTED":
                ran.discard(event.claim.id)
        elif isinstance(event, ev.ChallengeRecorded) and event.challenge.ran:
            if status.get(event.challenge.target_id, "RETRACTED") != "RETRACTED":
                ran.add(event.challenge.target_id)
        else:
            continue
        yield _Moment(x, counted.copy(), len(ran))
    if status:
        yield _Moment(course.end, counted.copy(), len(ran))


def _thinned(moments: Sequence[_Moment], end: float) -> list[_Moment]:
    """Of moments that fall on the same dot of the picture the last, and the very first."""
    if not moments:
        return []
    dots = {round(moment.x / end * POINTS) if end else 0: moment for moment in moments}
    kept = list(dots.values())
    return kept if kept[0] is moments[0] else [moments[0], *kept]


def _chart(rows: Rows, axis: str) -> Chart:
    words = [CLAIM_WORDS[key] for key in _ORDER]
    shown = [word for word in words if any(row["claims"] for row in rows if row["status"] == word)]
    area = (
        alt.Chart(data([row for row in rows if row["status"] in shown]))
        .mark_area(interpolate="step-after", stroke="white", strokeWidth=0.6)
        .encode(
            alt.X("x:Q", title=axis, scale=alt.Scale(nice=False), axis=alt.Axis(grid=False, tickCount=8)),
            alt.Y("claims:Q", title="claims (number)", axis=alt.Axis(format=",d", tickMinStep=1)),
            alt.Color(
                "status:N",
                scale=colours(CLAIM_LOOKS, shown),
                title=None,
                legend=alt.Legend(orient="top", symbolType="square", symbolSize=140),
            ),
            order="order:Q",
        )
    )
    checked = [row for row in rows if row["status"] == CHALLENGED]
    line = (
        alt.Chart(data(checked))
        .mark_line(interpolate="step-after", color=DARK, strokeDash=[5, 3], strokeWidth=1.8)
        .encode(x="x:Q", y="claims:Q")
    )
    note = (
        alt.Chart(data([{**checked[-1], "text": f"{checked[-1]['claims']:,} challenged"}]))
        .mark_text(align="left", baseline="middle", dx=6, fontSize=11.5, color=INK)
        .encode(x="x:Q", y="claims:Q", text="text:N")
    )
    return alt.layer(area, line, note).properties(width=WIDTH, height=260)
