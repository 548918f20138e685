"""The formats a report can be had in, by name."""

from collections.abc import Callable
from typing import Literal

from researchdesk.graph.report import Report
from researchdesk.graph.report_bibliography import bibtex, csl_json
from researchdesk.graph.report_html import html
from researchdesk.graph.report_json import json_document
from researchdesk.graph.report_markdown import markdown

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
