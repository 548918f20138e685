"""The desk's own files as a search provider and a fetcher, so that a research can cite what a person wrote there."""

from collections.abc import Iterator, Mapping
from typing import Final

from rapidfuzz import process

from researchdesk.state.desk.desk_state import DeskState
from researchdesk.state.desk.files import DeskFile
from researchdesk.state.desk.matching import Matcher
from researchdesk.state.desk.paths import is_inside, path_key
from researchdesk.state.limits import SNIPPET_CHARS
from researchdesk.state.locators import UnsafeLocator, parse_locator
from researchdesk.state.queries import parse_literal_query
from researchdesk.state.redaction import redact
from researchdesk.tools.desk.searching import PLACES, answering
from researchdesk.tools.records import Records
from researchdesk.tools.sources.markup import headings_of, sections_of
from researchdesk.tools.sources.origins import Origin
from researchdesk.tools.sources.ports import Fetched, FetchRefused, Hit, SearchFailed, SearchOutcome

DESK_ORIGIN: Final = "desk"
VERSION: Final = "1"
_MEDIA_TYPES: Final = {"markdown": "text/markdown", "spreadsheet": "text/csv"}
_BEFORE: Final = 120
"""Characters of a passage that come before what was looked for."""


class DeskSource:
    """The files of a desk that a person stands behind: who wrote or approved what they hold now.

    What a model alone wrote is no source, or a run could be its own witness. All files are one origin, `DESK_ORIGIN`,
    but those that ``origins`` gives to a publisher by their folder or path. A locator is ``desk:<path>``; what is
    fetched is the version that stands at that moment, whose hash is the receipt's ``etag``. Safe for threads.
    """

    name = "desk"

    def __init__(self, records: Records, *, origins: Mapping[str, str] | None = None) -> None:
        self._records = records
        stated = {place.strip("/"): name for place, name in (origins or {}).items()}
        self._origins = sorted(stated.items(), key=lambda item: -len(item[0]))  # the innermost place says it

    def is_empty(self) -> bool:
        """Say whether there is no file at all to be read."""
        return not any(True for _ in self._files(self._records.desk().desk))

    def search(self, query: str, *, limit: int) -> SearchOutcome:
        """Give the files that answer a query, each with its best passage and where up to two more stand.

        Raises:
            SearchFailed: ``search_bad_query`` where the query holds nothing to look for.
        """
        parsed = parse_literal_query(query)
        if parsed is None:
            raise SearchFailed("search_bad_query", "the query is empty; name what is looked for")
        state = self._records.desk().desk
        mine = [file.id for file in self._files(state)]
        found = answering(self._records.ledger, state, parsed, among=mine, limit=max(0, limit))
        matcher = Matcher(parsed)
        hits = (
            hit for n, file in enumerate(found, start=1) for hit in self._hits(file, matcher, score=1 / n)
        )
        return SearchOutcome(provider=self.name, hits=tuple(hits), total=len(found))

    def accepts(self, locator: str) -> bool:
        """Say whether a locator names a file of a desk; whether it is there shows only in `fetch`."""
        try:
            return parse_locator(locator).kind == "desk"
        except UnsafeLocator:
            return False

    def fetch(self, locator: str) -> Fetched:
        """Read a file as it stands.

        Raises:
            FetchRefused: ``fetch_not_found`` with the nearest names; ``fetch_unsafe`` for what a model alone wrote;
                ``fetch_unreadable`` for a folder and for what is no text.
        """
        file = self._named(locator)
        raw = self._records.ledger.body(file.content_hash) or b""
        try:
            text = raw.decode()
        except UnicodeDecodeError:
            raise FetchRefused("fetch_unreadable", f"{locator!r} holds no text in UTF-8") from None
        media_type, origin = _MEDIA_TYPES[file.kind], self._origin(file.path)
        return Fetched(
            requested=locator,
            locator=_locator(file),
            canonical=_locator(file),
            redirects=(),
            status=0,
            media_type=media_type,
            charset="utf-8",
            raw=raw,
            text=text,
            extractor="desk",
            extractor_version=VERSION,
            title=file.path,
            sections=sections_of(headings_of(text, media_type=media_type), length=len(text)),
            origin=origin.name,
            origin_reason=origin.reason,
            domain=origin.name,
            readable=True,
            note="",
            etag=file.content_hash,
        )

    def _files(self, state: DeskState) -> Iterator[DeskFile]:
        return (file for file in state.live if file.kind != "folder" and _is_a_persons(file))

    def _hits(self, file: DeskFile, matcher: Matcher, *, score: float) -> Iterator[Hit]:
        text = redact(self._records.text(file.content_hash)).text
        starts = [max(0, found.first - _BEFORE) for found in matcher.stretches(text, limit=PLACES)] or [0]
        for n, start in enumerate(starts):
            yield Hit(
                locator=_locator(file),
                title=file.path,
                snippet="" if n else text[start : start + SNIPPET_CHARS],
                start=start,
                score=score,
                origin=self._origin(file.path).name,
                media_type=_MEDIA_TYPES[file.kind],
            )

    def _named(self, locator: str) -> DeskFile:
        try:
            parsed = parse_locator(locator)
        except UnsafeLocator as refusal:
            raise FetchRefused(refusal.code, refusal.text) from None
        state = self._records.desk().desk
        file = state.at_path(parsed.value) if parsed.kind == "desk" else None
        if file is None:
            names = [_locator(one) for one in self._files(state)]
            near = [name for name, score, _ in process.extract(locator, names, limit=3) if score >= 60]
            nearest = f"; nearest: {', '.join(near)}" if near else ""
            raise FetchRefused("fetch_not_found", f"there is no {locator[:200]!r} on the desk{nearest}")
        if file.kind == "folder":
            raise FetchRefused("fetch_unreadable", f"{locator!r} is a folder; name a file in it")
        if not _is_a_persons(file):
            raise FetchRefused(
                "fetch_unsafe",
                f"{locator!r} was written by a model and is no source of a research; a person who checked it can save "
                "it under their own name",
            )
        return file

    def _origin(self, path: str) -> Origin:
        for place, name in self._origins:
            if is_inside(path, place) or path_key(path) == path_key(place):
                return Origin(name=name, reason=f"declared for desk:{place}")
        return Origin(name=DESK_ORIGIN, reason="the files of a desk count as one origin")


def _is_a_persons(file: DeskFile) -> bool:
    return file.updated_by.startswith("human:")


def _locator(file: DeskFile) -> str:
    return f"desk:{file.path}"
