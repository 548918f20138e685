"""Sentences of Markdown and other texts."""

from hypothesis import given
from hypothesis import strategies as st

from researchdesk.graph.offline.passages import clean, sentences

TABLE = """# Rules

| # | Rule | Level |
|---|:-----|------:|
| 1.1 | Verify that keys are at least 128 bits long in every case. | ✓ |
| aes | 128 | ok |
"""


def test_a_table_row_is_one_sentence_or_its_widest_cell() -> None:
    assert [one.text for one in sentences(TABLE)] == [
        "# | Rule | Level",
        "Verify that keys are at least 128 bits long in every case.",
        "aes | 128 | ok",
    ]


def test_a_sentence_knows_the_headings_above_it() -> None:
    found = sentences("# One\n\nFirst thing.\n\n## Two\n\nSecond thing.\n\nThree\n=====\n\nThird thing.\n")
    assert [one.heading for one in found] == ["One", "One › Two", "Three"]


def test_abbreviations_and_lists_do_not_break_sentences_wrongly() -> None:
    text = "- Use keys (e.g. RSA) as in Fig. 3. Never share them.\n- Rotate keys.\n"
    assert [one.text for one in sentences(text)] == [
        "Use keys (e.g. RSA) as in Fig. 3.",
        "Never share them.",
        "Rotate keys.",
    ]


def test_sentences_without_spaces_end_at_their_own_marks() -> None:
    assert [one.text for one in sentences("八文字とする。空白も可。")] == ["八文字とする。", "空白も可。"]


def test_comments_and_code_fences_are_no_prose() -> None:
    found = sentences("<!-- YAML\nchanges: 3\n-->\n\nRead this.\n\n```\nx = 1\n```\n")
    assert [(one.kind, one.text) for one in found] == [("prose", "Read this."), ("code", "x = 1")]


def test_clean_removes_links_tags_and_emphasis() -> None:
    assert (
        clean("**SHALL** use [[RFC 20]](#RFC20)&nbsp;and <i>more</i> {#id}") == "SHALL use [RFC 20] and more"
    )


@given(st.text(alphabet='ab .!?|#-*_\n<>`"(){}[]é。', max_size=300))
def test_every_sentence_is_an_exact_slice_in_order(text: str) -> None:
    found = sentences(text)
    assert all(text[one.start : one.end] == one.text for one in found)
    assert [one.start for one in found] == sorted(one.start for one in found)
