"""A session as one file to hand on: the lossless lines, and beside them what a reader wants to open."""

import contextlib
import zipfile
import zlib
from collections.abc import Generator
from pathlib import Path
from typing import BinaryIO

import orjson

from researchdesk.state.errors import LedgerCorrupt, Unavailable, UsageError
from researchdesk.state.row_changes import Row
from researchdesk.state.tables import TABLES
from researchdesk.stores.jsonl import Imported, export_lines, import_lines, lines_in
from researchdesk.stores.ledger import Ledger
from researchdesk.stores.verify import derive

LINES = "session.jsonl"
MAX_LINES_BYTES = 2 * 2**30
README = """This bundle holds one research session.

session.jsonl    every event in order and every body, with a hash chain; `researchdesk import` takes it
rows/*.jsonl     the relational rows that the events imply, one file a table
receipts.jsonl   what each fetch really read
bodies/<hash>    archived bytes and texts, named by their SHA-256
"""
_EPOCH = (1980, 1, 1, 0, 0, 0)


def write_bundle(ledger: Ledger, stream: str, file: BinaryIO) -> None:
    """Write the bundle; the same session always gives the same bytes in a plain file."""
    with ledger.snapshot() as frozen, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as bundle:
        derived = derive(frozen, stream)
        _add(bundle, "README.txt", README.encode())
        _add(bundle, LINES, b"".join(export_lines(frozen, stream)))
        for table in TABLES:
            rows = [_row_line(table, row) for _, row in sorted(derived.rows[table].items())]
            if rows:
                _add(bundle, f"rows/{table}.jsonl", b"".join(rows))
            if table == "receipts":
                _add(bundle, "receipts.jsonl", b"".join(rows))
        for key in derived.projection.state.standing_bodies:
            body = frozen.body(key)
            if body is not None:
                _add(bundle, f"bodies/{key.replace(':', '-')}", body)


def _row_line(table: str, row: Row) -> bytes:
    return orjson.dumps(dict(zip(TABLES[table].columns, row, strict=True))) + b"\n"


def _add(bundle: zipfile.ZipFile, name: str, body: bytes) -> None:
    bundle.writestr(zipfile.ZipInfo(name, _EPOCH), body, zipfile.ZIP_DEFLATED)


def import_file(ledger: Ledger, path: Path) -> Imported:
    """Take a bundle or a lines file into a ledger, without holding it whole in memory.

    Raises:
        LedgerCorrupt, UsageError: as `import_lines`, or a bundle that unpacks to more than `MAX_LINES_BYTES`.
        Unavailable: the file cannot be read.
    """
    found = _lines_of_bundle(path) if zipfile.is_zipfile(path) else _lines_of_file(path)
    with contextlib.closing(found) as lines:
        return import_lines(ledger, lines)


def _lines_of_file(path: Path) -> Generator[bytes, None, None]:
    try:
        with path.open("rb") as file:
            yield from lines_in(file)
    except OSError as problem:
        raise Unavailable(f"cannot read {path}: {problem.strerror or problem}") from None


def _lines_of_bundle(path: Path) -> Generator[bytes, None, None]:
    try:
        with zipfile.ZipFile(path) as bundle:
            # A member never gives more than it declares.
            size = bundle.getinfo(LINES).file_size
            if size > MAX_LINES_BYTES:
                raise UsageError(
                    f"{path} unpacks to {size:,} bytes, the limit is {MAX_LINES_BYTES:,}. If you trust it, unpack "
                    f"{LINES} and import that; nothing was imported"
                )
            with bundle.open(LINES) as packed:
                yield from lines_in(packed)
    except (KeyError, zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError) as problem:
        raise LedgerCorrupt(f"{path} is no bundle of a session ({problem}). Nothing was imported") from None
