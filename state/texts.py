"""Cutting a text to a length for a reader, who sees by the ellipsis that there is more."""


def cut(text: str, limit: int) -> str:
    """The text within ``limit`` characters, white space as it is."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def cut_line(text: str, limit: int) -> str:
    """The text on one line within ``limit`` characters."""
    return cut(" ".join(text.split()), limit)
