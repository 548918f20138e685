"""Word pieces: how the embedding model reads a text (uncased BERT).

The vocabulary beside this module is the one of BERT's uncased base model, copyright 2018 Google, under the
Apache License 2.0, as it is but compressed.
"""

import lzma
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files

_FIRST, _LAST, _UNKNOWN = 101, 102, 100
_LONGEST_WORD = 100
_UNSPACED = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)


def token_ids(text: str, *, at_most: int) -> list[int]:
    """The numbers of a text's word pieces between the marks for its ends, ``at_most`` in all."""
    ids = [_FIRST]
    for word in _words(text):
        ids.extend(_pieces(word))
        if len(ids) >= at_most - 1:
            break
    return [*ids[: at_most - 1], _LAST]


@lru_cache(maxsize=1)
def _vocabulary() -> dict[str, int]:
    packed = files("researchdesk.tools.sources.dense").joinpath("vocabulary.txt.xz").read_bytes()
    return {word: number for number, word in enumerate(lzma.decompress(packed).decode().splitlines())}


def _words(text: str) -> Iterator[str]:
    """Lower-case words without accents; each mark of punctuation and each Chinese character stands alone."""
    word: list[str] = []
    for character in unicodedata.normalize("NFD", text.lower()):
        kind = unicodedata.category(character)
        if kind == "Mn" or (kind in ("Cc", "Cf") and character not in "\t\n\r") or character == "\ufffd":
            continue
        alone = _is_punctuation(character, kind) or _is_unspaced(character)
        if (alone or character.isspace()) and word:
            yield "".join(word)
            word = []
        if alone:
            yield character
        elif not character.isspace():
            word.append(character)
    if word:
        yield "".join(word)


def _is_punctuation(character: str, kind: str) -> bool:
    return kind.startswith("P") or (
        character.isascii() and not character.isalnum() and not character.isspace()
    )


def _is_unspaced(character: str) -> bool:
    point = ord(character)
    return point >= 0x3400 and any(first <= point <= last for first, last in _UNSPACED)


@lru_cache(maxsize=65_536)
def _pieces(word: str) -> tuple[int, ...]:
    """Cut a word into the longest known pieces from its start; one unknown part makes all of it unknown."""
    if len(word) > _LONGEST_WORD:
        return (_UNKNOWN,)
    known, found, start = _vocabulary(), [], 0
    while start < len(word):
        mark = "##" if start else ""
        end = next((end for end in range(len(word), start, -1) if mark + word[start:end] in known), 0)
        if not end:
            return (_UNKNOWN,)
        found.append(known[mark + word[start:end]])
        start = end
    return tuple(found)
