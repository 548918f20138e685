"""Saving and reading artifacts: traceable to sources, quoted to the character, read in checked chunks."""

from dataclasses import dataclass

from researchdesk.state import events as ev
from researchdesk.state import traces
from researchdesk.state.anchors import anchor_quotes, quoted_artifacts
from researchdesk.state.citations import cited_ids, mark_unsourced, unsourced
from researchdesk.state.citing import cited_sources, fallen, uncitable
from researchdesk.state.envelopes import seal
from researchdesk.state.errors import Refusal
from researchdesk.state.ids import CallId, artifact_id, content_hash, numbered
from researchdesk.state.limits import ARTIFACTS, READ_CHARS, READ_CHARS_DEFAULT
from researchdesk.state.locators import UnsafeLocator, host_of, is_reserved_host, parse_locator
from researchdesk.state.notes import Notes
from researchdesk.state.redaction import redact
from researchdesk.state.run import ResearchRun
from researchdesk.state.vocabulary import SectionStatus
from researchdesk.state.workspace import Workspace
from researchdesk.tools.research.arguments import ReadArtifact, SaveArtifact
from researchdesk.tools.research.naming import resolve_artifact
from researchdesk.tools.running import open_run, started_run
from researchdesk.tools.spec import Bodies, Decision, Gathered, Need

SHOWN_SENTENCES = 5


def save_needs(workspace: Workspace, arguments: SaveArtifact, call: CallId) -> Need:
    """The texts to check quotations against, and the sections of a report that code assembles."""
    run = open_run(workspace)
    body = arguments.content
    if arguments.role == "source":
        return Bodies()
    if _assembles(arguments):
        return Bodies(
            artifact_ids=tuple(section.artifact_id for section in run.sections if section.artifact_id)
        )
    return Bodies(artifact_ids=quoted_artifacts(run, workspace.notes, body))


def _assembles(arguments: SaveArtifact) -> bool:
    return arguments.role == "report" and not arguments.content.strip()


def decide_save(workspace: Workspace, arguments: SaveArtifact, gathered: Gathered, call: CallId) -> Decision:
    """Record a body as an artifact of the run."""
    run = open_run(workspace)
    _require_room(run)
    if not arguments.name:
        raise Refusal("invalid_arguments", "name: it is empty. Give the artifact a short title.")
    if arguments.role == "source":
        return _supply_source(workspace, arguments, gathered, call)
    return _write(workspace, run, arguments, gathered, call)


def _require_room(run: ResearchRun) -> None:
    if len(run.artifacts) >= ARTIFACTS:
        raise Refusal(
            "limit_reached", f"The run holds {ARTIFACTS:,} artifacts and takes no more. Write the report."
        )


def _supply_source(
    workspace: Workspace, arguments: SaveArtifact, gathered: Gathered, call: CallId
) -> Decision:
    run = open_run(workspace)
    if not arguments.content.strip():
        raise Refusal(
            "invalid_arguments", "content: it is empty. Give the source's text, or use archive_source."
        )
    if not arguments.locator:
        raise Refusal("invalid_arguments", "locator: it is empty. Say where the source can be inspected.")
    if arguments.source_artifact_ids or arguments.report_section_key or arguments.report_section_status:
        raise Refusal("invalid_arguments", "role source takes no source_artifact_ids and no report section.")
    body = arguments.content.encode()
    key = artifact_id(call)
    source_id = numbered("s", len(run.sources) + 1)
    artifact = _artifact(
        arguments, key=key, body=body, text=arguments.content, redactions=gathered.redactions
    )
    source = ev.SourceRecorded(
        source_id=source_id,
        artifact_id=key,
        url=_identity(arguments.locator),
        domain="",
        origin="supplied",
        origin_reason="the text was supplied by a caller, not read by a fetcher",
        title=arguments.name,
        receipt=None,
    )
    return Decision(
        text=f"Saved source {source_id} ({key}), {len(arguments.content):,} characters. It is marked as supplied and "
        "does not count as a fetched source.",
        events=(artifact, source, *traces.of_source(workspace.investigation, source)),
        data={"artifact_id": key, "source_id": source_id, "provenance": "supplied"},
        bodies={artifact.content_hash: body},
        entity_type="artifact",
        entity_id=key,
    )


def _identity(locator: str) -> str:
    """The canonical spelling of a locator; one that is neither URL nor path (a symbol, say) stays as it is."""
    try:
        parsed = parse_locator(locator)
    except UnsafeLocator:
        return locator
    if parsed.kind == "web" and is_reserved_host(host_of(parsed.value)):
        raise Refusal(
            "reserved_host", f"locator: '{locator}' is on a reserved example host and can be no source."
        )
    return str(parsed)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Written:
    text: str
    parents: tuple[str, ...]
    cited: tuple[str, ...]
    sources: tuple[str, ...]
    """The ids of the sources behind what is cited."""
    quotes: tuple[ev.QuoteAnchor, ...]


