"""A text that is cut shows that there is more, and never goes over its length."""

from researchdesk.state.texts import cut, cut_line


def test_a_text_is_cut_to_its_length_with_an_ellipsis_and_otherwise_left_as_it_is() -> None:
    assert [cut("eight  8", limit) for limit in (8, 7, 1)] == ["eight  8", "eight …", "…"]
    assert [cut_line(" eight\n 8 ", limit) for limit in (7, 6)] == ["eight 8", "eight…"]
