"""The outline as a plan of the writing: which claims and sources it gives to each section.

An outline has a heading for each section, its title or its key, and cites under it what the section will use.
"""

import re

from researchdesk.state.citations import cited_ids
from researchdesk.state.run import ResearchRun

_HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*\s*$")


def planned(run: ResearchRun, outline: str) -> dict[str, tuple[str, ...]]:
    """The ids that the outline cites under each section's heading, by section key; what it leaves out is missing."""
    names = {_folded(name): section.key for section in run.sections for name in (section.title, section.key)}
    parts: dict[str, list[str]] = {}
    key = ""
    for line in outline.splitlines():
        heading = _HEADING.match(line)
        if heading:
            key = names.get(_folded(heading[1]), key if heading[0].startswith("###") else "")
        elif key:
            parts.setdefault(key, []).append(line)
    found = {key: cited_ids("\n".join(lines)) for key, lines in parts.items()}
    return {key: ids for key, ids in found.items() if ids}


def _folded(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.replace("_", " ").casefold()))