def _write(
    workspace: Workspace, run: ResearchRun, arguments: SaveArtifact, gathered: Gathered, call: CallId
) -> Decision:
    status = _section_status(run, arguments)
    if arguments.locator:
        raise Refusal(
            "invalid_arguments", f"locator: it belongs to role source only, not to {arguments.role}."
        )
    _refuse_cut_off(workspace, arguments, call)
    written = _checked(run, workspace.notes, arguments, gathered)
    if arguments.role == "report_section" and status == "completed" and not written.cited:
        raise Refusal(
            "uncited",
            "A completed section cites at least one source or claim, like [s_001] or [c_001] after a statement.",
        )
    body = written.text.encode()
    if arguments.role == "report_section":
        _refuse_repeated(run, arguments.report_section_key, content_hash(body))
    key = artifact_id(call)
    artifact = _artifact(
        arguments,
        key=key,
        body=body,
        text=written.text,
        redactions=gathered.redactions,
        written=written,
        status=status,
    )
    return Decision(
        text=_saved_text(arguments, key, written, fallen(written.cited, workspace.notes)),
        events=(artifact,),
        data={"artifact_id": key, "chars": len(written.text), "quotes": len(written.quotes)},
        bodies={artifact.content_hash: body},
        entity_type="artifact",
        entity_id=key,
    )


def _section_status(run: ResearchRun, arguments: SaveArtifact) -> SectionStatus | None:
    key, status = arguments.report_section_key, arguments.report_section_status
    if arguments.role != "report_section":
        if key or status:
            raise Refusal(
                "invalid_arguments",
                f"report_section_key and _status belong to role report_section, "
                f"not to {arguments.role}; leave them empty.",
            )
        return None
    section = run.section(key)
    if section is None:
        keys = ", ".join(s.key for s in run.sections)
        raise Refusal("invalid_arguments", f"report_section_key: no section '{key}'; this run has {keys}.")
    if status == "drafted" and section.status != "completed":
        return "drafted"
    if status == "completed":
        return "completed"
    if section.status == "completed":
        raise Refusal(
            "section_regression", f"Section '{key}' is completed and does not go back to '{status}'."
        )
    raise Refusal("invalid_arguments", f"report_section_status: '{status}' is not drafted or completed.")


def _refuse_repeated(run: ResearchRun, key: str, body: str) -> None:
    for section in run.sections:
        if (
            section.key != key
            and section.artifact_id
            and run.artifacts[section.artifact_id].content_hash == body
        ):
            raise Refusal(
                "repeated", f"Section '{section.key}' has these very words already; write what is due here."
            )


def _refuse_cut_off(workspace: Workspace, arguments: SaveArtifact, call: CallId) -> None:
    answer = workspace.last_answer
    if call.turn and answer and answer.finish_reason == "length" and answer.calls[-1].id == call.call:
        raise Refusal(
            "cut_off", "Your answer reached the output limit and this body is cut off. Write it shorter."
        )


def _checked(run: ResearchRun, notes: Notes | None, arguments: SaveArtifact, gathered: Gathered) -> _Written:
    """The body with its citations resolved and its quotations anchored."""
    if _assembles(arguments):
        text = assemble_report(run, gathered)
        sections = [run.artifacts[section.artifact_id] for section in run.sections]
        quotes = tuple(anchor for section in sections for anchor in section.quotes)
    else:
        text = arguments.content
        if not text.strip():
            raise Refusal("invalid_arguments", "content: it is empty.")
        quotes = ()
    cited = cited_ids(text)
    if problems := uncitable(cited, notes, run):
        raise Refusal("unknown_citation", f"content: {'; '.join(problems)}.")
    if not _assembles(arguments):
        if gathered.problems:
            raise Refusal("integrity", " ".join(gathered.problems.values()))
        quotes = anchor_quotes(run, notes, text, gathered.texts)
    if arguments.role == "report":
        text = mark_unsourced(text)
    sources = cited_sources(cited, notes, run)
    parents = _parents(run, arguments, sources)
    return _Written(text=text, parents=parents, cited=cited, sources=sources, quotes=quotes)


def _parents(run: ResearchRun, arguments: SaveArtifact, sources: tuple[str, ...]) -> tuple[str, ...]:
    """The declared source artifacts and those behind what the body cites."""
    declared = [resolve_artifact(run, key, "source_artifact_ids") for key in arguments.source_artifact_ids]
    for artifact in declared:
        if artifact.role != "source":
            raise Refusal(
                "not_a_source",
                f"source_artifact_ids: {artifact.artifact_id} is a {artifact.role}; name archived sources.",
            )
    keys = [artifact.artifact_id for artifact in declared] + [run.sources[key].artifact_id for key in sources]
    if not keys:
        raise Refusal(
            "no_source_reference",
            f"Role {arguments.role} has to cite, or name in source_artifact_ids, the archived sources it draws on. "
            f"This run has {len(run.sources)} sources.",
        )
    return tuple(dict.fromkeys(keys))


