"""What is left to write from when code closes a run: claims and sources that still stand, as lines that cite them."""

import re
from collections.abc import Iterator

from researchdesk.graph.driver import Driver
from researchdesk.state import events as ev
from researchdesk.state.citing import uncitable
from researchdesk.state.claims import Claim
from researchdesk.state.errors import IntegrityError, NotFound
from researchdesk.state.questions import SETTLED_QUESTION
from researchdesk.state.quotes import find_quote

QUOTE_CHARS = 300
LISTED = 100
# What would make a citation or a quotation of words that are neither; an apostrophe inside a word is none.
_MARKS = re.compile(r"[“”\[\]]")
_QUOTING = re.compile(r"[\"“”„‟«»‹›「」『』〝〞＂❝❞<>\[\]]|(?<!\w)['‘’]|['‘’](?!\w)")


def standing_sources(driver: Driver) -> list[ev.SourceRecorded]:
    """The sources whose text is still there."""
    purged = driver.session.workspace.purged_artifacts
    return [source for source in driver.run.all_sources if source.artifact_id not in purged]


def standing_claims(driver: Driver) -> list[Claim]:
    """The claims that may be cited: they have not fallen, and every text behind them is still there."""
    session, purged = driver.session, driver.session.workspace.purged_artifacts
    return [
        claim
        for claim in session.claims
        if claim.status not in ("REFUTED", "RETRACTED")
        and not uncitable((claim.id,), session.notes, driver.run)
        and not any(link.artifact_id in purged for link in claim.links)
    ]


def quotes(driver: Driver) -> list[str]:
    """Quotations with their citations: from the claims, else from the passages that searches found."""
    noted = [line for claim in standing_claims(driver) for line in _quote_lines(claim)]
    sources = standing_sources(driver)
    found = list(dict.fromkeys(noted)) or [line for source in sources for line in _passage(driver, source)]
    return found or [
        f"- Archived, not evaluated: {_told(source.title or source.url)} [{source.source_id}]"
        for source in sources
    ]


def _quote_lines(claim: Claim) -> list[str]:
    """What the sources say for a claim, each on one line that no mark of its own can end."""
    quoted = dict.fromkeys(" ".join(link.quote.split()) for link in claim.links if link.stance == "supports")
    return [f"- “{quote}” [{claim.id}]" for quote in quoted if quote and not _MARKS.search(quote)]


def _passage(driver: Driver, source: ev.SourceRecorded) -> list[str]:
    """The first sentence of the passage that led to a source, as it stands in the archived text."""
    lead = driver.run.leads.get(source.url)
    if lead is None:
        return []
    text = _body(driver, driver.run.artifacts[source.artifact_id])
    for line in lead.best.snippet.splitlines():
        line = line.strip()[:QUOTE_CHARS]
        span = find_quote(text, line) if len(line) > 40 and '"' not in line and "”" not in line else None
        if span:
            return [f"- “{text[span.start : span.end]}” [{source.source_id}]"]
    return []


def _body(driver: Driver, artifact: ev.ArtifactRecorded) -> str:
    try:
        return driver.records.text(artifact.content_hash)
    except (NotFound, IntegrityError):
        return ""  # completion will name the artifact


def handoff(driver: Driver) -> str:
    """A handoff that lists what there is: claims, open questions, sources."""
    parts = (
        ("Claims", _claims(driver)),
        ("Open questions", _open_questions(driver)),
        (
            "Archived sources",
            (f"- {_told(s.title or s.url)} [{s.source_id}]" for s in standing_sources(driver)),
        ),
    )
    listed = [(name, list(lines)[:LISTED]) for name, lines in parts]
    blocks = ["\n".join([f"{name}:", *lines]) for name, lines in listed if lines]
    return "\n\n".join([f"Objective: {_told(driver.run.objective)}", *blocks])


def _claims(driver: Driver) -> Iterator[str]:
    citable = {claim.id for claim in standing_claims(driver)}
    for claim in driver.session.claims:
        cited = f" [{claim.id}]" if claim.id in citable else ""
        yield f"- {claim.id}, {claim.status}: {_told(claim.text[:QUOTE_CHARS])}{cited}"


def _open_questions(driver: Driver) -> Iterator[str]:
    for question in driver.session.frontier:
        if question.status not in SETTLED_QUESTION:
            yield f"- {question.id}, {question.status}: {_told(question.text[:QUOTE_CHARS])}"


def _told(text: str) -> str:
    """A text in one line of a document, as words that quote and cite nothing."""
    return " ".join(_QUOTING.sub(" ", text).split())
