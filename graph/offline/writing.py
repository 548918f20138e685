"""The text of the report's sections: quotes with their sources, and comparisons that need no judgement.

Every line with a figure or a quotation cites a source; nothing is said that a quote or a count does not show.
"""

from collections.abc import Callable, Iterable, Sequence

from researchdesk.graph.offline.compare import Comparison, Evidence, stance
from researchdesk.graph.offline.material import Material
from researchdesk.graph.offline.passages import clean
from researchdesk.graph.offline.quotes import quoted
from researchdesk.graph.offline.values import Value
from researchdesk.graph.offline.view import Source

NO_MODEL = (
    "No language model was used for this report. Its quotations were selected from the archived sources by rules, "
    "and what stands between them is mechanical comparison; read a passage in its source before relying on it."
)
KINDS = {
    "contradiction": "Publishers contradict each other: they name no common value",
    "values differ": "Values differ between publishers",
    "editions differ": "Editions of one publisher differ",
    "documents differ": "Documents of one publisher differ",
    "agreement": "The documents that tell a value agree",
}
BOUNDS = {"min": "at least", "max": "at most", "permit": "to be permitted", "exact": "as told"}
NAMED = 6
"""How many sources are named where a list of all would tell a reader nothing."""


def section_text(
    key: str, material: Material, *, keys: Sequence[str] = (), leave_out: Sequence[str] = ()
) -> str:
    """The Markdown of one section, without its heading.

    Args:
        key: a section key of the run's template.
        keys: all its section keys in order; those of a user's own template share what there is to say.
        leave_out: quotes that were refused and are not to be used again.
    """
    parts = SECTIONS.get(key) or _shared(key, [own for own in keys if own not in SECTIONS] or [key])
    body = "\n\n".join(text for part in parts if (text := part(material, leave_out)))
    return body if "[s_" in body else f"{body}\n\n{whole_basis(material)}".strip()


def bullets(evidence: Iterable[Evidence], material: Material, leave_out: Sequence[str]) -> str:
    return "\n".join(
        bullet(one, material.alike.get(one, [])) for one in evidence if one.text not in leave_out
    )


def bullet(one: Evidence, others: Sequence[str]) -> str:
    heading = clean(one.heading.split(" › ")[-1]).replace("*", "").strip()
    where = f" — *{heading[:100]}*" if heading else ""
    also = f"; nearly the same: {' '.join(f'[{key}]' for key in others)}" if others else ""
    return f"- {quoted(one.text)} [{one.source_id}]{where}{also}"


def grouped(evidence: Sequence[Evidence], material: Material, leave_out: Sequence[str]) -> str:
    """Bullets under a heading for each publisher and document, in the order of their best quote."""
    parts = []
    for origin in dict.fromkeys(one.origin for one in evidence):
        own = [one for one in evidence if one.origin == origin]
        for document in dict.fromkeys(one.document for one in own):
            listed = bullets([one for one in own if one.document == document], material, leave_out)
            if listed:
                parts.append(f"### {origin} — {document}\n\n{listed}")
    return "\n\n".join(parts)


def cite(sources: Iterable[Source], material: Material) -> str:
    return "; ".join(f"{material.document_names[one.source_id]} [{one.source_id}]" for one in sources)


def whole_basis(material: Material) -> str:
    ids = " ".join(f"[{source.source_id}]" for source in material.cited[:NAMED])
    return f"Nothing more could be selected for this section; it rests on what was read {ids}."


def no_model(material: Material, leave_out: Sequence[str]) -> str:
    return NO_MODEL


def takeaways(material: Material, leave_out: Sequence[str]) -> str:
    if not material.evidence:
        ids = " ".join(f"[{source.source_id}]" for source in material.cited[:NAMED])
        return f"No sentence that answers the question was found in what was read {ids}."
    asked = [one for one in material.comparisons if one.bound in material.question.bounds]
    compared = "\n".join(f"- {one_line(one)}" for one in asked[:3])
    chosen = bullets(material.shares["takeaways"], material, leave_out)
    lead = "The sentences that answer best, by publisher:"
    if material.is_off_topic:
        words = ", ".join(f"`{word}`" for word in material.missing[:NAMED])
        compared = f"**No passage that was read answers the question:** none of them holds {words}."
        lead = "The nearest that was found, which may be about something else:"
    return "\n\n".join(part for part in (compared, lead if chosen else "", chosen) if part)


def one_line(one: Comparison) -> str:
    """``**Values differ** (…): nist.gov 8 characters [s_001]; owasp.org 12 characters [s_004].``"""
    sides = []
    for origin in dict.fromkeys(told.evidence.origin for told in one.told):
        shown: dict[str, list[str]] = {}
        for told in one.told:
            if told.evidence.origin == origin:
                ids = shown.setdefault(with_strength(told.value), [])
                if told.evidence.source_id not in ids:
                    ids.append(told.evidence.source_id)
        values = ", ".join(f"{value} {' '.join(f'[{key}]' for key in ids)}" for value, ids in shown.items())
        sides.append(f"{origin}: {values}")
    return f"**{KINDS[one.kind]}** ({BOUNDS[one.bound]}) — {'; '.join(sides)}"


