"""A session as JSON lines: lossless, checked line by line, taken whole or not at all.

The first line says what the file is, then come the events in order, then the bodies in the order of their
hashes, then a line with the hash of all that stood before. Exporting what was imported gives the same bytes.
"""

import base64
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import IO, Any

import orjson

from researchdesk.state.errors import IntegrityError, LedgerCorrupt, NotFound, Refusal, UsageError
from researchdesk.state.ids import content_hash
from researchdesk.state.names import clean_id
from researchdesk.state.rows import RowChange
from researchdesk.stores.codec import StoredEvent
from researchdesk.stores.ledger import Append, Head, HeadMoved, Ledger
from researchdesk.stores.replay import Projection, replay_with_rows
from researchdesk.stores.verify import derive

FORMAT = "researchdesk.session"
VERSION = 1
# The longest line is a body of 20 MB in which each byte takes six to be written.
LINE_BYTES = 128 * 2**20
_EVENT_FIELDS = frozenset(StoredEvent.__dataclass_fields__) - {"global_seq"}


def _line(value: dict[str, Any]) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS) + b"\n"


def export_lines(ledger: Ledger, stream: str) -> Iterator[bytes]:
    """The stream as lines, each with its newline; the whole chain is checked first.

    Raises:
        NotFound: the stream has no event.
        LedgerCorrupt, IntegrityError: events or bodies are damaged; nothing is exported.
    """
    with ledger.snapshot() as frozen:
        derived = derive(frozen, stream)
        head = derived.projection.head
        if head.count == 0:
            raise NotFound(f"there is nothing to export under '{stream}'")
        bodies = derived.projection.state.standing_bodies
        whole = hashlib.sha256()
        for line in _content_lines(frozen, stream, head, bodies):
            whole.update(line)
            yield line
    yield _line({"kind": "end", "lines": 1 + head.count + len(bodies), "sha256": whole.hexdigest()})


def _content_lines(ledger: Ledger, stream: str, head: Head, bodies: Sequence[str]) -> Iterator[bytes]:
    yield _line(
        {
            "kind": "header",
            "format": FORMAT,
            "version": VERSION,
            "stream": stream,
            "events": head.count,
            "bodies": len(bodies),
            "hash": head.hash,
            "rows_digest": head.rows_digest,
        }
    )
    for item in ledger.read(stream):
        fields = asdict(item)
        del fields["global_seq"]
        yield _line({"kind": "event", **fields})
    for key in bodies:
        body = ledger.body(key)
        if body is None:
            raise IntegrityError(f"the body {key} is missing; run `researchdesk verify`")
        yield _line({"kind": "body", "hash": key, **_encoded(body)})


def _encoded(body: bytes) -> dict[str, str]:
    try:
        return {"text": body.decode()}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(body).decode()}


def lines_in(file: IO[bytes]) -> Iterator[bytes]:
    """The lines of a file; of one that is too long for an export no more than shows it."""
    return iter(lambda: file.readline(LINE_BYTES + 1), b"")


