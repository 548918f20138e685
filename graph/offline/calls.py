"""Tool calls with every argument of their schema, so that a strict validator takes them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call without its id."""

    tool: str
    arguments: dict[str, Any]


def search(query: str, *, limit: int) -> Call:
    return Call("search_sources", {"query": query, "limit": limit})


def archive(locator: str) -> Call:
    return Call("archive_source", {"locator": locator})


def read(artifact_id: str, *, offset: int, length: int) -> Call:
    return Call(
        "deep_research_read_artifact",
        {"artifact_id": artifact_id, "offset_chars": offset, "max_chars": length},
    )


def save(
    role: str,
    name: str,
    content: str,
    *,
    summary: str,
    sources: list[str],
    key: str = "",
    status: str = "",
) -> Call:
    return Call(
        "deep_research_save_artifact",
        {
            "role": role,
            "name": name[:240],
            "content": content,
            "summary": summary,
            "locator": "",
            "source_artifact_ids": sources,
            "report_section_key": key,
            "report_section_status": status,
        },
    )


def checklist(item_id: str, status: str, *, evidence: list[str], reason: str = "") -> Call:
    return Call(
        "deep_research_update_checklist",
        {"item_id": item_id, "status": status, "evidence_artifact_ids": evidence, "blocked_reason": reason},
    )


def step(
    status: str,
    *,
    objective: str,
    summary: str,
    roots: list[str],
    keywords: list[str],
    evidence: list[str],
    refs: list[dict[str, str]],
    web: bool = False,
    reason: str = "",
) -> Call:
    return Call(
        "deep_research_record_step",
        {
            "kind": "web_research" if web else "local_exploration",
            "status": status,
            "objective": objective[:2000],
            "summary": summary[:2000],
            "roots": roots[:50],
            "keywords": keywords[:50],
            "ignored_paths": [],
            "stopping_condition": "The wanted number of sources is archived and read, or searches find no more.",
            "expected_evidence": "Sentences of archived sources that hold the words of the question.",
            "evidence_artifact_ids": evidence[:100],
            "inspected_refs": refs[:100],
            "worker_run_ids": [],
            "blocked_reason": reason,
        },
    )


def checkpoint(
    round_number: int,
    stage: str,
    *,
    summary: str,
    status: str = "active",
    open_questions: Sequence[str] = (),
    evidence: Sequence[str] = (),
) -> Call:
    following = "Write the report from the quotes that were noted."
    if status == "blocked":
        following = "Add documents that may hold an answer, or ask in other words, and take the run up again."
    return Call(
        "deep_research_checkpoint",
        {
            "round": round_number,
            "stage": stage,
            "status": status,
            "summary": summary[:4000],
            "open_questions": [question[:1000] for question in open_questions[:50]],
            "next_steps": [following],
            "artifact_ids": list(evidence[:100]),
        },
    )


def complete(report: str, handoff: str, *, tasks: list[str], issues: list[str], checks: list[str]) -> Call:
    return Call(
        "deep_research_complete",
        {
            "report_artifact_id": report,
            "handoff_artifact_id": handoff,
            "implementation_tasks": tasks[:50],
            "recommended_issues": issues[:50],
            "recommended_pull_requests": [],
            "verification_commands": checks[:50],
        },
    )
