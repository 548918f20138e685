"""The formats a report can be had in, by name, and the copy of it that lies in the home folder."""

from collections.abc import Callable
from pathlib import Path
from typing import Literal

from researchdesk.graph.console import note
from researchdesk.graph.plain import one_line
from researchdesk.graph.report import Report
from researchdesk.graph.report_bibliography import bibtex, csl_json
from researchdesk.graph.report_html import html
from researchdesk.graph.report_json import json_document
from researchdesk.graph.report_markdown import markdown
from researchdesk.state.errors import Unavailable, UsageError
from researchdesk.state.names import safe_file_name
from researchdesk.tools.workspace import Desk
from researchdesk.tools.writing import whole_file

ReportFormat = Literal["md", "html", "json", "bibtex", "csl"]
_RENDERERS: dict[ReportFormat, Callable[[Report], str]] = {
    "md": markdown,
    "html": html,
    "json": json_document,
    "bibtex": bibtex,
    "csl": csl_json,
}


def render_report(report: Report, form: ReportFormat = "md") -> str:
    """The report in one of its formats: ``md``, ``html``, ``json``, ``bibtex`` or ``csl``."""
    return _RENDERERS[form](report)


def keep_copy(desk: Desk, session_id: str, text: str) -> Path | None:
    """Keep a report as a file in the home folder for people to read; None where that cannot be written."""
    path = desk.home.absolute() / "reports" / safe_file_name(session_id, suffix=".md")
    try:
        with whole_file(path) as file:
            file.write(text.encode())
    except (Unavailable, UsageError) as problem:
        note(f"no copy of the report is kept: {one_line(str(problem))}")
        return None
    return path
