"""A path of the desk has one spelling, shows what it holds, and never leads out of the desk."""

import unicodedata

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from researchdesk.state.desk.paths import (
    MAX_PATH,
    MAX_SEGMENT,
    clean_path,
    free_path,
    is_inside,
    name_of,
    parent_of,
    path_key,
)
from researchdesk.state.errors import Refusal

GOOD = [
    "a", "notes.md", "research/2024/plan.md", "Q3: what next?.md", "CON", "aux.md", ".hidden", "a..b", "-rf", "~",
    "50%2e.md", "Überblick/Größe.md", "名前/概要.csv", "имя.md", "مرحبا.md", "नमस्ते.md", "می\u200cخواهم.md",
    "क्\u200dष.md", "plan 👩‍👩‍👧.md", "❤️‍🔥.md", "1️⃣ first.md", "👍🏽", "🇩🇪.csv", "e\u0301tude.md", "½ done.md",
    "x" * 80, "/".join(["x" * 79] * 3), "don't “quote” — me…really.md", "A&B <c> \"d\" 'e' |f| *.md",
]  # fmt: skip

BAD = {
    "": "missing",
    "/etc/passwd": "absolute", "//a": "absolute", "C:/a.md": "absolute", "C:\\a.md": "absolute", "\\a": "absolute",
    "notes/": "ends with a slash", "a//b": "empty segment",
    ".": "dots", "..": "dots", "a/../b": "dots", "./a": "dots", "...": "dots", "a/\u2024\u2024/b": "dots",
    "\u2025": "dots", "\u2026": "dots", "\uff0e\uff0e/a": "dots", "\ufe52": "dots", "\u3002": "dots", ". .": "dots",
    "a\\b": "look-alike", "a\u2215b": "look-alike", "a\uff0fb": "look-alike", "a\u2044b": "look-alike",
    "a\uff3cb": "look-alike", "a\u29f8b": "look-alike", "\u2100": "look-alike",
    " a": "space", "a ": "space", "a/ b": "space", "a\u00a0": "space", "\u3000a": "space", "a.": "dot",
    "a./b": "dot", "a\uff0e": "dot",
    "a\x00": "U+0000", "a\nb": "U+000A", "a\tb": "U+0009", "a\x7f": "U+007F", "a\x85": "U+0085",
    "a\u202eb": "U+202E", "a\u2066b": "U+2066", "a\u200eb": "U+200E", "a\u061cb": "U+061C", "a\u200bb": "U+200B",
    "\ufeffa": "U+FEFF", "a\u00adb": "U+00AD", "a\u2060b": "U+2060", "a\u200db": "U+200D", "a\u200cb": "U+200C",
    "é\u200d": "U+200D", "a\ufe0f\ufe0f": "U+FE0F", "\ufe0fa": "U+FE0F", "a\u2028b": "U+2028", "a\ue000": "U+E000",
    "🏴\U000e0067\U000e007f": "U+E0067", "a\U000e0100": "U+E0100", "\ud800": "U+D800", "a\u3164": "U+3164",
    "\u2800": "U+2800", "a\uffff": "U+FFFF", "a\U0001ffff": "U+1FFFF", "a\ufdd0": "U+FDD0",
    "\u0301a": "U+0301", "a/\u0301": "U+0301",
    "x" * 81: "81 characters", "/".join(["x" * 60] * 4): "243 characters",
}  # fmt: skip

letters = st.sampled_from([*"aB. -", "é", "e\u0301", "名", "👩", "\u200d", "\ufe0f", "❤", "م", "\u200c", "ß"])
names = st.lists(letters, min_size=1, max_size=70).map(lambda some: f"n{''.join(some)}x")
paths = st.lists(names, min_size=1, max_size=4).map("/".join) | names


@pytest.mark.parametrize("path", GOOD)
def test_a_path_that_shows_what_it_holds_is_kept_in_its_normal_form(path: str) -> None:
    assert clean_path(path) == unicodedata.normalize("NFC", path)


@pytest.mark.parametrize(("path", "problem"), BAD.items())
def test_a_path_that_hides_or_climbs_is_refused_with_what_to_do(path: str, problem: str) -> None:
    with pytest.raises(Refusal) as refused:
        clean_path(path)
    assert refused.value.code == "bad_path"
    assert problem in refused.value.text
    assert len(refused.value.text) < 320
    assert all(one.isprintable() for one in refused.value.text if one not in "\u200c\u200d")


@given(paths | st.text(max_size=6))
def test_what_is_accepted_stays_as_it_is_and_has_the_promised_form(path: str) -> None:
    try:
        clean = clean_path(path)
    except Refusal as refused:
        assert refused.code == "bad_path"
        return
    assert clean_path(clean) == clean
    assert len(clean) <= MAX_PATH
    for segment in clean.split("/"):
        assert 1 <= len(segment) <= MAX_SEGMENT
        assert segment == segment.strip()
        assert set(segment) - {"."}
        assert "\\" not in segment
        assert not any(unicodedata.category(one) in ("Cc", "Cs") for one in segment)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Plan.md", "plan.MD"), ("straße", "STRASSE"), ("étude", "E\u0301TUDE"), ("ΜΆΙΟΣ", "μάιος"), ("ſ", "S"),
        ("K", "k"), ("❤️", "❤"), ("می\u200cخواهم", "میخواهم"), ("\u1e9e", "ß"), ("ᾳ\u0301", "ΆΙ"),
    ],
)  # fmt: skip
def test_two_spellings_of_one_name_share_a_key(one: str, other: str) -> None:
    assert path_key(one) == path_key(other)


@given(st.text(max_size=40))
def test_the_key_of_a_key_is_the_key_whatever_the_case_or_form(text: str) -> None:
    key = path_key(text)
    assert path_key(key) == key
    assert path_key(unicodedata.normalize("NFD", text)) == key
    assert path_key(text.casefold()) == key


def test_a_path_has_a_folder_and_a_name() -> None:
    assert [(parent_of(path), name_of(path)) for path in ("a", "a/b", "a/b/c")] == [
        ("", "a"),
        ("a", "b"),
        ("a/b", "c"),
    ]


def test_a_folder_holds_what_is_below_it_in_any_case_and_not_itself_or_its_namesakes() -> None:
    assert is_inside("Notes/a", "notes")
    assert is_inside("notes/a/b", "notes")
    assert is_inside("anything", "")
    assert not is_inside("notes", "notes")
    assert not is_inside("notes-2/a", "notes")


def test_a_restored_file_gets_the_first_free_name() -> None:
    taken = ["a/b.md"]
    assert free_path("a/c.md", taken) == "a/c.md"
    for expected in ("a/b.md (restored)", "a/b.md (restored 2)", "a/b.md (restored 3)"):
        assert free_path("a/b.md", taken) == expected
        taken.append(expected.upper())


def test_a_restored_file_without_room_for_its_mark_goes_to_a_folder_above() -> None:
    deep = f"{'x' * 80}/{'y' * 80}/{'z' * 76}/a"
    assert free_path(deep, [deep]) == f"{'x' * 80}/{'y' * 80}/a (restored)"


@given(paths, st.integers(0, 12))
def test_a_restored_path_is_a_path_and_free(path: str, more: int) -> None:
    try:
        clean = clean_path(path)
    except Refusal:
        assume(False)
    taken = [clean]
    for _ in range(more):
        made = free_path(clean, taken)
        assert clean_path(made) == made
        assert path_key(made) not in map(path_key, taken)
        taken.append(made)
