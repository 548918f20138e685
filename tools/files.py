"""A person's hand on the desk's files: what is there, and changes that need no proposal but keep what stood before."""

import contextlib
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from researchdesk.state.copying import changed
from researchdesk.state.desk import events as dv
from researchdesk.state.desk.actors import clean_actor, is_agent
from researchdesk.state.desk.changes import (
    Action,
    Delete,
    Outcome,
    Rename,
    check_free,
    events_of,
    outcome_of,
    restored_path,
    revision_id,
)
from researchdesk.state.desk.desk_state import DeskState
from researchdesk.state.desk.edits import clean_content
from researchdesk.state.desk.files import Cause, DeskFile, FileKind, FileList, Revisions
from researchdesk.state.desk.grids import Row
from researchdesk.state.desk.hits import DeskHit
from researchdesk.state.desk.judging import after, short
from researchdesk.state.desk.paths import clean_path, is_inside, path_key
from researchdesk.state.errors import IntegrityError, NotFound, Refusal, UsageError
from researchdesk.state.ids import content_hash
from researchdesk.stores.ledger import HeadMoved
from researchdesk.tools.deciding import COMMIT_TRIES, write
from researchdesk.tools.desk.searching import search_desk
from researchdesk.tools.desk.values import values_of
from researchdesk.tools.records import Records

SAME_EDIT = timedelta(seconds=60)
"""A person who saves again within this time goes on with the same change: one revision keeps what stood before it."""
Made = tuple[Sequence[dv.DeskEvent], Mapping[str, bytes]]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewFile:
    """A file that is to be put on the desk; ``kind`` as for `Files.put`."""

    path: str
    content: str = ""
    kind: FileKind | None = None


