"""What the work on a question leaves in the run's own record once the question is settled.

Each round is a research step: what was searched and read for the question since its last one, what ended it and what
it brought. With the objective, the open checklist items are settled too.
"""

from collections.abc import Iterable, Iterator

from researchdesk.state import events as ev
from researchdesk.state.claims import Claim
from researchdesk.state.frontier import ROOT
from researchdesk.state.investigation import Investigation
from researchdesk.state.limits import INSPECTED_REFS, LIST_ITEMS, REFERENCES, STEP_CHARS, STEPS
from researchdesk.state.locators import UnsafeLocator, host_of, is_web, parse_locator
from researchdesk.state.questions import Attempt, Question
from researchdesk.state.run import ResearchRun
from researchdesk.state.texts import cut
from researchdesk.state.vocabulary import SETTLED
from researchdesk.state.workspace import Workspace

RoundEvent = ev.StepRecorded | ev.ChecklistUpdated
EXPECTED = "Sources that answer the question, word for word"


def of_settled(workspace: Workspace, now: Investigation, question_id: str) -> tuple[RoundEvent, ...]:
    """The step of a question that was just settled and, for the objective, the checklist.

    Args:
        workspace: as it was before.
        now: the investigation in which the question is settled.
    """
    assert workspace.run is not None
    question = now.frontier.questions[question_id]
    items = _checklist(workspace.run, now) if question_id == ROOT else ()
    return (*_step(workspace, workspace.run, now, question), *items)


def _step(
    workspace: Workspace, run: ResearchRun, now: Investigation, question: Question
) -> Iterator[ev.StepRecorded]:
    """One step, or none where nothing was looked at or the run holds no more."""
    tried = _new_attempts(run, now, question)
    sources = _sources(_standing(now, question))
    read = [a.query for a in tried if a.kind == "fetch"] or [run.sources[key].url for key in sources]
    queries = [a.query for a in tried if a.kind != "fetch"]
    if not (read or queries) or run.step_count >= STEPS:
        return
    config = workspace.config or ev.RunConfigured()
    web = any(map(is_web, read)) if read else not (config.corpus or config.desk)
    yield ev.StepRecorded(
        step=run.step_count + 1,
        kind="web_research" if web else "local_exploration",
        status="completed" if sources else "stopped",
        objective=_text(question.text),
        summary=_text(question.answer if question.status == "resolved" else question.assumption),
        roots=_list(map(_place, read) if read else config.corpus),
        keywords=_list(queries or [question.text]),
        stopping_condition=_ending(question, now),
        expected_evidence=_text(question.why or EXPECTED),
        evidence_artifact_ids=_artifacts(run, sources),
        inspected_refs=tuple(_reference(run, a) for a in tried if a.kind == "fetch")[:INSPECTED_REFS],
        worker_run_ids=tuple(attempt.id for attempt in tried)[:REFERENCES],
    )


def _new_attempts(run: ResearchRun, now: Investigation, question: Question) -> list[Attempt]:
    """What was tried for the question and stands in no earlier step."""
    told = {key for step in run.steps for key in step.worker_run_ids}
    return [a for a in now.frontier.tried(question.id) if a.results is not None and a.id not in told]


def _standing(now: Investigation, question: Question) -> Iterator[Claim]:
    """The claims that its answer names or that were noted for it, but for those that fell."""
    for claim in _live(now):
        if claim.id in question.claim_ids or claim.question_id == question.id:
            yield claim


def _live(now: Investigation) -> Iterator[Claim]:
    return (claim for claim in now.notes.all_claims if claim.status not in ("REFUTED", "RETRACTED"))


def _sources(claims: Iterable[Claim]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(link.source_id for claim in claims for link in claim.links))


def _artifacts(run: ResearchRun, sources: Iterable[str]) -> tuple[str, ...]:
    return tuple(run.sources[key].artifact_id for key in sources)[:REFERENCES]


def _ending(question: Question, now: Investigation) -> str:
    if question.status == "resolved":
        return "The question was answered"
    return f"No more searches were allowed; {now.frontier.searches(question.id)} were spent"


def _reference(run: ResearchRun, attempt: Attempt) -> ev.InspectedRef:
    source = run.sources.get(run.source_by_url.get(attempt.query) or "")
    return ev.InspectedRef(
        kind="url" if is_web(attempt.query) else "file",
        locator=attempt.query,
        label=attempt.id,
        source_artifact_id=source.artifact_id if source else "",
    )


def _place(locator: str) -> str:
    """The site of a page, the folder of a file; what is neither stands for itself."""
    try:
        parsed = parse_locator(locator)
    except UnsafeLocator:
        return locator
    if parsed.kind == "web":
        return host_of(parsed.value)
    folder = parsed.value.rpartition("/")[0]
    return f"desk:{folder}" if parsed.kind == "desk" else folder or "."


def _text(text: str) -> str:
    return cut(text, STEP_CHARS)


def _list(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_text(item) for item in items if item))[:LIST_ITEMS]


def _checklist(run: ResearchRun, now: Investigation) -> Iterator[ev.ChecklistUpdated]:
    """Every open item: completed with what the claims stand on, or skipped where there are none."""
    evidence = _artifacts(run, _sources(_live(now)))
    root = now.frontier.root
    reason = "" if evidence else _text(f"No claim was noted: {root.answer or root.assumption}")
    for item in run.checklist:
        if item.status not in SETTLED:
            yield ev.ChecklistUpdated(
                item_id=item.item_id,
                status="completed" if evidence else "skipped",
                evidence_artifact_ids=evidence,
                blocked_reason=reason,
            )