def assemble_report(run: ResearchRun, gathered: Gathered) -> str:
    """The report's body from the completed sections, in the template's order."""
    open_sections = [section.key for section in run.sections if section.status != "completed"]
    if open_sections:
        raise Refusal("sections_open", f"These sections are not completed yet: {', '.join(open_sections)}.")
    broken = [gathered.problems[s.artifact_id] for s in run.sections if s.artifact_id in gathered.problems]
    if broken:
        raise Refusal("integrity", " ".join(broken))
    parts = [
        f"## {s.title}\n\n{_without_heading(gathered.texts[s.artifact_id], s.title)}" for s in run.sections
    ]
    return "\n\n".join(parts) + "\n"


def _without_heading(body: str, title: str) -> str:
    """The section's body without a first line that only repeats its title."""
    first, _, rest = body.strip().partition("\n")
    return rest.strip() if first.lstrip("# ").strip().casefold() == title.casefold() else body.strip()


def _artifact(
    arguments: SaveArtifact,
    *,
    key: str,
    body: bytes,
    text: str,
    redactions: int,
    written: _Written | None = None,
    status: SectionStatus | None = None,
) -> ev.ArtifactRecorded:
    return ev.ArtifactRecorded(
        artifact_id=key,
        role=arguments.role,
        name=arguments.name,
        summary=arguments.summary,
        locator=arguments.locator,
        content_hash=content_hash(body),
        chars=len(text),
        provenance="written" if written else "supplied",
        source_artifact_ids=written.parents if written else (),
        report_section_key=arguments.report_section_key,
        report_section_status=status or "",
        cited=written.cited if written else (),
        quotes=written.quotes if written else (),
        redactions=redactions,
    )


def _saved_text(arguments: SaveArtifact, key: str, written: _Written, fallen: tuple[str, ...]) -> str:
    lines = [
        f"Saved {arguments.role} {key}: {len(written.text):,} characters, {len(written.sources)} sources cited, "
        f"{len(written.quotes)} quotes verified."
    ]
    if fallen:
        lines.append(f"It cites {', '.join(fallen)}: a report cannot stand on it, write it again without.")
    owing = unsourced(written.text) if arguments.role == "report_section" else ()
    if owing:
        shown = " | ".join(sentence[:120] for sentence in owing[:SHOWN_SENTENCES])
        lines.append(
            f"{len(owing)} sentences with a figure or quotation lack a citation and will be marked: {shown}"
        )
    return "\n".join(lines)


def read_needs(workspace: Workspace, arguments: ReadArtifact, call: CallId) -> Need:
    """The body of the artifact that is to be read."""
    artifact = resolve_artifact(started_run(workspace), arguments.artifact_id, "artifact_id")
    return Bodies(artifact_ids=(artifact.artifact_id,))


def decide_read(workspace: Workspace, arguments: ReadArtifact, gathered: Gathered, call: CallId) -> Decision:
    """Return a chunk of an artifact whose bytes were just checked against their recorded hash."""
    run = started_run(workspace)
    artifact = resolve_artifact(run, arguments.artifact_id, "artifact_id")
    key = artifact.artifact_id
    if key in gathered.problems:
        raise Refusal("integrity", gathered.problems[key])
    text = gathered.texts[key]
    offset = arguments.offset_chars
    size = READ_CHARS_DEFAULT if arguments.max_chars == 0 else arguments.max_chars
    if not 0 <= offset <= max(0, len(text) - 1):
        raise Refusal(
            "invalid_arguments", f"offset_chars: {offset:,} is not within 0..{max(0, len(text) - 1):,}."
        )
    if not 0 < size <= READ_CHARS:
        raise Refusal("invalid_arguments", f"max_chars: {size:,} is not within 1..{READ_CHARS:,}.")
    chunk = text[offset : offset + size]
    end = offset + len(chunk)
    following = end if end < len(text) else 0
    sealed = seal(
        redact(chunk).text,
        tag="research_artifact",
        boundary=gathered.boundary,
        artifact_id=key,
        source_id=run.source_by_artifact.get(key) or "",
        role=artifact.role,
        offset_chars=offset,
        end_chars=end,
        total_chars=len(text),
        next_offset_chars=following,
    )
    return Decision(
        text=sealed,
        data={"artifact_id": key, "offset": offset, "end": end, "total": len(text), "next": following},
        entity_type="artifact",
        entity_id=key,
    )
