"""Tying the quotations of a written body to the archived texts of the sources that it cites for them.

Where a sentence cites a claim, its quotations have to stand in one of the sources that the claim links.
"""

from collections.abc import Iterable, Mapping

from researchdesk.state.citations import Quotation, quotations
from researchdesk.state.citing import cited_sources
from researchdesk.state.errors import Refusal
from researchdesk.state.events import ArtifactRecorded, QuoteAnchor
from researchdesk.state.notes import Notes
from researchdesk.state.quotes import find_quote, folded, nearest_passage
from researchdesk.state.run import ResearchRun

SHOWN = 160


def quoted_artifacts(run: ResearchRun, notes: Notes | None, body: str) -> tuple[str, ...]:
    """The source artifacts whose texts are needed to anchor the body's quotations."""
    cites = (key for quotation in quotations(body) for key in quotation.cites)
    return tuple(run.sources[key].artifact_id for key in cited_sources(cites, notes, run))


def anchor_quotes(
    run: ResearchRun, notes: Notes | None, body: str, texts: Mapping[str, str]
) -> tuple[QuoteAnchor, ...]:
    """Where each quotation of the body stands in a source that it cites.

    Args:
        texts: archived texts by artifact id.

    Raises:
        Refusal: ``quote_not_found`` for the first quotation that stands in none of its sources, with the
            nearest passage; ``source_unreadable`` when only an unreadable source could hold it.
    """
    return tuple(
        anchor for quotation in quotations(body) for anchor in _anchors(run, notes, quotation, texts)
    )


def misquotes(
    run: ResearchRun, notes: Notes | None, artifact: ArtifactRecorded, body: str, texts: Mapping[str, str]
) -> tuple[str, ...]:
    """What is wrong with an artifact's quotations now: recorded spans that it does not quote, and quotations that
    stand nowhere in their sources. The recorded spans count, not where a later search would find the words.
    """
    quoted = {folded(text) for found in quotations(body) for text in (found.whole, *found.parts)}
    problems = []
    for anchor in artifact.quotes:
        text = texts.get(run.sources[anchor.source_id].artifact_id, "")
        if folded(text[anchor.start : anchor.end]) not in quoted:
            place = f"{anchor.source_id} at {anchor.start:,}..{anchor.end:,}"
            problems.append(f"what stands in {place} is not what it quotes")
    try:
        anchor_quotes(run, notes, body, texts)
    except Refusal as refusal:
        problems.append(refusal.text)
    return tuple(problems)


def linked_artifacts(notes: Notes | None) -> tuple[str, ...]:
    """The artifacts that claims link, each once."""
    claims = notes.all_claims if notes else ()
    return tuple(dict.fromkeys(link.artifact_id for claim in claims for link in claim.links))


def misquoted_links(notes: Notes | None, texts: Mapping[str, str]) -> tuple[str, ...]:
    """The links of claims whose recorded span is not what they quote; artifacts without a text are passed over."""
    return tuple(
        f"claim {claim.id}: what stands in {link.source_id} at {link.quote_start:,}..{link.quote_end:,} is not what "
        "it quotes"
        for claim in (notes.all_claims if notes else ())
        for link in claim.links
        if link.artifact_id in texts
        and texts[link.artifact_id][link.quote_start : link.quote_end] != link.quote
    )


def _anchors(
    run: ResearchRun, notes: Notes | None, quotation: Quotation, texts: Mapping[str, str]
) -> Iterable[QuoteAnchor]:
    sources = cited_sources(quotation.cites, notes, run)
    if not sources:
        return []
    whole = _place(run, quotation.whole, sources, texts)
    if whole is not None:
        return [whole]
    return [_place_or_refuse(run, part, sources, texts) for part in quotation.parts or (quotation.whole,)]


def _place(
    run: ResearchRun, quote: str, sources: tuple[str, ...], texts: Mapping[str, str]
) -> QuoteAnchor | None:
    for key in sources:
        receipt = run.sources[key].receipt
        if receipt is not None and not receipt.readable:
            continue
        span = find_quote(texts.get(run.sources[key].artifact_id, ""), quote)
        if span is not None:
            return QuoteAnchor(source_id=key, start=span.start, end=span.end)
    return None


def _place_or_refuse(
    run: ResearchRun, quote: str, sources: tuple[str, ...], texts: Mapping[str, str]
) -> QuoteAnchor:
    found = _place(run, quote, sources, texts)
    if found is not None:
        return found
    near = nearest_passage(texts.get(run.sources[sources[0]].artifact_id, ""), quote)
    hint = f' The nearest passage there: "{near[:SHOWN]}".' if near else ""
    raise Refusal(
        "quote_not_found",
        f'"{quote[:SHOWN]}" does not stand in {" or ".join(sources)}.{hint} Quote the source exactly.',
    )