@dataclass(slots=True)
class _Reader:
    """Reads the lines of one export and knows which line it is at."""

    number: int = 0

    def refuse(self, problem: str) -> LedgerCorrupt:
        """The error that names the line."""
        return LedgerCorrupt(f"line {self.number}: {problem}. Nothing was imported")

    def parse(self, raw: bytes) -> dict[str, Any]:
        """One line as an object, its own canonical spelling only."""
        self.number += 1
        if len(raw) > LINE_BYTES:
            raise self.refuse(f"it is longer than {LINE_BYTES:,} bytes, as no line of an export is")
        if not raw.endswith(b"\n"):
            raise self.refuse("it is torn, its end is missing")
        try:
            value = orjson.loads(raw)
        except orjson.JSONDecodeError as problem:
            raise self.refuse(f"it is no JSON ({problem})") from None
        if not isinstance(value, dict) or _line(value) != raw:
            raise self.refuse("it is not written as an export writes it")
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What an import brought: the session, its events and bodies, and whether it was here already."""

    session_id: str
    events: int
    bodies: int
    already_here: bool


def import_lines(ledger: Ledger, lines: Iterable[bytes]) -> Imported:
    """Take an exported session into a ledger, in one transaction.

    Raises:
        LedgerCorrupt: the file is corrupt, torn, reordered or no export; the message names the line.
        UsageError: the ledger holds another session under that name.
    """
    reader = _Reader()
    iterator = iter(lines)
    header = _header(reader, iterator)
    whole = hashlib.sha256(_line(header))
    events, projection, changes = _events(reader, iterator, header, whole)
    bodies = _bodies(reader, iterator, header, whole)
    _end(reader, iterator, whole)
    wanted = projection.workspace.standing_bodies
    wrong = sorted(bodies.keys() ^ set(wanted))
    if wrong:
        raise reader.refuse(f"its bodies are not those that its events name ({wrong[0]})")
    append = Append(
        stream=header["stream"],
        head=Head(),
        events=tuple(events),
        rows=tuple(changes),
        rows_digest=projection.head.rows_digest,
        bodies=bodies,
    )
    return _store(ledger, append, projection)


def _store(ledger: Ledger, append: Append, projection: Projection) -> Imported:
    session = append.stream.partition(":")[2]
    here = ledger.head(append.stream)
    same = (here.count, here.hash) == (projection.head.count, projection.head.hash)
    if here.count and not same:
        raise UsageError(
            f"this desk holds a session '{session}' with another history; import into another home folder"
        )
    if not same:
        try:
            ledger.append(append)
        except HeadMoved:
            raise UsageError(
                f"session '{session}' appeared on this desk while importing; try again"
            ) from None
    return Imported(
        session_id=session, events=len(append.events), bodies=len(append.bodies), already_here=same
    )


def _header(reader: _Reader, lines: Iterator[bytes]) -> dict[str, Any]:
    header = reader.parse(next(lines, b""))
    shape = {
        "kind": str,
        "format": str,
        "version": int,
        "stream": str,
        "events": int,
        "bodies": int,
        "hash": str,
    }
    if header.get("format") != FORMAT or any(
        not isinstance(header.get(key), kind) for key, kind in shape.items()
    ):
        raise reader.refuse("this is no exported session")
    if header["version"] != VERSION:
        raise reader.refuse(f"format version {header['version']} is not known here; upgrade researchdesk")
    kind, _, session_id = header["stream"].partition(":")
    try:
        clean_id(session_id, "session id")
    except Refusal as refusal:
        raise reader.refuse(refusal.text.rstrip(".")) from None
    if kind != "session":
        raise reader.refuse("it is the stream of no session")
    return header


def _events(
    reader: _Reader, lines: Iterator[bytes], header: dict[str, Any], whole: "hashlib._Hash"
) -> tuple[list[StoredEvent], Projection, list[RowChange]]:
    projection = Projection()
    events: list[StoredEvent] = []
    changes: list[RowChange] = []
    for _ in range(header["events"]):
        value = reader.parse(next(lines, b""))
        whole.update(_line(value))
        if value.pop("kind", "") != "event" or value.keys() != _EVENT_FIELDS:
            raise reader.refuse("an event was expected here")
        item = StoredEvent(**value)
        if item.stream != header["stream"]:
            raise reader.refuse(f"it belongs to '{item.stream}', not to '{header['stream']}'")
        try:
            projection, own = replay_with_rows(projection, item)
        except (LedgerCorrupt, TypeError) as problem:
            raise reader.refuse(str(problem)) from None
        events.append(item)
        changes.extend(own)
    if (projection.head.hash, projection.head.rows_digest) != (header["hash"], header.get("rows_digest")):
        raise reader.refuse("the events do not lead to the head that the first line names")
    session = projection.workspace.session
    if session is None or header["stream"] != f"session:{session.session_id}":
        raise reader.refuse("the stream is not the session's own")
    return events, projection, changes


def _bodies(
    reader: _Reader, lines: Iterator[bytes], header: dict[str, Any], whole: "hashlib._Hash"
) -> dict[str, bytes]:
    bodies: dict[str, bytes] = {}
    for _ in range(header["bodies"]):
        value = reader.parse(next(lines, b""))
        whole.update(_line(value))
        key = value.get("hash")
        if value.get("kind") != "body" or not isinstance(key, str):
            raise reader.refuse("a body was expected here")
        try:
            text = value.get("text")
            body = (
                text.encode() if isinstance(text, str) else base64.b64decode(value["base64"], validate=True)
            )
        except (KeyError, ValueError, TypeError):
            raise reader.refuse("the body cannot be read") from None
        if content_hash(body) != key:
            raise reader.refuse(f"the body does not have the hash {key}")
        bodies[key] = body
    return bodies


def _end(reader: _Reader, lines: Iterator[bytes], whole: "hashlib._Hash") -> None:
    before = reader.number
    end = reader.parse(next(lines, b""))
    if end != {"kind": "end", "lines": before, "sha256": whole.hexdigest()}:
        raise reader.refuse("the closing line does not fit what stood before")
    if next(lines, None) is not None:
        reader.number += 1
        raise reader.refuse("there is something after the closing line")
