"""The report as one JSON document for programs: texts as stored, references, verified quotes, hashes."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import orjson

from researchdesk.graph.plain import plain_json
from researchdesk.graph.report import Report, ReportSection
from researchdesk.graph.report_findings import AskedQuestion, Findings, FoundClaim


def json_document(report: Report) -> str:
    """One indented JSON object; texts cite by id, ``references`` says which number a reader sees for it.

    Keys: ``format, session_id, objective, status, outcome_text, stop_reason, scope_level, template, model,
    started_at, ended_at, report_artifact_id, text, sections[], references[], uncited[], quotes[], gaps[], handoff[],
    counts{}, claims[], questions[], contradictions[], assumptions[], recorded_gaps[], coverage{}, usage{}``; the six
    before the last are empty for a run without questions and claims.

    * ``claims[]``: every claim, cited or not: ``id, text, kind, value, unit, status, question_id, scope, check, note,
      links[], cited, verified, source_ids[], numbers[], independent[] (source_ids, reasons), lacks[], challenges[]``.
    * ``questions[]``: a tree, parents first: ``id, parent_id, depth, kind, text, why, status, priority, depends_on[],
      answer, claim_ids[], assumption, reopens, attempts_before, created_seq, trans_seq, reason,
      status_reason, waits_for[], challenged, total, verified``; ``reason`` says why its answer was not searched or
      challenged, ``status_reason`` why its status changed last.
    * ``contradictions[]``: ``id, claim_id, other_id, differs, status, note``; ``other_id`` is a claim or a source.
    * ``usage{}``: ``calls, input, output, cached, reasoning, cost_usd`` in all, and the same ``by_stage``, ``by_model``
      and ``by_tool`` (see `state.usage`); a cost that is not known is null.
    * ``assumptions[]`` and ``recorded_gaps[]``: ``id, text, question_id``.
    * ``coverage{}``: ``challenged, total, verified`` claims (retracted ones aside); ``unchecked`` counts by why
      (``search_failed, open, not_challenged``); ``lacking`` counts which of the ``total`` claims that are not verified
      need independent ``sources`` and survived ``challenges``; ``challenges`` by outcome, ``infrastructure`` those
      whose search failed.
    * ``counts{}``: ``sources, supplied, publishers``; ``cited`` are named in the text, of which ``behind`` stand behind
      its quotations and claims; ``quotes_verified``.
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
        "sections": [_section(report, section, numbers) for section in report.sections],
        "references": [asdict(ref) for ref in report.references],
        "uncited": [asdict(ref) for ref in report.uncited],
        "quotes": [asdict(quote) for quote in report.quotes],
        "gaps": report.gaps,
        "handoff": [asdict(handed) for handed in report.handoff],
        "counts": _counts(report),
        **_findings(report.findings, numbers),
        "usage": report.usage,
    }


def _section(report: Report, section: ReportSection, numbers: Mapping[str, int]) -> dict[str, Any]:
    sources = (key for key in report.sources_of(section.cited) if key in numbers)
    return {
        **{key: value for key, value in asdict(section).items() if key != "cited"},
        "citations": [{"source_id": key, "number": numbers[key]} for key in sources],
        "claim_ids": [key for key in section.cited if key in report.findings.claims],
    }


def _counts(report: Report) -> dict[str, int]:
    return {
        "sources": len(report.sources),
        "supplied": sum(ref.supplied for ref in report.sources),
        "publishers": report.origins,
        "cited": len(report.references),
        "behind": len(report.behind),
        "quotes_verified": len(report.quotes),
    }


def _findings(found: Findings, numbers: Mapping[str, int]) -> dict[str, Any]:
    return {
        "claims": [_claim(claim, numbers) for claim in found.claims.values()],
        "questions": [_question(asked) for asked in found.questions],
        "contradictions": [asdict(record) for record in found.contradictions],
        "assumptions": [asdict(record) for record in found.assumptions],
        "recorded_gaps": [asdict(record) for record in found.gaps],
        "coverage": {
            **asdict(found.checked),
            "unchecked": dict(found.unchecked),
            "lacking": asdict(found.lacking),
            "challenges": dict(found.outcomes),
        },
    }


def _claim(found: FoundClaim, numbers: Mapping[str, int]) -> dict[str, Any]:
    return {
        **asdict(found.claim),
        "cited": found.cited,
        "verified": found.verified,
        "source_ids": list(found.source_ids),
        "numbers": [numbers[key] for key in found.source_ids if key in numbers],
        "independent": [asdict(cluster) for cluster in found.independent],
        "lacks": list(found.lacks),
        "challenges": [asdict(challenge) for challenge in found.challenges],
    }


def _question(asked: AskedQuestion) -> dict[str, Any]:
    return {
        **asdict(asked.question),
        "status_reason": asked.status_reason,
        "waits_for": list(asked.waits_for),
        **asdict(asked.checked),
    }
