"""Labels: names and messages of a desk as they may be shown, on one line, printable and short."""

import re
from typing import Final
from unicodedata import category

import orjson

from researchdesk.state.envelopes import printable
from researchdesk.state.texts import cut

NAME_CHARS = 80
MESSAGE_CHARS = 240
#: Shown as they are though a font draws nothing for them by themselves.
_HARMLESS: Final = frozenset("\t\u200c\u200d")
#: A joiner between two letters or emoji, and a style behind a sign: Persian, Hindi and emoji are written with them.
_TIE: Final = re.compile(
    r"(?<=[^\x00-\x7f\s\u200c\u200d])[\u200c\u200d](?=[^\x00-\x7f\s\u200c\u200d\ufe0e\ufe0f])"
    r"|(?<=[^\s\u200c\u200d\ufe0e\ufe0f])[\ufe0e\ufe0f]"
)


def label(text: str, limit: int = NAME_CHARS) -> str:
    """The text on one line within ``limit`` characters; what nobody sees or what turns a line around is U+FFFD.

    A joiner stays where it ties the letters of a script that is written with joiners, or the parts of an emoji.
    """
    line = " ".join(text.split())
    tied = {found.start() for found in _TIE.finditer(line)}
    return cut("".join(line[at] if at in tied else one for at, one in enumerate(printable(line))), limit)


def quoted(text: str, limit: int = NAME_CHARS) -> str:
    """The label as a JSON string: it ends where it ends, and can be copied into an argument."""
    return orjson.dumps(label(text, limit)).decode()


def visible(text: str) -> str:
    """The whole text, each character in it that nobody sees as ``<U+202E>``; tabs and joiners stay."""
    if text.isprintable():
        return text
    return "".join(
        one if one.isprintable() or one in _HARMLESS or category(one) == "Zs" else f"<U+{ord(one):04X}>"
        for one in text
    )
