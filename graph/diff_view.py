"""A proposed change on a terminal: what is known of it, and its diff with what comes and what goes in colour."""

from rich.text import Text

from researchdesk.graph.plain import one_line, plain

_STYLES = {"+": "green", "-": "red", "@": "cyan", "…": "dim", "\\": "dim"}


def diff_text(diff: str) -> Text:
    """A diff of `state.desk.diffs`, coloured where it is shown on a terminal."""
    lines = plain(diff).removesuffix("\n").split("\n")
    heads = 2 if lines[0].startswith("--- ") else 0
    shown = Text()
    for at, line in enumerate(lines):
        shown.append(f"{line}\n", style="bold" if at < heads else _STYLES.get(line[:1], ""))
    return shown


def fields_text(fields: dict[str, str]) -> Text:
    """Names with what is known under them, a line each; what is empty is left out."""
    known = {name: one_line(value) for name, value in fields.items() if value}
    width = max(map(len, known), default=0)
    return Text("\n".join(f"{name:<{width}}  {value}" for name, value in known.items()) + "\n")
