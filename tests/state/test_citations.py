"""Citations, quotations and sentences that owe a source."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from researchdesk.state.citations import (
    NOT_SOURCED,
    cited_ids,
    mark_unsourced,
    quotations,
    unsourced,
)
from researchdesk.state.prose import sentences


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


def test_a_quotation_may_stand_in_any_source_of_its_sentence_the_nearest_first() -> None:
    body = (
        '"the first of the two" [s_001] and "the second of the two" [s_002, s_003]; "and then the third one"'
    )
    assert [(q.parts, q.cites) for q in quotations(body)] == [
        (("the first of the two",), ("s_001", "s_002", "s_003")),
        (("the second of the two",), ("s_002", "s_003", "s_001")),
        (("and then the third one",), ("s_002", "s_003", "s_001")),
    ]


@pytest.mark.parametrize(
    "body",
    [
        'According to [s_001], "the sky is a green emoji".',
        "> the sky is a green\n> emoji\n> — NIST [s_001]",
        "He says 'the sky is a green emoji' [s_001].",
        "He says ‘the sky is a green emoji’ [s_001].",
        '"the sky is\na green emoji" [s_001]',
        'He says "the sky is a green emoji [s_001].',
        '| who | says |\n|---|---|\n| he | "the sky is a green emoji" [s_001] |',
        "He says ‹the sky is a green emoji› [s_001].",
        "He says <q>the sky is a green emoji</q> [s_001].",
        "He says ＂the sky is a green emoji＂ [s_001].",
        "He says ❝the sky is a green emoji❞ [s_001].",
        "彼は『the sky is a green emoji』と言った[s_001]。",
        "彼は「the sky is a green emoji」と言った[s_001]。",
    ],
)
def test_no_form_of_quoting_escapes(body: str) -> None:
    (found,) = quotations(body)
    assert (" ".join(found.whole.split()), found.cites) == ("the sky is a green emoji", ("s_001",))


def test_inches_and_apostrophes_quote_nothing() -> None:
    assert quotations("A 12\" pipe that doesn't leak and won't burst either [s_001].") == ()


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
    assert bool(unsourced(sentence)) is owes


def test_headings_and_code_are_no_statements_and_each_row_of_a_table_is_one() -> None:
    table = "| 1 | 2 |\n|---|---|\n| a | 7 |\n| b | 8 [s_001] |\n"
    body = f"# 3 parts\n\n{table}\n```\nx = 1\n```\n\n1. It has 3 parts.\n2. Fine.\n"
    assert unsourced(body) == ("| a | 7 |", "It has 3 parts.")
    assert "| a | 7  *(not sourced)*|" in mark_unsourced(body)


def test_a_block_quote_without_a_citation_owes_one() -> None:
    assert unsourced("> Nobody knows who\n> said this.") == ("Nobody knows who said this.",)


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
            "|---|---|\n",
            "> quoted 9\n",
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
    assert all(span.start < span.end for span in spans)
    assert all(first.end <= second.start for first, second in pairwise(spans))
    assert all(len(span.text) == span.end - span.start for span in spans if span.kind == "prose")
