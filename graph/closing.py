"""Ending a run by code: when a breaker stops the model, what is there becomes a readable report with its gaps.

Everything goes through the same door and the same gate as a model's own calls. What was done already is not
done again, so a run that is killed while closing just goes on.
"""

import re
from collections.abc import Mapping
from typing import Any

from researchdesk.graph.budget import Stop
from researchdesk.graph.driver import Driver
from researchdesk.state import events as ev
from researchdesk.state.citations import CITATION
from researchdesk.state.citing import fallen
from researchdesk.state.claims import Claim
from researchdesk.state.errors import IntegrityError, NotFound
from researchdesk.state.gate import is_current
from researchdesk.state.questions import SETTLED_QUESTION
from researchdesk.state.quotes import find_quote
from researchdesk.state.run import Section
from researchdesk.state.verification import lacks
from researchdesk.state.vocabulary import SETTLED
from researchdesk.tools.door import ToolResult

QUOTES_A_SECTION = 12
QUOTE_CHARS = 300
LISTED = 100
BY_CODE = "Written by code from archived sources."
_MARKS = re.compile(r"[“”\[\]]")
# What would make a citation or a quotation of words that are neither; an apostrophe inside a word is none.
_QUOTING = re.compile(r"[\"“”„‟«»‹›「」『』〝〞＂❝❞<>\[\]]|(?<!\w)['‘’]|['‘’](?!\w)")


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
    handoff = _document(driver, "handoff", driver.run.handoff_artifact_id, content=_handoff_text(driver))
    result = _code(
        driver,
        "deep_research_complete",
        report_artifact_id=report,
        handoff_artifact_id=handoff,
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
    """Whether a section has to be written: it is not completed, or cites what has fallen since."""
    if section.status != "completed":
        return True
    return bool(fallen(driver.run.artifacts[section.artifact_id].cited, driver.session.notes))


def _by_code(driver: Driver, section: Section) -> bool:
    return bool(section.artifact_id) and driver.run.artifacts[section.artifact_id].summary == BY_CODE


def _write_open_sections(driver: Driver, stop: Stop) -> None:
    quotes = _noted_quotes(driver)
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
        share = quotes[number :: len(own)][:QUOTES_A_SECTION] or quotes[:QUOTES_A_SECTION]
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


def _section_text(title: str, stop: Stop, quotes: list[str]) -> str:
    head = (
        f"*No model wrote this section ({title.lower()}): the run stopped before it ({stop.reason.replace('_', ' ')}). "
        "What the archived sources say:*"
    )
    return "\n".join([head, "", *quotes])


def _noted_quotes(driver: Driver) -> list[str]:
    """Quotations with their citations: from the claims, else from the passages that searches found."""
    noted = [line for claim in driver.session.claims if _stands(claim) for line in _quote_lines(claim)]
    found = list(dict.fromkeys(noted)) or [
        line for source in driver.run.all_sources for line in _passage(driver, source)
    ]
    return found or [
        f"- Archived, not evaluated: {_told(source.title or source.url)} [{source.source_id}]"
        for source in driver.run.all_sources
    ]


def _stands(claim: Claim) -> bool:
    return claim.status not in ("REFUTED", "RETRACTED")


def _quote_lines(claim: Claim) -> list[str]:
    """What the sources say for a claim, each on one line that no mark of its own can end."""
    quotes = dict.fromkeys(" ".join(link.quote.split()) for link in claim.links if link.stance == "supports")
    return [f"- “{quote}” [{claim.id}]" for quote in quotes if quote and not _MARKS.search(quote)]


def _body(driver: Driver, artifact: ev.ArtifactRecorded) -> str:
    try:
        return driver.records.text(artifact.content_hash)
    except (NotFound, IntegrityError):
        return ""  # completion will name the artifact


def _passage(driver: Driver, source: ev.SourceRecorded) -> list[str]:
    """The first sentence of the passage that led to a source, as it stands in the archived text."""
    lead = driver.run.leads.get(source.url)
    if lead is None:
        return []
    text = _body(driver, driver.run.artifacts[source.artifact_id])
    for line in lead.best.snippet.splitlines():
        line = line.strip()[:QUOTE_CHARS]
        span = find_quote(text, line) if len(line) > 40 and '"' not in line and "”" not in line else None
        if span:
            return [f"- “{text[span.start : span.end]}” [{source.source_id}]"]
    return []


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
        source_artifact_ids=[source.artifact_id for source in driver.run.all_sources][:100],
    )
    data: Mapping[str, Any] = result.data
    return str(data.get("artifact_id", ""))


def _told(text: str) -> str:
    """A text in one line of a document, as words that quote and cite nothing."""
    return " ".join(_QUOTING.sub(" ", text).split())


def _handoff_text(driver: Driver) -> str:
    claims = [
        f"- {claim.id}, {claim.status}: {_told(claim.text[:QUOTE_CHARS])}{_cited(claim)}"
        for claim in driver.session.claims
    ]
    sources = [
        f"- {_told(source.title or source.url)} [{source.source_id}]" for source in driver.run.all_sources
    ]
    still_open = [
        f"- {question.id}, {question.status}: {_told(question.text[:QUOTE_CHARS])}"
        for question in driver.session.frontier
        if question.status not in SETTLED_QUESTION
    ]
    parts = (("Claims", claims), ("Open questions", still_open), ("Archived sources", sources))
    blocks = ["\n".join([f"{name}:", *lines[:LISTED]]) for name, lines in parts if lines]
    return "\n\n".join([f"Objective: {_told(driver.run.objective)}", *blocks])


def _cited(claim: Claim) -> str:
    """The citation of a claim; one without a source cannot be cited."""
    return f" [{claim.id}]" if claim.links else ""
