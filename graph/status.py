"""The status of a run as a compact view for a person."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rich.table import Table
from rich.text import Text

from researchdesk.graph.costs import money_text
from researchdesk.graph.plain import one_line
from researchdesk.graph.words import OUTCOME_WORDS, QUESTION_WORDS, STAGE_WORDS, STOP_WORDS, checked_text

_MARKS = {
    "completed": "✓",
    "skipped": "–",
    "blocked": "!",
    "in_progress": "…",
    "drafted": "…",
    "pending": "·",
}


def status_table(view: Mapping[str, Any]) -> Table:
    """The view of `state.views.status_view`, and who drives the run, as a table of two columns."""
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in _lines(view):
        table.add_row(Text(name, style="bold"), Text(one_line(value)))
    return table


def _lines(view: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "session", view["session_id"]
    yield "objective", view["objective"]
    yield "status", _state(view)
    if view["driver"]:
        yield "driver", view["driver"]
    yield "scope", f"{view['scope_level']}, template {view['template']}"
    yield (
        "sources",
        f"{view['sources']} from {view['domains']} publisher{'s' if view['domains'] != 1 else ''}",
    )
    yield from _investigated(view)
    yield "artifacts", _counts(view["artifacts"])
    yield from _marked("checklist", view["checklist"])
    yield from _marked("sections", view["report_sections"])
    yield from _spent(view)
    if view["refused"]:
        yield "refused", _counts(view["refused"])
    yield from _listed("blocked by", view["blockers"])
    yield from _listed("open", view["open_questions"])
    if view["status"] != "completed":
        yield from _listed("next", view["next_steps"])
    if view["report_artifact_id"]:
        yield "report", view["report_artifact_id"]
    yield "updated", view["updated_at"][:19]


def _spent(view: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Requests, tokens and money, and where more than one stage or model has a part in them, the parts."""
    tokens = view["tokens"]
    yield (
        "requests",
        f"{view['model_calls']}, tokens {tokens['input']:,} in, {tokens['output']:,} out"
        + (f", {tokens['cached']:,} cached" if tokens["cached"] else ""),
    )
    yield "cost", money_text(view["cost_usd"])
    for parts in (tokens["by_stage"], tokens["by_model"]):
        for name, part in parts.items() if len(parts) > 1 and view["cost_usd"] != 0 else ():
            yield (
                "",
                f"{STAGE_WORDS.get(name, name)}: {money_text(part['cost_usd'])}, {part['calls']} requests",
            )


def _investigated(view: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The lines of a run that keeps questions and claims."""
    if not view["questions"]:
        return
    yield "questions", _counts({QUESTION_WORDS[key]: n for key, n in view["questions"].items()})
    if current := view["question_in_progress"]:
        yield "", f"now {current['id']}: {current['text']}"
    yield "claims", checked_text(view["coverage"])
    yield "challenges", _counts({OUTCOME_WORDS.get(key, key): n for key, n in view["challenges"].items()})


def _state(view: Mapping[str, Any]) -> str:
    text = f"{view['status']}, {STAGE_WORDS[view['stage']]}, round {view['round']}"
    reason = view["stop_reason"]
    if view["status"] == "completed":
        text = "partial" if reason else "completed"
    return f"{text}; stopped early because {STOP_WORDS.get(reason, reason)}" if reason else text


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items()) or "none"


def _marked(name: str, parts: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    for number, part in enumerate(parts):
        reason = f" ({part['blocked_reason']})" if part.get("blocked_reason") else ""
        yield ("" if number else name), f"{_MARKS[part['status']]} {part['title']}{reason}"


def _listed(name: str, texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    for number, text in enumerate(texts):
        yield ("" if number else name), text
