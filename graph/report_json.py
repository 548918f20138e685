"""The report as one JSON document for programs: texts as stored, references, verified quotes, hashes."""

from dataclasses import asdict
from typing import Any

import orjson

from researchdesk.graph.plain import plain_json
from researchdesk.graph.report import Report


def json_document(report: Report) -> str:
    """One indented JSON object; texts cite by id, ``references`` says which number a reader sees for it.

    Keys: ``format, session_id, objective, status, outcome_text, stop_reason, scope_level, template, model,
    started_at, ended_at, report_artifact_id, text, sections[], references[], uncited[], quotes[], gaps[], handoff[],
    counts{}``.
    """
    return plain_json(orjson.dumps(_fields(report), option=orjson.OPT_INDENT_2).decode()) + "\n"


def _fields(report: Report) -> dict[str, Any]:
    numbers = {ref.source_id: ref.number for ref in report.references}
    return {
        "format": "researchdesk.report",
        "session_id": report.session_id,
        "objective": report.objective,
        "status": report.outcome,
        "outcome_text": report.outcome_text,
        "stop_reason": report.stop_reason or None,
        "scope_level": report.scope,
        "template": report.template,
        "model": report.model,
        "started_at": report.started_at,
        "ended_at": report.ended_at,
        "report_artifact_id": report.artifact_id,
        "text": report.body,
        "sections": [
            {
                **{key: value for key, value in asdict(section).items() if key != "cited"},
                "citations": [
                    {"source_id": key, "number": numbers[key]} for key in section.cited if key in numbers
                ],
            }
            for section in report.sections
        ],
        "references": [asdict(ref) for ref in report.references],
        "uncited": [asdict(ref) for ref in report.uncited],
        "quotes": [asdict(quote) for quote in report.quotes],
        "gaps": report.gaps,
        "handoff": [asdict(handed) for handed in report.handoff],
        "counts": {
            "sources": len(report.sources),
            "supplied": sum(ref.supplied for ref in report.sources),
            "publishers": report.origins,
            "cited": len(report.references),
            "quotes_verified": len(report.quotes),
        },
    }
