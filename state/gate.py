"""What a run still lacks before its report may be written, and before it may be completed.

Each gate returns all that is missing at once, in words that say what to do.
"""

from collections.abc import Container, Iterator, Mapping

from researchdesk.state import events as ev
from researchdesk.state.anchors import misquoted_links, misquotes
from researchdesk.state.citations import cited_ids
from researchdesk.state.citing import fallen, uncitable
from researchdesk.state.investigation import Investigation
from researchdesk.state.notes import Notes
from researchdesk.state.reach import untried_leads
from researchdesk.state.run import ResearchRun
from researchdesk.state.unsettled import named, open_inquiry, unsettled
from researchdesk.state.verification import lacks
from researchdesk.state.vocabulary import SETTLED
from researchdesk.state.workspace import Workspace

NO_SOURCE = "no source is archived; search and archive one first"
NOT_SEARCHED = "the corpus was not searched yet; call search_sources first"


def missing_for_report(workspace: Workspace) -> tuple[str, ...]:
    """What stands against leaving the knowledge base for the report.

    A run that was stopped writes with what it has; what it lacks is listed as gaps of its report.
    """
    run, investigation = workspace.run, workspace.investigation
    assert run is not None
    if run.stop_reason:
        return () if run.sources else (NO_SOURCE,)
    searchable = bool(workspace.config and (workspace.config.corpus or workspace.config.web))
    unsearched = (NOT_SEARCHED,) if searchable and not run.searches else ()
    if investigation is None:
        return unsearched or tuple(_sources_lacking(run, _leads_left(run, workspace.refused_locators)))
    untried = untried_leads(run, investigation.frontier, workspace.refused_locators)
    return (
        *unsearched,
        *_sources_lacking(run, len(run.fetched_sources) + len(untried)),
        *_publishers_lacking(run, untried),
        *unsettled(investigation, run),
    )


def _leads_left(run: ResearchRun, refused: Container[str]) -> int:
    """The documents that searches found, but for those that could not be archived: nobody is asked for them."""
    return sum(locator not in refused for locator in run.leads)


def _sources_lacking(run: ResearchRun, reachable: int) -> Iterator[str]:
    wanted, fetched = min(run.limits.min_sources, reachable), len(run.fetched_sources)
    if not run.sources:
        yield NO_SOURCE
    elif fetched < wanted:
        yield f"{fetched} of {wanted} fetched sources are archived; archive {wanted - fetched} more"


def _publishers_lacking(run: ResearchRun, untried: tuple[ev.Found, ...]) -> Iterator[str]:
    have = {source.origin for source in run.fetched_sources}
    others = dict.fromkeys(hit.origin for hit in untried if hit.origin and hit.origin not in have)
    wanted = min(run.limits.min_domains, len(have) + len(others))
    if len(have) < wanted:
        yield (
            f"the fetched sources are of {len(have)} of {wanted} publishers; archive one of {named(others)}"
        )


def needed_bodies(
    run: ResearchRun, *, report: str, handoff: str, purged: Container[str] = ()
) -> tuple[str, ...]:
    """The artifacts that completion re-reads: every one that the run still stands on.

    Args:
        purged: artifacts whose bodies were removed; they are needed only where a document draws on them.
    """
    documents = [
        key for key in (*(s.artifact_id for s in run.sections), report, handoff) if key in run.artifacts
    ]
    drawn = {*documents, *(source for key in documents for source in run.artifacts[key].source_artifact_ids)}
    replaced = {a.artifact_id for a in run.by_role("report_section")} - {s.artifact_id for s in run.sections}
    kept = [key for key in reversed(list(run.newest_artifacts)) if key not in replaced]
    whole = dict.fromkeys([*kept, *(key for key in (report, handoff) if key in run.artifacts)])
    return tuple(key for key in whole if key in drawn or key not in purged)


def is_current(run: ResearchRun, report: str) -> bool:
    """Whether a report was saved after each section that the run has now."""
    sections = {section.artifact_id for section in run.sections}
    newest = next((key for key in run.newest_artifacts if key == report or key in sections), "")
    return newest == report