def with_strength(value: Value) -> str:
    """``8 characters (required)``."""
    return f"{value.shown} ({value.strength})" if value.strength else value.shown


def background(material: Material, leave_out: Sequence[str]) -> str:
    learned = [word for word in material.question.learned_words if word.isalpha()]
    said = "The archived documents were found with the words of the question"
    said += f" and with words learned from what was found ({', '.join(learned)})." if learned else "."
    quoted_here = by_publisher([one for one in material.cited if one.source_id in material.shown], material)
    silent = by_publisher(material.silent, material)
    meanings = bullets(material.shares["meanings"], material, leave_out)
    words = f"What the sources say that the words mean:\n\n{meanings}" if meanings else ""
    parts = (
        said,
        f"Quoted in this report, by publisher:\n\n{quoted_here}" if quoted_here else "",
        f"Read, and nothing quoted:\n\n{silent}" if silent else "",
        words,
    )
    return "\n\n".join(part for part in parts if part)


def by_publisher(sources: Sequence[Source], material: Material) -> str:
    """A line for each publisher with the names of its documents."""
    lines = []
    for origin in dict.fromkeys(source.origin for source in sources):
        own = [source for source in sources if source.origin == origin]
        lines.append(f"- {origin or 'unknown publisher'}: {cite(own, material)}")
    return "\n".join(lines)


def findings(material: Material, leave_out: Sequence[str]) -> str:
    return grouped(material.shares["findings"], material, leave_out)


def disagreements(material: Material, leave_out: Sequence[str]) -> str:
    parts = [side_by_side(one) for one in material.comparisons]
    if material.opposed:
        pairs = "\n".join(
            f"- {one.origin} [{one.source_id}] reads as {stance(one.text)}, "
            f"{other.origin} [{other.source_id}] as {stance(other.text)}"
            for one, other in material.opposed
        )
        parts.append(f"**Wordings that may be opposed** (by their modal words; read both):\n\n{pairs}")
    if not parts:
        parts.append("Mechanical comparison found no values that could be set side by side.")
    return "\n\n".join(parts)


def side_by_side(one: Comparison) -> str:
    """A table line for each document and value; the publisher first."""
    rows = dict.fromkeys(
        f"- {told.evidence.origin}, {told.evidence.document}: {sign(told.value.bound)}{with_strength(told.value)} "
        f"[{told.evidence.source_id}]"
        for told in one.told
    )
    return f"**{KINDS[one.kind]}** ({BOUNDS[one.bound]}):\n\n" + "\n".join(rows)


def sign(bound: str) -> str:
    return {"min": "at least ", "max": "at most ", "permit": "permitted: "}.get(bound, "")


def gaps(material: Material, leave_out: Sequence[str]) -> str:
    """What the searches and the quotes lack, by count."""
    ids = " ".join(f"[{source.source_id}]" for source in material.cited[:NAMED])
    lines = []
    if material.missing:
        lines.append(f"- No quote holds these words of the question: {coded(material.missing)} (read: {ids})")
    if material.incomplete:
        lines.append(f"- No single quote holds all of {coded(material.incomplete)} (read: {ids})")
    empty = [search.query for search in material.view.searches if not search.results]
    if empty:
        lines.append(f"- Searches without a hit: {coded(empty)} (read: {ids})")
    if material.silent:
        shown = cite(material.silent[:NAMED], material)
        more = len(material.silent) - NAMED
        lines.append(f"- Read, and nothing quoted: {shown}{f' and {more} more' if more > 0 else ''}")
    codes = sorted({one.code for one in material.view.refused if one.code})
    if codes:
        lines.append(f"- Some documents could not be archived: {', '.join(codes)}")
    origins = {source.origin for source in material.view.sources}
    if len(origins) == 1:
        lines.append("- All sources come from one publisher, so that nothing here is confirmed independently")
    if material.question.wants_number and not material.comparisons:
        lines.append(f"- No two documents tell a value that could be compared (read: {ids})")
    if material.view.stop_reason:
        lines.append(f"- The research was stopped early: {material.view.stop_reason}")
    if not lines:
        lines.append(f"- Each word of the question stands in a quote, and each search had hits {ids}")
    return "**What was not found**\n\n" + "\n".join(lines)


def coded(words: Iterable[str]) -> str:
    return ", ".join(f"`{word.replace('`', ' ')}`" for word in words)


def advice(material: Material, leave_out: Sequence[str]) -> str:
    chosen = bullets(material.shares["advice"], material, leave_out)
    lead = "What the sources require or advise, in their own words; rules do not choose between them:"
    return f"{lead}\n\n{chosen}" if chosen else ""


def next_steps(material: Material, leave_out: Sequence[str]) -> str:
    lines = [
        f"- Read in context: {material.document_names[s.source_id]} [{s.source_id}]"
        for s in material.cited[:3]
    ]
    if any(one.kind != "agreement" for one in material.comparisons):
        lines.append("- Decide which of the differing values applies, and note the edition it comes from")
    return "**Next**\n\n" + "\n".join(lines)


