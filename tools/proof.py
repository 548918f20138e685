"""Proving a session's writing against its archive: every quotation stands where the record says."""

from collections.abc import Iterator

from researchdesk.state.anchors import misquotes, quoted_artifacts
from researchdesk.state.errors import IntegrityError, NotFound
from researchdesk.state.investigation import Investigation
from researchdesk.state.run import ResearchRun
from researchdesk.tools.records import Records


def quote_problems(records: Records, session_id: str) -> Iterator[str]:
    """What is wrong with the quotations of a session's claims, notes, sections and reports.

    Bodies that are missing or damaged are named by `verify` itself and passed over here.
    """
    workspace = records.projection(session_id).workspace
    run = workspace.run
    if run is None:
        return
    for problem in _misquoting_claims(records, run, workspace.investigation):
        yield f"session '{session_id}', {problem}"
    for key in reversed(list(run.newest_artifacts)):
        artifact = run.artifacts[key]
        body = None if artifact.role == "source" else _text(records, run, key)
        if body is None:
            continue
        sources = dict.fromkeys(
            [*quoted_artifacts(run, body), *(run.sources[q.source_id].artifact_id for q in artifact.quotes)]
        )
        texts = {source: text for source in sources if (text := _text(records, run, source)) is not None}
        if len(texts) == len(sources):
            for problem in misquotes(run, artifact, body, texts):
                yield f"session '{session_id}', artifact {key}: {problem}"


def _misquoting_claims(
    records: Records, run: ResearchRun, investigation: Investigation | None
) -> Iterator[str]:
    texts: dict[str, str | None] = {}
    for claim in investigation.notes.all_claims if investigation else ():
        for link in claim.links:
            if link.artifact_id not in texts:
                texts[link.artifact_id] = _text(records, run, link.artifact_id)
            text = texts[link.artifact_id]
            if text is not None and text[link.quote_start : link.quote_end] != link.quote:
                place = f"{link.source_id} at {link.quote_start:,}..{link.quote_end:,}"
                yield f"claim {claim.id}: what stands in {place} is not what it quotes"


def _text(records: Records, run: ResearchRun, key: str) -> str | None:
    try:
        return records.text(run.artifacts[key].content_hash)
    except (NotFound, IntegrityError):
        return None
