"""Reading a file of the desk in pages, and finding places in the files."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from researchdesk.state.desk.files import DeskFile
from researchdesk.state.desk.hits import DeskHit
from researchdesk.state.desk.labels import quoted
from researchdesk.state.desk.naming import (
    fitted_label,
    is_whole,
    named_file,
    named_folder,
    shown,
    version,
)
from researchdesk.state.desk.paging import LINE_TOKENS, Page, page
from researchdesk.state.desk.sheets import dimensions, read_range
from researchdesk.state.envelopes import seal
from researchdesk.state.errors import Refusal
from researchdesk.state.ids import CallId
from researchdesk.state.limits import SEARCH_RESULTS
from researchdesk.state.redaction import redact
from researchdesk.state.tokens import estimate_tokens, fitting, room
from researchdesk.state.workspace import Workspace
from researchdesk.tools.desk.arguments import ReadFile, SearchContent
from researchdesk.tools.desk.results import ROOM, as_shown, fits, overhead, sealed_lines
from researchdesk.tools.spec import Decision, DeskSearch, Gathered, Need

RESULTS_DEFAULT: Final = 10
SNIPPET_CHARS: Final = 240
SNIPPET_TOKENS: Final = 60
_NO_LINES: Final = Page(text="", first=999_999, next=999_999, total=999_999)


def decide_read(workspace: Workspace, arguments: ReadFile, gathered: Gathered, call: CallId) -> Decision:
    """Return a page of a file, or of some cells of it."""
    assert gathered.desk is not None
    file = named_file(gathered.desk.state, arguments.file)
    if file.kind == "folder":
        raise Refusal(
            "invalid_arguments", f"file: {shown(file.path)} is a folder. List it with desk_list_files."
        )
    text = gathered.desk.read(file.content_hash)
    place = _place(file, text, arguments.range)
    body = _without_secrets(read_range(text, place["range"]).text if "range" in place else text)
    place_in = {"from_line": arguments.from_line, "max_lines": arguments.max_lines}
    found, result = _fitting_page(file, body, place, gathered.boundary, **place_in)
    return Decision(
        text=result,
        data={
            "file_id": file.id,
            "path": file.path,
            "kind": file.kind,
            "version": file.content_hash,
            "rev": file.rev,
            **place,
            "from_line": found.first,
            "total": found.total,
            "truncated": bool(found.next),
            "next": found.next,
        },
        entity_type="desk.file",
        entity_id=file.id,
    )


def _place(file: DeskFile, text: str, area: str) -> dict[str, str]:
    """The size of a sheet, and which cells of it are asked for; nothing of a document."""
    if file.kind != "spreadsheet":
        if area.strip():
            raise Refusal(
                "invalid_arguments",
                f'range: {shown(file.path)} is a {file.kind}, it has no cells. Send "" and use from_line.',
            )
        return {}
    size = _size(text)
    if not area.strip():
        return {"sheet": size}
    there = read_range(text, area).area
    if there is None:
        raise Refusal("bad_range", f'"{area.strip()}" is outside the sheet, which holds {size}.')
    return {"sheet": size, "range": str(there)}


@dataclass(frozen=True, slots=True)
class _Read:
    """What a reading says of its file."""

    id: str
    path: str
    content_hash: str


def longer_page(
    data: Mapping[str, Any], *, max_lines: int, read: Callable[[str], str], boundary: str, tokens: int
) -> str:
    """The page that a call of `desk_read_file` returned, of the same version, with as many lines as ``tokens`` take.

    Args:
        data: what the call gave to programs.
        max_lines: as it was asked for.
        read: gives the text of a version.
        boundary: that of the envelope.
        tokens: what the page may cost, at least a result's 500.

    Raises:
        ValueError: the boundary stands in the page.
    """
    file = _Read(data["file_id"], data["path"], data["version"])
    place = {name: str(data[name]) for name in ("sheet", "range") if name in data}
    text = read(file.content_hash)
    body = _without_secrets(read_range(text, place["range"]).text if "range" in place else text)
    lines = {"from_line": int(data["from_line"]), "max_lines": max_lines}
    return _fitting_page(file, body, place, boundary, **lines, most_tokens=room(tokens))[1]


def _fitting_page(
    file: DeskFile | _Read,
    body: str,
    place: dict[str, str],
    boundary: str,
    *,
    from_line: int,
    max_lines: int,
    most_tokens: int = ROOM,
) -> tuple[Page, str]:
    """The page that is asked for, with as many lines as a result takes, and its text."""
    allowed = most_tokens - overhead("desk_file", _attributes(file, _NO_LINES, place))
    most = max(0, max_lines)
    while True:
        found = page(
            body,
            from_line=from_line,
            max_lines=most,
            limit=-(-allowed * 10 // 9),
            cost=estimate_tokens,
        )
        text = seal(found.text, tag="desk_file", boundary=boundary, **_attributes(file, found, place))
        lines = (found.next or found.total + 1) - found.first
        if estimate_tokens(text) <= most_tokens:
            return found, text
        if lines <= 1:
            return found, _cut_line(file, found, place, boundary, allowed)
        most = lines // 2  # marks against forged envelopes made it longer


def _cut_line(file: DeskFile | _Read, found: Page, place: dict[str, str], boundary: str, allowed: int) -> str:
    """A line that only marks against forged envelopes made too long for a result: the part of it that fits."""
    left = min(allowed, LINE_TOKENS)
    attributes = {**_attributes(file, found, place), "cut": "true"}
    while True:
        left //= 2
        body = found.text[: fitting(found.text, left)] if left else ""
        text = seal(body, tag="desk_file", boundary=boundary, **attributes)
        if not left or fits(text):
            return text


def _attributes(file: DeskFile | _Read, found: Page, place: dict[str, str]) -> dict[str, str | int]:
    lines = {"from_line": found.first, "total": found.total, "next": found.next}
    own = {"id": file.id, "path": fitted_label(file.path), "version": version(file.content_hash)}
    return {**own, **place, **lines}


@lru_cache(maxsize=4)
def _size(text: str) -> str:
    return str(dimensions(text))


@lru_cache(maxsize=4)
def _without_secrets(text: str) -> str:
    """The text as it may be shown; it is asked for again with every page."""
    return as_shown(text)


def search_needs(workspace: Workspace, arguments: SearchContent, call: CallId) -> Need:
    """What the desk's files hold of the query."""
    if not arguments.query:
        raise Refusal("invalid_arguments", "query: it is empty. Send the words to look for.")
    if not 0 <= arguments.max_results <= SEARCH_RESULTS:
        raise Refusal(
            "invalid_arguments",
            f"max_results: {arguments.max_results:,} is not within 0..{SEARCH_RESULTS}.",
        )
    limit = arguments.max_results or RESULTS_DEFAULT
    return DeskSearch(query=arguments.query, folder=arguments.folder, limit=limit)


