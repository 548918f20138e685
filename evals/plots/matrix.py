"""Publishers against questions: how many quotations of each speak for or against the claims of each question."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

import altair as alt

from researchdesk.evals.plots.plot import Chart, Rows
from researchdesk.evals.plots.style import BLUE, GREY, RED, data, isolated, told
from researchdesk.graph.words import CLAIM_WORDS
from researchdesk.state.claims import Claim
from researchdesk.state.frontier import ROOT
from researchdesk.state.investigation import Investigation

SIDE: Final = 30
_OTHERS: Final = "other publishers"
#: Colour, shape and place in its cell of each stance.
_STANCES: Final = {
    "supports": (BLUE, "circle", -9),
    "refutes": (RED, "cross", 9),
    "mentions": (GREY, "diamond", 0),
}


def matrix_rows(held: Investigation, claims: Sequence[Claim]) -> Rows:
    """A row for each publisher, question and stance with quotations: the `SIDE` most quoted publishers, and the others.

    Where there are more questions than `SIDE`, those that are parts of another stand under it.
    """
    sources = held.notes.sources
    origins = {key: told(source.origin or "no publisher", 60) for key, source in sources.items()}
    quoted = Counter(origins.get(link.source_id, _OTHERS) for claim in claims for link in claim.links)
    ranked = [name for name, _ in quoted.most_common(SIDE)]
    rows: Rows = []
    for key, members in _by_question(held, claims).items():
        counted = Counter(
            (name if (name := origins.get(link.source_id, "")) in ranked else _OTHERS, link.stance)
            for claim in members
            for link in claim.links
        )
        for (name, stance), number in counted.items():
            rows.append(
                {
                    "question": _question_text(held, key, members),
                    "publisher": name,
                    "stance": stance,
                    "quotations": number,
                    "rank": ranked.index(name) if name in ranked else len(ranked),
                    "tip": f"{name} {stance} claims of {key}: {number:,} quotations",
                }
            )
    return rows


def _question_text(held: Investigation, key: str, claims: Sequence[Claim]) -> str:
    counted = Counter(claim.status for claim in claims)
    parts = ", ".join(
        f"{counted[status]:,} {word}" for status, word in CLAIM_WORDS.items() if counted[status]
    )
    return f"{key} {isolated(held.frontier.questions[key].text, 48)}  ({parts})"


def _by_question(held: Investigation, claims: Sequence[Claim]) -> dict[str, list[Claim]]:
    """The claims by question, in the order of the tree; parts of a question stand under it where there are too many."""
    frontier = held.frontier
    tree = [frontier.root, *frontier.descendants(ROOT)]
    above = {question.id: (question.parent_id, question.depth) for question in tree}
    own = [claim.question_id or ROOT for claim in claims]
    deepest = max(depth for _, depth in above.values())
    while deepest > 1 and len({_at_depth(key, above, deepest) for key in own}) > SIDE:
        deepest -= 1
    found: dict[str, list[Claim]] = {question.id: [] for question in tree}
    for key, claim in zip(own, claims, strict=True):
        found[_at_depth(key, above, deepest)].append(claim)
    return {key: members for key, members in found.items() if members}


def _at_depth(key: str, above: Mapping[str, tuple[str, int]], deepest: int) -> str:
    """The question, or the one above it that is no deeper than that."""
    while above[key][1] > deepest:
        key = above[key][0]
    return key


def matrix_chart(rows: Rows) -> Chart:
    """The rows as marks in cells, whose area grows with the number of quotations."""
    questions = list(dict.fromkeys(row["question"] for row in rows))
    publishers = list(dict.fromkeys(row["publisher"] for row in sorted(rows, key=lambda row: row["rank"])))
    stances = [stance for stance in _STANCES if any(row["stance"] == stance for row in rows)]
    return alt.layer(
        *(_marks(rows, stance, stances, questions, publishers) for stance in stances)
    ).properties(width=alt.Step(46), height=alt.Step(30))


def _marks(
    rows: Rows, stance: str, stances: Sequence[str], questions: Sequence[str], publishers: Sequence[str]
) -> Any:
    grid: dict[str, Any] = {"grid": True, "domain": False, "ticks": False}
    across = alt.X(
        "publisher:N",
        title="publisher",
        scale=alt.Scale(domain=list(publishers)),
        axis=alt.Axis(orient="top", labelAngle=-40, labelLimit=160, **grid),
    )
    down = alt.Y(
        "question:N",
        title="question (claims of it and of those under it)",
        scale=alt.Scale(domain=list(questions)),
        axis=alt.Axis(labelLimit=700, titleAngle=0, titleAlign="right", titleX=-4, titleY=-14, **grid),
    )
    names = list(stances)
    colours = alt.Scale(domain=names, range=[_STANCES[name][0] for name in names])
    shapes = alt.Scale(domain=names, range=[_STANCES[name][1] for name in names])
    return (
        alt.Chart(data([row for row in rows if row["stance"] == stance]))
        .mark_point(filled=True, opacity=0.85, xOffset=_STANCES[stance][2] if len(names) > 1 else 0)
        .encode(
            across,
            down,
            color=alt.Color("stance:N", title="quotations", scale=colours),
            shape=alt.Shape("stance:N", title="quotations", scale=shapes),
            size=alt.Size(
                "quotations:Q",
                title="their number",
                scale=alt.Scale(domainMin=0, range=[10, 220]),
                legend=alt.Legend(tickCount=3, format=",d"),
            ),
            description="tip:N",
        )
    )
