"""How a text looks: escapes decoded, invisible characters gone, look-alike letters folded, each with its way back."""

import html
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

_LATIN: Final = {
    "a": "аαɑ⍺ᴀᎪꓮ@4ạӑ", "b": "ЬвβʙᏴꓐⲂƄ8", "c": "сϲⅽᴄᏟꓚⲥ¢", "d": "ԁɗᏧⅾᴅꓓᎠꭰđ", "e": "еєҽℯεᎬꓰ℮3ëэ", "f": "ƒϝꓝſẝғ",
    "g": "ɡցɢᏀꓖ9ԍ", "h": "һհнʜᎻꓧⲎнħ", "i": "іιıɩⅰᎥᛁ!ӏ¡", "j": "јϳᎫꓙʝ", "k": "кκᏦꓗⲔќᴋ",
    "l": "ⅼӏǀ1|ʟᏞꓡΙІ∣Ɩ", "m": "мᴍⅿᎷꓟⲘϻ",
    "n": "ոռпηɴꓠΝⲚи", "o": "оοσօ0ᴏᏫꓳⲞøⵔ௦०〇", "p": "рρᴘᏢꓑⲢ", "q": "ԛգզꝗ", "r": "гᴦʀᎡꓣяⲅᏒꭇ", "s": "ѕꜱᏚꓢ5$ʂՏꞅ",
    "t": "тτᴛᎢꓔⲦ7+ŧ†", "u": "υսᴜꓴՍμцʋ", "v": "ѵνᴠⅴᏙꓦטѴ", "w": "ԝաѡᴡᎳꓪωшщɯ", "x": "хχⅹꓫⲬ×",
    "y": "уγʏүᎽꓬⲨу¥", "z": "ᴢᏃꓜⲌʐζ2",
    "<": "˂‹❮ᐸᚲ〈⟨〈«≪⋖≺⧼⪡❬❰⦑《⟪𝈶くᑅ⊂⊏", ">": "˃›❯ᐳ〉⟩〉»≫⋗≻⧽⪢❭❱⦒》⟫𝈷",
    "-": "‐‑‒–—―−﹘⁃ー─━ᜭ", "_": "ˍ‗⎯＿ߺ▁",
}  # fmt: skip
_ASCII_IN_ENVELOPE_NAMES: Final = frozenset("0123456789@!|$+")
_FOLDS: Final = {
    look.casefold(): letter
    for letter, looks in _LATIN.items()
    for look in looks
    if look not in _ASCII_IN_ENVELOPE_NAMES
}

#: A letter as a pattern: itself, and the digits and signs that stand for it.
SIGNS: Final = {
    letter: f"[{letter}{re.escape(''.join(look for look in looks if look in _ASCII_IN_ENVELOPE_NAMES))}]"
    for letter, looks in _LATIN.items()
    if letter.isalpha()
} | {"m": "(?:m|rn)", "w": "(?:w|vv)", "i": "[i!1l|]", "l": "[l1|i!]"}

_NAMED: Final = re.compile(r"LATIN (?:CAPITAL |SMALL )?LETTER (?:SMALL )?(?:CAPITAL )?(?:[A-Z]+ )*?([A-Z])\b")
_INDICATOR: Final = re.compile(r"REGIONAL INDICATOR SYMBOL LETTER ([A-Z])\b")
#: Letters that no font shows and a model may read.
_TAG_LETTERS: Final = range(0xE0020, 0xE007F)
_UNSEEN: Final = frozenset({"Mn", "Me", "Cf", "Cc", "Cn", "Co", "Cs"})
_IGNORABLE: Final = frozenset(map(ord, "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\u2800"))

#: Escapes that end where they end, whatever follows.
_WHOLE: Final = (
    r"&(?:\#[0-9]{1,4000}|\#[xX][0-9a-fA-F]{1,4000}|[A-Za-z][A-Za-z0-9]{1,31});"
    r"|%[0-7][0-9a-fA-F]|%u[0-9a-fA-F]{4}"
    r"|\\u(?:[0-9a-fA-F]{4}|\{[0-9a-fA-F]{1,6}\})|\\U[0-9a-fA-F]{8}|\\x(?:[0-9a-fA-F]{2}|\{[0-9a-fA-F]{1,6}\})"
    r"|[Uu]\+[0-9a-fA-F]{4}|\\[0-7]{3}|\\0{0,4}[2-7][0-9a-fA-F][ ]|\+A[DG][A-Za-z0-9+/]{1,2}-?|=[2-7][0-9A-F]"
)
#: Escapes that another escape may go on: the bytes of one character, an entity without its semicolon.
_BYTES: Final = "".join(
    rf"|%{lead}[0-9a-fA-F](?:%[89abAB][0-9a-fA-F]){{{more}}}"
    for lead, more in (("[cdCD]", 1), ("[eE]", 2), ("[fF]", 3))
)
_UNENDED: Final = r"|&(?:\#[0-9]{1,4000}|\#[xX][0-9a-fA-F]{1,4000}|[A-Za-z][A-Za-z0-9]{1,31})"
_HASTY: Final = (re.compile(_WHOLE + _BYTES + _UNENDED),)
_PATIENT: Final = (re.compile(_WHOLE), re.compile(_WHOLE + _BYTES), *_HASTY)
_PASSES: Final = 12


