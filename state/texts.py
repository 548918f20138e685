"""Cutting a text to a length for a reader, who sees by the ellipsis that there is more."""


def cut(text: str, limit: int) -> str:
    """The text within ``limit`` characters, white space as it is."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def cut_line(text: str, limit: int) -> str:
    """The text on one line within ``limit`` characters."""
    return cut(" ".join(text.split()), limit)


def cut_around(text: str, first: int, end: int, *, more: int) -> str:
    """The text from ``first`` to ``end`` with ``more`` characters on each side, on one line."""
    start, stop = max(0, first - more), min(len(text), end + more)
    shown = " ".join(text[start:stop].split())
    return f"{'…' if start else ''}{shown}{'…' if stop < len(text) else ''}"
