"""Searching the desk's files: the ledger's index says which of them answer, their texts say where."""

from collections.abc import Callable, Collection, Iterator
from typing import Final

from researchdesk.state.desk.desk_state import DeskState
from researchdesk.state.desk.files import DeskFile
from researchdesk.state.desk.hits import DeskHit
from researchdesk.state.desk.matching import AROUND, Matcher
from researchdesk.state.desk.paging import line_at
from researchdesk.state.desk.paths import is_inside
from researchdesk.state.errors import Refusal
from researchdesk.state.ids import DESK_ID
from researchdesk.state.queries import Query, parse_literal_query
from researchdesk.state.ranks import merged_ranks
from researchdesk.state.texts import cut_around, cut_line
from researchdesk.stores.ledger import Ledger
from researchdesk.tools.desk.results import as_shown

SNIPPET_CHARS: Final = 240
PLACES: Final = 3
"""So many of one file, where there is room."""
_DEPTH: Final = 100


def search_desk(
    ledger: Ledger,
    state: DeskState,
    read: Callable[[str], str],
    query: str,
    *,
    folder: str = "",
    limit: int,
) -> list[DeskHit]:
    """The places that answer a query, those of the best file first.

    A place is a line as `paging.page` counts them, or a cell. A file that answers by its path alone is shown by its
    beginning.

    Args:
        ledger: where the files are.
        state: the desk.
        read: gives the text of a body by its hash.
        query: words, or anything that a text may hold; it has no syntax.
        folder: where the files are, at any depth; empty for the whole desk.
        limit: how many places.
    """
    parsed = parse_literal_query(query)
    inside = [file.id for file in state.live if is_inside(file.path, folder)] if folder else None
    files = answering(ledger, state, parsed, among=inside, limit=limit) if parsed else []
    if not parsed or not files:
        return []
    matcher = Matcher(parsed)
    each = min(PLACES, max(1, limit // len(files)))
    hits = (hit for file in files for hit in _in_file(file, as_shown(read(file.content_hash)), matcher, each))
    return [hit for hit, _ in zip(hits, range(limit), strict=False)]


def answering(
    ledger: Ledger, state: DeskState, query: Query, *, among: Collection[str] | None = None, limit: int
) -> list[DeskFile]:
    """The files that answer a query, best first: those of each index, merged by their ranks.

    Args:
        among: the ids of the files that count; all where it is None.
    """
    rankings = ledger.search_files(DESK_ID, query, among=among, limit=max(_DEPTH, limit))
    # The state may be a moment older than the index.
    known = (state.files[key] for key in merged_ranks(rankings) if key in state.files)
    return [file for file in known if not file.deleted][:limit]


def _in_file(file: DeskFile, text: str, matcher: Matcher, limit: int) -> Iterator[DeskHit]:
    places = list(_places(file, text, matcher, limit)) or [(1, "", cut_line(text.strip(), SNIPPET_CHARS))]
    for line, ref, snippet in places:
        yield DeskHit(
            file_id=file.id, path=file.path, version=file.content_hash, line=line, snippet=snippet, ref=ref
        )


def _places(file: DeskFile, text: str, matcher: Matcher, limit: int) -> Iterator[tuple[int, str, str]]:
    """Line, cell and snippet of each."""
    if file.kind == "spreadsheet":
        try:
            cells = matcher.cells(text, limit=limit)
        except Refusal:  # it can be searched all the same
            cells = []
        if cells:
            for ref, cell, found in cells:
                yield ref.row + 1, str(ref), _snippet(cell, found.first, found.end)
            return
    for found in matcher.stretches(text, limit=limit):
        yield line_at(text, found.first), "", _snippet(text, found.first, found.end)


def _snippet(text: str, first: int, end: int) -> str:
    return cut_line(cut_around(text, first, end, more=AROUND), SNIPPET_CHARS)
