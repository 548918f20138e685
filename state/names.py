"""Names from outside: as file names that cannot escape or collide, and as ids of a closed form."""

import functools
import hashlib
import re
import unicodedata
from typing import Final

from researchdesk.state.errors import Refusal
from researchdesk.state.redaction import is_secret_like

_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}")
_SAFE: Final = re.compile(r"[a-z0-9](?:[a-z0-9._-]*[a-z0-9_-])?")
_HASHED: Final = re.compile(r".*-[0-9a-v]{16}")
_UNSAFE: Final = re.compile(r"[^a-z0-9._-]+")
_SUFFIX: Final = re.compile(r"(?:\.[a-z0-9]{1,16}){0,3}")
_RESERVED: Final = re.compile(
    r"(?:con|prn|aux|nul|conin\$|conout\$|clock\$|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?", re.IGNORECASE
)
_HASH_LETTERS: Final = 16


def safe_file_name(name: str, *, suffix: str = "", max_bytes: int = 120) -> str:
    """A file name for ``name``: ``[a-z0-9]`` first, then ``[a-z0-9._-]``, at most ``max_bytes`` long.

    Two names get two file names, also on a file system that folds case or normal forms: a name that is not already
    plain lower case gets 80 bits of its hash. Never empty, hidden, ``.``, ``..``, a device of Windows, or a path.

    Raises:
        ValueError: the suffix is not like ``.md``, or leaves too little of ``max_bytes``.
    """
    if not _SUFFIX.fullmatch(suffix) or max_bytes - len(suffix) < _HASH_LETTERS + 8:
        raise ValueError(f"no file name of {max_bytes} bytes with suffix {suffix!r}")
    room = max_bytes - len(suffix)
    if (
        _SAFE.fullmatch(name)
        and len(name) <= room
        and not _RESERVED.fullmatch(name)
        and not _HASHED.fullmatch(name)
    ):
        return name + suffix
    readable = _readable(name)[: room - _HASH_LETTERS - 1].rstrip(".-")
    if not readable or _RESERVED.fullmatch(readable):
        readable = "name"
    return f"{readable}-{_hash(name)}{suffix}"


_is_secret_like = functools.lru_cache(maxsize=1_024)(
    is_secret_like
)  # each call names its session and turn anew


def clean_id(value: object, what: str) -> str:
    """``value`` as the id of ``what``: ``[A-Za-z0-9][A-Za-z0-9._:-]{0,127}``, and not of the form of a secret.

    Raises:
        Refusal: ``invalid_arguments``, naming ``what`` and the form; the value is shown only if it is harmless.
    """
    if not isinstance(value, str):
        raise Refusal("invalid_arguments", f"{what} must be a string, not {type(value).__name__}.")
    if not _ID.fullmatch(value):
        raise Refusal(
            "invalid_arguments",
            f"{what} must be 1 to 128 letters, digits or . _ : - and begin with a letter or digit.",
        )
    if _is_secret_like(value):
        raise Refusal("invalid_arguments", f"{what} looks like a secret; give an id that is none.")
    return value


def _readable(name: str) -> str:
    """What is left of a name in plain letters, for the eye only."""
    letters = unicodedata.normalize("NFKD", name[:4096]).encode("ascii", "ignore").decode("ascii").lower()
    return re.sub(r"\.{2,}", ".", _UNSAFE.sub("-", letters)).strip(".-_")


def _hash(name: str) -> str:
    digest = int.from_bytes(hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()[:10], "big")
    return "".join("0123456789abcdefghijklmnopqrstuv"[digest >> shift & 31] for shift in range(75, -1, -5))
