"""The parts of a Markdown report that tell of its investigation: checks, contradictions, open questions, claims."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from researchdesk.graph.plain import markdown_text, one_line, readable
from researchdesk.graph.report import DAGGER, Report
from researchdesk.graph.report_findings import AskedQuestion, FoundClaim
from researchdesk.graph.words import CLAIM_WORDS, QUESTION_WORDS, STOP_WORDS, checked_text, independence_text
from researchdesk.state.challenges import Challenge
from researchdesk.state.claims import Contradiction
from researchdesk.state.prices import FREE_MODELS
from researchdesk.state.questions import SETTLED_QUESTION, Question

SURVIVED = "a search for the opposite that gave results, in which nothing was judged to speak against it"
_COVERAGE = re.compile(r"\d+ of \d+ claims were challenged, ")
_BRACKETS = re.compile(r"[\[\]]")
MOST = 100
"""Lines of a list; what is more is counted."""
TEXT_CHARS = 300
CELL_CHARS = 120
COLUMNS = ("Question", "Status", "Claims", "Checked", "Verified")


def legend(report: Report) -> str:
    """What the dagger says, in plain words."""
    found = report.findings
    return (
        f"not verified: a claim needs {_count(found.min_sources, 'independent source')} and "
        f"{_count(found.min_challenges, 'survived challenge')} ({SURVIVED}); “Claims” says what each one lacks"
    )


def checks(report: Report) -> Iterator[str]:
    """How many of the claims were challenged, with what outcome, as a whole and by question."""
    found = report.findings
    if not found.claims:
        return
    yield "## What was checked"
    yield " ".join([f"{checked_text(asdict(found.checked)).capitalize()}.", *_unchecked(report)])
    yield _outcomes_text(report)
    yield from _one_publisher(report)
    head = [f"| {' | '.join(COLUMNS)} |", "|---|---|---:|---:|---:|"]
    yield "The numbers of a question include those of the questions under it."
    shown = found.questions[:MOST]
    more = [_more(len(found.questions))] if len(found.questions) > MOST else []
    yield "\n".join([*head, *(_row(asked) for asked in shown)])
    yield from more


def _unchecked(report: Report) -> Iterator[str]:
    """Why claims were not checked, as far as this program knows."""
    found = report.findings.unchecked
    if failed := found.get("search_failed", 0):
        yield f"{_count(failed, 'claim')} could not be checked because the search failed."
    if waiting := found.get("open", 0):
        yield f"The check of {_count(waiting, 'claim')} was begun and not brought to an end."
    if left := found.get("not_challenged", 0):
        yield f"{_count(left, 'claim')} {'was' if left == 1 else 'were'} not taken up for a check: {_why_not(report)}."


def _why_not(report: Report) -> str:
    if report.stop_reason:
        return (
            f"the research was stopped early because {STOP_WORDS.get(report.stop_reason, report.stop_reason)}"
        )
    if report.outcome != "completed":
        return "the run is blocked" if report.outcome == "blocked" else "the run is not finished"
    who = "the embedded rules" if report.model in FREE_MODELS else "the model"
    return f"{who} chose to go no further; no budget ended it"


def _one_publisher(report: Report) -> Iterator[str]:
    """Why nothing could be verified, where that lies in who published the sources."""
    publishers = dict.fromkeys(ref.publisher for ref in report.sources if not ref.supplied)
    if len(publishers) == 1:
        yield (
            f"All sources count as those of one publisher, {markdown_text(next(iter(publishers)))}, and support no "
            "claim independently of each other. Where local documents come from several publishers, a `corpus.toml` "
            'in their folder says so (`[origins]`, then lines like `"nist/" = "nist.gov"`), or the option '
            "`--origin-by`. That alone verifies nothing: two of the publishers have to say the same, quoted for one "
            "claim, and the claim has to survive a challenge."
        )


def _outcomes_text(report: Report) -> str:
    found = report.findings.outcomes
    ran = {name: found.get(name, 0) for name in ("survived", "weakened", "refuted", "inconclusive")}
    told = ", ".join(f"{count} {name}" for name, count in ran.items())
    text = f"Challenges to claims, answers and the conclusion whose search ran: {told}."
    if ran["survived"]:
        text += f" Survived means: {SURVIVED}."
    if failed := found.get("infrastructure", 0):
        text += f" The search of {failed} more failed; {'that counts' if failed == 1 else 'those count'} for nothing."
    if waiting := found.get("open", 0):
        text += f" {waiting} more {'is' if waiting == 1 else 'are'} open."
    return text


def _row(asked: AskedQuestion) -> str:
    of, checked = asked.question, asked.with_parts
    cells = (
        f"{of.id} {markdown_text(of.text, limit=CELL_CHARS)}",
        _status(of),
        *(str(count) for count in (checked.total, checked.challenged, checked.verified)),
    )
    return f"| {' | '.join(cells)} |"


def _status(of: Question) -> str:
    reason = markdown_text(of.reason, limit=CELL_CHARS)
    left_out = f"; the answer itself was not challenged ({reason})" if reason else ""
    return f"{QUESTION_WORDS[of.status]}{left_out}"


def contradictions(report: Report) -> Iterator[str]:
    """What differs, with both sides, their numbers and whether it is explained."""
    found = report.findings.contradictions
    if found:
        yield "## Contradictions"
        yield _list([_contradiction(report, record) for record in found[:MOST]], len(found))


def _contradiction(report: Report, record: Contradiction) -> str:
    why = f": {markdown_text(record.note, limit=TEXT_CHARS)}" if record.note.strip() else ""
    head = f"- {markdown_text(record.differs, limit=TEXT_CHARS)} ({record.id}, {record.status}{why})"
    return "\n".join([head, *(f"    - {_side(report, key)}" for key in (record.claim_id, record.other_id))])


def _side(report: Report, key: str) -> str:
    claim = report.findings.claims.get(key)
    if claim is not None:
        return _claim_head(report, claim)
    title = next((ref.title for ref in report.sources if ref.source_id == key), "")
    return f"{report.numbers_of([key])} {markdown_text(title) or 'Untitled'} ({key})"


def open_questions(report: Report) -> Iterator[str]:
    """What was asked and not answered, with what was assumed instead; the gaps that were noted are no part of it."""
    unanswered = [asked for asked in report.findings.questions if asked.question.status != "resolved"]
    if unanswered:
        yield "## Open questions"
        yield _list([f"- {_unanswered(asked)}" for asked in unanswered[:MOST]], len(unanswered))


def other_gaps(report: Report) -> Iterator[str]:
    """The gaps that are not told in the report already."""
    body = _BRACKETS.sub("", one_line(report.body))
    asked = [found.question.id for found in report.findings.questions if found.question.status != "resolved"]
    told = tuple(f"{key}{how}" for key in asked for how in (" (", " could not be answered"))
    skipped = False
    for gap in report.gaps:
        # "And 3 more like the last one" goes with the one before it.
        skipped = _is_told(gap, told, body) or (skipped and gap.startswith("And "))
        if not skipped:
            yield gap


def _is_told(gap: str, told: tuple[str, ...], body: str) -> bool:
    """Whether a gap stands under the open questions, in the body, or under what was checked."""
    _, is_noted, words = gap.partition(": ") if gap.startswith("gap_") else ("", "", "")
    in_body = bool(is_noted) and _BRACKETS.sub("", one_line(words)) in body
    return gap.startswith(told) or in_body or bool(_COVERAGE.match(gap))


def _unanswered(asked: AskedQuestion) -> str:
    of = asked.question
    state = QUESTION_WORDS[of.status]
    if of.status in ("pending", "blocked") and asked.waits_for:
        state += f", waits for {', '.join(asked.waits_for)}"
    elif of.status in SETTLED_QUESTION and asked.status_reason.strip():
        state += f": {markdown_text(asked.status_reason, limit=TEXT_CHARS)}"
    assumed = (
        f" Assumed instead: {markdown_text(of.assumption, limit=TEXT_CHARS)}" if of.assumption.strip() else ""
    )
    return f"{of.id} {markdown_text(of.text, limit=TEXT_CHARS)} ({state}){assumed}"


def claims(report: Report) -> Iterator[str]:
    """Each claim that the report cites: its sources, how many are independent and why, and what it lacks."""
    found = report.findings.claims
    cited = [claim for claim in found.values() if claim.cited]
    if cited:
        yield "## Claims"
        if len(cited) < len(found):
            ones = "one" if len(cited) == 1 else "ones"
            yield f"The {len(cited)} cited {ones} of {len(found)}; `researchdesk claims` lists all."
        yield _list([f"- {_claim(report, claim)}" for claim in cited[:MOST]], len(cited))


def _claim(report: Report, found: FoundClaim) -> str:
    # What it lacks says already why sources are not independent.
    lacks = "; ".join(found.lacks)
    why = [[reason for reason in cluster.reasons if reason not in lacks] for cluster in found.independent]
    parts = (independence_text(len(found.claim.links), why), _challenged(found.challenges), *found.lacks)
    told = (markdown_text(part, limit=TEXT_CHARS) for part in parts)
    return "; ".join([_claim_head(report, found), *told])


def _claim_head(report: Report, found: FoundClaim) -> str:
    claim = found.claim
    mark = "" if found.verified else DAGGER
    scope = f", only for: {markdown_text(claim.scope, limit=TEXT_CHARS)}" if claim.scope.strip() else ""
    numbers = report.numbers_of(found.source_ids)
    text = markdown_text(readable(claim.text), limit=TEXT_CHARS)
    return (
        f"**{claim.id}** {text}{f' {numbers}' if numbers else ''}{mark} ({CLAIM_WORDS[claim.status]}{scope})"
    )


def _challenged(challenges: Sequence[Challenge]) -> str:
    if not challenges:
        return "not challenged"
    return f"challenged by {', '.join(map(_outcome, challenges))}"


def _outcome(of: Challenge) -> str:
    """How a challenge came out, with what was found."""
    evidence = one_line(of.evidence, limit=CELL_CHARS)
    came = "its search failed" if of.failed else of.outcome or "open"
    return f"{of.strategy.replace('_', ' ')}: {came}{f' ({evidence})' if evidence else ''}"


def _list(lines: Sequence[str], count: int) -> str:
    return "\n".join([*lines, f"- {_more(count)}"] if count > MOST else lines)


def _more(count: int) -> str:
    return f"and {count - MOST} more"


def _count(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
