"""The documents of a run, one part a turn as the view says; several at once where too few answers are left."""

from collections.abc import Sequence

from researchdesk.graph.offline.calls import Call, checklist, complete, prune, resolve, save
from researchdesk.graph.offline.compare import Evidence
from researchdesk.graph.offline.gathering import OBJECTIVE, read_for
from researchdesk.graph.offline.material import Material
from researchdesk.graph.offline.noting import late_findings
from researchdesk.graph.offline.sources import known_of
from researchdesk.graph.offline.view import TURN_TOKENS, Section, View
from researchdesk.graph.offline.writing import handoff_lists, handoff_text, outline_text, section_text

SAVE = "deep_research_save_artifact"


def writing(view: View) -> list[Call]:
    """The part that is due; everything that is left, where there are fewer answers left than parts."""
    due = [section for section in view.sections if section.status != "completed"]
    at_once = answers_left(view) < parts_left(view, due)
    material = material_of(view, planned=view.write.part == "section" and not at_once)
    sources = [source.artifact_id for source in material.cited]
    failed = {str(result.arguments.get("role")) for result in view.failed(SAVE)}
    if not sources or view.failed("deep_research_complete"):
        return []
    if at_once:
        return everything(view, material, due, sources, failed)
    match view.write.part:
        case "outline":
            return (
                outline(material, sources)
                if "outline" not in failed
                else sections(view, material, due, sources)
            )
        case "section":
            own = [section for section in due if section.key == view.write.key] or due[:1]
            return sections(view, material, own, sources)
        case "report" | "handoff" if {"report", "handoff"} & failed:
            return []
        case "report":
            return report(view, sources)
        case "handoff":
            return handoff(material, sources)
    return the_end(view, material)


def the_end(view: View, material: Material) -> list[Call]:
    return [*late_questions(view), *settle(view, material), ending(view, material)]


def late_questions(view: View) -> list[Call]:
    """What was asked after the gathering had ended is dropped, and the objective answered with what there is."""
    if not view.unmet:
        return []
    reason = "asked after the gathering had ended; another run can take it up"
    waiting = [one for one in view.questions if one.status in ("pending", "blocked")]
    ending = [
        resolve(one.id, "Answered as far as the report goes.", claims=[], reason=reason)
        for one in view.questions
        if one.status == "in_progress"
    ]
    return [*(prune(one.id, reason) for one in waiting), *ending]


def answers_left(view: View) -> float:
    budget = view.budget
    left = [float("inf")]
    if budget.steps_left is not None:
        left.append(budget.steps_left)
    if budget.tokens_left is not None:
        left.append(budget.tokens_left // TURN_TOKENS)
    return min(left)


def parts_left(view: View, due: Sequence[Section]) -> int:
    return (
        len(due)
        + (not view.outline_artifact_id)
        + (not view.report_artifact_id)
        + (not view.handoff_artifact_id)
        + 1
    )


def everything(
    view: View, material: Material, due: Sequence[Section], sources: list[str], failed: set[str]
) -> list[Call]:
    """All that is left to write in one answer; the end when nothing is."""
    written = sections(view, material, due, sources)
    if failed & {"report", "handoff"} and not written:
        return []
    if not written and view.report_artifact_id and view.handoff_artifact_id:
        return the_end(view, material)
    calls = list(written)
    if not view.report_artifact_id:
        calls += report(view, sources)
    if not view.handoff_artifact_id:
        calls += handoff(material, sources)
    calls += settle(view, material)
    if not view.outline_artifact_id and "outline" not in failed:
        calls += outline(material, sources)
    return calls


def material_of(view: View, *, planned: bool) -> Material:
    """What there is to write from; where nothing was noted, what was read or found last."""
    question = read_for(view, OBJECTIVE, view.objective)
    late = () if view.claims or view.claims_not_shown else late_evidence(view)
    return Material(view, question, planned=planned, late=late)


def late_evidence(view: View) -> tuple[Evidence, ...]:
    known = known_of(view)
    found = [
        Evidence(
            text=one.sentence.text,
            heading=one.sentence.heading,
            source_id=one.source.source_id,
            origin=one.source.origin or "unknown publisher",
            document=known.names[one.source.source_id],
            score=one.score * known.weights[one.source.source_id],
            focus=1.0,
        )
        for one in late_findings(view)
        if one.source.source_id in known.sources
    ]
    return tuple(sorted(found, key=lambda one: (-one.score, one.source_id, one.text)))


def outline(material: Material, sources: list[str]) -> list[Call]:
    return [
        save(
            "outline",
            "Outline",
            outline_text(material),
            summary="The sections and their claims.",
            sources=sources,
        )
    ]


def report(view: View, sources: list[str]) -> list[Call]:
    return [save("report", view.objective, "", summary="Made of the sections.", sources=sources)]


def handoff(material: Material, sources: list[str]) -> list[Call]:
    return [
        save(
            "handoff", "Handoff", handoff_text(material), summary="To decide, ask and check.", sources=sources
        )
    ]


def sections(view: View, material: Material, due: Sequence[Section], sources: list[str]) -> list[Call]:
    """Sections that are due; a refused one is written again without the quotes that were refused."""
    refused = {str(result.arguments.get("report_section_key")): result for result in view.failed(SAVE)}
    calls = []
    for section in due:
        last = refused.get(section.key)
        leave_out: list[str] = []
        if last is not None:
            told = " ".join(last.text.split())
            named = [one.text for one in material.evidence if " ".join(one.text.split())[:60] in told]
            leave_out = named or [one.text for one in material.evidence]
        body = section_text(
            section.key, material, keys=[one.key for one in view.sections], leave_out=leave_out
        )
        if last is not None and body == last.arguments.get("content"):
            continue
        name = section.title or section.key
        calls.append(
            save(
                "report_section",
                name,
                body,
                summary=name,
                sources=sources,
                key=section.key,
                status="completed",
            )
        )
    return calls


def settle(view: View, material: Material) -> list[Call]:
    """Checklist items that are still open: completed with the sources of the claims, skipped where there are none."""
    evidence = [source.artifact_id for source in material.cited][:50] if material.evidence else []
    tried = {
        (str(result.arguments.get("item_id")), str(result.arguments.get("status")))
        for result in view.failed("deep_research_update_checklist")
    }
    calls = []
    for item in view.checklist:
        if evidence and (item.item_id, "completed") not in tried:
            calls.append(checklist(item.item_id, "completed", evidence=evidence))
        elif (item.item_id, "skipped") not in tried:
            reason = "no archived source holds a sentence that answers"
            calls.append(checklist(item.item_id, "skipped", evidence=[], reason=reason))
    return calls


def ending(view: View, material: Material) -> Call:
    decisions, questions, checks = handoff_lists(material)
    return complete(
        str(view.report_artifact_id),
        str(view.handoff_artifact_id),
        tasks=decisions,
        issues=questions,
        checks=checks,
    )
