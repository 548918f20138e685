"""The text of the report's sections: claims in the words of their sources, and records that need no judgement.

Every line with a figure or a quotation cites a claim or a source; nothing is said that a quote, a record or a count
does not show.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from researchdesk.graph.offline.answers import BY_WORDS
from researchdesk.graph.offline.asking import content_of
from researchdesk.graph.offline.compare import Evidence, stance
from researchdesk.graph.offline.gathering import CALLED, TAKEN
from researchdesk.graph.offline.material import ID, Material
from researchdesk.graph.offline.passages import clean
from researchdesk.graph.offline.view import Contradiction, Datapoint, Source

NO_MODEL = (
    "No language model was used for this report. Its quotations were selected from the archived sources by rules, "
    "and what stands between them is mechanical comparison; read a passage in its source before relying on it."
)
NAMED = 6
"""How many sources are named where a list of all would tell a reader nothing."""
DECIDED = 3
"""Claims of which the handoff asks whether they apply."""
BY_RULES = (
    "Challenges were judged by word rules in what one search each showed: that a claim survived says that they saw "
    "nothing against it, not that it is right"
)
NOT_JOINED = (
    ". Nothing is VERIFIED: the embedded model joins only sentences that say nearly the same, so that agreement in "
    "other words is not counted"
)
OUTLINED = 90
"""Characters of a claim in the outline."""


def section_text(
    key: str, material: Material, *, keys: Sequence[str] = (), leave_out: Sequence[str] = ()
) -> str:
    """The Markdown of one section, without its heading.

    Args:
        key: a section key of the run's template.
        keys: all its section keys in order; those of a user's own template share what there is to say.
        leave_out: quotes that were refused and are not to be used again.
    """
    parts = parts_of(key, keys)
    shares = material.shares({PART[part] for part in parts if part in PART})
    given = Given(material, shares, leave_out)
    body = "\n\n".join(text for part in parts if (text := part(given)))
    return body if re.search(r"\[[sc]_", body) else f"{body}\n\n{whole_basis(material)}".strip()


@dataclass(frozen=True, slots=True)
class Given:
    """What a part of a section is written from.

    Args:
        shares: the claims of each part.
        leave_out: quotes that are not to be used.
    """

    material: Material
    shares: Mapping[str, Sequence[Evidence]]
    leave_out: Sequence[str] = ()

    def of(self, part: str) -> list[Evidence]:
        return [one for one in self.shares.get(part, ()) if one.text not in self.leave_out]


def quoted(text: str) -> str:
    """The text between quotation marks that do not occur in it, on one line."""
    folded = " ".join(text.split())
    return f"“{folded}”" if '"' in folded else f'"{folded}"'


def cite(one: Evidence) -> str:
    return f"[{one.claim_id or one.source_id}]"


def bullets(evidence: Iterable[Evidence]) -> str:
    return "\n".join(map(bullet, evidence))


def bullet(one: Evidence) -> str:
    heading = clean(one.heading.split(" › ")[-1]).replace("*", "").strip()
    where = f" — *{heading[:100]}*" if heading else ""
    return f"- {quoted(one.text)} {cite(one)}{where}"


def grouped(evidence: Sequence[Evidence]) -> str:
    """Bullets under a heading for each publisher and document, in the order of their best quote."""
    parts = []
    for origin in dict.fromkeys(one.origin for one in evidence):
        own = [one for one in evidence if one.origin == origin]
        for document in dict.fromkeys(one.document for one in own):
            listed = bullets([one for one in own if one.document == document])
            parts.append(f"### {origin} — {document}\n\n{listed}")
    return "\n\n".join(parts)


def named(sources: Iterable[Source], material: Material) -> str:
    return "; ".join(f"{material.names[one.source_id]} [{one.source_id}]" for one in sources)


def basis(material: Material) -> str:
    return " ".join(f"[{source.source_id}]" for source in material.cited[:NAMED])


def whole_basis(material: Material) -> str:
    return f"Nothing more could be selected for this section; it rests on what was read {basis(material)}."


def no_model(given: Given) -> str:
    return NO_MODEL


def takeaways(given: Given) -> str:
    material = given.material
    if not material.evidence:
        return f"No sentence that answers the question was found in what was read {basis(material)}."
    compared = "\n".join(f"- {contradiction_line(one)}" for one in material.view.contradictions[:3])
    lead = "The sentences that answer best, by publisher:"
    if material.given_up or material.is_off_topic:
        words = ", ".join(f"`{word}`" for word in material.missing[:NAMED])
        lacking = f" No claim holds {words}." if words else ""
        compared = f"**No passage that was read answers the question.**{lacking} (read: {basis(material)})"
        if material.given_up and material.asked:
            told = "; ".join(clean(one.text) for one in material.given_up)
            compared = f"**No passage that was read answers this:** {told} (read: {basis(material)})"
        else:
            lead = "The nearest that was found, which may be about something else:"
    chosen = under_questions(given.of("takeaways"), material, bullets)
    return "\n\n".join(part for part in (counts(material), compared, lead if chosen else "", chosen) if part)


def counts(material: Material) -> str:
    """What the quoted sentences say by count, for each question that yes or no would answer."""
    found = [(one, one.answer.split(". ")[0]) for one in material.asked if one.answer.startswith(BY_WORDS)]
    several = len(material.asked) > 1
    return "\n".join(
        f"- {f'*{content_of(one.text)}* ' if several else ''}{told} {cites_of(one.claim_ids, material)}"
        for one, told in found
    )


def under_questions(
    evidence: Sequence[Evidence], material: Material, shown: Callable[[Sequence[Evidence]], str]
) -> str:
    """The evidence under the question that it answers, where there are several."""
    blocks = [(text, shown(own)) for text, own in material.by_question(evidence) if own]
    more = "Further:" if len(blocks) > 1 else ""
    titled = [(f"**{clean(text)}**" if text else more, block) for text, block in blocks]
    return "\n\n".join(part for pair in titled for part in pair if part)


def contradiction_line(one: Contradiction) -> str:
    """``**Publishers differ** — at least: nist.gov 8 characters (required); … [c_001] [c_010]``."""
    return f"**Publishers differ** — {one.differs} [{one.claim_id}] [{one.other_id}]"


def background(given: Given) -> str:
    material = given.material
    learned = [
        one.text.removeprefix(TAKEN) for one in material.view.assumptions if one.text.startswith(TAKEN)
    ]
    names = [
        one.text.removeprefix(CALLED) for one in material.view.assumptions if one.text.startswith(CALLED)
    ]
    said = "The archived documents were found with the words of the question"
    said += f" and with words learned from what was found ({'; '.join(learned)})" if learned else ""
    said += f"; the sources also call its subject {'; '.join(names)}" if names else ""
    quoted_here = [one for one in material.view.sources if one.source_id not in material.silent]
    silent = [one for one in material.view.sources if one.source_id in material.silent]
    meanings = bullets(given.of("meanings"))
    parts = (
        f"{said} {basis(material)}.",
        f"Quoted in the notes, by publisher:\n\n{by_publisher(quoted_here, material)}" if quoted_here else "",
        f"Read, and nothing quoted:\n\n{by_publisher(silent, material)}" if silent else "",
        f"What the sources say that the words mean:\n\n{meanings}" if meanings else "",
    )
    return "\n\n".join(part for part in parts if part)


def by_publisher(sources: Sequence[Source], material: Material) -> str:
    """A line for each publisher with the names of its documents."""
    lines = []
    for origin in dict.fromkeys(source.origin for source in sources):
        own = [source for source in sources if source.origin == origin]
        lines.append(f"- {origin or 'unknown publisher'}: {named(own, material)}")
    return "\n".join(lines)


def findings(given: Given) -> str:
    return under_questions(given.of("findings"), given.material, grouped)


def disagreements(given: Given) -> str:
    view = given.material.view
    parts = ["\n".join(f"- {contradiction_line(one)}" for one in view.contradictions)]
    if view.datapoints:
        parts.append("What they tell, side by side:\n\n" + "\n".join(map(datapoint_line, view.datapoints)))
    parts += [f"{one.answer} {cites_of(one.claim_ids, given.material)}" for one in given.material.agreements]
    if not any(parts):
        parts.append("Mechanical comparison found no values that could be set side by side.")
    return "\n\n".join(part for part in parts if part)


def cites_of(claim_ids: Sequence[str], material: Material) -> str:
    return " ".join(f"[{key}]" for key in claim_ids[:NAMED]) or basis(material)


def datapoint_line(one: Datapoint) -> str:
    return f"- {one.label}: {' '.join(part for part in (one.value, one.unit) if part)} [{one.about}]"


def gaps(given: Given) -> str:
    """What the searches and the claims lack, as the notes hold it."""
    material = given.material
    lines = [f"{one.text}{read_of(one.text, material)}" for one in material.view.gaps]
    if material.view.claims:
        lines.append(f"{BY_RULES}{'' if material.view.coverage.verified else NOT_JOINED}")
    if material.view.stop_reason:
        lines.append(f"The research was stopped early: {material.view.stop_reason}")
    if not material.view.gaps:
        lines.insert(
            0, f"Each word of the question stands in a quote, and each search had hits {basis(material)}"
        )
    listed = "\n".join(f"- {ID.sub(bracketed, line)}" for line in lines)
    return f"**What was not found**\n\n{listed}"


def read_of(text: str, material: Material) -> str:
    """The sources that were read, where a gap tells a number and names none."""
    return f" (read: {basis(material)})" if re.search(r"\d", text) and not ID.search(text) else ""


def bracketed(found: re.Match[str]) -> str:
    inside = found.string[: found.start()].endswith("[")
    return found[0] if inside else f"[{found[0]}]"


def advice(given: Given) -> str:
    chosen = bullets(given.of("advice"))
    lead = "What the sources require or advise, in their own words; rules do not choose between them:"
    return f"{lead}\n\n{chosen}" if chosen else ""


def next_steps(given: Given) -> str:
    material = given.material
    lines = [f"- Read in context: {named(material.cited[:3], material)}"]
    if material.view.contradictions:
        lines.append("- Decide which of the differing values applies, and note the edition it comes from")
    return "**Next**\n\n" + "\n".join(lines)


def sorted_by_stance(given: Given) -> str:
    """Borrow what is asked for, diverge where values differ, risks where the wording warns, gates from agreement."""
    material, pool = given.material, given.of("advice")
    parts = []
    for title, wanted in (("Borrow", "for"), ("Risk", "against")):
        listed = bullets(one for one in pool if stance(one.statement) == wanted)
        if listed:
            parts.append(f"**{title}**\n\n{listed}")
    if material.view.contradictions:
        listed = "\n".join(f"- {contradiction_line(one)}" for one in material.view.contradictions)
        parts.insert(1, f"**Diverge**\n\n{listed}")
    told = [f"- {one.answer} {cites_of(one.claim_ids, material)}" for one in material.agreements]
    if told and not material.view.contradictions:
        parts.append("**Gate**\n\n" + "\n".join(told))
    return "\n\n".join(parts)


COMMANDS = ("researchdesk verify", "researchdesk export SESSION --out run.zip", "researchdesk verify run.zip")
"""What checks a report again, by program."""


def checks(given: Given) -> str:
    material = given.material
    commands = "\n".join(f"- `{command}`" for command in COMMANDS)
    quoted_here = [source for source in material.cited if source.source_id not in material.silent]
    by_hand = f"By hand, compare the quotes with the archived texts of {named(quoted_here[:8], material)}."
    return "\n\n".join((f"By program:\n\n{commands}", by_hand)[: 2 if quoted_here else 1])


Writer = Callable[[Given], str]
PART: dict[Writer, str] = {
    takeaways: "takeaways", background: "meanings", findings: "findings", advice: "advice", sorted_by_stance: "advice",
}  # fmt: skip
"""The share of claims that a part of a section shows."""
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


def parts_of(key: str, keys: Sequence[str]) -> tuple[Writer, ...]:
    """What a section consists of; see `section_text`."""
    return SECTIONS.get(key) or _shared(key, [own for own in keys if own not in SECTIONS] or [key])


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

    def write(given: Given) -> str:
        return f"For {name}: {whole_basis(given.material)}"

    return write


def outline_text(material: Material) -> str:
    """The plan of the report: under each section the claims that it will show, and the sources that it names."""
    sections = material.view.sections
    keys = [section.key for section in sections]
    parts = {section.key: parts_of(section.key, keys) for section in sections}
    left = material.shares({PART[part] for own in parts.values() for part in own if part in PART})
    blocks = []
    for section in sections:
        chosen = [one for part in parts[section.key] for one in left.pop(PART.get(part, ""), [])]
        lines = [f"- {outlined(one)} {cite(one)}" for one in chosen]
        lines += [f"- {line}" for line in recorded(parts[section.key], material)]
        blocks.append(f"## {section.title or section.key}\n\n" + "\n".join(lines or [f"- {basis(material)}"]))
    return "\n\n".join(blocks)


def outlined(one: Evidence) -> str:
    """The beginning of a claim without marks that would make a quotation of it."""
    bare = re.sub(r"[\"“”„«»‘’'`*_\[\]<>|]", "", one.statement)
    return bare if len(bare) <= OUTLINED else f"{bare[:OUTLINED].rsplit(' ', 1)[0]} …"


def recorded(parts: Sequence[Writer], material: Material) -> list[str]:
    """What a section shows beside its claims: what differs, with the claims of it, and the sources that it names."""
    lines = []
    if {disagreements, sorted_by_stance} & set(parts):
        lines += [f"{one.differs} [{one.claim_id}] [{one.other_id}]" for one in material.view.contradictions]
    if disagreements in parts:
        lines += [f"{one.value} {one.unit} [{one.about}]" for one in material.view.datapoints if one.about]
    if {background, checks, gaps, next_steps} & set(parts):
        sources = material.view.sources if background in parts else material.cited
        ids = " ".join(f"[{source.source_id}]" for source in sources)
        lines.append(f"sources {ids}")
    return lines


def handoff_lists(material: Material) -> tuple[list[str], list[str], list[str]]:
    """Decisions, follow-up questions and checks, as the structured handoff carries them."""
    known = [
        f"{material.names[one.source_id].replace('`', '')} [{one.source_id}]" for one in material.cited[:8]
    ]
    shares = material.shares({"takeaways", "advice"})
    chosen = (shares["advice"] or shares["takeaways"])[:DECIDED]
    questions = [
        f"Which of the two applies? {one.differs} [{one.claim_id}] [{one.other_id}]"
        for one in material.view.contradictions
    ]
    if material.missing:
        questions.append(
            f"What do sources say about {', '.join(material.missing[:NAMED])}? (read: {basis(material)})"
        )
    return (
        [f"Does this apply here: {outlined(one)} {cite(one)}" for one in chosen]
        or [f"Decide after reading {name} in context" for name in known[:1]],
        questions
        or [f"Do other publishers and newer editions say the same as {name}?" for name in known[:1]],
        [
            *COMMANDS,
            *([f"Compare the quotes with the archived texts of {'; '.join(known)}"] if known else []),
        ],
    )


def handoff_text(material: Material) -> str:
    decisions, questions, repeated = handoff_lists(material)
    blocks = (("Decisions", decisions), ("Follow-up questions", questions), ("Checks to repeat", repeated))
    listed = [
        f"## {title}\n\n" + "\n".join(f"- {line}" for line in lines) for title, lines in blocks if lines
    ]
    return "\n\n".join([*listed, f"Basis: {basis(material)}"])
