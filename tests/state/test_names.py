"""File names cannot escape or collide; ids have one closed form."""

import re
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from researchdesk.state.errors import Refusal
from researchdesk.state.names import clean_id, safe_file_name

WICKED = [
    "", ".", "..", "...", "/", "\\", "/etc/passwd", "../../etc/passwd", "..\\..\\windows", "a/b", "a\\b", "a:b",
    "a\x00b",
    "a\nb", "a\x1b[2Jb", "-rf", "--help", ".hidden", " ", " a", "a ", "a.", "a..", "a. .", "~", "~root", "$HOME", "%00",
    "%2e%2e%2f", "con", "CON", "Con.txt", "nul", "NUL.tar.gz", "aux", "prn", "com1", "COM9.md", "lpt1", "com¹", "LPT³",
    "CONIN$", "clock$", "a" * 4096, "ä" * 4096, "😀" * 300, "Report", "report", "REPORT",
    "rеport", "re\u0301sume\u0301",
    "résumé", "resume", "Résumé", "ﬁle", "file", "ＦＩＬＥ", "straße", "strasse", "STRASSE", "İ", "i̇", "i", "I", "ı",
    "K", "K", "k", "a\u200bb", "ab", "a\u202eb", "\ud800", "\udfff", "名前", "имя", "👩‍👩‍👧", "a*b", "a?b", 'a"b',
    "a<b", "a|b",
    "name", "a-b", "a b", "a_b", "a\tb", "a--b", "desktop.ini", "thumbs.db", "x" * 119, "x" * 120, "x" * 121,
]  # fmt: skip


def key(name: str) -> str:
    """How the most forgiving file system compares names."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKD", name).casefold()).rstrip(". ")


@pytest.mark.parametrize("name", WICKED)
def test_a_file_name_is_plain_whatever_was_asked(name: str) -> None:
    made = safe_file_name(name, suffix=".md")
    assert re.fullmatch(r"[a-z0-9][a-z0-9._-]*\.md", made)
    assert len(made) <= 120
    assert ".." not in made
    assert not re.fullmatch(r"(con|prn|aux|nul|com\d|lpt\d)\..*", made)


def test_no_two_names_share_a_file() -> None:
    made = sorted(key(safe_file_name(name)) for name in set(WICKED))
    assert all(one != other for one, other in pairwise(made))


@given(st.text(max_size=200), st.text(max_size=200), st.integers(40, 255))
def test_different_names_get_different_files(one: str, other: str, max_bytes: int) -> None:
    assume(one != other)
    files = [safe_file_name(name, max_bytes=max_bytes) for name in (one, other)]
    assert key(files[0]) != key(files[1])
    assert all(len(file.encode()) <= max_bytes for file in files)


@given(st.text(max_size=60))
def test_the_file_name_of_a_file_name_does_not_meet_another(name: str) -> None:
    made = safe_file_name(name)
    if made != name:
        assert safe_file_name(made) != made


def test_a_plain_name_stays_as_it_is() -> None:
    assert safe_file_name("report-2024_v1.0", suffix=".md") == "report-2024_v1.0.md"


@pytest.mark.parametrize("suffix", ["md", "./x", ".MD", ".a/b", "." + "x" * 17])
def test_a_strange_suffix_is_an_error(suffix: str) -> None:
    with pytest.raises(ValueError, match="suffix"):
        safe_file_name("a", suffix=suffix)


@pytest.mark.parametrize("value", ["a", "a_0123456789abcdef", "s_001", "A:b.c-d", "x" * 128])
def test_an_id_of_the_right_form_is_kept(value: str) -> None:
    assert clean_id(value, "artifact_id") == value


@pytest.mark.parametrize(
    "value", ["", "-a", ".a", "a b", "a/b", "a\n", "é", "x" * 129, "a\x00", 7, None, True, ["a"]]
)
def test_an_id_of_another_form_is_refused(value: object) -> None:
    with pytest.raises(Refusal, match="artifact_id must be") as refused:
        clean_id(value, "artifact_id")
    assert refused.value.code == "invalid_arguments"


def test_an_id_that_is_a_token_is_refused_and_not_repeated() -> None:
    token = "ghp" + "_" + "A1b2" * 9
    with pytest.raises(Refusal, match="looks like a secret") as refused:
        clean_id(token, "source_id")
    assert token not in refused.value.text
