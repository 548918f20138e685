"""Jupyter notebooks to Markdown: prose as it is, code and its printed output in fences."""

import json
from typing import Any

from researchdesk.tools.sources.extracted import Parsed, clean
from researchdesk.tools.sources.markup import markdown_headings, sections_of, title_of

EXTRACTOR = "notebook"
VERSION = "1"


def parse_notebook(source: str) -> Parsed | None:
    """Give the notebook as Markdown, None where the text is no notebook."""
    try:
        notebook = json.loads(source)
        cells = notebook["cells"] if "cells" in notebook else notebook["worksheets"][0]["cells"]
        language = str(notebook.get("metadata", {}).get("language_info", {}).get("name", "python"))
        blocks = [block for cell in cells for block in _cell(cell, language)]
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
        return None
    text = clean("\n\n".join(block for block in blocks if block.strip()))
    headings = list(markdown_headings(text))
    return Parsed(text=text, title=title_of(text, headings), sections=sections_of(headings, length=len(text)))


def _cell(cell: dict[str, Any], language: str) -> list[str]:
    source = _joined(cell.get("source", cell.get("input", "")))
    if cell.get("cell_type") != "code":
        return [source]
    printed = (_printed(output) for output in cell.get("outputs", []))
    return [_fenced(source, language), *(_fenced(text, "") for text in printed)]


def _printed(output: dict[str, Any]) -> str:
    """Give the plain text of an output; pictures and HTML have none."""
    data = output.get("data", {})
    return _joined(output.get("text") or data.get("text/plain", ""))


def _joined(lines: Any) -> str:
    return lines if isinstance(lines, str) else "".join(str(line) for line in lines)


def _fenced(text: str, language: str) -> str:
    body = text.rstrip("\n")
    fence = "```"
    while fence in body:
        fence += "`"
    return f"{fence}{language}\n{body}\n{fence}" if body.strip() else ""
