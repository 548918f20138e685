"""The text of a desk tool's result: at most 500 tokens, what comes from files in an envelope that it cannot forge."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from researchdesk.state.cleaning import clean_text
from researchdesk.state.desk.fitting import fixed
from researchdesk.state.envelopes import boundary_of, seal
from researchdesk.state.limits import RESULT_TOKENS
from researchdesk.state.redaction import redact
from researchdesk.state.tokens import estimate_tokens, room

ROOM: Final = room(RESULT_TOKENS)

Attributes = Mapping[str, str | int]


def as_shown(text: str) -> str:
    """A file's text as it may be shown and recorded: without secrets, NUL and other control characters."""
    return redact(clean_text(text).text).text


def overhead(tag: str, attributes: Attributes) -> int:
    """What an envelope costs without its body."""
    return estimate_tokens(seal("", tag=tag, boundary=boundary_of(0), **attributes)) + 1


def fits(text: str) -> bool:
    """Whether a text may be a result."""
    return estimate_tokens(text) <= ROOM


def sealed_lines(
    lines: Sequence[str], boundary: str, *, tag: str, attributes: Callable[[int], Attributes]
) -> tuple[str, int]:
    """An envelope with the first lines, as many as fit but one at least, and how many these are.

    Args:
        attributes: those of the envelope around so many lines.
    """
    dearest = max(overhead(tag, attributes(count)) for count in (0, 1, max(1, len(lines) - 1)))
    kept = max(1, len(fixed(lines, room=ROOM - dearest, count=estimate_tokens)))
    while True:
        text = seal("\n".join(lines[:kept]), tag=tag, boundary=boundary, **attributes(kept))
        if kept == 1 or fits(text):
            return text, min(kept, len(lines))
        kept -= 1  # marks against forged envelopes made it longer
