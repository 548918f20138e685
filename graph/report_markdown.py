"""The report as Markdown: numbered citations, a head, the sections, gaps, references and the handoff lists."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict

from researchdesk.graph.costs import money_text
from researchdesk.graph.plain import below, inert, markdown_code, markdown_locator, markdown_text, one_line
from researchdesk.graph.report import DAGGER, HandoffList, Reference, Report
from researchdesk.graph.report_findings_markdown import (
    checks,
    claims,
    contradictions,
    legend,
    open_questions,
    other_gaps,
)
from researchdesk.graph.words import checked_text, lacking_text, model_text

TITLE_CHARS = 160
COMMANDS = "verification_commands"


def markdown(report: Report) -> str:
    """The whole document; it ends with a newline and links to nothing but the sources' web addresses."""
    parts = [
        *_head(report),
        *(below(inert(report.numbered(part))) for part in _parts(report)),
        *checks(report),
        *contradictions(report),
        *open_questions(report),
        *_gaps(report),
        *claims(report),
        *_references(report),
        *_uncited(report),
        *(part for handed in report.handoff for part in _handoff(report, handed)),
    ]
    return "\n\n".join(parts) + "\n"


def _head(report: Report) -> Iterator[str]:
    yield f"# {markdown_text(report.objective, limit=TITLE_CHARS)}"
    facts = {
        "Status": markdown_text(report.outcome_text),
        "Scope": f"{report.scope}, template {markdown_text(report.template)}",
        "Date": report.ended_at[:10],
        "Sources": _counts(report),
        "Quotations checked against the archived text": str(len(report.quotes)),
        **({"Claims": _claims(report)} if report.findings.claims else {}),
        "Written by": markdown_text(model_text(report.model)),
        "Cost": _cost(report),
        "Session": markdown_text(report.session_id),
    }
    if report.marks:
        facts[DAGGER] = legend(report)
    if len(one_line(report.objective)) > TITLE_CHARS:
        facts = {"Objective": markdown_text(report.objective), **facts}
    yield _bullets(f"**{name}:** {fact}" for name, fact in facts.items())


def _claims(report: Report) -> str:
    """How many were checked and verified, and what the others lack."""
    found = report.findings
    told = (checked_text(asdict(found.checked)), lacking_text(asdict(found.lacking)))
    return "; ".join(part for part in told if part)


def _cost(report: Report) -> str:
    used = report.usage
    tokens = used["input"] + used["output"]
    return f"{money_text(used['cost_usd'])}; {used['calls']} requests, {tokens:,} tokens"


def _parts(report: Report) -> list[str]:
    """The body cut before the heading of each section, so that none runs on into the next."""
    parts, rest = [], report.body
    for section in report.sections:
        before, heading, after = rest.partition(f"## {section.title}\n\n")
        if heading and (not before or before.endswith("\n")):
            parts.append(before)
            rest = heading + after
    return [part for part in (*parts, rest) if part.strip()]


def _counts(report: Report) -> str:
    read = [ref for ref in report.sources if not ref.supplied]
    supplied = len(report.sources) - len(read)
    origins = f"{report.origins} {'publisher' if report.origins == 1 else 'publishers'}"
    named = [ref for ref in report.references if not ref.supplied]
    behind = sum(ref.source_id in report.behind for ref in named)
    text = f"{len(read)} read, from {origins}; {behind} behind its quotations and claims"
    text += f", {len(named) - behind} more named" if len(named) > behind else ""
    return f"{text}; {supplied} supplied, not read by this program" if supplied else text


def _gaps(report: Report) -> Iterator[str]:
    if gaps := tuple(other_gaps(report)):
        yield "## Gaps that the program found"
        yield _bullets(report.shown(gap) for gap in gaps)


def _references(report: Report) -> Iterator[str]:
    if report.references:
        yield "## References"
        yield "\n".join(f"{ref.number}. {_reference(ref)}" for ref in report.references)


def _uncited(report: Report) -> Iterator[str]:
    if report.uncited:
        yield "## Read, but not cited"
        yield _bullets(_reference(ref) for ref in report.uncited)


def _reference(ref: Reference) -> str:
    facts = [
        markdown_locator(ref.locator),
        "" if ref.supplied else f"publisher {markdown_text(ref.publisher)}",
        f"supplied {ref.read_at[:10]}, not read by this program"
        if ref.supplied
        else f"read {ref.read_at[:10]}",
        f"text sha256 {ref.short_hash}",
        "purged" if ref.purged else "",
    ]
    title = markdown_text(ref.title) or "Untitled"
    return f"**{title}** ({ref.source_id}): {'; '.join(fact for fact in facts if fact)}"


def _handoff(report: Report, handed: HandoffList) -> Iterator[str]:
    if handed.items:
        yield f"## {markdown_text(handed.title)}"
        yield _bullets(_handed(report, handed.key, item) for item in handed.items)


def _handed(report: Report, key: str, item: str) -> str:
    """A handed item as text; a command as code, unless it is a sentence that cites."""
    is_command = key == COMMANDS and report.numbered(item) == item
    return markdown_code(item) if is_command else report.shown(item)


def _bullets(items: Iterable[str]) -> str:
    return "\n".join(f"- {item}" for item in items)
