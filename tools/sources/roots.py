"""The roots of a corpus, made from the paths that a person named: each document belongs to one, each has a name."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from researchdesk.state.errors import UsageError
from researchdesk.tools.sources.files import CorpusRoot

Named = TypeVar("Named", bound=str | Path)


def listed(given: Named | Sequence[Named]) -> tuple[Named, ...]:
    """What was named, as a tuple; a single text or path is one name, not its letters."""
    return (given,) if isinstance(given, str | Path) else tuple(given)


def open_roots(paths: Sequence[str | Path], *, without: Sequence[Path] = ()) -> tuple[CorpusRoot, ...]:
    """Make roots of folders and files, links resolved, in a stable order.

    Files of one folder make one root; a file that an open folder holds is no root of its own; a folder inside
    another one keeps its documents to itself. Roots of one name are told apart by their parents' names.

    Args:
        without: paths that are never part of a corpus, such as the desk's own home.

    Raises:
        UsageError: nothing named, or a path that is empty, does not exist or may not be read.
    """
    if not paths:
        raise UsageError("the corpus names no path; give a folder with documents, or a document")
    real = [_real(path) for path in paths]
    folders = {path for path in real if path.is_dir()}
    named: dict[Path, set[str]] = {}
    for path in real:
        if not path.is_dir() and not any(path.is_relative_to(folder) for folder in folders):
            named.setdefault(path.parent, set()).add(path.name)
    labels = _labels([*folders, *named])
    passed_over = [*(Path(os.path.realpath(path)) for path in without), *folders]
    roots = [CorpusRoot(folder, name=labels[folder], without=passed_over) for folder in folders]
    roots += [
        CorpusRoot(folder, name=labels[folder], only=frozenset(names)) for folder, names in named.items()
    ]
    return tuple(sorted(roots, key=lambda root: str(root.folder)))


def named_path(path: str | Path) -> Path:
    """The absolute path that a person named, with ``~`` and links resolved; whether it is there is not asked.

    Raises:
        UsageError: it is empty, not UTF-8, or the home folder of nobody.
    """
    text = os.fspath(path)
    if not text.strip():
        raise UsageError(
            "the path is empty (is a variable unset?); name a folder with documents, or a document"
        )
    try:
        text.encode()
        return Path(os.path.realpath(Path(text).expanduser()))
    except ValueError:
        raise UsageError(f"the path {text[:300]!r} is not UTF-8 and cannot be recorded; rename it") from None
    except RuntimeError:
        raise UsageError(f"there is no home folder for {text[:300]!r}; write the path in full") from None


def check_paths(paths: Sequence[str | Path]) -> None:
    """Raise what `open_roots` would raise about a path."""
    for path in paths:
        _real(path)


def _real(path: str | Path) -> Path:
    real = named_path(path)
    if not os.path.exists(real):  # noqa: PTH110 - says no where `Path.exists` raises, as for a name too long
        raise UsageError(
            f"no such folder or file: {str(path)[:300]!r}; name a folder with documents, or a document"
        )
    if not real.is_dir() and not real.is_file():
        raise UsageError(
            f"{path} is neither a folder nor a plain file; name a folder with documents, or a document"
        )
    if not os.access(real, os.R_OK):
        raise UsageError(f"{path} may not be read by this user; change its permissions or name another path")
    return real


def _labels(folders: Sequence[Path]) -> dict[Path, str]:
    """Name each folder by its last parts, as few as tell it from the others."""
    labels: dict[Path, str] = {}
    for folder in folders:
        parts = [part for part in folder.parts if part != "/"] or ["root"]
        others = [other.parts for other in folders if other != folder]
        size = 1
        while size < len(parts) and any(other[-size:] == tuple(parts[-size:]) for other in others):
            size += 1
        labels[folder] = "~".join(parts[-size:])
    return labels
