"""Prices of models, from the list that comes with the package or from the user's own, and money in words."""

import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from researchdesk.graph.options import RunOptions
from researchdesk.state.errors import UsageError
from researchdesk.state.limits import Limits
from researchdesk.state.prices import FREE_MODELS, Price, cost
from researchdesk.state.texts import cut_line
from researchdesk.tools.workspace import Desk

if TYPE_CHECKING:  # looking at a run shall not load LangChain
    from langchain_core.language_models import BaseChatModel

PRICES_VARIABLE = "RESEARCHDESK_PRICES"
BUILT_IN = Path(__file__).with_name("prices.toml")
LARGEST_BUDGET = 1_000_000
FINEST = -15
"""Decimals of an amount of money; what is finer is nothing to anybody."""
_LARGEST_FILE = 1_000_000
_COUNTED = {"max_steps": 1_000_000, "budget_tokens": 1_000_000_000_000, "wall_seconds": 1_000_000_000}
_DATED = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|\d{8}|latest)\Z")
_PARTS = ("input", "output", "cached_input", "cache_write")
# A model that was given as an object is recorded under its class's own word for the provider.
_PROVIDERS = {
    "openai-chat": "openai",
    "anthropic-chat": "anthropic",
    "chat-google-generative-ai": "google_genai",
    "mistralai-chat": "mistralai",
    "chat-deepseek": "deepseek",
}
_OWN_HOSTS = ("openai.com", "anthropic.com", "googleapis.com", "mistral.ai", "deepseek.com")
_ADDRESSES = ("openai_api_base", "anthropic_api_url", "base_url", "api_base", "endpoint")

Prices = str | Path | Price | None
"""A file with prices, or the price of the model itself; None for the user's usual file and the built-in list."""


def priced(options: RunOptions, model: "BaseChatModel", prices: Prices = None) -> RunOptions:
    """The options with the price of their model: the given one, else the remembered one, else from the lists.

    A model that runs in this process has none, and no budget in money ends it.

    Raises:
        UsageError: a budget that is none, prices that are none, or a budget in money that nobody could keep because the
            price is not known.
    """
    _check_budgets(options)
    if options.model in FREE_MODELS:
        if prices and not isinstance(prices, Price):
            read_prices(Path(prices).expanduser())  # a wrong name is told although nothing is looked up
        return replace(options, price=None)
    if isinstance(prices, Price):
        options = replace(options, price=_checked(prices))
    elif prices or options.price is None:
        options = replace(options, price=price_of(options.model, model, prices=prices))
    if options.budget_usd and options.price is None:
        why = "; another server than its provider's answers for it" if _is_elsewhere(model) else ""
        raise UsageError(
            f"the price of model '{options.model}' is not known{why}, so a budget of {dollars(options.budget_usd)} "
            f"cannot be kept. Name a TOML file (--prices FILE or {PRICES_VARIABLE}) with, for example, [[prices]] "
            f'and under it models."{options.model}" = {{ input = 1.25, output = 10.0 }}, in US dollars per million '
            "tokens; or limit tokens instead (--budget-tokens)"
        )
    return options


def _check_budgets(options: RunOptions) -> None:
    for name, largest in _COUNTED.items():
        given = getattr(options, name)
        if not isinstance(given, int) or isinstance(given, bool) or not 0 <= given <= largest:
            raise UsageError(
                f"{name}={str(given)[:40]} is no budget; give a whole number from 0 (no limit) to {largest:,}"
            )


def _checked(price: Price) -> Price:
    for part in _PARTS:
        amount = getattr(price, part)
        try:
            fits = _is_amount(Decimal(amount or 0))
        except InvalidOperation:
            fits = False
        if not fits or not (price.input and price.output):
            raise UsageError(f"{part}={amount!r} is no price in US dollars per million tokens")
    return price


