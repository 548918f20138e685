"""Finding a text in the files of a desk, letter by letter; it needs no index."""

from collections.abc import Callable, Iterator

from researchdesk.state.desk.a1 import Ref
from researchdesk.state.desk.desk_state import DeskState
from researchdesk.state.desk.files import DeskFile
from researchdesk.state.desk.grids import read_grid
from researchdesk.state.desk.hits import DeskHit
from researchdesk.state.desk.paths import is_inside

AROUND = 80
"""Characters that a snippet shows on each side."""


def find_on_desk(
    state: DeskState, read: Callable[[str], str], query: str, *, folder: str = "", limit: int
) -> list[DeskHit]:
    """The first lines and cells that hold the query, in whatever letters, by the paths of their files."""
    wanted = query.casefold()
    files = sorted((file for file in state.live if is_inside(file.path, folder)), key=lambda file: file.path)
    hits: list[DeskHit] = []
    for file in files:
        for hit in _in_file(file, read(file.content_hash), wanted):
            hits.append(hit)
            if len(hits) >= limit:
                return hits
    return hits


def _in_file(file: DeskFile, text: str, wanted: str) -> Iterator[DeskHit]:
    if wanted not in text.casefold():
        return
    for line, ref, part in _parts(file, text):
        at = part.casefold().find(wanted)
        if at >= 0:
            snippet = part[max(0, at - AROUND) : at + len(wanted) + AROUND]
            yield DeskHit(
                file_id=file.id,
                path=file.path,
                version=file.content_hash,
                line=line,
                snippet=snippet,
                ref=ref,
            )


def _parts(file: DeskFile, text: str) -> Iterator[tuple[int, str, str]]:
    """Each line of a document, each cell of a sheet."""
    if file.kind != "spreadsheet":
        yield from ((number, "", line) for number, line in enumerate(text.splitlines(), 1))
        return
    for y, row in enumerate(read_grid(text)):
        for x, cell in enumerate(row):
            yield y + 1, str(Ref(y, x)), cell
