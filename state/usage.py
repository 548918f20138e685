"""Tokens, requests and money of a run: by stage and model, and by the tools that the answers called.

What a tool's results cost in later prompts cannot be told from what else those prompts hold. So a request is put
down to the calls that its answer made, shared out by the size of their arguments; one that brought no call, failed
or was lost is put down to no tool. Both ways of counting add up to the same totals.
"""

from __future__ import annotations  # the persistent maps are generic for type checkers only

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from rpds import HashTrieMap

from researchdesk.state import events as ev
from researchdesk.state.prices import FREE_MODELS, Price, cost

NO_TOOL = ""
TOOLS_SHOWN = 50
_SMALLEST_SHARE = Decimal("1e-12")
Key = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Requests (or calls of a tool), their tokens, and US dollars; None where a price is not known."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    """The part of the input that the provider had in its cache, where it says so."""
    reasoning_tokens: int = 0
    """The part of the output that was thinking, where the provider says so."""
    cost: Decimal | None = Decimal(0)

    def __add__(self, other: Usage) -> Usage:
        known = self.cost is not None and other.cost is not None
        return Usage(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            reasoning_tokens=self.reasoning_tokens + other.reasoning_tokens,
            cost=self.cost + other.cost if known else None,  # type: ignore[operator]
        )

    @property
    def tokens(self) -> int:
        """Tokens in all."""
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """What a run has spent."""

    by_stage_and_model: HashTrieMap[Key, Usage]
    by_tool: HashTrieMap[str, Usage]
    largest_output: int = 0
    """Tokens of the longest answer so far."""

    @property
    def total(self) -> Usage:
        """All of it."""
        return sum(self.by_stage_and_model.values(), Usage())

    def by_stage(self) -> dict[str, Usage]:
        """Of each stage, by its name."""
        return _summed((stage, usage) for (stage, _), usage in self.by_stage_and_model.items())

    def by_model(self) -> dict[str, Usage]:
        """Of each model, by the name that was recorded."""
        return _summed((model, usage) for (_, model), usage in self.by_stage_and_model.items())


NOTHING_SPENT = Spending(by_stage_and_model=HashTrieMap(), by_tool=HashTrieMap())


def _summed(parts: Iterable[tuple[str, Usage]]) -> dict[str, Usage]:
    found: dict[str, Usage] = {}
    for key, usage in parts:
        found[key] = found.get(key, Usage()) + usage
    return dict(sorted(found.items()))


def spend(
    spending: Spending,
    request: ev.ModelCalled,
    config: ev.RunConfigured | None,
    answer: ev.ModelAnswered | None,
) -> Spending:
    """What is spent after one more request; without an answer its estimated prompt counts."""
    used = _used(request, config.price if config else None, answer)
    key = (request.stage, request.model)
    by_tool = spending.by_tool
    for tool, share in _shared(used, answer.calls if answer else ()):
        by_tool = by_tool.insert(tool, (by_tool.get(tool) or Usage()) + share)
    return Spending(
        by_stage_and_model=spending.by_stage_and_model.insert(
            key, (spending.by_stage_and_model.get(key) or Usage()) + used
        ),
        by_tool=by_tool,
        largest_output=max(spending.largest_output, used.output_tokens),
    )


def _used(request: ev.ModelCalled, price: Price | None, answer: ev.ModelAnswered | None) -> Usage:
    tokens = {
        "input_tokens": answer.input_tokens if answer else request.input_tokens,
        "output_tokens": answer.output_tokens if answer else 0,
        "cached_tokens": answer.cached_tokens if answer else 0,
    }
    free = request.model in FREE_MODELS
    paid = cost(price, **tokens, written_tokens=answer.written_tokens if answer else 0) if price else None
    reasoning = answer.reasoning_tokens if answer else 0
    return Usage(calls=1, **tokens, reasoning_tokens=reasoning, cost=Decimal(0) if free else paid)


def spend_nothing(spending: Spending, request: ev.ModelCalled) -> Spending:
    """After a request that the provider refused: it counts, and costs neither tokens nor money."""
    key, refused = (request.stage, request.model), Usage(calls=1)
    by_model = spending.by_stage_and_model
    return Spending(
        by_stage_and_model=by_model.insert(key, (by_model.get(key) or Usage()) + refused),
        by_tool=spending.by_tool.insert(NO_TOOL, (spending.by_tool.get(NO_TOOL) or Usage()) + refused),
        largest_output=spending.largest_output,
    )


def _shared(used: Usage, calls: tuple[ev.AskedCall, ...]) -> Iterator[tuple[str, Usage]]:
    """The parts of a request by tool; they add up to the whole."""
    if len(calls) < 2:
        yield (calls[0].name if calls else NO_TOOL), used
        return
    whole, before, done = sum(_weight(call) for call in calls), Usage(), 0
    for call in calls:
        done += _weight(call)
        until = _part(used, done, whole)
        yield call.name, _less(until, before)
        before = until


def _weight(call: ev.AskedCall) -> int:
    return max(1, call.chars)


def _part(used: Usage, part: int, whole: int) -> Usage:
    money = (
        used.cost
        if part == whole or used.cost is None
        else (used.cost * part / whole).quantize(_SMALLEST_SHARE)
    )
    return Usage(
        input_tokens=used.input_tokens * part // whole,
        output_tokens=used.output_tokens * part // whole,
        cached_tokens=used.cached_tokens * part // whole,
        reasoning_tokens=used.reasoning_tokens * part // whole,
        cost=money,
    )


def _less(whole: Usage, part: Usage) -> Usage:
    return Usage(
        calls=1,
        input_tokens=whole.input_tokens - part.input_tokens,
        output_tokens=whole.output_tokens - part.output_tokens,
        cached_tokens=whole.cached_tokens - part.cached_tokens,
        reasoning_tokens=whole.reasoning_tokens - part.reasoning_tokens,
        cost=None if whole.cost is None or part.cost is None else whole.cost - part.cost,
    )


def usage_view(spending: Spending) -> dict[str, Any]:
    """Totals and parts as JSON values: ``calls, input, output, cached, reasoning, cost_usd`` each.

    A cost that is not known is null. ``by_tool`` names what brought no call "no tool", and counts calls, not
    requests.
    """
    return {
        **_view(spending.total),
        "by_stage": {stage: _view(usage) for stage, usage in spending.by_stage().items()},
        "by_model": {model: _view(usage) for model, usage in spending.by_model().items()},
        "by_tool": {tool: _view(usage) for tool, usage in _tools(spending)},
    }


def _tools(spending: Spending) -> list[tuple[str, Usage]]:
    """The tools in order of their names; where a model made up many, those with most tokens and the sum of the rest."""
    ranked = sorted(spending.by_tool.items(), key=lambda item: (-item[1].tokens, item[0]))
    rest = sum((usage for _, usage in ranked[TOOLS_SHOWN:]), Usage())
    shown = [(tool or "no tool", usage) for tool, usage in ranked[:TOOLS_SHOWN]]
    return sorted(shown) + ([("other tools", rest)] if rest.calls else [])


def _view(usage: Usage) -> dict[str, Any]:
    return {
        "calls": usage.calls,
        "input": usage.input_tokens,
        "output": usage.output_tokens,
        "cached": usage.cached_tokens,
        "reasoning": usage.reasoning_tokens,
        "cost_usd": None if usage.cost is None else float(round(usage.cost, 6)),
    }
