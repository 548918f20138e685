"""Finding a quotation: what folds, what does not, and offsets that are exact."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from researchdesk.state.quotes import Span, find_quote, nearest_passage, says_something


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("so he  said\n\tyes", "he said yes"),
        ("he’s “right” here", 'he\'s "right" here'),
        ('he\'s "right" here', "he’s «right» here"),
        ("cafe\u0301 au lait", "café au lait"),
        ("café au lait", "cafe\u0301 au lait"),
        ("a\u00a0b\u2009c", "a b c"),
        ("𝔘nd 語 straße", "語 straße"),
        ("a (b) [c] * d.", "(b) [c] * d."),
        ("  padded  ", " padded "),
        (r"call deep\_research\_start, \[1\] \*now\*", "deep_research_start, [1] *now*"),
        (r"\# no heading", "# no heading"),
    ],
)
def test_white_space_composed_letters_marks_and_escapes_are_folded(text: str, quote: str) -> None:
    assert find_quote(text, quote) is not None


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("it is Blue", "it is blue"),
        ("it is blue", "it is blues"),
        ("fish-hook", "fishhook"),
        ("five 5", "five S"),
        ("ﬁsh", "fish"),
        ("don t", "don't"),
        ("anything", ""),
        ("anything", "a"),
        ("", "words"),
        ("straße", "strasse"),
    ],
)
def test_words_case_and_hyphens_are_not_folded(text: str, quote: str) -> None:
    assert find_quote(text, quote) is None


def test_of_several_places_the_first_is_given() -> None:
    assert find_quote("blue sky, blue sky", "blue sky") == Span(start=0, end=8)


words = st.text(
    st.characters(categories=("L", "N", "P", "S", "M"), include_characters=" \n"), min_size=4, max_size=30
)


@given(before=words, quote=words, after=words)
def test_an_exact_quotation_is_found_at_its_offsets(before: str, quote: str, after: str) -> None:
    text = f"{before} {quote} {after}"
    span = find_quote(text, quote)
    if len(quote.strip()) < 2:
        assert span is None
        return
    assert span is not None
    assert text[span.start : span.end] == quote.strip()


@given(before=words, quote=words, after=words)
def test_a_quotation_is_found_through_other_white_space_and_forms(
    before: str, quote: str, after: str
) -> None:
    retyped = " ".join(unicodedata.normalize("NFC", quote).replace("’", "'").split())
    text = f"{before}\n{quote.replace(' ', '  ')}\n{after}"
    span = find_quote(text, retyped)
    if len(retyped) < 2:
        return
    assert span is not None
    found = text[span.start : span.end]

    def folded(value: str) -> str:
        plain = unicodedata.normalize("NFC", value).translate(str.maketrans("“”„‟«»’‘‚‛", '""""""\'\'\'\''))
        return "".join(plain.split())

    assert folded(found) == folded(retyped)


def test_a_hostile_quotation_is_searched_in_linear_time() -> None:
    text = ("a " * 50_000) + "b"
    assert find_quote(text, "a " * 300 + "c") is None
    assert find_quote("(" * 50_000, "((" * 200 + ")") is None


def test_the_nearest_passage_helps_whoever_misquoted() -> None:
    text = "Many things. The sky is blue because of Rayleigh scattering. More things."
    assert "Rayleigh scattering" in nearest_passage(text, "sky is blue because of Raleigh scatering")
    assert nearest_passage("", "x") == ""
    assert nearest_passage("zzzz", "completely different words") == ""


@pytest.mark.parametrize("quote", ["th", "of the", "8", "password", "是的", "— — — —"])
def test_a_scrap_says_nothing(quote: str) -> None:
    assert not says_something(quote)


@pytest.mark.parametrize(
    "quote", ["8 characters", "and more", "600,000 iterations", "authentication", "至少八个字符"]
)
def test_a_clause_says_something(quote: str) -> None:
    assert says_something(quote)
