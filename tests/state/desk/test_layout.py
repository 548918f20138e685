"""Which panels are open, which has the focus and what their tabs show follows from the effects alone."""

from functools import reduce
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from researchdesk.state.desk.effects import (
    ClosePanel,
    DeskEffect,
    FileChanged,
    FileDeleted,
    FocusPanel,
    Notify,
    OpenPanel,
    PanelMeta,
    SheetCells,
    UpdateContent,
)
from researchdesk.state.desk.layout import (
    MOST_PANELS,
    SEEN_EFFECTS,
    Panel,
    PanelLayout,
    apply,
)


def who(number: object) -> dict[str, Any]:
    return {"id": f"c:{number}", "tool_call_id": "c"}


def opening(name: str, number: object) -> OpenPanel:
    meta = PanelMeta(file_id=f"f_{name}")
    return OpenPanel(panel_type="markdown", panel_id=name, title=f"{name}.md", meta=meta, **who(number))


def updating(name: str, number: object, path: str = "") -> UpdateContent:
    payload = FileChanged(file_id=f"f_{name}", hash="sha256:aa", rev=2, path=path)
    return UpdateContent(channel="file:changed", payload=payload, **who(number))


def panel(name: str, **shown: Any) -> Panel:
    plain = {"id": name, "type": "markdown", "title": f"{name}.md", "meta": PanelMeta(file_id=f"f_{name}")}
    return Panel(**{**plain, **shown})


def after(*effects: DeskEffect, start: PanelLayout | None = None) -> PanelLayout:
    return reduce(apply, effects, start or PanelLayout())


def test_panels_open_in_order_and_the_last_one_has_the_focus() -> None:
    layout = after(opening("a", 0), opening("b", 1))
    assert layout == PanelLayout(panels=(panel("a"), panel("b")), focused="b", seen=("c:0", "c:1"))


def test_opening_an_open_panel_only_focuses_it() -> None:
    layout = after(opening("a", 0), opening("b", 1), opening("a", 2))
    assert (layout.panels, layout.focused) == ((panel("a"), panel("b")), "a")


def test_focusing_or_closing_what_is_not_open_changes_nothing() -> None:
    layout = after(opening("a", 0))
    for effect in (FocusPanel(panel_id="z", **who(1)), ClosePanel(panel_id="z", **who(1))):
        same = apply(layout, effect)
        assert (same.panels, same.focused) == (layout.panels, layout.focused)


def test_the_focus_of_a_closed_panel_goes_to_its_neighbour() -> None:
    layout = after(opening("a", 0), opening("b", 1), opening("c", 2), FocusPanel(panel_id="b", **who(3)))
    layout = after(ClosePanel(panel_id="b", **who(4)), start=layout)
    assert ([one.id for one in layout.panels], layout.focused) == (["a", "c"], "a")
    layout = after(ClosePanel(panel_id="a", **who(5)), start=layout)
    assert layout.focused == "c"
    layout = after(ClosePanel(panel_id="c", **who(6)), start=layout)
    assert (layout.panels, layout.focused) == ((), "")


def test_a_tools_change_marks_the_panel_until_a_person_focuses_it() -> None:
    layout = after(opening("a", 0), updating("a", 1))
    assert layout.panels == (panel("a", indicator="ai-modified"),)
    by_tool = apply(layout, FocusPanel(panel_id="a", **who(2)))
    assert by_tool.panels == layout.panels
    by_person = apply(layout, FocusPanel(panel_id="a", id="h:0", tool_call_id=""), by_person=True)
    assert by_person.panels == (panel("a"),)
    reopened = apply(layout, opening("a", 3), by_person=True)
    assert reopened.panels == (panel("a"),)


def test_changed_cells_mark_the_sheets_panel_and_a_persons_change_marks_none() -> None:
    layout = after(opening("a", 0), opening("b", 1))
    cells = SheetCells(file_id="f_a", refs=("B2",), hash="sha256:bb")
    effect = UpdateContent(channel="sheet:cells", payload=cells, **who(2))
    assert apply(layout, effect).panels == (panel("a", indicator="ai-modified"), panel("b"))
    assert apply(layout, effect, by_person=True).panels == layout.panels


def test_a_renamed_files_panel_shows_the_new_name() -> None:
    layout = after(opening("a", 0), updating("a", 1, path="old/plan\u202e.md"))
    assert layout.panels == (panel("a", title="plan\ufffd.md", indicator="ai-modified"),)


def test_a_deleted_files_panels_close() -> None:
    gone = UpdateContent(channel="file:deleted", payload=FileDeleted(file_id="f_a"), **who(2))
    layout = after(opening("a", 0), opening("b", 1), gone)
    assert ([one.id for one in layout.panels], layout.focused) == (["b"], "b")


def test_beyond_the_ceiling_the_oldest_panel_without_the_focus_closes() -> None:
    layout = after(*(opening(f"p{number}", number) for number in range(MOST_PANELS)))
    layout = after(FocusPanel(panel_id="p0", **who("focus")), opening("new", "new"), start=layout)
    ids = [one.id for one in layout.panels]
    assert (len(ids), ids[0], ids[1], ids[-1]) == (MOST_PANELS, "p0", "p2", "new")
    assert layout.focused == "new"


def test_a_layout_remembers_a_bounded_number_of_effects() -> None:
    told = (Notify(level="info", message="", **who(number)) for number in range(SEEN_EFFECTS + 5))
    seen = after(*told).seen
    assert (len(seen), seen[0], seen[-1]) == (SEEN_EFFECTS, "c:5", f"c:{SEEN_EFFECTS + 4}")


NAMES = st.sampled_from("abcd")
NUMBERS = st.integers(0, 40)
ANY_EFFECT = st.one_of(
    st.builds(opening, NAMES, NUMBERS),
    st.builds(updating, NAMES, NUMBERS),
    st.builds(lambda name, number: FocusPanel(panel_id=name, **who(number)), NAMES, NUMBERS),
    st.builds(lambda name, number: ClosePanel(panel_id=name, **who(number)), NAMES, NUMBERS),
)


@given(st.lists(ANY_EFFECT, max_size=30))
def test_an_effect_that_comes_again_changes_nothing_and_one_of_the_open_panels_has_the_focus(
    effects: list[DeskEffect],
) -> None:
    layout = after(*effects)
    assert after(*effects, start=layout) == layout
    ids = [one.id for one in layout.panels]
    assert len(ids) == len(set(ids))
    assert layout.focused in ids if ids else layout.focused == ""
