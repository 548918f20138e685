"""The pages of a text are the text: nothing is missing, nothing is there twice, and none is too long."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from researchdesk.state.desk.paging import LINE_TOKENS, Page, json_cost, page
from researchdesk.state.errors import Refusal
from researchdesk.state.tokens import cut, estimate_tokens, room

LIMIT = 500


def all_pages(text: str, *, limit: int = LIMIT, max_lines: int = 0) -> list[Page]:
    """Every page from the first to the last, as a model asks for them."""
    pages = [page(text, from_line=1, max_lines=max_lines, limit=limit)]
    while pages[-1].next:
        assert pages[-1].next > pages[-1].first
        pages.append(page(text, from_line=pages[-1].next, max_lines=max_lines, limit=limit))
    return pages


signs = st.sampled_from(
    [*'ab \n\n,"\\\x01\t0', "é", "字", "👩", "\u200d", "\ud800", "ab12" * 30, "x" * 300, "word " * 80]
)
texts = st.lists(signs, max_size=60).map("".join)


@settings(max_examples=200)
@given(texts, st.integers(0, 5), st.integers(0, 900))
def test_the_pages_of_a_text_are_the_text(text: str, max_lines: int, limit: int) -> None:
    pages = all_pages(text, limit=limit, max_lines=max_lines)
    assert "".join(one.text for one in pages) == text
    assert len({one.total for one in pages}) == 1
    for one in pages:
        assert json_cost(one.text) <= max(room(limit), LINE_TOKENS)


LARGE = {
    "numbers": "".join(f"{n},{n * 7919 % 100_003},{n * 0.37:.3f}\n" for n in range(2_000_000 // 24)),
    "chinese": "这份报告指出过去十年间城市人口增长速度明显放缓。\n" * (2_000_000 // 73),
    "german": "Trotz sorgfältiger Prüfung ließ sich nicht feststellen, wann die Überweisung erfolgt war.\n"
    * 21_000,
    "one line": "0123456789abcdef" * 125_000,
    "line ends": "\n" * 300_000,
    "quotes": '""' * 300_000,
}


@pytest.mark.parametrize("text", LARGE.values(), ids=LARGE.keys())
def test_a_large_text_is_paged_to_its_end(text: str) -> None:
    pages = all_pages(text, limit=4_000)
    assert "".join(one.text for one in pages) == text
    assert all(json_cost(one.text) <= 3_600 for one in pages)


def test_lines_are_counted_from_one_and_as_many_as_were_asked_for() -> None:
    text = "".join(f"line {n}\n" for n in range(1, 11))
    assert page(text, from_line=0, max_lines=2, limit=LIMIT) == Page(
        text="line 1\nline 2\n", first=1, next=3, total=10
    )
    assert page(text, from_line=9, max_lines=0, limit=LIMIT) == Page(
        text="line 9\nline 10\n", first=9, next=0, total=10
    )
    assert page("", from_line=1, max_lines=0, limit=LIMIT) == Page(text="", first=1, next=0, total=0)


@pytest.mark.parametrize("line", [11, 10**9, -1])
def test_a_line_that_is_not_there_is_refused_with_those_that_are(line: int) -> None:
    with pytest.raises(Refusal) as refused:
        page("x\n" * 10, from_line=line, max_lines=0, limit=LIMIT)
    assert (refused.value.code, refused.value.text) == (
        "invalid_arguments",
        f"from_line: there is no line {line:,}; the text has 10. Send 1 to 10.",
    )


def test_a_long_line_is_paged_between_words() -> None:
    pages = all_pages("some words, " * 600)
    assert len(pages) > 3
    assert all(one.text.endswith(("words,", "words, ", "some ")) for one in pages)


def test_a_counter_of_the_user_decides_what_fits() -> None:
    text = "x\n" * 1_000
    assert (
        page(text, from_line=1, max_lines=0, limit=1_000, cost=lambda part: 100 * part.count("\n")).next == 10
    )


@given(texts, st.integers(0, 300))
def test_a_cut_text_is_a_beginning_within_the_limit(text: str, limit: int) -> None:
    kept, more = cut(text, limit)
    assert text.startswith(kept)
    assert more == (kept != text)
    assert estimate_tokens(kept) <= limit
    if more and limit > 10:
        assert kept


@pytest.mark.parametrize(
    ("text", "limit", "kept"),
    [
        ("one two\nthree four\nfive six\n", 9, "one two\nthree four\n"),
        ("11,22,33,44,55,66,77,88,99", 12, "11,22,33,44,55,"),
        ("a b c d e f", 5, "a b c d "),
        ("字字字字字字", 5, "字字"),
        ("0123456789" * 9, 10, "012345678901234567890123456"),
        ("👩‍👩‍👧👩‍👩‍👧", 20, "👩‍👩‍👧"),
        ("e\u0301" * 9, 8, "e\u0301e\u0301"),
        ("short", 500, "short"),
        ("anything", 0, ""),
    ],
)
def test_a_text_is_cut_where_it_hurts_least(text: str, limit: int, kept: str) -> None:
    assert cut(text, limit) == (kept, kept != text)


@given(texts)
def test_the_json_of_a_page_is_what_was_measured(text: str) -> None:
    assert json_cost(text) == estimate_tokens(
        json.dumps(text, ensure_ascii=False).removeprefix('"').removesuffix('"')
    )