@dataclass(frozen=True, slots=True)
class Files:
    """The files of a desk."""

    records: Records = field(repr=False)

    def listed(self, folder: str = "", *, deleted: bool = False) -> FileList:
        """The files in a folder, at any depth, by path; the deleted ones instead where asked."""
        desk = self.records.desk().desk
        found = (file for file in desk.files.values() if file.deleted == deleted)
        return FileList(
            sorted((file for file in found if is_inside(file.path, folder)), key=lambda file: file.path)
        )

    def _repr_html_(self) -> str:
        return self.listed()._repr_html_()

    def get(self, file: str) -> DeskFile:
        """The file of that id or path.

        Raises:
            NotFound: there is none.
        """
        return found_file(self.records.desk().desk, file)

    def read(self, file: str, *, version: str = "") -> str:
        """The text of a file, or of an earlier version of it by its hash."""
        return self.records.text(version or self.get(file).content_hash)

    def values(self, file: str, *, version: str = "") -> list[Row]:
        """The rows of a spreadsheet, or of an earlier version of it, with the value of each formula in its place.

        Raises:
            NotFound: there is no such file.
            UsageError: it is no spreadsheet, or has formulas and the extra ``sheets`` is not installed.
            Unavailable: computing took too long or broke down.
        """
        found = self.get(file)
        if found.kind != "spreadsheet":
            raise UsageError(f"only a spreadsheet has values; {found.path} is a {found.kind}")
        return values_of(self.read(found.id, version=version))

    def search(self, words: str, *, folder: str = "", limit: int = 20) -> list[DeskHit]:
        """The places in the files of a folder, or of the whole desk, that answer a few words, best first."""
        desk = self.records.desk().desk
        return search_desk(self.records.ledger, desk, self.records.text, words, folder=folder, limit=limit)

    def put(
        self, path: str, content: str = "", *, actor: str, kind: FileKind | None = None, if_match: str = ""
    ) -> DeskFile:
        """Make a file, or save one that is there.

        Args:
            kind: of a new file; by default a spreadsheet where the path ends in ``.csv``, else a document.
            if_match: the version that was read; a file that is there is only saved over that one.

        Raises:
            Refusal: ``bad_path``, ``exists``, ``precondition`` without a version, ``conflict`` with another one.
        """
        path = clean_path(path)
        there = self.records.desk().desk.at_path(path)
        if there is not None:
            return self.save(there.id, content, actor=actor, if_match=if_match)
        made = NewFile(path=path, content=content, kind=kind)
        file_id = new_id()
        return self._write(lambda desk: self._created(made, desk, file_id, actor)).files[file_id]

    def put_all(self, files: Iterable[NewFile], *, actor: str, replace: bool = False) -> FileList:
        """Put several files on the desk, all of them or none; a text that stands there already is left as it is.

        Args:
            replace: whether a file with another text may be saved over; what it held is kept as a revision.

        Raises:
            Refusal: ``bad_path``, ``too_large`` or ``invalid_arguments`` of one of them, ``exists`` where one is
                there with another text and ``replace`` is false.
        """
        given = [(new_id(), file) for file in files]

        def make(desk: DeskState) -> Made:
            events: list[dv.DeskEvent] = []
            bodies: dict[str, bytes] = {}
            for file_id, file in given:
                with _named(file.path):
                    made, texts = self._placed(file, desk, file_id, actor=actor, replace=replace)
                desk = after(desk, tuple(made))
                events += made
                bodies |= texts
            return events, bodies

        desk = self._write(make)
        there = (desk.at_path(clean_path(file.path)) for _, file in given)
        return FileList(file for file in there if file is not None)

    def save(self, file: str, content: str, *, actor: str, if_match: str) -> DeskFile:
        """Save a file's whole text over the version that was read.

        Raises:
            NotFound: there is no such file.
            Refusal: ``precondition`` without a version, ``conflict`` where the file changed since.
        """

        def make(desk: DeskState) -> Made:
            found = self._matched(desk, file, if_match)
            text = clean_content(content, kind=found.kind)
            now = self.records.now()
            made, bodies = events_of(
                Outcome(op="human_edit", path=found.path, text=text), found, desk, actor=person(actor), at=now
            )
            if _goes_on(found, actor, now):
                made = (changed(made[0], revision_id=""),)
            return made, bodies

        return self._changed(file, make)

    def rename(self, file: str, new_path: str, *, actor: str, if_match: str = "") -> DeskFile:
        """Give a file another path; a folder takes along what is in it."""
        return self._act(file, Rename(new_path=clean_path(new_path)), actor=actor, if_match=if_match)

    def remove(self, file: str, *, actor: str, if_match: str = "") -> DeskFile:
        """Take a file off the desk; `restore` brings it back."""
        return self._act(file, Delete(), actor=actor, if_match=if_match)

    def remove_all(self, folder: str, *, actor: str) -> FileList:
        """Take a folder off the desk with all that is in it, all or nothing; gives what went, by path.

        A folder is named by its id or path, and by its path alone where it is but a part of the paths of files.
        `restore` brings its files back one by one.

        Raises:
            NotFound: there is no such folder or file.
        """
        gone: list[str] = []

        def make(desk: DeskState) -> Made:
            events: list[dv.DeskEvent] = []
            gone[:] = [file.id for file in _with_all_inside(desk, folder)]
            for file_id in reversed(gone):  # what is in a folder goes before it
                file = desk.files[file_id]
                outcome = outcome_of(Delete(), file, "", desk)
                made, _ = events_of(outcome, file, desk, actor=person(actor), at=self.records.now())
                desk = after(desk, made)
                events += made
            return events, {}

        desk = self._write(make)
        return FileList(desk.files[file_id] for file_id in gone)

    def revisions(self, file: str) -> Revisions:
        """What a file was before each of its changes, newest first; a deleted file is named by its id."""
        desk = self.records.desk().desk
        found = desk.files.get(file) or found_file(desk, file)
        kept = (revision for revision in desk.revisions.values() if revision.file_id == found.id)
        return Revisions(sorted(kept, key=lambda revision: -revision.seq))

    def restore(self, revision: str, *, actor: str) -> DeskFile:
        """Bring a file back to a revision, which is a change like any other and can be undone by its own revision.

        Raises:
            NotFound: there is no such revision.
        """

        def make(desk: DeskState) -> Made:
            kept = desk.revisions.get(revision)
            if kept is None:
                raise NotFound(f"no revision '{revision[:80]}' on this desk")
            file = desk.files[kept.file_id]
            restored = dv.FileChanged(
                file_id=file.id,
                op="restore",
                path=restored_path(kept, desk),
                content_hash=kept.content_hash,
                chars=kept.chars,
                deleted=False,
                actor=person(actor),
                at=self.records.now(),
                revision_id=revision_id(file),
            )
            return (restored,), {}

        desk = self._write(make)
        return desk.files[desk.revisions[revision].file_id]

    def _created(self, file: NewFile, desk: DeskState, file_id: str, actor: str) -> Made:
        path = clean_path(file.path)
        kind = file.kind or ("spreadsheet" if path.casefold().endswith(".csv") else "markdown")
        text = clean_content(file.content, kind=kind)
        body = text.encode()
        check_free(desk, path)
        created = dv.FileCreated(
            file_id=file_id,
            path=path,
            kind=kind,
            content_hash=content_hash(body),
            chars=len(text),
            actor=person(actor),
            at=self.records.now(),
            cause=Cause(),
        )
        return (created,), {created.content_hash: body}

    def _placed(self, file: NewFile, desk: DeskState, file_id: str, *, actor: str, replace: bool) -> Made:
        """One of several files: made, saved over what is there, or left as it is."""
        there = desk.at_path(clean_path(file.path))
        if there is None:
            return self._created(file, desk, file_id, actor)
        text = clean_content(file.content, kind=there.kind)
        if content_hash(text.encode()) == there.content_hash:
            return (), {}
        if not replace:
            raise Refusal("exists", f'"{there.path}" already exists (id {there.id}) with another text.')
        outcome = Outcome(op="human_edit", path=there.path, text=text)
        return events_of(outcome, there, desk, actor=person(actor), at=self.records.now())

    def _act(self, file: str, action: Action, *, actor: str, if_match: str) -> DeskFile:
        def make(desk: DeskState) -> Made:
            found = self._matched(desk, file, if_match or found_file(desk, file).content_hash)
            text = self.records.text(found.content_hash)
            outcome = outcome_of(action, found, text, desk)
            return events_of(outcome, found, desk, actor=person(actor), at=self.records.now())

        return self._changed(file, make)

    def _matched(self, desk: DeskState, file: str, if_match: str) -> DeskFile:
        found = found_file(desk, file)
        if not if_match:
            raise Refusal(
                "precondition",
                f'"{found.path}" is there already; name the version that you read (it has {found.content_hash}).',
            )
        if if_match != found.content_hash:
            raise Refusal(
                "conflict",
                f'"{found.path}" changed since you read it (now {short(found.content_hash)}, you had '
                f"{short(if_match)}). Read it again.",
            )
        return found

    def _changed(self, file: str, make: Callable[[DeskState], Made]) -> DeskFile:
        file_id = self.get(file).id
        return self._write(make).files[file_id]

    def _write(self, make: Callable[[DeskState], Made]) -> DeskState:
        """The desk after what ``make`` makes of it as it stands; it is asked again when somebody was faster."""
        for _ in range(COMMIT_TRIES):
            projection = self.records.desk()
            events, bodies = make(projection.desk)
            if not events:
                return projection.desk
            with contextlib.suppress(HeadMoved):
                return write(self.records, projection, events, bodies=bodies)
        raise IntegrityError("the desk is written to without pause; the change could not be placed")


