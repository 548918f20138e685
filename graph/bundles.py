"""Checking an exported session without taking it into a desk of one's own."""

import tempfile
import zipfile
import zlib
from pathlib import Path

from researchdesk.stores.verify import VerifyReport
from researchdesk.tools.workspace import open_desk

_PIECE = 2**20


def verify_bundle(path: str | Path) -> VerifyReport:
    """Check every byte of a bundle or a lines file, in a temporary desk.

    Beside the events, rows and bodies, each file of a bundle has to be what an export of its session writes.

    Raises:
        NotFound: there is no such file.
        LedgerCorrupt: it is no whole export; the message names the line.
    """
    source = Path(path)
    with tempfile.TemporaryDirectory(prefix="researchdesk-") as folder, open_desk(folder) as desk:
        imported = desk.import_session(source)
        report = desk.verify(imported.session_id)
        if not zipfile.is_zipfile(source):
            return report
        again = desk.export(imported.session_id, Path(folder, "again.zip"))
        files, problems = _differences(source, again)
        return VerifyReport(
            checked={**report.checked, "files": files},
            problems=(*report.problems, *problems),
            store=report.store,
        )


def _differences(given: Path, expected: Path) -> tuple[int, list[str]]:
    """How many files the bundle has, and those that are not what an export writes."""
    with zipfile.ZipFile(given) as left, zipfile.ZipFile(expected) as right:
        names = left.namelist()
        wanted = set(right.namelist())
        problems = [f"{name} stands in the bundle twice" for name in {n for n in names if names.count(n) > 1}]
        problems += [f"{name} is missing" for name in sorted(wanted - set(names))]
        problems += [f"{name} belongs to no export" for name in sorted(set(names) - wanted)]
        problems += [
            f"{name} is not what its session says"
            for name in sorted(wanted & set(names))
            if not _same(left, right, name)
        ]
    return len(names), problems


def _same(given: zipfile.ZipFile, expected: zipfile.ZipFile, name: str) -> bool:
    """Whether a file of both has the same bytes; nothing is unpacked beyond the size that it has to have."""
    if given.getinfo(name).file_size != expected.getinfo(name).file_size:
        return False
    try:
        with given.open(name) as one, expected.open(name) as other:
            piece = b"first"
            while piece:
                piece = other.read(_PIECE)
                if one.read(_PIECE) != piece:
                    return False
            return True
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError):
        return False  # its own checksum refuses it
