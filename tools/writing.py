"""A file that is written for a person: whole or not at all, and nothing but a plain file is ever replaced."""

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from researchdesk.state.errors import Unavailable, UsageError


@contextlib.contextmanager
def whole_file(target: Path) -> Iterator[BinaryIO]:
    """A file to write to; it stands at ``target``, with the folders above it, once the writing succeeded.

    A link is followed. A device or a pipe is written straight into and stays what it is.

    Raises:
        UsageError: the target is a folder.
        Unavailable: it cannot be written; a plain file that was there before stays.
    """
    try:
        with _opened(target) as file:
            yield file
    except OSError as problem:
        raise Unavailable(f"cannot write {str(target)[:300]}: {problem.strerror or problem}") from None


@contextlib.contextmanager
def _opened(target: Path) -> Iterator[BinaryIO]:
    there = _standing(target)
    if there and stat.S_ISDIR(there.st_mode):
        raise UsageError(f"'{target}' is a folder; name a file to write")
    if there and not stat.S_ISREG(there.st_mode):
        with target.open("wb") as file:
            yield file
        return
    real = Path(os.path.realpath(target))
    real.parent.mkdir(parents=True, exist_ok=True)
    partial = real.with_name(f".{secrets.token_hex(8)}.part")
    try:
        with partial.open("xb") as file:
            if there:  # who may read it is not for us to change
                os.fchmod(file.fileno(), stat.S_IMODE(there.st_mode))
            yield file
        partial.replace(real)
    finally:
        partial.unlink(missing_ok=True)


def _standing(target: Path) -> os.stat_result | None:
    try:
        return target.stat()
    except FileNotFoundError:
        return None
