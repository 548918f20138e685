"""A text that is cut shows that there is more, and never goes over its length."""

from researchdesk.state.texts import cut, cut_around, cut_line


def test_a_text_is_cut_to_its_length_with_an_ellipsis_and_otherwise_left_as_it_is() -> None:
    assert [cut("eight  8", limit) for limit in (8, 7, 1)] == ["eight  8", "eight …", "…"]
    assert [cut_line(" eight\n 8 ", limit) for limit in (7, 6)] == ["eight 8", "eight…"]


def test_a_text_is_cut_around_a_place_and_shows_on_which_side_there_is_more() -> None:
    text = "one two\nthree four"
    assert [cut_around(text, 8, 13, more=more) for more in (0, 4, 50)] == [
        "…three…",
        "…two three fou…",
        "one two three four",
    ]