@dataclass(frozen=True, slots=True)
class Looks:
    """A text as it looks; character ``i`` of ``text`` is written at ``starts[i]:ends[i]``.

    ``settled`` is False for a text with more layers of escapes than anybody writes in good faith.
    """

    text: str
    starts: list[int]
    ends: list[int]
    settled: bool


def looks(written: str, *, hasty: bool = False) -> Looks:
    """``written`` with every escape decoded as often as it takes, then folded to lower-case ASCII where it can be.

    An escape that may go on in what another one shows waits until no other is left; a hasty reader takes it at once.
    The two can see different letters.
    """
    seen = (written, list(range(len(written))), list(range(1, len(written) + 1)))
    settled = False
    for _ in range(_PASSES):
        before = seen[0]
        if not hasty:
            seen = _spread(*seen, _compatible)
        for escape in _HASTY if hasty else _PATIENT:
            decoded = _mapped(*seen, escape)
            if decoded[0] != seen[0]:
                break
        seen = _spread(*decoded, _compatible)
        if seen[0] == before:
            settled = True
            break
    return Looks(*_spread(*seen, _fold), settled)


def _spread(
    text: str, starts: list[int], ends: list[int], fold: Callable[[str], str]
) -> tuple[str, list[int], list[int]]:
    """Each character folded to none, one or more, with the places of what came out."""
    folded = [fold(character) for character in text]
    if all(len(seen) == 1 for seen in folded):
        return "".join(folded), starts, ends
    origins = [index for index, seen in enumerate(folded) for _ in seen]
    return "".join(folded), [starts[at] for at in origins], [ends[at] for at in origins]


def _mapped(
    text: str, starts: list[int], ends: list[int], escape: re.Pattern[str]
) -> tuple[str, list[int], list[int]]:
    """One layer of escapes decoded, with the places of what came out."""
    parts: list[str] = []
    new_starts: list[int] = []
    new_ends: list[int] = []
    position = 0
    for match in escape.finditer(text):
        shown = _decoded(match.group())
        if shown == match.group():
            continue
        start, end = match.span()
        while shown and shown[-1] == text[end - 1]:  # an entity without its semicolon takes letters along
            shown, end = shown[:-1], end - 1
        parts += [text[position:start], shown]
        new_starts += starts[position:start] + [starts[start]] * len(shown)
        new_ends += ends[position:start] + [ends[end - 1]] * len(shown)
        position = end
    if not parts:
        return text, starts, ends
    return "".join([*parts, text[position:]]), new_starts + starts[position:], new_ends + ends[position:]


def _decoded(escape: str) -> str:
    """What one escape shows; itself where it shows nothing that ends in a character."""
    if escape.startswith("&"):
        return html.unescape(escape)
    if escape.startswith("%") and not escape.startswith("%u"):
        return bytes.fromhex(escape.replace("%", "")).decode("utf-8", "replace")
    if escape.startswith("+"):
        return (escape.rstrip("-") + "-").encode().decode("utf-7", "replace")
    if re.fullmatch(r"\\[0-7]{3}", escape):
        return chr(int(escape[1:], 8))
    code = int(re.sub(r"^(?:\\[uUx]?|%u|[uU]\+|=)\{?|[} ]$", "", escape), 16)
    return chr(code) if code < 0x110000 else escape


@lru_cache(maxsize=8192)
def _compatible(character: str) -> str:
    """The ASCII that a full-width or styled character stands for, "" for one that is unseen, else itself."""
    if character.isascii():
        return "" if _is_unseen(character) else character
    plain = unicodedata.normalize("NFKC", character)
    return plain if plain.isascii() else "" if _is_unseen(character) else character


def _is_unseen(character: str) -> bool:
    if character in "\t\n\r" or ord(character) in _TAG_LETTERS:
        return False
    return ord(character) in _IGNORABLE or unicodedata.category(character) in _UNSEEN


@lru_cache(maxsize=8192)
def _fold(character: str) -> str:
    """The ASCII letter or sign a character looks like, else its compatible and case-folded form; "" if unseen."""
    if character.isascii():
        return "" if _is_unseen(character) else character.lower()
    return "".join(map(_fold_part, unicodedata.normalize("NFKD", character).casefold()))


def _fold_part(part: str) -> str:
    if part.isascii():
        return part
    if ord(part) in _TAG_LETTERS:
        return chr(ord(part) - 0xE0000).lower()
    if _is_unseen(part):
        return ""
    if part in _FOLDS:
        return _FOLDS[part]
    name = unicodedata.name(part, "")
    letter = _NAMED.search(name) or _INDICATOR.match(name)
    return letter.group(1).lower() if letter is not None else part
