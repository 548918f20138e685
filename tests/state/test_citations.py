"""Citations, quotations and sentences that owe a source."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from researchdesk.state.citations import (
    NOT_SOURCED,
    cited_ids,
    mark_unsourced,
    owes_citation,
    quotations,
    sentences,
    unsourced,
)


@pytest.mark.parametrize(
    ("body", "ids"),
    [
        ("a [s_001] b [c_012].", ("s_001", "c_012")),
        ("[s_003, s_004; c_001]", ("s_003", "s_004", "c_001")),
        ("[s_001] and again [s_001]", ("s_001",)),
        ("[s_1000]", ("s_1000",)),
        ("[s_01] s_001 (s_001) [x_001] [s_001", ()),
        ("【s_001】", ()),
    ],
)
def test_only_ids_in_square_brackets_are_citations(body: str, ids: tuple[str, ...]) -> None:
    assert cited_ids(body) == ids


@pytest.mark.parametrize(
    "body",
    [
        'He says "the sky is blue today" [s_001].',
        "He says “the sky is blue today” [s_001].",
        "Er sagt „the sky is blue today“ [s_001].",
        "Il dit «the sky is blue today» [s_001].",
        '- item: "the sky is blue today" as seen [s_001]',
    ],
)
def test_words_in_any_double_marks_before_a_citation_are_a_quotation(body: str) -> None:
    (found,) = quotations(body)
    assert (found.parts, found.cites) == (("the sky is blue today",), ("s_001",))


def test_a_quotation_belongs_to_the_citation_that_follows_it() -> None:
    body = (
        '"the first of the two" [s_001] and "the second of the two" [s_002, s_003]; "nobody cites this one"'
    )
    assert [(q.parts, q.cites) for q in quotations(body)] == [
        (("the first of the two",), ("s_001",)),
        (("the second of the two",), ("s_002", "s_003")),
    ]


def test_single_words_in_marks_are_no_quotation() -> None:
    assert quotations('so-called "cloud" computing [s_001]') == ()


def test_a_quotation_that_holds_marks_of_its_own_is_kept_whole_too() -> None:
    (found,) = quotations('It says "he called it "blue" and went away" [s_001].')
    assert found.whole == 'he called it "blue" and went away'


@pytest.mark.parametrize(
    ("sentence", "owes"),
    [
        ("In 1871 it was found.", True),
        ("It fell by 4 percent.", True),
        ('She wrote "it is blue everywhere".', True),
        ("It is blue.", False),
        ("In 1871 it was found [s_001].", False),
        ('A "blue" sky.', False),
        (f"In 1871.{NOT_SOURCED}", False),
    ],
)
def test_figures_dates_and_quotations_owe_a_citation(sentence: str, owes: bool) -> None:
    assert owes_citation(sentence) is owes


def test_headings_tables_and_code_are_not_prose() -> None:
    body = "# 3 parts\n\n| 1 | 2 |\n|---|---|\n\n```\nx = 1\n```\n\n1. It has 3 parts.\n2. Fine.\n"
    assert unsourced(body) == ("It has 3 parts.",)


def test_a_citation_after_the_full_stop_still_belongs_to_its_sentence() -> None:
    assert unsourced("It was 42 percent. [s_001] It was 43 percent.") == ("It was 43 percent.",)


def test_abbreviations_end_no_sentence() -> None:
    assert unsourced("Some parts, e.g. number 3, are blue [s_001].") == ()


prose = st.lists(
    st.sampled_from(
        [
            "It was 42 percent. ",
            "Fine. ",
            "In 1990 it rose [s_001]. ",
            'He said "this is a longer quotation". ',
            "\n",
            "- item 3\n",
            "# Heading 4\n",
            "```\n",
            "| 1 | 2 |\n",
            "語は42です。",
            "What? 7! ",
            "no end 5",
            "[s_002] ",
        ]
    ),
    max_size=12,
).map("".join)


@given(body=prose)
def test_marking_is_complete_and_done_once(body: str) -> None:
    marked = mark_unsourced(body)
    assert marked.replace(NOT_SOURCED, "") == body
    assert marked.count(NOT_SOURCED) == len(unsourced(body))
    assert unsourced(marked) == ()
    assert mark_unsourced(marked) == marked


@given(body=prose | st.text(max_size=80))
def test_sentences_lie_in_order_and_lose_no_prose(body: str) -> None:
    spans = list(sentences(body))
    assert all(start < end for start, end in spans)
    assert all(first[1] <= second[0] for first, second in pairwise(spans))
    assert all(body[start:end].strip() for start, end in spans)
