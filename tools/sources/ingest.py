"""Bringing the index up to date with a root: only what changed is read, only what changed its bytes is extracted."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from researchdesk.state.redaction import redact
from researchdesk.tools.sources.extract import extract
from researchdesk.tools.sources.extracted import Extracted
from researchdesk.tools.sources.files import CorpusRoot, FileStamp, FoundFile
from researchdesk.tools.sources.index import Index, IndexedPassage, KnownFile
from researchdesk.tools.sources.leaveout import LeftOut
from researchdesk.tools.sources.origins import stated_origin
from researchdesk.tools.sources.passages import passages
from researchdesk.tools.sources.ports import FetchRefused

Progress = Callable[[int, int, str], None]

# A file that was written moments before it was read may change again without a new time of change.
_SETTLED_NS = 2_000_000_000
_UNSETTLED = FileStamp(size=-1, mtime_ns=0, ctime_ns=0)
_BATCH_FILES = 64
_BATCH_CHARACTERS = 4_000_000
_REASONS = {"fetch_empty": "empty", "fetch_too_large": "too_large", "fetch_unreadable": "binary"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RootReport:
    """What a refresh did with one root: documents that can be searched, and how they came about."""

    files: int
    indexed: int
    unchanged: int
    removed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Document:
    file: KnownFile
    passages: tuple[IndexedPassage, ...] = ()


def refresh_root(
    index: Index, root: CorpusRoot, left_out: LeftOut, *, progress: Progress | None
) -> RootReport:
    """Walk a root and make the index equal to it, in batches that other processes can see one by one."""
    known = index.known(root.key)
    found = list(root.walk(left_out))
    changed = [file for file in found if not _is_current(file, known.get(file.path))]
    gone = sorted(known.keys() - {file.path for file in found})
    if gone:
        index.drop(root.key, gone)
    current = {file.path: known[file.path] for file in found if file.path in known}
    indexed = 0
    for files, unread in _batches(_read_all(root, changed, known, progress)):
        indexed += _store(index, root, files, current)
        _forget(index, root, unread, current, left_out)
    for file in current.values():
        if file.left_out:
            left_out.add(file.left_out, file.path)
    searchable = sum(1 for file in current.values() if not file.left_out)
    return RootReport(files=searchable, indexed=indexed, unchanged=searchable - indexed, removed=len(gone))


def _is_current(file: FoundFile, known: KnownFile | None) -> bool:
    return known is not None and known.stamp == file.stamp


def _read_all(
    root: CorpusRoot, changed: Sequence[FoundFile], known: dict[str, KnownFile], progress: Progress | None
) -> Iterator[_Document | str]:
    """Read each file; give its document, or the path of one that cannot be read now."""
    for done, file in enumerate(changed, start=1):
        try:
            raw, stamp = root.read(file.path)
        except FetchRefused:
            yield file.path
        else:
            yield _document(file.path, raw, _settled(stamp), known.get(file.path))
        if progress:
            progress(done, len(changed), file.path)


def _document(path: str, raw: bytes, stamp: FileStamp, before: KnownFile | None) -> _Document:
    file = KnownFile(path=path, sha256=sha256(raw).hexdigest(), stamp=stamp)
    if before is not None and before.sha256 == file.sha256:
        return _Document(file=replace(before, stamp=stamp))
    try:
        # As it would be archived: no secret rests in the index, and places fit the archived text.
        extracted = _without_secrets(extract(raw, name=path))
    except FetchRefused as refusal:
        return _Document(file=replace(file, left_out=_reason(refusal, path)))
    if not extracted.readable:
        return _Document(file=replace(file, left_out="unreadable"))
    described = replace(
        file,
        title=extracted.title,
        media_type=extracted.media_type,
        stated_origin=stated_origin(extracted.text, media_type=extracted.media_type),
    )
    return _Document(file=described, passages=tuple(_passages(extracted)))


def _without_secrets(extracted: Extracted) -> Extracted:
    title = redact(extracted.title).text if extracted.title else extracted.title
    return replace(extracted, text=redact(extracted.text).text, title=title)


def _reason(refusal: FetchRefused, path: str) -> str:
    """Say why a file has no text: a broken PDF is unreadable, a format that never had text is binary."""
    reason = _REASONS.get(refusal.code, "unreadable")
    return "unreadable" if reason == "binary" and path.lower().endswith((".pdf", ".docx")) else reason


def _passages(extracted: Extracted) -> Iterator[IndexedPassage]:
    title = extracted.title or ""
    for passage in passages(extracted.text, media_type=extracted.media_type):
        above = passage.heading
        heading = above if above.startswith(title) else " > ".join(filter(None, (title, above)))
        body = extracted.text[passage.start : passage.end]
        yield IndexedPassage(start=passage.start, heading=heading, body=body)


def _batches(results: Iterable[_Document | str]) -> Iterator[tuple[list[_Document], list[str]]]:
    documents: list[_Document] = []
    unread: list[str] = []
    characters = 0
    for result in results:
        if isinstance(result, str):
            unread.append(result)
            continue
        documents.append(result)
        characters += sum(len(passage.body) for passage in result.passages)
        if len(documents) >= _BATCH_FILES or characters >= _BATCH_CHARACTERS:
            yield documents, unread
            documents, unread, characters = [], [], 0
    if documents or unread:
        yield documents, unread


def _store(index: Index, root: CorpusRoot, documents: list[_Document], current: dict[str, KnownFile]) -> int:
    """Write what is new, restamp what only looked new; give the number of documents that became searchable anew."""
    same = [
        d.file for d in documents if d.file.path in current and current[d.file.path].sha256 == d.file.sha256
    ]
    unchanged = {file.path for file in same}
    fresh = [document for document in documents if document.file.path not in unchanged]
    if same:
        index.restamp(root.key, [(file.path, file.stamp) for file in same])
    if fresh:
        index.put(root.key, [(document.file, document.passages) for document in fresh])
    current.update({document.file.path: document.file for document in documents})
    return sum(1 for document in fresh if not document.file.left_out)


def _forget(
    index: Index, root: CorpusRoot, unread: list[str], current: dict[str, KnownFile], left_out: LeftOut
) -> None:
    for path in unread:
        left_out.add("unreadable", path)
        current.pop(path, None)
    if unread:
        index.drop(root.key, unread)


def _settled(stamp: FileStamp) -> FileStamp:
    age = time.time_ns() - max(stamp.mtime_ns, stamp.ctime_ns)
    return stamp if age > _SETTLED_NS else _UNSETTLED
