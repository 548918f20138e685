"""The working copy of the notes: one Markdown file for each run, whole at every moment.

It is for people and programs that look on; the ledger holds every version and is the record. A file is named
``notes_<user>_<run>_<notes_id>.md``. In user and run every character outside ``A-Z a-z 0-9 . _ -`` becomes ``_``, a
user is cut to 64 characters, and one without a name is ``anon``; the random notes id keeps files apart whose names
would be the same.
"""

import os
import re
import secrets
from pathlib import Path

from researchdesk.state.notes import Notes
from researchdesk.state.notes_grammar import render

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")
USER_CHARS = 64
RUN_CHARS = 128


class NotesFiles:
    """The folder of the working copies; it is made when the first is written."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, user: str, run_id: str, notes_id: str) -> Path:
        """Where a run's notes are, or will be."""
        run = _UNSAFE.sub("_", run_id)[:RUN_CHARS]
        return self.folder / f"notes_{_UNSAFE.sub('_', user)[:USER_CHARS] or 'anon'}_{run}_{notes_id}.md"

    def read(self, path: Path) -> str:
        """The text of a working copy, line feeds as they are; one that is missing reads as empty notes.

        Raises:
            OSError, UnicodeError: it is there and cannot be read.
        """
        try:
            return path.read_bytes().decode("utf-8", "surrogatepass")
        except FileNotFoundError:
            return render(Notes())

    def write(self, path: Path, text: str) -> None:
        """Put a text in the place of a working copy; whoever reads sees the old text or the new one, whole.

        Raises:
            OSError: it cannot be written; what was there stays.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f".{secrets.token_hex(8)}.part")
        try:
            with partial.open("xb") as file:
                file.write(_bytes(text))
                file.flush()
                os.fsync(file.fileno())
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
        folder = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def restore(self, path: Path, text: str) -> bool:
        """Write a working copy that is missing or holds another text; whether it had to be.

        Raises:
            OSError: as `write`.
        """
        try:
            if path.read_bytes() == _bytes(text):
                return False
        except FileNotFoundError:
            pass
        self.write(path, text)
        return True


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