def sorted_by_stance(material: Material, leave_out: Sequence[str]) -> str:
    """Borrow what is asked for, diverge where values differ, risks where the wording warns, gates from values."""
    pool = material.shares["advice"]
    parts = []
    for title, wanted in (("Borrow", "for"), ("Risk", "against")):
        listed = bullets([one for one in pool if stance(one.text) == wanted], material, leave_out)
        if listed:
            parts.append(f"**{title}**\n\n{listed}")
    differing = [one for one in material.comparisons if one.kind != "agreement"]
    if differing:
        parts.insert(1, "**Diverge**\n\n" + "\n".join(f"- {one_line(one)}" for one in differing))
    agreed = [one for one in material.comparisons if one.kind == "agreement"]
    if agreed:
        parts.append("**Gate**\n\n" + "\n".join(f"- {one_line(one)}" for one in agreed))
    return "\n\n".join(parts)


COMMANDS = ("researchdesk verify", "researchdesk export SESSION --out run.zip", "researchdesk verify run.zip")
"""What checks a report again, by program."""


def checks(material: Material, leave_out: Sequence[str]) -> str:
    commands = "\n".join(f"- `{command}`" for command in COMMANDS)
    lines = [
        f"- {material.document_names[source.source_id]}: compare its quotes with the archived text [{source.source_id}]"
        for source in material.cited
        if source.source_id in material.shown
    ]
    byhand = "\n".join(lines[:8])
    parts = (
        f"By program:\n\n{commands}",
        f"By hand; each quotation stands exactly in its archived source:\n\n{byhand}",
    )
    return "\n\n".join(parts[: 2 if lines else 1])


Writer = Callable[[Material, Sequence[str]], str]
SECTIONS: dict[str, tuple[Writer, ...]] = {
    "key_takeaways": (no_model, takeaways),
    "background": (background,),
    "findings": (findings,),
    "disagreements_and_gaps": (disagreements, gaps),
    "recommendations": (advice, next_steps),
    "conclusion": (no_model, takeaways),
    "source_evidence": (background, findings),
    "borrow_diverge_risk_gate": (sorted_by_stance, gaps),
    "implementation_recommendations": (next_steps,),
    "verification": (checks,),
}


def _shared(key: str, unknown: Sequence[str]) -> tuple[Writer, ...]:
    """What a section of unknown meaning says: the first one answers, the last one closes, those between report."""
    told = (SECTIONS["key_takeaways"], SECTIONS["background"], SECTIONS["findings"], SECTIONS["verification"])
    place, last = unknown.index(key), len(unknown) - 1
    closing = (*SECTIONS["disagreements_and_gaps"], *SECTIONS["recommendations"])
    if last == 0:
        return (*told[0], *told[2], *closing)
    if place == 0:
        return told[0]
    if place == last:
        return closing if last > 1 else (*told[2], *closing)
    between = (told[2], told[1], told[3])
    return between[place - 1] if place <= len(between) else (_nothing_more(key),)


def _nothing_more(key: str) -> Writer:
    name = key.replace("_", " ")

    def write(material: Material, leave_out: Sequence[str]) -> str:
        return f"For {name}: {whole_basis(material)}"

    return write


def handoff_lists(material: Material) -> tuple[list[str], list[str], list[str]]:
    """Decisions, follow-up questions and checks, as the structured handoff carries them."""
    named = [
        f"{material.document_names[source.source_id].replace('`', '')} [{source.source_id}]"
        for source in material.cited[:8]
    ]
    decisions = [f"{quoted(one.text[:700])} [{one.source_id}]" for one in material.shares["advice"]]
    questions = [
        f"Which value applies? {one_line(one)}" for one in material.comparisons if one.kind != "agreement"
    ]
    questions += [f"What do sources say about {word}?" for word in material.missing]
    repeated = [*COMMANDS, *(f"Compare the quotes of {name} with its archived text" for name in named)]
    return (
        decisions or [f"Decide after reading {name} in context" for name in named[:1]],
        questions
        or [f"Do other publishers and newer editions say the same as {name}?" for name in named[:1]],
        repeated,
    )


def handoff_text(material: Material) -> str:
    decisions, questions, repeated = handoff_lists(material)
    blocks = (("Decisions", decisions), ("Follow-up questions", questions), ("Checks to repeat", repeated))
    listed = [
        f"## {title}\n\n" + "\n".join(f"- {line}" for line in lines) for title, lines in blocks if lines
    ]
    basis = " ".join(f"[{source.source_id}]" for source in material.cited[:NAMED])
    return "\n\n".join([*listed, f"Basis: {basis}"])


def outline_text(material: Material) -> str:
    basis = " ".join(f"[{source.source_id}]" for source in material.cited[:NAMED])
    lines = [f"- {section.title or section.key}" for section in material.view.sections]
    return "\n".join(lines) + f"\n\nBasis: {basis}"
