"""What the offline model does next, decided from the view of the run alone."""

from collections.abc import Collection

from researchdesk.graph.offline.calls import Call, checklist, checkpoint, complete, save, step
from researchdesk.graph.offline.gathering import (
    folder_parts,
    is_web,
    locating_searches,
    next_archives,
    next_searches,
    plain_queries,
)
from researchdesk.graph.offline.material import Material
from researchdesk.graph.offline.noting import failed_twice, next_notes, next_reads, waiting_sources
from researchdesk.graph.offline.question import Question, read_question
from researchdesk.graph.offline.quotes import parse_quotes
from researchdesk.graph.offline.view import Note, View
from researchdesk.graph.offline.writing import handoff_lists, handoff_text, outline_text, section_text

SETTLED = {"completed", "skipped"}
STEPS_TO_CLOSE = 8
"""Model answers that closing the knowledge base and writing the report may take."""
SAVE = "deep_research_save_artifact"
NOTHING = "Nothing that answers the question could be found and archived, so there is nothing to report."


def next_calls(view: View, *, offered: Collection[str]) -> tuple[list[Call], str]:
    """The calls of this turn, and a text for a reader when there are none.

    Args:
        offered: names of the tools that may be called; no other is.
    """
    question = question_of(view)
    steps = writing if view.stage == "report_writing" else gathering
    calls = [call for call in steps(view, question) if call.tool in offered]
    return calls[: max(1, view.limits.calls_per_turn)], "" if calls else closing_words(view)


def question_of(view: View) -> Question:
    """The question with the words that feedback added to its first searches."""
    plain = len(plain_queries(view.objective, read_question(view.objective)))
    return read_question(view.objective, queries=[search.query for search in view.searches[: plain + 1]])


def closing_words(view: View) -> str:
    if not view.sources:
        return NOTHING
    problems = "; ".join(result.text.strip()[:300] for result in view.last if result.failed)
    return f"Nothing is left that rules could do. {problems}".strip()


def gathering(view: View, question: Question) -> list[Call]:
    """Search, archive, read and note, then close the knowledge base."""
    if hurried(view):
        return [*next_notes(view, question), *([] if view.last and reading(view) else closing(view))]
    for find in (next_searches, next_archives, locating_searches):
        if calls := find(view, question):
            return calls
    if failed_twice(view.failed(SAVE)):
        return closing(view)
    # Notes and reads take turns: results of one turn share the prompt, and pages are to come uncut.
    calls = next_notes(view, question) or next_reads(view, waiting=waiting_sources(view))
    return calls or closing(view)


def reading(view: View) -> bool:
    return any(result.tool == "deep_research_read_artifact" for result in view.last)


def hurried(view: View) -> bool:
    """True when what is left of the budget is needed for the report."""
    budget = view.budget
    few_steps = budget.steps_left is not None and budget.steps_left <= STEPS_TO_CLOSE
    few_tokens = (
        budget.tokens_left is not None
        and budget.writing_reserve is not None
        and budget.tokens_left <= budget.writing_reserve
    )
    return bool(view.stop_reason) or few_steps or few_tokens


def speaking(view: View) -> list[Note]:
    """Notes that hold quotes, as far as their bodies are shown; else all of them."""
    return [note for note in view.notes if parse_quotes(note.text)] or [
        note for note in view.notes if note.name != "Read without finding"
    ]


def closing(view: View) -> list[Call]:
    """The step's record, the checklist and the checkpoint that opens the report; what is refused is given up."""
    refused = view.failed("deep_research_checkpoint")
    calls = record(view) if not view.steps and not view.failed("deep_research_record_step") else []
    calls += settle(view)
    if not view.sources:
        return calls
    if refused and (not calls or view.failed("deep_research_update_checklist")):
        return []
    notes = [note.artifact_id for note in speaking(view)]
    calls.append(
        checkpoint(
            max(1, view.round),
            "report_writing",
            summary=f"Archived and read: {', '.join(source.source_id for source in view.sources)}.",
            open_questions=[],
            evidence=notes,
        )
    )
    return calls


