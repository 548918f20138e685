"""Which source speaks for or against which claim: sources by their publisher on the left, claims on the right."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import altair as alt

from researchdesk.evals.plots.matrix import matrix_chart, matrix_rows
from researchdesk.evals.plots.plot import Chart, Plot, Rows
from researchdesk.evals.plots.style import (
    BLUE,
    CLAIM_LOOKS,
    DARK,
    GREY,
    INK,
    ORANGE,
    RED,
    colours,
    data,
    finished,
    isolated,
    nothing,
    shapes,
    told,
)
from researchdesk.evals.plots.subjects import Subject, one
from researchdesk.graph.words import CLAIM_WORDS, file_name
from researchdesk.state.claims import Claim, Source

SINGLE: Final = 60
_WIDTH, _LEFT, _RIGHT, _ROW = 1_040, 300, 520, 22
_COLOURS: Final = (BLUE, ORANGE, "#cc79a7", "#56b4e9", "#7a5c00", "#6a51a3", DARK)
_OTHERS: Final = "other publishers"
#: Dashes and opacity of each stance, the strongest last: it lies on top.
_STANCES: Final[Mapping[str, tuple[Sequence[float], float]]] = {
    "mentions": ((1.5, 3), 0.6),
    "supports": ((1, 0), 0.6),
    "refutes": ((6, 3), 1.0),
}


def plot_sources(subject: Subject, *, single: int = SINGLE) -> Plot:
    """Sources, claims and the quotations that link them.

    Args:
        single: up to how many of each are drawn one by one; where there are more, quotations are counted by
            publisher and question.
    """
    session = one(subject)
    held = session.investigation
    claims = list(held.notes.all_claims)
    title = f"Sources and claims · {session.id}"
    if not claims:
        return nothing(title=title, lines=(), why="No claim has been noted yet.")
    linked = {link.source_id for claim in claims for link in claim.links}
    silent = sum(key not in linked for key in held.notes.sources)
    count = (
        f"{len(claims):,} claim{'' if len(claims) == 1 else 's'}; sources quoted for or against them: {len(linked):,}"
        + (f", archived but not quoted: {silent:,}." if silent else ".")
    )
    if max(len(claims), len(linked)) > single:
        how = (
            "There are too many to draw each: a mark counts the quotations of a publisher for (circle) or against "
            "(cross) the claims of a question and of those under it."
        )
        rows = matrix_rows(held, claims)
        if not rows:
            return nothing(title=title, lines=(count,), why="No claim is linked to a source yet.")
        return finished(matrix_chart(rows), title=title, lines=(count, how), rows=rows)
    how = (
        "A line is a quotation that supports the claim (solid, in its publisher's colour), refutes it (dashed, red) or "
        "mentions it (dotted)."
    )
    graph = _graph(held.notes.sources, claims)
    return finished(_chart(graph), title=title, lines=(count, how), rows=graph.rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Graph:
    """Nodes of both sides and the lines between them, each with its height; the colour of each publisher by name."""

    sources: Rows
    claims: Rows
    links: Rows
    colours: Mapping[str, str]

    @property
    def height(self) -> int:
        """Rows that the larger side takes."""
        return max(len(self.sources), len(self.claims))

    @property
    def rows(self) -> Rows:
        """All of it."""
        return [*self.sources, *self.claims, *self.links]


def _graph(sources: Mapping[str, Source], claims: Sequence[Claim]) -> _Graph:
    """Sources of one publisher beside each other, the most quoted publisher first; claims near their sources."""
    quoted = Counter(_publisher(sources.get(link.source_id)) for claim in claims for link in claim.links)
    ranked = [name for name, _ in quoted.most_common()]
    palette = dict(zip(ranked, _COLOURS, strict=False))
    keys = sorted(
        {link.source_id for claim in claims for link in claim.links},
        key=lambda key: (ranked.index(_publisher(sources.get(key))), len(key), key),
    )
    order = {key: place for place, key in enumerate(keys)}
    left = [_source_node(key, sources.get(key), palette) for key in keys]
    right = [_claim_node(claim) for claim in sorted(claims, key=lambda claim: _middle(claim, order))]
    places = _placed(left, right)
    shown = {name: palette.get(name, GREY) for name in dict.fromkeys(node["publisher"] for node in left)}
    links = [
        {
            "from": link.source_id,
            "to": claim.id,
            "stance": link.stance,
            "y": places[link.source_id],
            "to_y": places[claim.id],
            "colour": RED if link.stance == "refutes" else shown[left[order[link.source_id]]["publisher"]],
            "tip": told(f"{link.source_id} {link.stance} {claim.id}: “{link.quote}”"),
        }
        for claim in claims
        for link in claim.links
    ]
    return _Graph(sources=left, claims=right, links=links, colours=shown)


def _placed(left: Rows, right: Rows) -> dict[str, float]:
    """Give each node its height, the smaller side spread over the larger; returns the heights by id."""
    rows = max(len(left), len(right))
    for side in (left, right):
        for place, node in enumerate(side):
            node["y"] = (place + 0.5) * rows / len(side)
    return {node["id"]: node["y"] for node in (*left, *right)}


def _middle(claim: Claim, order: Mapping[str, int]) -> tuple[float, str]:
    """Where the sources of a claim lie, so that lines cross less."""
    places = [order[link.source_id] for link in claim.links]
    return (sum(places) / len(places) if places else float(len(order)), claim.id)


def _publisher(source: Source | None) -> str:
    return told(source.origin, 60) if source and source.origin else "no publisher"


def _source_node(key: str, source: Source | None, palette: Mapping[str, str]) -> dict[str, Any]:
    name = _publisher(source)
    title = told((source.title or file_name(source.url) if source else "") or "untitled", 120)
    uncounted = "" if source and source.counts else ", counts for nothing"
    return {
        "id": key,
        "text": f"{key}  {isolated(title)}",
        "publisher": name if name in palette else _OTHERS,
        "tip": told(f"{key} {title} ({name}){uncounted}"),
    }


def _claim_node(claim: Claim) -> dict[str, Any]:
    word = CLAIM_WORDS[claim.status]
    return {
        "id": claim.id,
        "text": f"{claim.id}  {isolated(claim.text)}",
        "status": word,
        "tip": told(f"{claim.id}, {word}: {claim.text}"),
    }


def _chart(graph: _Graph) -> Chart:
    statuses = [word for word in CLAIM_LOOKS if any(node["status"] == word for node in graph.claims)]
    left = _base(graph.sources, graph.height, _LEFT)
    right = _base(graph.claims, graph.height, _RIGHT)
    publisher = alt.Color(
        "publisher:N",
        title="publisher",
        scale=alt.Scale(domain=list(graph.colours), range=list(graph.colours.values())),
        legend=alt.Legend(orient="top", columns=4, symbolType="square", symbolOpacity=1, labelLimit=220),
    )
    status = alt.Fill(
        "status:N",
        title="claim",
        scale=colours(CLAIM_LOOKS, statuses),
        legend=alt.Legend(orient="bottom", columns=4),
    )
    text: dict[str, Any] = {"baseline": "middle", "fontSize": 11.5, "color": INK}
    layers = (
        *_lines(graph.links, graph.height),
        left.mark_point(shape="square", filled=True, size=90, opacity=1).encode(color=publisher),
        left.mark_text(align="right", dx=-11, limit=_LEFT - 20, **text).encode(text="text:N"),
        right.mark_point(filled=True, size=110, opacity=1, strokeWidth=2, stroke=DARK).encode(
            fill=status, shape=alt.Shape("status:N", title="claim", scale=shapes(CLAIM_LOOKS, statuses))
        ),
        right.mark_text(align="left", dx=12, limit=_WIDTH - _RIGHT - 16, **text).encode(text="text:N"),
    )
    return alt.layer(*layers).properties(width=_WIDTH, height=max(graph.height, 3) * _ROW)


def _base(nodes: Rows, height: int, x: int) -> Chart:
    return alt.Chart(data(nodes)).encode(y=_down(height), x=alt.value(x), description="tip:N")


def _down(height: int) -> alt.Y:
    return alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[0, height], nice=False, reverse=True))


def _lines(links: Rows, height: int) -> Iterator[Chart]:
    """A layer of lines for each stance."""
    for stance, (dashes, opacity) in _STANCES.items():
        of = [link for link in links if link["stance"] == stance]
        yield (
            alt.Chart(data(of))
            .mark_rule(strokeDash=list(dashes), opacity=opacity, strokeWidth=1.6)
            .encode(
                y=_down(height),
                y2="to_y:Q",
                x=alt.value(_LEFT + 8),
                x2=alt.value(_RIGHT - 9),
                color=alt.Color("colour:N", scale=None),
                description="tip:N",
            )
        )
