"""Files that a command writes for a person: whole or not at all."""

from pathlib import Path

from researchdesk.state.errors import Unavailable


def write_text(path: Path, text: str) -> None:
    """Write a UTF-8 file, and the folders above it.

    Raises:
        Unavailable: it cannot be written; a file that was there before stays.
    """
    partial = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    except OSError as problem:
        raise Unavailable(f"cannot write {path}: {problem.strerror or problem}") from None
    finally:
        partial.unlink(missing_ok=True)
