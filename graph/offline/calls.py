"""Tool calls with every argument of their schema, so that a strict validator takes them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from researchdesk.state.limits import LIST_ITEMS, NOTE_CHARS, STEP_CHARS

ENTRIES = 20
"""Entries of the notes that one call takes."""


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


def add_question(parent_id: str, text: str, *, why: str, depends_on: Sequence[str] = ()) -> Call:
    return Call(
        "add_question",
        {
            "parent_id": parent_id,
            "text": text,
            "kind": "question",
            "why": why,
            "priority": 0,
            "depends_on": list(depends_on),
            "blocks_parent": False,
        },
    )


def take_up(atomic_reason: str = "") -> Call:
    return Call("frontier_next", {"atomic_reason": atomic_reason})


def retry(question_id: str, query: str, *, why: str, assumption: str = "") -> Call:
    return Call(
        "retry_question",
        {"question_id": question_id, "new_query": query, "why": why, "assumption": assumption},
    )


def resolve(question_id: str, answer: str, *, claims: Sequence[str], reason: str = "") -> Call:
    return Call(
        "resolve_question",
        {
            "question_id": question_id,
            "answer": answer[:NOTE_CHARS],
            "claim_ids": list(claims[:LIST_ITEMS]),
            "reason": reason[:STEP_CHARS],
        },
    )


def prune(question_id: str, reason: str) -> Call:
    return Call("prune_branch", {"question_id": question_id, "reason": reason[:STEP_CHARS]})


def notes(section: str, entries: Sequence[dict[str, Any]]) -> Call:
    return Call("notes_append", {"section": section, "entries": list(entries[:ENTRIES])})


def entry(kind: str, text: str, **given: Any) -> dict[str, Any]:
    """An entry of the notes with all its properties."""
    unused = {
        "claim_kind": "",
        "value": "",
        "unit": "",
        "as_of": "",
        "question_id": "",
        "about": [],
        "links": [],
    }
    return {"kind": kind, "text": text[:NOTE_CHARS], **unused, **given}


def link(source_id: str, quote: str, *, repeats: str = "") -> dict[str, str]:
    """A source's words for a claim; ``repeats`` names what it only repeats."""
    return {"source_id": source_id, "stance": "supports", "quote": quote, "quotes_other_source": repeats}


def change(record_id: str, **given: Any) -> Call:
    unused = {"status": "", "text": "", "scope": "", "add_links": [], "reason": ""}
    return Call("notes_update", {"id": record_id, "change": {**unused, **given}})


def challenge(
    target_kind: str, target_id: str, strategy: str, *, negation: str, expected: str, query: str
) -> Call:
    return Call(
        "challenge",
        {
            "target_kind": target_kind,
            "target_id": target_id,
            "strategy": strategy,
            "negation": negation[:NOTE_CHARS],
            "expected_if_false": expected[:NOTE_CHARS],
            "query": query,
        },
    )


def outcome(challenge_id: str, result: str, evidence: str, *, sources: Sequence[str] = ()) -> Call:
    return Call(
        "record_challenge_result",
        {
            "challenge_id": challenge_id,
            "outcome": result,
            "evidence": evidence[:NOTE_CHARS],
            "source_ids": list(sources),
            "result_claim_id": "",
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
    following = "Write the report from the claims that were noted."
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
