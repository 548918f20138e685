"""What the offline model does next, decided from the view of the run alone."""

from collections.abc import Collection

from researchdesk.graph.offline.calls import Call, checklist, checkpoint, complete, save, step
from researchdesk.graph.offline.gathering import (
    alias_of,
    folder_parts,
    is_web,
    is_widened,
    locating_searches,
    next_archives,
    next_searches,
)
from researchdesk.graph.offline.material import Material
from researchdesk.graph.offline.noting import (
    BLANK,
    failed_twice,
    late_quotes,
    next_notes,
    next_reads,
    note,
    waiting_sources,
)
from researchdesk.graph.offline.question import Question, read_question
from researchdesk.graph.offline.quotes import parse_quotes
from researchdesk.graph.offline.view import View
from researchdesk.graph.offline.writing import handoff_lists, handoff_text, outline_text, section_text

SETTLED = {"completed", "skipped"}
HURRY = 5
"""With at most so many answers left for gathering, several things are done in one."""
TURN_TOKENS = 8_000
"""What an answer with its prompt is taken to cost where tokens are limited."""
SAVE = "deep_research_save_artifact"


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
    """The question with the words that feedback added to its searches, and the names that documents gave it."""
    queries = [search.query for search in view.searches]
    widened = [query for query in queries if is_widened(query, view)][:1]
    names = [name for query in queries if (name := alias_of(query)) and query not in view.objective]
    return read_question(view.objective, queries=widened, aliases=names)


def closing_words(view: View) -> str:
    problems = "; ".join(result.text.strip()[:300] for result in view.last if result.failed)
    return f"Nothing is left that rules could do. {problems}".strip()


def gathering(view: View, question: Question) -> list[Call]:
    """Search, archive, read and note, then close the knowledge base; with few answers left much of it at once."""
    searches = next_searches(view, question)
    if not view.found and not view.sources:
        return searches or nothing_found(view)
    if failed_twice(view.failed(SAVE)):
        return closing(view)
    turns = turns_left(view)
    if searches and not view.sources and (turns is None or turns > HURRY):
        return searches  # what they find is to be chosen from, too
    archives = next_archives(view, question)
    if searches and turns is not None and turns > 2:
        archives = archives[: (len(archives) + 1) // 2]
    elif archives:
        searches += locating_searches(view, question)
    # Note results are short: the pages that are read beside them still come uncut.
    reads = next_reads(view, waiting=waiting_sources(view), turns=turns)
    return [*next_notes(view, question), *searches, *archives, *reads] or closing(view)


def turns_left(view: View) -> int | None:
    """Answers that are left for gathering, None where neither steps nor tokens are limited."""
    budget = view.budget
    left = []
    if budget.steps_left is not None:
        left.append(max(1, budget.steps_left - budget.writing_steps))
    if budget.tokens_left is not None:
        left.append(max(1, (budget.tokens_left - (budget.writing_reserve or 0)) // TURN_TOKENS))
    return min(left, default=None)


def nothing_found(view: View) -> list[Call]:
    """The end of a run without any source, with its reason; it may be taken up again."""
    hits = sum(search.results for search in view.searches)
    reason = f"nothing was found for '{view.objective[:300]}' in {len(view.searches)} searches"
    if hits:
        codes = ", ".join(sorted({one.code for one in view.refused if one.code}))
        reason = f"no document of those that {len(view.searches)} searches found could be archived"
        reason += f" ({codes})." if codes else "."
    if failed := [result for result in view.failed("search_sources") if result.text]:
        reason = f"the search failed: {failed[0].text.strip()[:300]}"
    if view.failed("deep_research_checkpoint"):
        return []
    reason = f"no evidence: {reason}"
    steps = record(view, reason) if not view.steps and not view.failed("deep_research_record_step") else []
    end = checkpoint(
        max(1, view.round),
        "knowledge_base",
        status="blocked",
        summary=reason,
        open_questions=[view.objective],
    )
    return [*steps, *settle(view), end]


def evidence_of(view: View) -> list[str]:
    """Ids of the notes that hold quotes, as far as they are shown; where none is, of the sources with notes."""
    speaking = [note.artifact_id for note in view.notes if parse_quotes(note.text)]
    if view.notes:
        return speaking or [note.artifact_id for note in view.notes if note.name != BLANK]
    return [source.artifact_id for source in view.sources if source.noted]


def closing(view: View) -> list[Call]:
    """The step's record, the checklist and the checkpoint that opens the report; what is refused is given up."""
    refused = view.failed("deep_research_checkpoint")
    calls = record(view) if not view.steps and not view.failed("deep_research_record_step") else []
    calls += settle(view)
    if refused and (not calls or view.failed("deep_research_update_checklist")):
        return []
    notes = evidence_of(view)
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


def record(view: View, reason: str = "") -> list[Call]:
    """The one step of this run: where it looked, with which words, and what it brought.

    Args:
        reason: why it is blocked, where it brought nothing.
    """
    notes = evidence_of(view)
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
            reason="" if notes else reason or "the searches and the read sources held nothing that answers",
        )
    ]


def settle(view: View, *, quoted: Collection[str] = ()) -> list[Call]:
    """Open checklist items: completed with the notes, skipped with a reason where there are none.

    Args:
        quoted: artifact ids of sources that are quoted by now without a note that the view knows.
    """
    evidence = evidence_of(view) or list(quoted)
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
        elif evidence and (item.item_id, "completed") not in tried:
            calls.append(checklist(item.item_id, "completed", evidence=evidence[:50]))
        elif (item.item_id, "skipped") not in tried:
            reason = "no archived source holds a sentence that answers"
            calls.append(checklist(item.item_id, "skipped", evidence=[], reason=reason))
    return calls


def writing(view: View, question: Question) -> list[Call]:
    """All documents in one answer, then the end; what was refused is written once more."""
    late = late_quotes(view, question)
    material = Material(view, question, tuple(quote for quotes in late.values() for quote in quotes))
    sources = [source.artifact_id for source in material.cited]
    if not sources or view.failed("deep_research_complete"):
        return []
    failed = {str(result.arguments.get("role")) for result in view.failed(SAVE)}
    sections = section_calls(view, material, sources)
    if failed & {"report", "handoff"} and not sections:
        return []
    if not sections and view.report_artifact_id and view.handoff_artifact_id:
        return [*settle(view), ending(view, material)]
    notes = [note(list(late), list(material.late))] if late and "evidence_note" not in failed else []
    calls = [*notes, *sections]
    if not view.report_artifact_id:
        calls.append(save("report", view.objective, "", summary="Made of the sections.", sources=sources))
    if not view.handoff_artifact_id:
        text = handoff_text(material)
        calls.append(save("handoff", "Handoff", text, summary="To decide, ask and check.", sources=sources))
    calls += settle(view, quoted=sources[:50] if material.evidence else ())
    if not view.outline_artifact_id and "outline" not in failed:
        text = outline_text(material)
        calls.append(
            save("outline", "Outline", text, summary="The sections and their basis.", sources=sources)
        )
    return calls


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


def ending(view: View, material: Material) -> Call:
    decisions, questions, checks = handoff_lists(material)
    return complete(
        str(view.report_artifact_id),
        str(view.handoff_artifact_id),
        tasks=decisions,
        issues=questions,
        checks=checks,
    )
