"""The questions of a run as a tree, each with its status and how far its claims were checked."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

import altair as alt

from researchdesk.evals.plots.plot import Chart, Plot, Rows
from researchdesk.evals.plots.style import (
    INK,
    LINE,
    QUESTION_LOOKS,
    QUIET,
    colours,
    data,
    finished,
    isolated,
    nothing,
    shapes,
    told,
)
from researchdesk.evals.plots.subjects import Subject, one
from researchdesk.graph.words import QUESTION_WORDS
from researchdesk.state.frontier import ROOT, Frontier
from researchdesk.state.investigation import Investigation
from researchdesk.state.investigation_views import Checked, checked_with_parts
from researchdesk.state.questions import Question

ROWS: Final = 80
_STEP, _ROW, _WIDTH, _ASIDE = 24, 24, 1_000, 640


def plot_frontier(subject: Subject, *, rows: int = ROWS) -> Plot:
    """The tree of questions.

    Args:
        rows: how many lines it may have; what lies deeper is counted behind the question that it is part of.
    """
    session = one(subject)
    held = session.investigation
    total = len(held.frontier.questions)
    title = f"Questions · {session.id}"
    if not total:
        return nothing(title=title, lines=(), why="No question has been asked yet.")
    shown = _rows(held, max(rows, 2))
    hidden = total - sum(bool(row["id"]) for row in shown)
    lines = (
        f"{total:,} question{'' if total == 1 else 's'}: {_counted(held.frontier)}.",
        f"{hidden:,} of them are only counted, behind the question that they are part of." if hidden else "",
        "Right: searches made for a question; claims of it and of the questions under it, how many of them were "
        "challenged, how many are verified.",
    )
    return finished(_chart(shown), title=title, lines=lines, rows=shown)


def _counted(frontier: Frontier) -> str:
    found = Counter(question.status for question in frontier)
    return ", ".join(f"{found[status]:,} {word}" for status, word in QUESTION_WORDS.items() if found[status])


def _rows(held: Investigation, limit: int) -> Rows:
    """A row for each question that is shown, in the order of the tree."""
    frontier, covered = held.frontier, checked_with_parts(held)
    tree = (frontier.root, *frontier.descendants(ROOT))
    deepest = _deepest(tree, limit)
    shown = [question for question in tree if question.depth <= deepest]
    cut = shown[: limit - 1] if len(shown) > limit else shown
    rows = [
        {
            "id": question.id,
            "parent": question.parent_id,
            "place": place,
            "depth": question.depth,
            "status": QUESTION_WORDS[question.status],
            "text": f"{question.id}  {isolated(question.text)}",
            "aside": _aside(frontier, question, covered[question.id], deepest=deepest),
            "tip": _tip(frontier, question, deepest=deepest),
        }
        for place, question in enumerate(cut)
    ]
    if len(cut) < len(shown):
        rows.append(_rest(len(shown) - len(cut), place=len(cut)))
    return rows


def _deepest(tree: Sequence[Question], limit: int) -> int:
    """The deepest level that is shown: the first below the objective, and those that fit."""
    deepest = max(question.depth for question in tree)
    while deepest > 1 and sum(question.depth <= deepest for question in tree) > limit:
        deepest -= 1
    return deepest


def _rest(count: int, *, place: int) -> dict[str, object]:
    text = f"and {count} more question{'' if count == 1 else 's'}"
    empty = dict.fromkeys(("id", "parent", "aside"), "")
    return {**empty, "place": place, "depth": 1, "status": "", "text": text, "tip": text}


def _aside(frontier: Frontier, question: Question, checked: Checked, *, deepest: int) -> str:
    searches = sum(attempt.kind != "fetch" for attempt in frontier.tried(question.id))
    parts = [f"{searches:,} search{'' if searches == 1 else 'es'}"]
    if checked.total:
        claims = f"{checked.total:,} claim{'' if checked.total == 1 else 's'}"
        parts.append(f"{claims}: {checked.challenged:,} challenged, {checked.verified:,} verified")
    if question.status in ("pending", "blocked") and (waits := frontier.waits_for(question)):
        parts.append(f"waits for {', '.join(other.id for other in waits)}")
    if question.depth == deepest and (hidden := sum(1 for _ in frontier.descendants(question.id))):
        parts.append(f"{hidden:,} below")
    return told(" · ".join(parts))


def _tip(frontier: Frontier, question: Question, *, deepest: int) -> str:
    ending = question.answer or question.assumption
    parts = [f"{question.id}, {QUESTION_WORDS[question.status]}: {question.text}", ending]
    if question.depth == deepest:
        under = Counter(other.status for other in frontier.descendants(question.id))
        below = ", ".join(f"{under[key]:,} {word}" for key, word in QUESTION_WORDS.items() if under[key])
        parts.append(f"below: {below}" if below else "")
    return told(" – ".join(filter(None, parts)), 500)


def _chart(rows: Rows) -> Chart:
    looks = [row["status"] for row in rows if row["status"]]
    across = alt.X("depth:Q", axis=None, scale=alt.Scale(domain=[-0.4, _WIDTH / _STEP - 0.4], nice=False))
    down = alt.Y(
        "place:Q", axis=None, scale=alt.Scale(domain=[-0.7, len(rows) - 0.3], nice=False, reverse=True)
    )
    base = alt.Chart(data(rows)).encode(across, down, description="tip:N")
    links = (
        alt.Chart(data(list(_links(rows))))
        .mark_rule(color=LINE, strokeWidth=1)
        .encode(across, down, x2="to_depth:Q", y2="to_place:Q")
    )
    marks = (
        base.transform_filter("datum.id != ''")
        .mark_point(filled=True, size=110, opacity=1, strokeWidth=2.5)
        .encode(
            color=alt.Color("status:N", scale=colours(QUESTION_LOOKS, looks), title=None, legend=_legend()),
            shape=alt.Shape("status:N", scale=shapes(QUESTION_LOOKS, looks), title=None),
        )
    )
    room = alt.ExprRef(f"{_ASIDE - 26} - {_STEP} * datum.depth")
    words = base.mark_text(align="left", baseline="middle", dx=11, fontSize=12, color=INK, limit=room)
    aside = base.mark_text(align="left", baseline="middle", fontSize=11, color=QUIET, limit=_WIDTH - _ASIDE)
    layers = (links, marks, words.encode(text="text:N"), aside.encode(text="aside:N", x=alt.value(_ASIDE)))
    return alt.layer(*layers).properties(width=_WIDTH, height=_ROW * len(rows) + 8)


def _legend() -> alt.Legend:
    return alt.Legend(orient="top", direction="horizontal", symbolSize=90, offset=4)


def _links(rows: Rows) -> Iterator[dict[str, float]]:
    """The lines of the tree: down from each parent to its last part, and across to each."""
    places = {row["id"]: row for row in rows if row["id"]}
    last: dict[str, int] = {}
    for row in rows:
        parent = places.get(row["parent"])
        if parent is not None:
            last[parent["id"]] = row["place"]
            yield _segment(parent["depth"], row["place"], row["depth"], row["place"])
    for key, place in last.items():
        parent = places[key]
        yield _segment(parent["depth"], parent["place"], parent["depth"], place)


def _segment(depth: float, place: float, to_depth: float, to_place: float) -> dict[str, float]:
    return {"depth": depth, "place": place, "to_depth": to_depth, "to_place": to_place}
