"""Proving a session's writing against its archive: every quotation stands where the record says."""

from collections.abc import Iterable, Iterator

from researchdesk.state.anchors import linked_artifacts, misquoted_links, misquotes, quoted_artifacts
from researchdesk.state.errors import IntegrityError, NotFound
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
    notes = workspace.notes
    for problem in misquoted_links(notes, _texts(records, run, linked_artifacts(notes))):
        yield f"session '{session_id}', {problem}"
    for key in reversed(list(run.newest_artifacts)):
        artifact = run.artifacts[key]
        body = None if artifact.role == "source" else _text(records, run, key)
        if body is None:
            continue
        sources = dict.fromkeys(
            [
                *quoted_artifacts(run, notes, body),
                *(run.sources[q.source_id].artifact_id for q in artifact.quotes),
            ]
        )
        texts = _texts(records, run, sources)
        if len(texts) == len(sources):
            for problem in misquotes(run, notes, artifact, body, texts):
                yield f"session '{session_id}', artifact {key}: {problem}"


def _texts(records: Records, run: ResearchRun, keys: Iterable[str]) -> dict[str, str]:
    return {key: text for key in keys if (text := _text(records, run, key)) is not None}


def _text(records: Records, run: ResearchRun, key: str) -> str | None:
    try:
        return records.text(run.artifacts[key].content_hash)
    except (NotFound, IntegrityError):
        return None
