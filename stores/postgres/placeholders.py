"""Queries are written with ``?``; the driver wants ``%s``."""

import functools
import re

_PIECES = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|[?%]""")


@functools.lru_cache(maxsize=256)
def driver_text(sql: str) -> str:
    """The statement with ``%s`` for each ``?`` outside of words and names, and every ``%`` doubled."""
    return _PIECES.sub(lambda found: "%s" if found[0] == "?" else found[0].replace("%", "%%"), sql)
