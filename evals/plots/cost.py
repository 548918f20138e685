"""Tokens and money of runs, by stage and by the tools that the answers called."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import altair as alt

from researchdesk.evals.plots.plot import Chart, Plot, Rows
from researchdesk.evals.plots.style import BLUE, INK, ORANGE, PALE, WIDTH, data, finished, nothing, told
from researchdesk.evals.plots.subjects import Subjects, forked_from, several
from researchdesk.graph.costs import dollars, money_text
from researchdesk.graph.words import STAGE_WORDS
from researchdesk.state.usage import Spending, Usage, usage_view

TOOLS: Final = 15
_PARTS: Final = {"prompts, cached": PALE, "prompts": BLUE, "answers": ORANGE}


def plot_cost(subjects: Subjects) -> Plot:
    """The tokens of one run by stage and by tool, or of several runs, a bar each.

    A fork has those of the requests that it made itself.
    """
    own = {session.id: (session, session.own_spending) for session in several(subjects)}
    spent = {name: spending for name, (_, spending) in own.items() if spending.total.calls}
    if not spent:
        return nothing(title="Tokens", lines=(), why="No model has been asked yet.")
    is_one = len(spent) == 1
    title = f"Tokens · {next(iter(spent))}" if is_one else f"Tokens of {len(spent)} runs"
    groups = _of_one(*spent.values()) if is_one else _of_several(spent)
    rows = [row for _, bars in groups for row in bars]
    forks = any(forked_from(own[name][0]) for name in spent)
    lines = (
        _total(list(spent.values())),
        "Prompts and answers of all requests, as the provider counted them or else as estimated."
        + (" What a fork copied counts where it was spent." if forks else ""),
        "By tool: each request is put down to the calls that its answer made, so both ways add up to the same."
        if is_one
        else "",
    )
    parts = [_bars(name, bars) for name, bars in groups]
    chart = alt.vconcat(*parts, spacing=26).resolve_scale(x="independent")
    return finished(chart, title=title, lines=lines, rows=rows)


def _of_one(spent: Spending) -> list[tuple[str, Rows]]:
    stages = {STAGE_WORDS.get(name, name): usage for name, usage in spent.by_stage().items()}
    return [("stage", _rows(stages)), ("tool", _rows(_tools(spent)))]


def _tools(spent: Spending) -> dict[str, Usage]:
    """The tools with most tokens, most first, and the sum of the others."""
    named = {name or "no tool": usage for name, usage in spent.by_tool.items()}
    ranked = sorted(named, key=lambda name: (-named[name].tokens, name))
    shown = {name: named[name] for name in ranked[:TOOLS]}
    rest = [named[name] for name in ranked[TOOLS:]]
    return {**shown, f"{len(rest)} other tools": sum(rest, Usage())} if rest else shown


def _of_several(spent: Mapping[str, Spending]) -> list[tuple[str, Rows]]:
    return [("run", _rows({name: spending.total for name, spending in spent.items()}))]


def _rows(usages: Mapping[str, Usage]) -> Rows:
    found: Rows = []
    for name, usage in usages.items():
        amounts = (usage.cached_tokens, usage.input_tokens - usage.cached_tokens, usage.output_tokens)
        money = "" if usage.cost == 0 else f"  {dollars(usage.cost)}"
        for part, tokens in zip(_PARTS, amounts, strict=True):
            found.append(
                {
                    "name": told(name, 60),
                    "part": part,
                    "tokens": tokens,
                    "total": usage.tokens,
                    "note": f"{usage.tokens:,}{money}",
                    "tip": f"{told(name, 60)}: {tokens:,} tokens of {part}, {usage.calls:,} requests",
                }
            )
    return found


def _total(spent: Sequence[Spending]) -> str:
    total: Usage = sum((spending.total for spending in spent), Usage())
    view: Mapping[str, Any] = usage_view(spent[0])
    requests = f"{total.calls:,} request{'' if total.calls == 1 else 's'}"
    used = f"{total.input_tokens:,} tokens in, {total.output_tokens:,} out"
    money = f"cost {money_text(total.cost)}"
    named = ", ".join(view["by_model"]) if len(spent) == 1 else ""
    return told("; ".join(filter(None, (requests, used, money, named and f"model {named}"))))


def _bars(name: str, rows: Rows) -> Chart:
    names = list(dict.fromkeys(row["name"] for row in rows))
    parts = {
        part: colour for part, colour in _PARTS.items() if any(r["tokens"] for r in rows if r["part"] == part)
    }
    ordered = [row | {"order": list(_PARTS).index(row["part"])} for row in rows]
    down = alt.Y("name:N", sort=names, title=name, axis=alt.Axis(labelLimit=220, grid=False, ticks=False))
    bars = (
        alt.Chart(data(ordered))
        .mark_bar(stroke="white", strokeWidth=0.6)
        .encode(
            x=alt.X("tokens:Q", title="tokens (number)", axis=alt.Axis(format="~s", tickCount=6)),
            y=down,
            color=alt.Color(
                "part:N",
                title=None,
                scale=alt.Scale(domain=list(parts), range=list(parts.values())),
                legend=alt.Legend(orient="top", symbolType="square", symbolSize=140),
            ),
            order="order:Q",
            description="tip:N",
        )
    )
    ends = [row for row in rows if row["part"] == "answers"]
    notes = (
        alt.Chart(data(ends))
        .mark_text(align="left", baseline="middle", dx=5, fontSize=11, color=INK)
        .encode(x="total:Q", y=alt.Y("name:N", sort=names), text="note:N")
    )
    return alt.layer(bars, notes).properties(width=WIDTH - 240, height=alt.Step(22))
