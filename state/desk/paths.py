"""A path on the desk: relative, `/`-separated, in one normal form, and showing all that it holds.

A path is never given to a file system as it is: whoever writes a desk to a disk names the files with
`state.names.safe_file_name`. So names that only some systems forbid (``CON``, ``What is it?``) are good here.
"""

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from researchdesk.state.errors import Refusal
from researchdesk.state.texts import cut_line

MAX_PATH: Final = 240
MAX_SEGMENT: Final = 80

_SLASHES: Final = re.compile("[\u2044\u2215\u29f8\u2216\u29f5\u29f9]")
_DOTS: Final = re.compile("[.\u3002\uff61\u00b7\u0701\u0702\u06d4\u2e33\u2fcc]+")
#: What no font shows: format and control characters, line ends, fillers, halves of characters, no characters.
_UNSEEN_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
_UNSEEN: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0\ufdd0-\ufdef\ufe00-\ufe0d"
    "\U000e0000-\U000e0fff]"
)
_JOINERS: Final = "\u200c\u200d"
_STYLES: Final = "\ufe0e\ufe0f"
#: A joiner ties two letters or emoji; a style says how the sign before it is drawn. Elsewhere they only hide.
_IN_PLACE: Final = re.compile(
    f"(?<=[^\\x00-\\x7f{_JOINERS}])[{_JOINERS}](?=[^\\x00-\\x7f{_JOINERS}{_STYLES}])"
    f"|(?<=[^{_JOINERS}{_STYLES}])[{_STYLES}]"
)
_IGNORED: Final = re.compile(f"[{_JOINERS}{_STYLES}]")


def clean_path(text: str) -> str:
    """``text`` as a path of the desk, in NFC: 1 to 240 characters, segments of 1 to 80.

    Raises:
        Refusal: ``bad_path``: absolute, ``.`` or ``..`` or their look-alikes, a backslash or another look-alike of
            the slash, a segment that is empty, too long, begins or ends with a space or ends with a dot, or a
            character that nobody sees (control, bidi, zero width, tag, lone surrogate).
    """
    path = unicodedata.normalize("NFC", text)
    if not path:
        raise Refusal("bad_path", 'A path is missing. Give one like "notes/plan.md".')
    problem = _problem(path)
    if problem:
        raise Refusal("bad_path", f'"{_shown(path)}" is not a desk path: {problem}.')
    return path


def path_key(path: str) -> str:
    """What two paths share if they name one file: letters of any case, composed or not, joined or not."""
    plain = _IGNORED.sub("", unicodedata.normalize("NFD", path))
    for _ in range(2):  # folding can leave what folds again
        plain = unicodedata.normalize("NFD", plain.casefold())
    return unicodedata.normalize("NFC", plain)


def parent_of(path: str) -> str:
    """The folder that a path is in; empty for the top of the desk."""
    return path.rpartition("/")[0]


def name_of(path: str) -> str:
    """The last segment of a path."""
    return path.rpartition("/")[2]


def is_inside(path: str, folder: str) -> bool:
    """Whether a path lies in a folder, at any depth; everything lies in "", nothing in itself."""
    return not folder or path_key(path).startswith(f"{path_key(folder)}/")


def free_path(path: str, taken: Iterable[str]) -> str:
    """``path``, or where it is taken ``path (restored)``, then ``path (restored 2)`` and so on.

    ``taken`` holds paths or their keys. A name that gets too long loses its end; where not even that leaves
    room, the file goes to the nearest folder above that has it.
    """
    keys = {path_key(one) for one in taken}
    if path_key(path) not in keys:
        return path
    number = 1
    while path_key(made := _numbered(path, number)) in keys:
        number += 1
    return made


def _numbered(path: str, number: int) -> str:
    suffix = " (restored)" if number == 1 else f" (restored {number})"
    folder, name = parent_of(path), name_of(path)
    while folder and len(folder) + 2 + len(suffix) > MAX_PATH:
        folder = parent_of(folder)
    start = f"{folder}/" if folder else ""
    name = name[: min(MAX_SEGMENT, MAX_PATH - len(start)) - len(suffix)]
    while len(name) > 1 and _problem_of_name(name + suffix):
        name = name[:-1]
    return start + name + suffix


def _problem(path: str) -> str:
    """What is wrong with a path in NFC, and what to do; empty where nothing is."""
    if len(path) > MAX_PATH:
        return f"it has {len(path):,} characters, the limit is {MAX_PATH}"
    if path.startswith(("/", "\\")) or re.match("[A-Za-z]:[/\\\\]", path):
        return 'it is absolute; write it relative to the desk, like "notes/plan.md"'
    if path.endswith("/"):
        return "it ends with a slash; leave the slash out, for a folder too"
    return next(filter(None, map(_problem_of_name, path.split("/"))), "")


def _problem_of_name(name: str) -> str:
    compatible = unicodedata.normalize("NFKC", name)
    if not name:
        return "it has an empty segment; write one slash between two names"
    if len(name) > MAX_SEGMENT:
        return f'the segment "{cut_line(name, 20)}" has {len(name)} characters, the limit is {MAX_SEGMENT}'
    hidden = _hidden(name)
    if hidden:
        return f"it holds U+{ord(hidden):04X}, which nobody sees; leave it out"
    if "/" in compatible or "\\" in compatible or _SLASHES.search(name):
        return 'it holds a backslash or a look-alike of "/"; separate names with "/" alone'
    if _DOTS.fullmatch(compatible.replace(" ", "")):
        return 'a segment of dots names nothing; write the whole path from the top of the desk, without "." or ".."'
    if name != name.strip() or _DOTS.fullmatch(compatible[-1]):
        return f'the segment "{cut_line(name, 20)}" begins or ends with a space, or ends with a dot; leave that out'
    if unicodedata.combining(name[0]) or unicodedata.category(name[0]).startswith("M"):
        return f"a segment begins with U+{ord(name[0]):04X}, a mark that needs a letter before it"
    return ""


def _hidden(name: str) -> str:
    """The first character of a name that nobody sees; empty where everybody sees all of them."""
    if name.isascii() and name.isprintable():
        return ""
    seen = _IN_PLACE.sub("", name)
    return next(filter(_is_unseen, seen), "")


def _is_unseen(character: str) -> bool:
    return (
        unicodedata.category(character) in _UNSEEN_CATEGORIES
        or character in _STYLES
        or ord(character) & 0xFFFE == 0xFFFE
        or _UNSEEN.match(character) is not None
    )


def _shown(path: str) -> str:
    """A refused path as it may stand in a message: on one line, short, with what hides shown as its number."""
    return cut_line("".join(one if not _hidden(one) else f"<U+{ord(one):04X}>" for one in path[:100]), 100)