def price_of(
    name: str, model: "BaseChatModel | None" = None, *, prices: str | Path | None = None
) -> Price | None:
    """What a model costs, or None where that is not known.

    Args:
        name: the model as it is recorded, like ``openai:gpt-5``.
        model: where it is given, the built-in list does not speak for one that another server answers for.
        prices: a file whose entries come before the built-in ones; by default the one that
            ``RESEARCHDESK_PRICES`` names.

    Raises:
        UsageError: the file cannot be read or has not the form of a list of prices.
    """
    own = prices or os.environ.get(PRICES_VARIABLE)
    found = _found(name, read_prices(Path(own).expanduser())) if own else None
    if found or (model is not None and _is_elsewhere(model)):
        return found
    return _found(name, _built_in())


@cache
def _built_in() -> Mapping[str, Price]:
    return read_prices(BUILT_IN)


def _found(name: str, prices: Mapping[str, Price]) -> Price | None:
    provider, _, bare = name.rpartition(":")
    bare = bare.removeprefix("models/")
    for spelling in dict.fromkeys((bare, _DATED.sub("", bare))):
        for key in (
            f"{_PROVIDERS.get(provider, provider)}:{spelling}",
            *(() if provider else _ending(spelling, prices)),
        ):
            if key in prices:
                return prices[key]
    return prices.get(name)


def _ending(spelling: str, prices: Iterable[str]) -> Iterator[str]:
    """The keys of a model that was named without its provider."""
    return (key for key in prices if key.rpartition(":")[2] == spelling)


def _is_elsewhere(model: "BaseChatModel") -> bool:
    """Whether a model's requests go to another server than its provider's."""
    client = getattr(model, "root_client", None)
    addresses = [getattr(model, name, None) for name in _ADDRESSES] + [getattr(client, "base_url", None)]
    hosts = [urlsplit(str(address)).hostname or "" for address in addresses if address]
    return any(not f".{host}".endswith(tuple(f".{own}" for own in _OWN_HOSTS)) for host in hosts)


# -- lists of prices --------------------------------------------------------------------------------------------


def read_prices(path: Path) -> dict[str, Price]:
    """The prices of a TOML file in the form of the built-in one, by ``provider:model``.

    Raises:
        UsageError: it cannot be read, or an entry is not a price; the message names it.
    """
    try:
        with path.open("rb") as file:
            written = file.read(_LARGEST_FILE + 1)
        if len(written) > _LARGEST_FILE:
            raise UsageError(
                f"the prices in {path} have more than {_LARGEST_FILE:,} bytes; that is no list of prices"
            )
        document = tomllib.loads(written.decode(), parse_float=Decimal)
    except OSError as problem:
        raise UsageError(f"the prices in {path} cannot be read: {problem.strerror or problem}") from None
    except (
        ValueError,
        RecursionError,
    ) as problem:  # TOML's own errors, numbers of too many digits, too deep nesting
        raise UsageError(f"the prices in {path} are no TOML: {cut_line(str(problem), 200)}") from None
    groups = document.get("prices")
    if not isinstance(groups, list) or set(document) != {"prices"}:
        raise UsageError(
            f"{path} has to hold [[prices]] with [prices.models] and nothing else, like {BUILT_IN}"
        )
    return {key: price for group in groups for key, price in _group(path, group)}


def _group(path: Path, group: Any) -> Iterator[tuple[str, Price]]:
    models = group.get("models") if isinstance(group, dict) else None
    if not isinstance(models, dict) or not set(group) <= {"source", "date", "models"}:
        raise UsageError(
            f"each [[prices]] in {path} holds models, source and date; this one does not: {group!r:.200}"
        )
    about = {"source": str(group.get("source", path.name)), "date": str(group.get("date", ""))}
    for key, entry in models.items():
        yield key, _price(entry, about, place=f'{path}, models."{cut_line(key, 100)}"')


def _price(entry: Any, about: dict[str, str], *, place: str) -> Price:
    if not isinstance(entry, dict) or not {"input", "output"} <= set(entry) <= set(_PARTS):
        raise UsageError(f"{place}: a price has input and output, and may have {_PARTS[2]} and {_PARTS[3]}")
    for part, value in entry.items():
        if not _is_amount(value):
            shown = cut_line(str(value), 60)
            raise UsageError(f"{place}: {part} = {shown} is no number of US dollars per million tokens")
    return Price(**{part: str(value) for part, value in entry.items()}, **about)


