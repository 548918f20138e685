"""Panels are there before their content comes, nothing comes twice, and a subscriber that fails stops nobody."""

from typing import Any, cast

import pytest

from researchdesk.state.desk.dispatch import Bus, Dispatched, LayoutDock, SubscriberFailed, dispatch
from researchdesk.state.desk.effects import (
    CallOutcome,
    Channel,
    ClosePanel,
    DeskEffect,
    FileChanged,
    FocusPanel,
    Notify,
    OpenPanel,
    PanelMeta,
    Payload,
    UpdateContent,
    derive_effects,
)
from researchdesk.state.desk.layout import Panel
from researchdesk.state.errors import UsageError
from researchdesk.state.ids import CallId


def created(name: str, *, call: str = "call_1") -> tuple[DeskEffect, ...]:
    data = {"file_id": f"f_{name}", "path": f"{name}.md", "kind": "markdown", "hash": "sha256:aa", "rev": 1}
    identity = CallId(session="s1", turn="t_001", call=call)
    return derive_effects(CallOutcome(call=identity, tool="desk_create_file", status="success", data=data))


def content(name: str) -> FileChanged:
    return FileChanged(file_id=f"f_{name}", hash="sha256:aa", rev=1, path=f"{name}.md")


def test_content_is_published_when_every_panel_of_the_batch_is_open() -> None:
    dock, bus = LayoutDock(), Bus()
    seen: list[tuple[Payload, list[str]]] = []
    bus.subscribe("file:changed", lambda payload: seen.append((payload, [p.id for p in dock.layout.panels])))
    done = dispatch((*created("a"), *created("b", call="call_2")), dock, bus)
    both = ["panel_f_a", "panel_f_b"]
    assert seen == [(content("a"), both), (content("b"), both)]
    assert [notice.message for notice in done.notices] == ['Created "a.md"', 'Created "b.md"']
    assert done.failures == ()


def test_a_created_file_has_an_open_panel_that_is_marked() -> None:
    dock = LayoutDock()
    dispatch(created("a"), dock, Bus())
    meta = PanelMeta(file_id="f_a", source_tool_call_id="call_1")
    panel = Panel(id="panel_f_a", type="markdown", title="a.md", meta=meta, indicator="ai-modified")
    assert (dock.layout.panels, dock.layout.focused) == ((panel,), "panel_f_a")


def test_an_effect_that_comes_again_reaches_nobody_also_after_the_dock_was_built_anew() -> None:
    dock, bus = LayoutDock(), Bus()
    seen: list[Payload] = []
    bus.subscribe("file:changed", seen.append)
    effects = created("a")
    dispatch((*effects, *effects), dock, bus)
    layout = dock.layout
    for again in (dock, LayoutDock(layout)):
        assert dispatch(effects, again, bus) == Dispatched()
        assert again.layout == layout
    assert seen == [content("a")]


def test_focusing_and_closing_reach_the_dock() -> None:
    dock, bus = LayoutDock(), Bus()
    who: dict[str, Any] = {"tool_call_id": "call_9"}
    dispatch((*created("a"), *created("b", call="call_2")), dock, bus)
    dispatch((FocusPanel(panel_id="panel_f_a", id="c:0", **who),), dock, bus)
    assert dock.layout.focused == "panel_f_a"
    dispatch((ClosePanel(panel_id="panel_f_a", id="c:1", **who),), dock, bus)
    assert [panel.id for panel in dock.layout.panels] == ["panel_f_b"]


def test_a_subscriber_that_fails_stops_neither_the_others_nor_the_batch() -> None:
    dock, bus = LayoutDock(), Bus()
    seen: list[Payload] = []
    problem = RuntimeError("the editor is gone")

    def broken(_: Payload) -> None:
        raise problem

    bus.subscribe("file:changed", broken)
    bus.subscribe("file:changed", seen.append)
    done = dispatch((*created("a"), *created("b", call="call_2")), dock, bus)
    assert seen == [content("a"), content("b")]
    assert len(done.notices) == 2
    failed = SubscriberFailed(channel="file:changed", subscriber=repr(broken), error=problem)
    assert done.failures == (failed, failed)


def test_a_subscription_ends_alone_even_in_the_middle_of_a_payload() -> None:
    bus = Bus()
    seen: list[str] = []
    ends = [bus.subscribe("file:changed", lambda _: seen.append("once")) for _ in range(2)]

    def end_all(_: Payload) -> None:
        seen.append("end")
        for end in ends:
            end()
            end()

    bus.subscribe("file:changed", end_all)
    for _ in range(2):
        assert bus.publish("file:changed", content("a")) == ()
    assert seen == ["once", "once", "end", "end"]


def test_only_the_channels_that_exist_can_be_listened_on() -> None:
    with pytest.raises(UsageError, match="no channel 'editor:content'; there are file:changed, sheet:cells"):
        Bus().subscribe(cast(Channel, "editor:content"), print)


def test_content_and_notices_keep_the_order_of_their_calls() -> None:
    who: dict[str, Any] = {"tool_call_id": "call_1"}
    effects: tuple[DeskEffect, ...] = (
        Notify(level="info", message="first", id="c:0", **who),
        UpdateContent(channel="file:changed", payload=content("a"), id="c:1", **who),
        OpenPanel(panel_type="log", panel_id="log", title="Log", id="c:2", **who),
        Notify(level="info", message="second", id="c:3", **who),
    )
    dock = LayoutDock()
    done = dispatch(effects, dock, Bus())
    assert dock.layout.seen == ("c:2", "c:0", "c:1", "c:3")
    assert [notice.message for notice in done.notices] == ["first", "second"]
