"""What providers and fetchers give, made fit for the record: no secrets, nothing that no store has a form for."""

import math

from researchdesk.state.cleaning import MAX_INTEGER
from researchdesk.state.redaction import redact
from researchdesk.state.texts import cut
from researchdesk.tools.sources.extracted import clean

TOLD_CHARS = 2_000


def fit_text(text: str, *, chars: int = TOLD_CHARS) -> str:
    """A text without secrets, NUL and lone surrogates, at most ``chars`` long."""
    return cut(redact(clean(text[: 4 * chars])).text, chars)


def fit_score(score: float, *, otherwise: float = 0.0) -> float:
    """A score that JSON has a form for; ``otherwise`` for infinity, NaN and what is beyond any float."""
    try:
        return float(score) if math.isfinite(score) else otherwise
    except OverflowError:
        return otherwise


def fit_count(count: object, *, least: int = 0) -> int:
    """A count as a service tells it, where it is one; else ``least``."""
    if not isinstance(count, int) or isinstance(count, bool):
        return least
    return count if least <= count <= MAX_INTEGER else least
