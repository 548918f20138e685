"""An edit does to a text what it says, or says what to send instead; what it stands on is known."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from researchdesk.state.desk.edits import (
    Edit,
    EditMode,
    apply,
    cells_of,
    clean_content,
    guard_of,
    make_edit,
    touched_unchanged,
)
from researchdesk.state.desk.files import FileKind
from researchdesk.state.errors import Refusal

SHEET = "name,score\nAda,3\nBob,5\n"


def edit(
    mode: EditMode,
    content: str = "",
    *,
    find: str = "",
    cells: tuple[tuple[str, str], ...] = (),
    kind: FileKind = "markdown",
) -> Edit:
    """An edit as a call asks for it."""
    return make_edit(kind=kind, mode=mode, content=content, find=find, cells=cells)


def refusal(asked: dict[str, object], text: str = "") -> tuple[str, str]:
    """What is said about an edit that cannot be made."""
    with pytest.raises(Refusal) as refused:
        apply(edit(**asked), text)  # type: ignore[arg-type]
    return refused.value.code, refused.value.text


@pytest.mark.parametrize(
    ("asked", "before", "after"),
    [
        (edit("replace", "new"), "old", "new"),
        (edit("replace", ""), "old", ""),
        (edit("append", "two\n"), "one\n", "one\ntwo\n"),
        (edit("append", "two"), "one", "one\ntwo"),
        (edit("append", "one"), "", "one"),
        (edit("replace_text", "cat", find="dog"), "a dog.", "a cat."),
        (edit("replace_text", "", find=" dog"), "a dog.", "a."),
        (edit("replace_text", "x\n", find="b\n"), "a\nb\nc\n", "a\nx\nc\n"),
        (edit("replace", "a,b\r\n1", kind="spreadsheet"), SHEET, "a,b\n1,\n"),
        (edit("append", "Cy,=B2+1,!", kind="spreadsheet"), "a,b\n1,2\n", "a,b,\n1,2,\nCy,=B2+1,!\n"),
        (edit("replace_text", "Eve", find="Ada", kind="spreadsheet"), SHEET, "name,score\nEve,3\nBob,5\n"),
        (edit("set_cells", cells=(("b2", "4"), ("$A$4", "Cy")), kind="spreadsheet"), SHEET,
         "name,score\nAda,4\nBob,5\nCy,\n"),
    ],
)  # fmt: skip
def test_an_edit_does_what_its_mode_says(asked: Edit, before: str, after: str) -> None:
    assert apply(asked, before) == after


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ({"mode": "replace", "find": "x"}, 'find: mode "replace" does not use it. Send "".'),
        ({"mode": "append", "content": "x", "cells": (("B2", "1"),)},
         'cells: mode "append" does not use it. Send [].'),
        ({"mode": "append"}, "content: there is nothing to append. Send the text."),
        ({"mode": "replace_text", "content": "x"}, "find: it is empty. Send the text that is to be replaced."),
        ({"mode": "set_cells", "cells": (("B2", "1"),)},
         'mode: "set_cells" is for spreadsheets alone. Use "replace_text" or "append".'),
        ({"mode": "set_cells", "kind": "spreadsheet"}, "cells: none is there. Send each as {ref, value}."),
        ({"mode": "set_cells", "kind": "spreadsheet", "cells": (("B2", "1"), ("b2", "2"))},
         "cells: B2 is there twice. Send each cell once."),
        ({"mode": "replace", "kind": "folder"}, "file: a folder has no text. Rename it, or change a file in it."),
        ({"mode": "replace", "content": '"a', "kind": "spreadsheet"},
         'content: row 1: a quote is never closed. Expected CSV: a cell with a comma, quote or line end stands in '
         '"…", and a quote in it is written "".'),
    ],
)  # fmt: skip
def test_an_edit_that_cannot_be_meant_is_refused_with_what_to_send(
    asked: dict[str, object], text: str
) -> None:
    assert refusal(asked) == ("invalid_arguments", text)


@pytest.mark.parametrize(
    ("before", "find", "text"),
    [
        ("a b", "c", "find: the text does not occur. Read the file and send the words exactly as they stand there."),
        ("a\nb", "a b", "find: the text does not occur. It does with other spaces or line ends. "
         "Read the file and send the words exactly as they stand there."),
        ("x, x, x", "x", "find: the text occurs 3 times. Send more of what stands around the place, "
         "so that it occurs once."),
        ("aaa", "aa", "find: the text occurs 2 times. Send more of what stands around the place, "
         "so that it occurs once."),
    ],
)  # fmt: skip
def test_a_text_is_replaced_only_where_it_is_clear_which(before: str, find: str, text: str) -> None:
    assert refusal({"mode": "replace_text", "content": "y", "find": find}, before) == (
        "invalid_arguments",
        text,
    )


def test_a_text_of_two_megabytes_is_kept_and_one_byte_more_is_refused() -> None:
    assert len(clean_content("é" * 1_000_000, kind="markdown")) == 1_000_000
    assert apply(edit("append", "b"), "a" * 1_999_998) == "a" * 1_999_998 + "\nb"
    assert refusal({"mode": "append", "content": "b"}, "é" * 1_000_000) == (
        "too_large",
        "The text is 2,000,002 bytes; the limit is 2,000,000.",
    )


def test_a_sheet_is_measured_as_it_is_kept() -> None:
    with pytest.raises(Refusal, match="2,100,003 bytes"):
        clean_content('a"' * 700_000, kind="spreadsheet")
    assert clean_content('"a"' + "," * 2_000_000, kind="spreadsheet") == "a\n"


def test_a_folder_has_no_content() -> None:
    assert clean_content("", kind="folder") == ""
    with pytest.raises(Refusal, match="a folder has none"):
        clean_content("x", kind="folder")


def test_another_persons_cell_does_not_make_an_edit_of_cells_stale() -> None:
    asked = edit("set_cells", cells=(("B2", "4"),), kind="spreadsheet")
    theirs = "name,score,by\nAda,3,human\nBob,6,\n"
    assert guard_of(asked) == "cells"
    assert cells_of(asked) == ("B2",)
    assert touched_unchanged(asked, SHEET, theirs)
    assert apply(asked, theirs) == "name,score,by\nAda,4,human\nBob,6,\n"
    assert not touched_unchanged(asked, SHEET, "name,score\nAda,7\nBob,5\n")
    assert not touched_unchanged(asked, SHEET, "")


def test_a_cell_beyond_the_sheet_is_touched_too() -> None:
    asked = edit("set_cells", cells=(("D9", "x"),), kind="spreadsheet")
    assert touched_unchanged(asked, SHEET, SHEET + "Cy,1\n")
    assert not touched_unchanged(
        asked, SHEET, apply(edit("set_cells", cells=(("D9", "y"),), kind="spreadsheet"), SHEET)
    )


@pytest.mark.parametrize(
    "asked", [edit("replace", "x"), edit("append", "x"), edit("replace_text", "x", find="Ada")]
)
def test_every_other_edit_stands_on_the_whole_file(asked: Edit) -> None:
    assert guard_of(asked) == "file"
    assert touched_unchanged(asked, SHEET, SHEET)
    assert not touched_unchanged(asked, SHEET, SHEET + "x")


names = st.tuples(st.sampled_from("ABC"), st.integers(1, 4)).map(lambda pair: f"{pair[0]}{pair[1]}")
changes = st.dictionaries(names, st.text("a,\n", max_size=3), min_size=1, max_size=4)


@given(changes, changes)
def test_two_edits_of_different_cells_come_out_the_same_in_any_order(
    one: dict[str, str], other: dict[str, str]
) -> None:
    mine = edit("set_cells", cells=tuple(one.items()), kind="spreadsheet")
    theirs = edit("set_cells", cells=tuple((at, v) for at, v in other.items() if at not in one) or (("Z1", "z"),),
                  kind="spreadsheet")  # fmt: skip
    assert touched_unchanged(mine, SHEET, apply(theirs, SHEET))
    assert apply(mine, apply(theirs, SHEET)) == apply(theirs, apply(mine, SHEET))
