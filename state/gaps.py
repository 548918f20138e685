"""What a reader of a report has to know was not done, found by code."""

from collections.abc import Iterator

from researchdesk.state.citations import NOT_SOURCED, unsourced
from researchdesk.state.gate import is_current
from researchdesk.state.investigation import Investigation
from researchdesk.state.investigation_views import checked
from researchdesk.state.questions import SETTLED_QUESTION
from researchdesk.state.run import ResearchRun
from researchdesk.state.texts import cut_line
from researchdesk.state.unsettled import standing_on_refuted
from researchdesk.state.workspace import Workspace

SHOWN = 20
TEXT_SHOWN = 300


def gaps(workspace: Workspace, *, report_text: str) -> tuple[str, ...]:
    """The gaps of a run, at most `SHOWN` of each kind and then how many more there are."""
    run, investigation = workspace.run, workspace.investigation
    assert run is not None
    kinds = [
        _of_report(run),
        *(_of_investigation(investigation, run) if investigation else ()),
        _skipped_items(run),
        _refused(workspace),
        _found_nothing(run),
        _sources(run),
        _unsourced(report_text),
    ]
    return tuple(line for kind in kinds for line in _bounded(kind))


def _bounded(lines: Iterator[str]) -> list[str]:
    found = list(lines)
    hidden = len(found) - SHOWN
    return [*found[:SHOWN], *([f"And {hidden} more like the last one"] if hidden > 0 else [])]


def _cut(text: str) -> str:
    return cut_line(text, TEXT_SHOWN)


def _of_report(run: ResearchRun) -> Iterator[str]:
    if run.report_artifact_id and not is_current(run, run.report_artifact_id):
        yield "The report was saved before the last change of a section"
    if run.stop_reason:
        yield f"The research was stopped early ({run.stop_reason}): {run.stop_detail}"


def _of_investigation(investigation: Investigation, run: ResearchRun) -> tuple[Iterator[str], ...]:
    return (
        _open_questions(investigation),
        _given_up(investigation),
        _on_refuted(investigation),
        _open_challenges(investigation),
        _failed_challenges(investigation),
        _coverage(investigation),
        _publishers(run),
        _noted(investigation),
    )


def _open_questions(investigation: Investigation) -> Iterator[str]:
    for question in investigation.frontier:
        if question.status not in SETTLED_QUESTION:
            yield f"{question.id} ({question.status}): {_cut(question.text)}"


def _given_up(investigation: Investigation) -> Iterator[str]:
    for question in investigation.frontier:
        if question.status == "unresolvable":
            yield (
                f"{question.id} could not be answered: {_cut(question.text)} Assumed: {_cut(question.assumption)}"
            )


def _on_refuted(investigation: Investigation) -> Iterator[str]:
    for question, claim in standing_on_refuted(investigation):
        yield f"{question.id} is answered with {claim}, which is REFUTED: {_cut(question.text)}"


def _open_challenges(investigation: Investigation) -> Iterator[str]:
    for challenge in investigation.challenges.open:
        yield f"{challenge.id} of {challenge.target_id} was not brought to an end: {_cut(challenge.negation)}"


def _failed_challenges(investigation: Investigation) -> Iterator[str]:
    """Targets that were to be challenged, but whose every search failed."""
    challenges = investigation.challenges
    for target in dict.fromkeys(challenge.target_id for challenge in challenges):
        if all(challenge.failed for challenge in challenges.of(target)):
            yield f"{target} was not challenged: the search for it failed"


def _coverage(investigation: Investigation) -> Iterator[str]:
    found = checked(investigation)
    if min(found.challenged, found.verified) < found.total:
        of = f"of {found.total}"
        yield f"{found.challenged} {of} claims were challenged, {found.verified} {of} are VERIFIED"


def _publishers(run: ResearchRun) -> Iterator[str]:
    have, wanted = len({source.origin for source in run.fetched_sources}), run.limits.min_domains
    if have < wanted:
        yield f"Sources of {have} publisher{'' if have == 1 else 's'}; {wanted} were asked for"


def _noted(investigation: Investigation) -> Iterator[str]:
    for gap in sorted(investigation.notes.gaps.values(), key=lambda gap: int(gap.id[4:])):
        yield f"{gap.id}: {_cut(gap.text)}"  # so that none reads like a gap that code found


def _skipped_items(run: ResearchRun) -> Iterator[str]:
    for item in run.checklist:
        if item.update is not None and item.status == "skipped":
            yield f"{item.title}: skipped, {item.update.blocked_reason}"


def _refused(workspace: Workspace) -> Iterator[str]:
    for code, count in sorted(workspace.refused_by_code.items()):
        if code.startswith(("fetch_", "search_")):
            yield f"{count} × {code}"


def _found_nothing(run: ResearchRun) -> Iterator[str]:
    for search in reversed(list(run.searches)):
        if not search.hits:
            yield f"No search hit for: {search.query}"


def _sources(run: ResearchRun) -> Iterator[str]:
    supplied = [source.source_id for source in run.all_sources if source.receipt is None]
    if supplied:
        yield f"Supplied, not fetched by this program: {', '.join(supplied)}"
    for source in run.all_sources:
        if source.receipt is not None and not source.receipt.readable:
            yield f"Source {source.source_id} could not be read properly"


def _unsourced(report_text: str) -> Iterator[str]:
    marked = len(unsourced(report_text)) + report_text.count(NOT_SOURCED.strip())
    if marked:
        yield f"{marked} sentences of the report have no source and are marked so"