def decide_search(
    workspace: Workspace, arguments: SearchContent, gathered: Gathered, call: CallId
) -> Decision:
    """Return the places that were found, best first."""
    assert gathered.desk is not None
    folder = named_folder(gathered.desk.state, arguments.folder)
    hits = gathered.desk.hits

    def attributes(count: int) -> dict[str, str | int]:
        here: dict[str, str | int] = {"found": len(hits)}
        return {**here, "truncated": "true", "shown": count} if count < len(hits) else here

    lines = list(map(_hit_line, hits)) or ["Nothing was found. Try other words, or fewer."]
    text, count = sealed_lines(lines, gathered.boundary, tag="desk_search", attributes=attributes)
    kept = hits[:count]
    return Decision(
        text=text,
        data={
            "folder": folder,
            "hits": [_hit_data(hit) for hit in kept],
            "found": len(hits),
            "truncated": len(kept) < len(hits),
        },
    )


def _hit_line(hit: DeskHit) -> str:
    name = "" if is_whole(hit.path) else f" id {hit.file_id}"
    place = f"cell {hit.ref}" if hit.ref else f"line {hit.line}"
    snippet = quoted(
        fitted_label(redact(hit.snippet).text, SNIPPET_CHARS, tokens=SNIPPET_TOKENS), SNIPPET_CHARS
    )
    return f"{shown(hit.path)} {version(hit.version)} {place}{name}: {snippet}"


def _hit_data(hit: DeskHit) -> dict[str, Any]:
    return {
        "file_id": hit.file_id,
        "path": hit.path,
        "version": hit.version,
        "line": hit.line,
        "ref": hit.ref,
    }
