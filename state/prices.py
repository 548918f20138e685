"""What a model's tokens cost: a price per million of them, and what one request comes to."""

from decimal import Decimal

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

FREE_MODELS = frozenset({"offline"})
"""Models that run in this process: their requests cost nothing, whatever a list of prices says."""
_MILLION = Decimal(1_000_000)


@dataclass(frozen=True, slots=True, kw_only=True, config=ConfigDict(extra="forbid"))
class Price:
    """US dollars per million tokens, as decimal numbers in text so that they stay exact.

    A part that is left out costs what new input costs.
    """

    input: str
    output: str
    cached_input: str = ""
    """Input that the provider had in its cache."""
    cache_write: str = ""
    """Input that the provider put into its cache."""
    source: str = ""
    """Who published the price, as the list of prices says."""
    date: str = ""
    """When it was looked up, YYYY-MM-DD."""


def cost(
    price: Price,
    *,
    input_tokens: int,
    output_tokens: int = 0,
    cached_tokens: int = 0,
    written_tokens: int = 0,
) -> Decimal:
    """US dollars for one request; ``cached_tokens`` and ``written_tokens`` are parts of ``input_tokens``."""
    cached = min(cached_tokens, input_tokens)
    written = min(written_tokens, input_tokens - cached)
    parts = (
        (input_tokens - cached - written, price.input),
        (cached, price.cached_input or price.input),
        (written, price.cache_write or price.input),
        (output_tokens, price.output),
    )
    return sum((tokens * Decimal(rate) for tokens, rate in parts), Decimal(0)) / _MILLION
