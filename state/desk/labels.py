"""Labels: names and messages of a desk as they may be shown, on one line, printable and short."""

import orjson

from researchdesk.state.envelopes import printable
from researchdesk.state.texts import cut

NAME_CHARS = 80
MESSAGE_CHARS = 240


def label(text: str, limit: int = NAME_CHARS) -> str:
    """The text on one line within ``limit`` characters; what nobody sees or what turns a line around is U+FFFD."""
    return cut(printable(text), limit)


def quoted(text: str, limit: int = NAME_CHARS) -> str:
    """The label as a JSON string: it ends where it ends, and can be copied into an argument."""
    return orjson.dumps(label(text, limit)).decode()