def _is_amount(value: Any) -> bool:
    is_number = isinstance(value, int | Decimal) and not isinstance(value, bool)
    return is_number and _is_money(Decimal(value)) and value < LARGEST_BUDGET


def _is_money(value: Decimal) -> bool:
    exponent = value.as_tuple().exponent
    return isinstance(exponent, int) and exponent >= FINEST and 0 <= value <= LARGEST_BUDGET


# -- money ------------------------------------------------------------------------------------------------------


def usd(amount: float | str | Decimal) -> Decimal:
    """An amount of US dollars as a user gives it; 0 for no limit.

    Raises:
        UsageError: it is no number, negative or absurdly large.
    """
    try:
        value = Decimal(str(amount))
    except InvalidOperation:
        value = Decimal("NaN")
    if not _is_money(value):
        shown = cut_line(repr(amount), 60)
        raise UsageError(f"{shown} is no budget in US dollars; give a number from 0 to {LARGEST_BUDGET:,}")
    return value


def dollars(amount: Decimal | None) -> str:
    """An amount in words: four decimals where it is less than a dollar; "unknown" for None."""
    if amount is None:
        return "unknown"
    if amount == 0:
        return "$0"
    if amount < Decimal("0.0001"):
        return "under $0.0001"
    return f"${amount:,.2f}" if amount >= 1 else f"${amount:.4f}".rstrip("0").rstrip(".")


def money_text(amount: float | Decimal | None) -> str:
    """What a run cost, for a reader: also where it cost nothing, or nobody knows."""
    if amount is None:
        return "not known (a model without a price)"
    return dollars(Decimal(str(amount))) if amount else "nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A range for what a run will use, and in words what it assumes."""

    low_tokens: int
    high_tokens: int
    low_usd: Decimal | None
    high_usd: Decimal | None
    assumes: str


LOW_SHARE = 4
LOW_ANSWER, HIGH_ANSWER = 500, 4_000


def estimate(options: RunOptions, limits: Limits) -> Estimate:
    """From a quarter of the requests with half-full prompts up to all of them with full ones, within the budgets."""
    steps = options.max_steps or limits.step_cap
    few, half = max(1, steps // LOW_SHARE), limits.prompt_cap // 2
    low, high = few * (half + LOW_ANSWER), steps * (limits.prompt_cap + HIGH_ANSWER)
    share = Decimal(min(high, options.budget_tokens or high)) / high
    low_usd = high_usd = None
    if options.price is not None:
        low_usd = cost(options.price, input_tokens=few * half, output_tokens=few * LOW_ANSWER)
        high_usd = cost(
            options.price, input_tokens=steps * limits.prompt_cap, output_tokens=steps * HIGH_ANSWER
        )
        high_usd *= share
        low_usd = min(low_usd, high_usd)
        if options.budget_usd:
            low_usd, high_usd = min(low_usd, options.budget_usd), min(high_usd, options.budget_usd)
    if options.budget_tokens:
        low, high = min(low, options.budget_tokens), min(high, options.budget_tokens)
    return Estimate(
        low_tokens=low,
        high_tokens=high,
        low_usd=low_usd,
        high_usd=high_usd,
        assumes=f"from {few} requests of {half:,} tokens with answers of {LOW_ANSWER:,} to {steps} requests of "
        f"{limits.prompt_cap:,} with answers of {HIGH_ANSWER:,}, nothing cached",
    )


def costs_by_session(desk: Desk) -> dict[str, Decimal | None]:
    """What each session that asked a model has spent in US dollars; None where a price is not known.

    What a fork copied is counted where it was spent, so that the sum is that of the desk.
    """
    rows = desk.ledger.query("SELECT DISTINCT session_id, model FROM model_calls")
    models: dict[str, set[str]] = {}
    for row in rows:
        models.setdefault(str(row["session_id"]), set()).add(str(row["model"]))
    # Only a session that asked somebody who may want money is read in full.
    return {
        session: Decimal(0) if names <= FREE_MODELS else desk.existing(session).own_spending.total.cost
        for session, names in models.items()
    }
