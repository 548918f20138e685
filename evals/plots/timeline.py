"""What a run did when: each request to the model and each call, by tool and by the question that it was for."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

import altair as alt

from researchdesk.evals.plots.plot import Chart, Plot, Rows
from researchdesk.evals.plots.style import (
    BLUE,
    INK,
    ORANGE,
    QUIET,
    RED,
    WIDTH,
    colours,
    data,
    finished,
    nothing,
    shapes,
    told,
)
from researchdesk.evals.plots.subjects import By, Course, Subject, one
from researchdesk.graph.words import STAGE_WORDS
from researchdesk.state import events as ev
from researchdesk.state.frontier import Frontier, place

CALLS: Final = 1_500
BINS: Final = 90
TOOLS: Final = 30
QUESTIONS: Final = 40
_MODEL: Final = "(model asked)"
_LOOKS: Final = {
    "done": (BLUE, "circle"),
    "refused": (RED, "cross"),
    "waits for a person": (ORANGE, "square"),
}
_OFFSETS: Final = {"done": -3, "refused": 4, "waits for a person": 4}
_WORDS: Final = {"success": "done", "error": "refused", "pending": "waits for a person"}
_BANDS: Final = ("#eef3f7", "#f7f1e6", "#eef5ee")


def plot_timeline(subject: Subject, *, by: By = "time") -> Plot:
    """Requests and calls along the run: above by tool, below by the question that was worked on.

    Args:
        by: ``time``, or ``events`` for the number of the event: pauses take no room, and the same run looks the same.
    """
    session = one(subject)
    course = Course(session, by)
    told_of = _Following(course)
    title = f"Timeline · {session.id}"
    if not told_of.calls:
        return nothing(title=title, lines=(), why="No tool has been called yet.")
    calls = told_of.calls
    counted = Counter(row["outcome"] for row in calls)
    lines = (
        f"{len(calls):,} calls: {', '.join(f'{counted[word]:,} {word}' for word in _LOOKS if counted[word])}; "
        f"{len(told_of.requests):,} requests to a model.",
        f"There are too many calls to show each: a mark stands for all within 1/{BINS} of the run, its area grows with "
        "their number."
        if len(calls) > CALLS
        else "A mark is a call, when it was recorded.",
        "Refused: the call broke a rule or could not be done; the model was told why."
        if counted["refused"]
        else "",
    )
    return finished(_chart(told_of, course), title=title, lines=lines, rows=calls)


class _Following:
    """The calls, requests and stages of a course, each call with the question that was worked on."""

    def __init__(self, course: Course) -> None:
        self.calls: Rows = []
        self.requests: Rows = []
        self.stages: Rows = []
        self.questions: dict[str, str] = {}
        frontier, asked = Frontier(), 0.0
        for x, event in course.events:
            match event:
                case ev.QuestionRecorded():
                    frontier = place(frontier, event.question)
                    self.questions[event.question.id] = (
                        f"{event.question.id} {told(event.question.text, 120)}"
                    )
                case ev.ModelCalled():
                    asked = x
                    self._enter(event.stage, x)
                case ev.ModelAnswered() | ev.ModelFailed():
                    self.requests.append(
                        {"x": asked, "end": x, "lane": _MODEL, "tip": f"request {event.ordinal}"}
                    )
                case ev.CallRecorded():
                    question = frontier.working_id if frontier.questions else ""
                    self.calls.append(_call(x, event, question))
                case _:
                    pass
        if self.stages:
            self.stages[-1]["end"] = course.end

    def _enter(self, stage: str, x: float) -> None:
        word = STAGE_WORDS.get(stage, stage)
        if self.stages and self.stages[-1]["stage"] == word:
            return
        if self.stages:
            self.stages[-1]["end"] = x
        self.stages.append({"x": x, "end": x, "stage": word, "band": _BANDS[len(self.stages) % len(_BANDS)]})


def _call(x: float, event: ev.CallRecorded, question: str) -> dict[str, object]:
    word = _WORDS[event.status]
    about = f" {event.entity_id}" if event.entity_id else ""
    why = f" ({event.code})" if event.code else ""
    tip = told(f"{event.name}{about}: {word}{why}" + (f", for {question}" if question else ""))
    return {
        "x": x,
        "tool": told(event.name, 60),
        "question": question,
        "outcome": word,
        "calls": 1,
        "tip": tip,
    }


def _chart(found: _Following, course: Course) -> Chart:
    tools = _lanes(found.calls, "tool", TOOLS, "other tools")
    named = [row | {"lane": row["tool"] if row["tool"] in tools else "other tools"} for row in found.calls]
    above = _panel(
        found,
        _binned(named, course.end),
        course,
        lanes=([_MODEL] if found.requests else []) + tools,
        name="by tool",
    )
    asked = [row | {"lane": row["question"]} for row in found.calls if row["question"]]
    if not asked:
        return above
    lanes = _lanes(asked, "question", QUESTIONS, "other questions")
    texts = {**found.questions, "other questions": "other questions"}
    for row in asked:
        row["lane"] = texts[row["question"] if row["question"] in lanes else "other questions"]
    below = _panel(
        found,
        _binned(asked, course.end),
        course,
        lanes=[
            texts[key] for key in sorted(lanes, key=lambda key: (key == "other questions", len(key), key))
        ],
        name="by question that was worked on",
        requests=False,
    )
    return alt.vconcat(above, below, spacing=22)


def _lanes(rows: Rows, key: str, limit: int, others: str) -> list[str]:
    """The names with most calls in the order in which they first occur, and one name for all others."""
    counted = Counter(row[key] for row in rows)
    kept = {name for name, _ in counted.most_common(limit)}
    lanes = [name for name in dict.fromkeys(row[key] for row in rows) if name in kept]
    return [*lanes, others] if len(counted) > limit else lanes


def _binned(rows: Rows, end: float) -> Rows:
    """The rows, or where they are too many one for all that fall on the same place of a lane."""
    if len(rows) <= CALLS or not end:
        return rows
    found: dict[tuple[int, str, str], dict[str, object]] = {}
    counted: Counter[tuple[int, str, str]] = Counter()
    for row in rows:
        key = (round(row["x"] / end * BINS), row["lane"], row["outcome"])
        counted[key] += 1
        found[key] = {**row, "x": key[0] * end / BINS}
    return [
        {**row, "calls": counted[key], "tip": f"{counted[key]} calls {key[2]}: {key[1]}"}
        for key, row in found.items()
    ]


def _panel(
    found: _Following, rows: Rows, course: Course, *, lanes: Sequence[str], name: str, requests: bool = True
) -> Chart:
    looks = [word for word in _LOOKS if any(row["outcome"] == word for row in found.calls)]
    across = alt.X(
        "x:Q",
        title=course.title,
        scale=alt.Scale(domain=[0, course.end or 1], nice=False, padding=6),
        axis=alt.Axis(grid=False, tickCount=8),
    )
    down = alt.Y(
        "lane:N",
        title=None,
        scale=alt.Scale(domain=list(lanes)),
        axis=alt.Axis(labelLimit=300, ticks=False, grid=True),
    )
    most = max(row["calls"] for row in rows)
    size = (
        alt.value(42)
        if most == 1
        else alt.Size("calls:Q", scale=alt.Scale(domainMin=0, range=[8, 64]), legend=None)
    )
    marks = [
        alt.Chart(data([row for row in rows if row["outcome"] == word]))
        .mark_point(
            filled=True, opacity=0.75, strokeWidth=1.5, yOffset=_OFFSETS[word] if len(looks) > 1 else 0
        )
        .encode(
            across,
            down,
            color=alt.Color(
                "outcome:N",
                title=None,
                scale=colours(_LOOKS, looks),
                legend=alt.Legend(orient="top", symbolSize=80),
            ),
            shape=alt.Shape("outcome:N", title=None, scale=shapes(_LOOKS, looks)),
            size=size,
            description="tip:N",
        )
        for word in looks
    ]
    layers = [_bands(found.stages), *marks]
    if requests and found.requests:
        layers.insert(1, _requests(found.requests))
    if requests and found.stages:
        layers.append(_stage_names(found.stages))
    heading = alt.TitleParams(
        text=name, anchor="start", frame="group", fontSize=12, fontWeight="bold", offset=18 if requests else 8
    )
    return alt.layer(*layers).properties(width=WIDTH, height=alt.Step(19), title=heading)


def _bands(stages: Rows) -> Chart:
    return (
        alt.Chart(data(stages))
        .mark_rect(opacity=1)
        .encode(
            x="x:Q", x2="end:Q", color=alt.Color("band:N", scale=None), y=alt.value(0), y2=alt.value("height")
        )
    )


def _stage_names(stages: Rows) -> Chart:
    return (
        alt.Chart(data(stages))
        .mark_text(align="left", baseline="bottom", dx=3, dy=-3, fontSize=11, color=QUIET)
        .encode(x="x:Q", y=alt.value(0), text="stage:N")
    )


def _requests(requests: Rows) -> Chart:
    return (
        alt.Chart(data(requests))
        .mark_bar(height=9, color=INK, opacity=0.8, minBandSize=1)
        .encode(x="x:Q", x2="end:Q", y=alt.Y("lane:N"), description="tip:N")
    )
