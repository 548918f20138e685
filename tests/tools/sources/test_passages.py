"""Passages: short enough, in order, with nothing lost and the headings above them."""

from hypothesis import given
from hypothesis import strategies as st

from researchdesk.tools.sources.passages import MAX_PASSAGE, passages

PARTS = st.sampled_from(
    [
        "# Head\n",
        "## Under\n",
        "word ",
        "Sentence ends here. ",
        "\n\n",
        "| a | b |\n",
        "- item\n",
        "密码。",
        "x" * 900,
    ]
)


@given(
    st.lists(PARTS, max_size=60).map("".join), st.sampled_from(["text/markdown", "text/plain", "text/x-rst"])
)
def test_passages_are_short_ordered_and_lose_nothing(text: str, media_type: str) -> None:
    found = list(passages(text, media_type=media_type))
    end = 0
    kept = set[int]()
    for passage in found:
        assert end <= passage.start < passage.end <= passage.start + MAX_PASSAGE
        end = passage.end
        kept.update(range(passage.start, passage.end))
    lost = "".join(character for place, character in enumerate(text) if place not in kept)
    without_headings = [line for line in lost.split("\n") if not line.startswith("#")]
    assert not "".join(without_headings).strip() or media_type == "text/markdown"


def test_headings_make_a_path_and_rows_stay_whole() -> None:
    rows = "".join(f"| row {number} | {'long ' * 12}|\n" for number in range(30))
    text = f"# Rules\nIntro.\n## Length\n{rows}# Other\nEnd.\n"
    found = list(passages(text, media_type="text/markdown"))
    assert (found[0].heading, text[found[0].start : found[0].end]) == ("Rules", "Intro.")
    assert {passage.heading for passage in found} == {"Rules", "Rules > Length", "Other"}
    for passage in found[1:-1]:
        assert text[passage.start : passage.end].startswith("| row") and text[passage.end - 1] == "|"


def test_a_long_paragraph_is_cut_after_a_sentence() -> None:
    text = "This sentence has exactly some words in it. " * 40
    cut = [text[passage.start : passage.end] for passage in passages(text, media_type="text/plain")]
    assert all(piece.endswith("in it.") for piece in cut)
    assert " ".join(cut) == text.strip()


def test_a_line_without_any_joint_is_cut_all_the_same() -> None:
    found = list(passages("密" * 2_000_000, media_type="text/plain"))
    assert len(found) == -(-2_000_000 // MAX_PASSAGE)


def test_a_heading_with_nothing_under_it_is_found() -> None:
    text = "# All\n## Use passphrases\n## Avoid rotation\nReason.\n"
    found = [text[p.start : p.end] for p in passages(text, media_type="text/markdown")]
    assert found == ["## Use passphrases", "Reason."]
