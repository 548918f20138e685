"""How plots look: colours that colour-blind people tell apart, with a shape or a shade beside each, and captions."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import altair as alt

from researchdesk.evals.plots.plot import Plot, Rows
from researchdesk.graph.words import CLAIM_WORDS, QUESTION_WORDS
from researchdesk.state.desk.labels import label

WIDTH: Final = 760
INK: Final = "#1d2126"
QUIET: Final = "#5c6670"
LINE: Final = "#b8c0c7"
BLUE, ORANGE, GREEN, RED, GREY, PALE, DARK = (
    *("#0072b2", "#d98200", "#009e73", "#c0390b", "#8a949c", "#cfd8dc"),
    "#1f2933",
)
FONT: Final = (
    "system-ui, 'Segoe UI', Helvetica, Arial, 'Noto Sans', 'Noto Sans CJK SC', 'DejaVu Sans', sans-serif"
)
TEXT_CHARS: Final = 240

#: Colour and shape of each status, by the word for it.
QUESTION_LOOKS: Final[Mapping[str, tuple[str, str]]] = {
    QUESTION_WORDS["resolved"]: (GREEN, "circle"),
    QUESTION_WORDS["in_progress"]: (BLUE, "triangle-right"),
    QUESTION_WORDS["pending"]: (GREY, "diamond"),
    QUESTION_WORDS["blocked"]: (ORANGE, "square"),
    QUESTION_WORDS["unresolvable"]: (RED, "cross"),
    QUESTION_WORDS["pruned"]: (DARK, "triangle-down"),
}
CLAIM_LOOKS: Final[Mapping[str, tuple[str, str]]] = {
    CLAIM_WORDS["VERIFIED"]: (GREEN, "circle"),
    CLAIM_WORDS["UNVERIFIED"]: (PALE, "diamond"),
    CLAIM_WORDS["REFUTED"]: (RED, "cross"),
    CLAIM_WORDS["RETRACTED"]: (DARK, "triangle-down"),
}


def colours(looks: Mapping[str, tuple[str, str]], among: Sequence[str] = ()) -> alt.Scale:
    """The colour of each status, of those that occur where some are named."""
    shown = {word: look for word, look in looks.items() if not among or word in among}
    return alt.Scale(domain=list(shown), range=[colour for colour, _ in shown.values()])


def shapes(looks: Mapping[str, tuple[str, str]], among: Sequence[str] = ()) -> alt.Scale:
    """The shape of each status, as `colours`."""
    shown = {word: look for word, look in looks.items() if not among or word in among}
    return alt.Scale(domain=list(shown), range=[shape for _, shape in shown.values()])


def told(text: str, limit: int = TEXT_CHARS) -> str:
    """A text from outside as it may stand in a picture: on one line, printable and cut; its letters stay joined."""
    return label(text, limit)


def isolated(text: str, limit: int = TEXT_CHARS) -> str:
    """As `told`, so that a text that runs from right to left does not take with it what stands before and after."""
    return f"\u2068{told(text, limit)}\u2069"


def data(rows: Rows) -> alt.InlineData:
    """Rows as the data of a chart; they stand in it, nothing is loaded."""
    return alt.InlineData(values=rows)


def finished(chart: Any, *, title: str, lines: Sequence[str], rows: Rows) -> Plot:
    """The plot of a chart under its title, with lines that say what is counted."""
    under = [told(line, 400) for line in lines if line]
    heading = alt.TitleParams(
        text=told(title), subtitle=under, anchor="start", frame="bounds", limit=WIDTH + 140, offset=14
    )
    caption = "\n".join((told(title), *under))
    shown = (
        chart.properties(title=heading, description=caption, background="white", padding=12)
        .configure(font=FONT)
        .configure_title(
            color=INK, fontSize=15, subtitleColor=QUIET, subtitleFontSize=11.5, subtitleLineHeight=15
        )
        .configure_axis(
            labelColor=INK,
            titleColor=QUIET,
            titleFontWeight="normal",
            labelFontSize=11,
            titleFontSize=11.5,
            gridColor="#e8ebed",
            domainColor=LINE,
            tickColor=LINE,
        )
        .configure_legend(labelColor=INK, titleColor=QUIET, titleFontWeight="normal", labelFontSize=11)
        .configure_view(stroke=None)
    )
    return Plot(chart=shown, rows=rows, caption=caption)


def nothing(*, title: str, lines: Sequence[str], why: str) -> Plot:
    """A plot of nothing, which says why."""
    note = alt.Chart(data([{"why": told(why)}])).mark_text(
        align="left", baseline="middle", fontSize=13, color=QUIET, limit=WIDTH
    )
    shown = note.encode(text="why:N", x=alt.value(0), y=alt.value(20)).properties(width=WIDTH, height=40)
    return finished(shown, title=title, lines=lines, rows=[])