@contextlib.contextmanager
def _named(path: str) -> Iterator[None]:
    """Says in what a text is refused for which of several files that is."""
    try:
        yield
    except Refusal as problem:
        if problem.code not in ("invalid_arguments", "too_large"):
            raise
        raise Refusal(problem.code, f'"{path}": {problem.text}') from None


def _with_all_inside(desk: DeskState, folder: str) -> list[DeskFile]:
    """A folder or file, and what is in it, by path; the path of files in it will do for a folder."""
    inside, own = list(desk.inside(folder)), []
    if not inside or desk.at_path(folder):
        own = [found_file(desk, folder)]
        inside = list(desk.inside(own[0].path))
    return own + sorted(inside, key=lambda file: path_key(file.path))


def new_id() -> str:
    """The id of a file that a person makes."""
    return f"f_{secrets.token_hex(6)}"


def found_file(desk: DeskState, file: str) -> DeskFile:
    """The file that is there under an id or a path.

    Raises:
        NotFound: there is none.
    """
    found = desk.files.get(file) or desk.at_path(file)
    if found is None or found.deleted:
        gone = " (it was deleted; see its revisions to restore it)" if found else ""
        raise NotFound(
            f'no file "{file[:200]}" on this desk{gone}; `researchdesk desk ls` lists what is there'
        )
    return found


def person(actor: str) -> str:
    """The actor of a change that needs no proposal.

    Raises:
        Refusal: ``forbidden`` for an agent: its changes go through tools.
    """
    if is_agent(clean_actor(actor)):
        raise Refusal("forbidden", f"{actor} changes files through its tools alone.")
    return actor


def _goes_on(file: DeskFile, actor: str, now: str) -> bool:
    if not file.edited or file.updated_by != actor:
        return False
    return datetime.fromisoformat(now) - datetime.fromisoformat(file.updated_at) <= SAME_EDIT
