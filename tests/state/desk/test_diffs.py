"""Whoever decides about a change sees all of it, or how much is left out; nothing in it hides."""

from hypothesis import given
from hypothesis import strategies as st

from researchdesk.state.desk.diffs import diff_of
from researchdesk.state.desk.grids import write_grid


def test_a_document_is_shown_as_a_unified_diff() -> None:
    old = "".join(f"line {n}\n" for n in range(1, 21))
    new = (
        old.replace("line 2\n", "line two\nand more\n")
        .replace("line 18\n", "")
        .replace("line 9\n", "line nine\n")
    )
    assert diff_of(old, new, "notes/a.md") == (
        "--- notes/a.md\n+++ notes/a.md\n"
        "@@ -1,12 +1,13 @@\n line 1\n-line 2\n+line two\n+and more\n line 3\n line 4\n line 5\n line 6\n line 7\n"
        " line 8\n-line 9\n+line nine\n line 10\n line 11\n line 12\n"
        "@@ -15,6 +16,5 @@\n line 15\n line 16\n line 17\n-line 18\n line 19\n line 20\n"
    )  # fmt: skip


def test_a_new_and_an_emptied_document_have_a_diff_too() -> None:
    assert diff_of("", "a\n", "p") == "--- p\n+++ p\n@@ -0,0 +1,1 @@\n+a\n"
    assert diff_of("a\n", "", "p") == "--- p\n+++ p\n@@ -1,1 +0,0 @@\n-a\n"
    assert diff_of("a\n", "a\n", "p") == ""


def test_a_line_end_that_is_missing_is_shown() -> None:
    assert diff_of("a", "a\n", "p") == (
        "--- p\n+++ p\n@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n"
    )


def test_characters_that_nobody_sees_are_shown_by_their_number() -> None:
    assert diff_of("", "pay \u202ebob\u00a0x\r\n", "p").splitlines()[-1] == "+pay <U+202E>bob\u00a0x<U+000D>"
    assert (
        diff_of("", 'a,"x\u200b\r"\n', "p", kind="spreadsheet")
        == 'empty -> A1:B1\n+ row 1: a,"x<U+200B><U+000D>"\n'
    )
    assert diff_of("a\n", "\u200b\n", "p", kind="spreadsheet") == 'A1: "a" -> "<U+200B>"\n'


def test_of_a_long_line_the_part_around_the_change_is_shown() -> None:
    old = f"{'a' * 5_000} old {'z' * 5_000}\n"
    shown = diff_of(old, old.replace("old", "new"), "p").splitlines()
    assert shown[3:] == [f"-…{'a' * 59} old {'z' * 59}…", f"+…{'a' * 59} new {'z' * 59}…"]


def test_a_sheet_is_shown_cell_by_cell() -> None:
    old = "name,score\nAda,3\nBob,5\n"
    assert (
        diff_of(old, "name,score\nAda,4\nBob,\n", "s", kind="spreadsheet")
        == 'B2: "3" -> "4"\nB3: "5" -> ""\n'
    )
    assert diff_of(old, "name,score,by\nAda,3,me\nBob,5,\n", "s", kind="spreadsheet") == (
        'A1:B3 -> A1:C3\nC1: "" -> "by"\nC2: "" -> "me"\n'
    )


def test_rows_that_came_or_went_do_not_make_all_others_look_changed() -> None:
    old = "name,score\nAda,3\nBob,5\n"
    assert diff_of(old, 'name,score\n"Cy, too","1\n2"\nAda,3\nBob,5\n', "s", kind="spreadsheet") == (
        'A1:B3 -> A1:B4\n+ row 2: "Cy, too","1⏎2"\n'
    )
    assert diff_of(old, "name,score\nBob,5\n", "s", kind="spreadsheet") == "A1:B3 -> A1:B2\n- row 2: Ada,3\n"


def test_of_a_long_cell_the_part_that_differs_is_shown() -> None:
    old = write_grid([["x" * 9_000 + "old"]])
    assert diff_of(old, old.replace("old", "new"), "s", kind="spreadsheet") == (
        f'A1: "…{"x" * 20}old" -> "…{"x" * 20}new"\n'
    )


def test_a_change_of_everything_is_cut_and_says_how_much_is_left_out() -> None:
    old = "".join(f"{n} old\n" for n in range(100_000))
    shown = diff_of(old, old.replace("old", "new"), "p", limit=2_000)
    assert len(shown) <= 2_000
    lines = shown.splitlines()
    assert lines[2:5] == ["@@ -1,100000 +1,100000 @@", "-0 old", "-1 old"]
    assert lines[-1] == f"… {200_000 - (len(lines) - 4):,} more changed lines are not shown"


def test_texts_of_few_different_lines_are_compared_in_bounded_time_and_memory() -> None:
    shown = diff_of("a\nb\n" * 250_000, "b\n\nc\n" * 250_000, "p", limit=1_000)
    assert shown.endswith("more changed lines are not shown\n")
    assert len(shown) <= 1_000


documents = st.lists(st.sampled_from(["a", "b", "c", ""]), max_size=12).map("\n".join)


@given(documents, documents)
def test_a_diff_of_a_document_holds_what_is_needed_to_make_the_new_text(old: str, new: str) -> None:
    shown = diff_of(old, new, "p").replace("\n\\ No newline at end of file", "").split("\n")[2:-1]
    assert bool(shown) == (old != new)
    came = sorted(line[1:] for line in shown if line.startswith("+"))
    went = sorted(line[1:] for line in shown if line.startswith("-"))
    lines = [text.removesuffix("\n").split("\n") if text else [] for text in (old, new)]
    assert sorted(lines[0] + came) == sorted(lines[1] + went)


@given(st.lists(st.lists(st.text("ab,\n", max_size=2), max_size=4), max_size=5), st.data())
def test_two_sheets_are_shown_alike_exactly_if_they_are(rows: list[list[str]], data: st.DataObject) -> None:
    old = write_grid(rows)
    new = write_grid(data.draw(st.permutations([*rows, ["a"]])))
    assert bool(diff_of(old, new, "s", kind="spreadsheet")) == (old != new)