def missing_for_completion(
    workspace: Workspace,
    *,
    report: str,
    handoff: str,
    texts: Mapping[str, str],
    problems: Mapping[str, str],
) -> tuple[str, ...]:
    """What stands against completing the run with this report and this handoff.

    Args:
        texts: the re-read body of each artifact of `needed_bodies`, by artifact id.
        problems: artifacts whose body is gone or changed, with the reason.
    """
    run, notes = workspace.run, workspace.notes
    assert run is not None
    return tuple(
        dict.fromkeys(
            [
                *_stage_problems(run),
                *_open_work(run),
                *(open_inquiry(workspace.investigation, run) if workspace.investigation else ()),
                *_document_problems(run, report=report, handoff=handoff),
                *problems.values(),
                *_section_problems(run, texts),
                *_citation_problems(run, notes, report, texts),
                *_quote_problems(run, notes, report, texts),
                *misquoted_links(notes, texts),
                *_unproven_claims(workspace.investigation, run),
            ]
        )
    )


def _stage_problems(run: ResearchRun) -> Iterator[str]:
    if run.stage != "report_writing":
        yield "the run is not in stage report_writing; call deep_research_checkpoint with that stage first"
    if not run.sources:
        yield "no source is archived"


def _open_work(run: ResearchRun) -> Iterator[str]:
    for item in run.checklist:
        if item.status not in SETTLED:
            yield f"checklist item '{item.item_id}' is {item.status}; complete it with evidence or skip it"
    for section in run.sections:
        if section.status != "completed":
            yield f"report section '{section.key}' is {section.status}; save it with status completed"


def _document_problems(run: ResearchRun, *, report: str, handoff: str) -> Iterator[str]:
    for role, key in (("report", report), ("handoff", handoff)):
        artifact = run.artifacts.get(key)
        if artifact is None:
            yield f"{role}_artifact_id '{key}' is no artifact of this run; save one with role {role}"
        elif artifact.role != role:
            yield f"{role}_artifact_id '{key}' has role {artifact.role}, not {role}"
        elif role == "report" and not artifact.cited:
            yield f"the report '{key}' cites nothing; save it with content empty to have the sections assembled"


def _section_problems(run: ResearchRun, texts: Mapping[str, str]) -> Iterator[str]:
    seen: dict[str, str] = {}
    for section in run.sections:
        body = texts.get(section.artifact_id)
        if section.status != "completed" or body is None:
            continue
        if not body.strip():
            yield f"report section '{section.key}' is empty"
        elif not cited_ids(body):
            yield f"report section '{section.key}' cites nothing"
        if body in seen:
            yield f"report section '{section.key}' repeats section '{seen[body]}'; save it with words of its own"
        seen.setdefault(body, section.key)


def _citation_problems(
    run: ResearchRun, notes: Notes | None, report: str, texts: Mapping[str, str]
) -> Iterator[str]:
    for key in _written(run, report):
        artifact, cited = run.artifacts[key], cited_ids(texts.get(key, ""))
        for problem in uncitable(cited, notes, run):
            yield f"'{artifact.name}': {problem}"
        if artifact.role != "evidence_note" and (claims := fallen(cited, notes)):
            yield f"'{artifact.name}' cites {', '.join(claims)}; save it again without {_it(claims)}"


def _it(claims: tuple[str, ...]) -> str:
    return "them" if len(claims) > 1 else "it"


def _quote_problems(
    run: ResearchRun, notes: Notes | None, report: str, texts: Mapping[str, str]
) -> Iterator[str]:
    for key in _written(run, report):
        artifact = run.artifacts[key]
        for problem in misquotes(run, notes, artifact, texts[key], texts) if key in texts else ():
            yield f"'{artifact.name}': {problem}"


def _unproven_claims(investigation: Investigation | None, run: ResearchRun) -> Iterator[str]:
    """Claims that are VERIFIED and would not become so today, as when a link was declared to repeat another."""
    for claim in investigation.notes.all_claims if investigation else ():
        if claim.status != "VERIFIED":
            continue
        assert investigation is not None
        missing = lacks(claim, investigation.notes.sources, investigation.challenges, run.limits)
        if missing:
            yield (
                f"{claim.id} is VERIFIED and {'; '.join(missing)}; set it back with notes_update, status UNVERIFIED"
            )


def _written(run: ResearchRun, report: str) -> list[str]:
    keys = [section.artifact_id for section in run.sections if section.artifact_id]
    keys += [artifact.artifact_id for artifact in run.by_role("evidence_note")]
    return [*keys, report] if report in run.artifacts else keys
