"""Bytes to characters: byte-order mark, what the sender and the page declare, UTF-8, and only then a guess.

A declaration is often a server's default and wrong. What is UTF-8 throughout is read as UTF-8 whatever is
declared, as other charsets' text hardly ever is by chance; and a page's own declaration of a charset with more
than one byte a character stands over a sender's of a Western one, in which almost any bytes can be read. A Western
one that nobody can have meant, as whole words would be of accented letters, is no declaration at all.
"""

import codecs
import re
from contextlib import suppress
from dataclasses import dataclass

from researchdesk.tools.sources.extracted import clean

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# In this order where a guess finds two equally good: short texts rarely tell their family's members apart.
_CANDIDATES = (
    *("gb18030", "big5", "cp932", "euc_jp", "cp949", "iso2022_jp", "cp1252", "cp1251", "cp1250", "cp1253"),
    *("cp1254", "cp1255", "cp1256", "koi8_r", "utf_16_le", "utf_16_be"),
)
# Web pages and mail say these names and mean the larger set.
_MEANT = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "iso-8859-1": "cp1252",
    "latin-1": "cp1252",
    "ascii": "cp1252",
}
_MEANT |= {
    "us-ascii": "cp1252",
    "latin1": "cp1252",
    "shift_jis": "cp932",
    "shift-jis": "cp932",
    "euc-kr": "cp949",
}
_NOT_FOR_PAGES = ("idna", "punycode", "unicode_escape", "raw_unicode_escape", "utf_7")
_WESTERN = ("cp1252", "iso8859-1", "iso8859-15")
_ONE_BYTE = frozenset(
    [
        *_WESTERN,
        *(f"cp125{number}" for number in range(10)),
        *(f"iso8859-{number}" for number in range(2, 17)),
        *("koi8-r", "koi8-u", "mac-roman", "mac-cyrillic", "cp866", "tis-620", "cp874"),
    ]
)
_GARBAGE = re.compile("[\ufffd\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]")
_BEYOND_ASCII = re.compile(rb"[\x80-\xff]+")
_FEW = 20
_SAMPLE = 200_000
_MOST = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """Clean text, the charset it was read in, and what was lost on the way."""

    text: str
    charset: str
    readable: bool
    note: str


def is_binary(raw: bytes) -> bool:
    """Say whether bytes are an archive, or hold NUL where no wide charset announces it."""
    announced = any(raw.startswith(mark) for mark, _ in _MARKS[1:])
    return raw.startswith(b"PK\x03\x04") or (b"\0" in raw[:8192] and not announced)


def decode(raw: bytes, *, declared: str = "", stated: str = "") -> Decoded:
    """Decode a text of any charset; never raises, at worst ``readable`` is False.

    Args:
        raw: the text's bytes.
        declared: the charset that the sender names.
        stated: the charset that the text itself names.
    """
    for mark, charset in _MARKS:
        if raw.startswith(mark):
            return _decoded(raw[len(mark) :], charset)
    for charset in filter(None, (*_named(raw, _known(declared), _known(stated)), "utf-8")):
        with suppress(UnicodeDecodeError):
            return _judged(raw.decode(charset), charset)
    return _decoded(raw, "utf-8" if _is_damaged_utf8(raw) else _guess(raw))


def _named(raw: bytes, declared: str, stated: str) -> tuple[str, ...]:
    """The charsets that are named, the likelier first."""
    first = declared or stated
    if first and first != "utf-8" and _is_surely_utf8(raw, one_byte=first in _ONE_BYTE):
        return ("utf-8",)
    named = (stated, declared) if declared in _WESTERN and stated not in _ONE_BYTE else (declared, stated)
    if any(name in _WESTERN for name in named) and not _may_be_western(raw):
        return tuple(name for name in named if name not in _WESTERN)
    return named


def _may_be_western(raw: bytes) -> bool:
    """Say whether the bytes beyond ASCII stand apart, as accented letters and signs of Western texts do."""
    runs = [len(run) for run in _BEYOND_ASCII.findall(raw, 0, _SAMPLE)]
    return sum(runs) < _FEW or sum(run for run in runs if run >= 4) <= sum(runs) / 2


def _is_surely_utf8(raw: bytes, *, one_byte: bool) -> bool:
    """Say whether bytes beyond ASCII are UTF-8, by more of them where another charset may look alike."""
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return False
    return sum(character > "\x7f" for character in text) >= (1 if one_byte else 4)


def _known(declared: str) -> str:
    name = declared.strip().strip("\"'").lower()
    name = _MEANT.get(name, name)
    try:
        b"    ".decode(name, "replace")  # refuses what is no text encoding, such as base64
        codec = codecs.lookup(name).name
    except (LookupError, ValueError):
        return ""
    return "" if codec.replace("-", "_") in _NOT_FOR_PAGES else codec


def _is_damaged_utf8(raw: bytes) -> bool:
    """Say whether bytes are UTF-8 with a few broken spots (a cut file, two files glued together)."""
    text = raw.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    whole = sum(1 for character in text if character > "\x7f") - broken
    return broken * 10 <= whole


def _guess(raw: bytes) -> str:
    from charset_normalizer import from_bytes

    sample = raw if len(raw) <= _SAMPLE else raw[: raw.rfind(b"\n", 0, _SAMPLE) + 1 or _SAMPLE]
    matches = list(from_bytes(sample, cp_isolation=list(_CANDIDATES)))
    if not matches:
        return "utf-8"
    best = matches[0]
    equal = {
        match.encoding
        for match in matches
        if (match.chaos, -match.coherence) <= (best.chaos, -best.coherence)
    }
    return next((charset for charset in _CANDIDATES if charset in equal), best.encoding)


def _decoded(raw: bytes, charset: str) -> Decoded:
    return _judged(raw.decode(charset, "replace"), charset)


def _judged(decoded: str, charset: str) -> Decoded:
    garbage = len(_GARBAGE.findall(decoded))
    readable = garbage <= _MOST * len(decoded)
    note = f"{garbage:,} of {len(decoded):,} characters could not be decoded as {charset}" if garbage else ""
    return Decoded(text=clean(decoded), charset=charset, readable=readable, note=note)