def record(view: View) -> list[Call]:
    """The one step of this run: where it looked, with which words, and what it brought."""
    notes = [note.artifact_id for note in speaking(view)]
    web = bool(view.sources) and all(is_web(source.locator) for source in view.sources)
    folders = dict.fromkeys("/".join(folder_parts(source.locator)) or "." for source in view.sources)
    refs = [
        {
            "kind": "url" if is_web(source.locator) else "file",
            "locator": source.locator,
            "label": (source.title or "")[:200],
            "source_artifact_id": source.artifact_id,
        }
        for source in view.sources
    ]
    found = (
        f"Sources that were quoted: {len(notes)} notes." if notes else "No sentence was found that answers."
    )
    return [
        step(
            "completed" if notes else "blocked",
            objective=view.objective,
            summary=found,
            roots=list(folders) or ["."],
            keywords=[search.query[:500] for search in view.searches] or [view.objective[:500]],
            evidence=notes,
            refs=refs,
            web=web,
            reason="" if notes else "the searches and the read sources held nothing that answers",
        )
    ]


def settle(view: View) -> list[Call]:
    """Open checklist items: completed with the notes, skipped with a reason where there are none."""
    notes = [note.artifact_id for note in speaking(view)]
    tried = {
        (str(result.arguments.get("item_id")), str(result.arguments.get("status")))
        for result in view.failed("deep_research_update_checklist")
    }
    calls = []
    for item in view.checklist:
        if item.status in SETTLED or (item.status == "blocked" and not view.sources):
            continue
        if not view.sources:
            calls.append(
                checklist(item.item_id, "blocked", evidence=[], reason="no source could be archived")
            )
        elif notes and (item.item_id, "completed") not in tried:
            calls.append(checklist(item.item_id, "completed", evidence=notes[:50]))
        elif (item.item_id, "skipped") not in tried:
            reason = "no archived source holds a sentence that answers"
            calls.append(checklist(item.item_id, "skipped", evidence=[], reason=reason))
    return calls


def writing(view: View, question: Question) -> list[Call]:
    """The outline and the sections, then report and handoff, then the end."""
    material = Material(view, question)
    sources = [source.artifact_id for source in material.cited]
    if not sources:
        return []
    failed = {str(result.arguments.get("role")) for result in view.failed(SAVE)}
    if failed & {"report", "handoff"} or view.failed("deep_research_complete"):
        return []  # all that comes before them was tried
    sections = section_calls(view, material, sources)
    if sections:
        missing = not view.outline_artifact_id and "outline" not in failed
        text = outline_text(material)
        outline = save("outline", "Outline", text, summary="The sections and their basis.", sources=sources)
        return [*([outline] if missing else []), *sections]
    calls = []
    if not view.report_artifact_id:
        calls.append(save("report", view.objective, "", summary="Made of the sections.", sources=sources))
    if not view.handoff_artifact_id:
        text = handoff_text(material)
        calls.append(save("handoff", "Handoff", text, summary="To decide, ask and check.", sources=sources))
    return calls or [*settle(view), ending(view, material)]


def section_calls(view: View, material: Material, sources: list[str]) -> list[Call]:
    """Sections that are not completed; a refused one is written again without the quotes that were refused."""
    refused = {str(result.arguments.get("report_section_key")): result for result in view.failed(SAVE)}
    calls = []
    for section in view.sections:
        if section.status == "completed":
            continue
        last = refused.get(section.key)
        leave_out: list[str] = []
        if last is not None:
            named = [one.text for one in material.evidence if one.text[:60] in " ".join(last.text.split())]
            leave_out = named or [one.text for one in material.evidence]
        body = section_text(section.key, material, leave_out=leave_out)
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


def ending(view: View, material: Material) -> Call:
    decisions, questions, checks = handoff_lists(material)
    return complete(
        str(view.report_artifact_id),
        str(view.handoff_artifact_id),
        tasks=decisions,
        issues=questions,
        checks=checks,
    )
