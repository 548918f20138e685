"""Ending a run by code: when a breaker stops the model, what is there becomes a readable report with its gaps.

Everything goes through the same door and the same gate as a model's own calls. What was done already is not
done again, so a run that is killed while closing just goes on.
"""

from collections.abc import Mapping
from typing import Any

from researchdesk.graph.budget import Stop
from researchdesk.graph.driver import Driver
from researchdesk.graph.remains import handoff, quotes, standing_sources
from researchdesk.state import events as ev
from researchdesk.state.citations import CITATION
from researchdesk.state.citing import fallen
from researchdesk.state.gate import is_current
from researchdesk.state.run import Section
from researchdesk.state.verification import lacks
from researchdesk.state.vocabulary import SETTLED
from researchdesk.tools.door import ToolResult

QUOTES_A_SECTION = 12
BY_CODE = "Written by code from archived sources."


def stop_gathering(driver: Driver, stop: Stop) -> None:
    """Record why the gathering ends, and open the report; without any evidence the run is blocked."""
    _record_stop(driver, stop)
    run = driver.run
    if not run.sources:
        driver.session.record([ev.ResearchBlocked(reason=f"no evidence: {_said(stop)}")])
        return
    _skip_open_items(driver, stop)
    opened = _code(
        driver,
        "deep_research_checkpoint",
        round=run.round,
        stage="report_writing",
        status="active",
        summary=f"The gathering ended early ({stop.reason}): {stop.detail}."[:4000],
    )
    if opened.status == "error":
        driver.session.record([ev.ResearchBlocked(reason=opened.text[:2000])])


def _said(stop: Stop) -> str:
    return f"{stop.reason}, {stop.detail}"


def _record_stop(driver: Driver, stop: Stop) -> None:
    if driver.run.stop_reason is None:
        driver.session.record([ev.ResearchStopped(reason=stop.reason, detail=stop.detail[:500])])


def finish_by_code(driver: Driver, stop: Stop) -> None:
    """Complete a run whose model cannot go on writing."""
    _record_stop(driver, stop)
    _skip_open_items(driver, stop)
    _take_back(driver)
    _write_open_sections(driver, stop)
    known = driver.run.report_artifact_id
    report = _document(driver, "report", known if is_current(driver.run, known) else "", content="")
    known = driver.run.handoff_artifact_id
    handed = _document(
        driver, "handoff", "" if _draws_on_purged(driver, known) else known, content=handoff(driver)
    )
    result = _code(
        driver,
        "deep_research_complete",
        report_artifact_id=report,
        handoff_artifact_id=handed,
        implementation_tasks=["Read the report and decide what follows from it."],
        recommended_issues=[f"Take up what was left open: {_said(stop)}."[:2000]],
        verification_commands=["researchdesk verify"],
    )
    if result.status == "error":
        driver.session.record([ev.ResearchBlocked(reason=result.text[:2000])])


def _code(driver: Driver, tool: str, /, **arguments: Any) -> ToolResult:
    """A call made by code; its id holds the sequence, so that a later attempt is a new call."""
    seq = driver.session.workspace.seq
    return driver.session.call(tool, arguments, tool_call_id=f"code:{seq}")


def _skip_open_items(driver: Driver, stop: Stop) -> None:
    for item in driver.run.checklist:
        if item.status not in SETTLED:
            reason = f"not settled before the run stopped ({_said(stop)})"[:2000]
            _code(
                driver,
                "deep_research_update_checklist",
                item_id=item.item_id,
                status="skipped",
                blocked_reason=reason,
            )


def _take_back(driver: Driver) -> None:
    """No claim stays VERIFIED that would not become it now."""
    session = driver.session
    for claim in session.claims:
        missing = lacks(claim, session.notes.sources, session.challenges, driver.run.limits)
        if claim.status == "VERIFIED" and missing:
            _code(driver, "notes_update", id=claim.id, change={"status": "UNVERIFIED"})


def _is_open(driver: Driver, section: Section) -> bool:
    """Whether a section has to be written: it is not completed, or stands on what has fallen or was purged since."""
    if section.status != "completed" or _draws_on_purged(driver, section.artifact_id):
        return True
    return bool(fallen(driver.run.artifacts[section.artifact_id].cited, driver.session.notes))


def _draws_on_purged(driver: Driver, artifact_id: str) -> bool:
    artifact = driver.run.artifacts.get(artifact_id)
    purged = driver.session.workspace.purged_artifacts
    return artifact is not None and any(key in purged for key in artifact.source_artifact_ids)


def _by_code(driver: Driver, section: Section) -> bool:
    return bool(section.artifact_id) and driver.run.artifacts[section.artifact_id].summary == BY_CODE


def _write_open_sections(driver: Driver, stop: Stop) -> None:
    lines = quotes(driver)
    # Those that code wrote before it was killed keep their share, so that the others get theirs.
    own = [
        section for section in driver.run.sections if _is_open(driver, section) or _by_code(driver, section)
    ]
    for number, section in enumerate(own):
        if not _is_open(driver, section):
            continue
        if section.status == "drafted":
            content = driver.records.text(driver.run.artifacts[section.artifact_id].content_hash)
            if CITATION.search(content) and _save_section(driver, section.key, section.title, content):
                continue
        share = lines[number :: len(own)][:QUOTES_A_SECTION] or lines[:QUOTES_A_SECTION]
        _save_section(driver, section.key, section.title, _section_text(section.title, stop, share))


def _save_section(driver: Driver, key: str, title: str, content: str) -> bool:
    result = _code(
        driver,
        "deep_research_save_artifact",
        role="report_section",
        name=title,
        content=content,
        summary=BY_CODE,
        report_section_key=key,
        report_section_status="completed",
    )
    return result.status == "success"


def _section_text(title: str, stop: Stop, lines: list[str]) -> str:
    head = (
        f"*No model wrote this section ({title.lower()}): the run stopped before it ({stop.reason.replace('_', ' ')}). "
        "What the archived sources say:*"
    )
    return "\n".join([head, "", *lines])


def _document(driver: Driver, role: str, known: str, *, content: str) -> str:
    """The run's report or handoff: the one that is there, else one that code saves now."""
    if known:
        return known
    result = _code(
        driver,
        "deep_research_save_artifact",
        role=role,
        name=f"{role.capitalize()}: {driver.run.objective}"[:240],
        content=content,
        source_artifact_ids=[source.artifact_id for source in standing_sources(driver)][:100],
    )
    data: Mapping[str, Any] = result.data
    return str(data.get("artifact_id", ""))
