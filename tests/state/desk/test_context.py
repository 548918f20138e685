"""What stood on the desk when a message was sent is kept in a text of bounded length and comes back from it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from researchdesk.state.desk.context import (
    MOST_PANELS_KEPT,
    MessageContext,
    PanelSeen,
    context_from,
    context_of,
    context_text,
)
from researchdesk.state.desk.effects import PanelMeta
from researchdesk.state.desk.layout import Panel, PanelLayout

ANY_TEXT = st.text(st.characters(), max_size=300)  # lone surrogates too
ANY_PANEL = st.builds(
    lambda name, title: Panel(id=name, type="markdown", title=title, meta=PanelMeta(file_id=name)),
    st.text(max_size=100),
    ANY_TEXT,
)
ANY_LAYOUT = st.builds(
    lambda panels, focus: PanelLayout(
        panels=tuple(panels), focused=panels[focus % len(panels)].id if panels else ""
    ),
    st.lists(ANY_PANEL, max_size=60),
    st.integers(0, 59),
)


def panel(name: str) -> Panel:
    return Panel(id=name, type="markdown", title=f"{name}.md", meta=PanelMeta(file_id=f"f_{name}"))


def seen(name: str) -> PanelSeen:
    return PanelSeen(id=name, type="markdown", title=f"{name}.md", file_id=f"f_{name}")


def test_the_focused_panel_comes_first_and_then_the_newest() -> None:
    layout = PanelLayout(panels=(panel("a"), panel("b"), panel("c")), focused="b")
    context = context_of(layout, "B2:C7")
    assert context == MessageContext(panels=(seen("b"), seen("c"), seen("a")), focused="b", selection="B2:C7")
    assert context_text(context).startswith('{"focused":"b","more":0,"panels":[{"file_id":"f_b","id":"b"')
    assert context_from(context_text(context)) == context


def test_of_many_panels_the_focused_one_is_always_kept_and_the_others_are_counted() -> None:
    names = [f"p{number}" for number in range(200)]
    context = context_of(PanelLayout(panels=tuple(map(panel, names)), focused="p0"))
    assert [one.id for one in context.panels] == ["p0", *names[:-MOST_PANELS_KEPT:-1]]
    assert context.more == 200 - MOST_PANELS_KEPT


def test_a_message_without_a_context_has_an_empty_one_and_another_text_is_refused() -> None:
    assert context_from("") == MessageContext() == context_of(PanelLayout())
    for wrong in ("[]", '{"panels":[{"id":"a"}]}', '{"cursor":1}', "{"):
        with pytest.raises(ValueError):
            context_from(wrong)


@given(ANY_LAYOUT, ANY_TEXT)
def test_any_layout_gives_a_short_text_that_leads_back_to_the_same_context(
    layout: PanelLayout, selection: str
) -> None:
    context = context_of(layout, selection)
    text = context_text(context)
    assert len(text) <= 40_000
    assert context_from(text) == context
    assert context_text(context_from(text)) == text
