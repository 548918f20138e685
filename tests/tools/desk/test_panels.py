"""The panels of a session: opened, focused and closed by a model without asking, and told to it on demand."""

from researchdesk.state import events as ev
from researchdesk.state.desk.context import context_of, context_text
from researchdesk.state.envelopes import open_envelope
from researchdesk.tools.workspace import Desk

from .conftest import ANN, Model


def open_panels(desk: Desk, session: str = "s1") -> tuple[list[str], str]:
    layout = desk.panels(session)
    return [panel.title for panel in layout.panels], layout.focused


def test_a_file_is_shown_by_its_path_or_id_and_closed_by_any_of_its_names(desk: Desk, model: Model) -> None:
    a = desk.files.put("sub/a.md", actor=ANN)
    b = desk.files.put("b.csv", actor=ANN)
    opened = model.ok("desk_manage_panel", op="open", target="sub/A.md")
    assert [effect.action for effect in opened.effects] == ["openPanel"]
    model.ok("desk_manage_panel", op="open", target=b.id)
    model.ok("desk_manage_panel", op="open", target="log")
    assert open_panels(desk) == (["a.md", "b.csv", "log"], "log")
    assert [panel.type for panel in desk.panels("s1").panels] == ["markdown", "spreadsheet", "log"]
    model.ok("desk_manage_panel", op="focus", target=f"panel_{a.id}")
    assert open_panels(desk)[1] == f"panel_{a.id}"
    model.ok("desk_manage_panel", op="open", target="log")
    assert open_panels(desk) == (["a.md", "b.csv", "log"], "log")
    model.ok("desk_manage_panel", op="close", target="spreadsheet")
    model.ok("desk_manage_panel", op="close", target="sub/a.md")
    assert open_panels(desk) == (["log"], "log")
    assert desk.proposals() == []


def test_the_panels_of_two_sessions_are_their_own(desk: Desk, model: Model) -> None:
    desk.files.put("a.md", actor=ANN)
    model.ok("desk_manage_panel", op="open", target="a.md")
    Model(desk, "s2").ok("desk_manage_panel", op="open", target="log")
    assert (open_panels(desk)[0], open_panels(desk, "s2")[0]) == (["a.md"], ["log"])


def test_a_panel_that_is_not_there_is_refused_with_those_that_are(desk: Desk, model: Model) -> None:
    desk.files.put("a.md", actor=ANN)
    model.ok("desk_manage_panel", op="open", target="log")
    refused = model("desk_manage_panel", op="close", target="a.md")
    assert refused.text == 'No panel of "a.md" is open. Open are: log.'
    assert model.refused("desk_manage_panel", op="open", target="no.md") == "not_found"
    assert model.refused("desk_manage_panel", op="open", target="spreadsheet") == "not_found"
    assert model.refused("desk_manage_panel", op="open", target="") == "invalid_arguments"
    assert model.refused("desk_manage_panel", op="hide", target="log") == "invalid_arguments"


def test_the_context_tells_what_is_open_selected_waiting_and_decided(desk: Desk, model: Model) -> None:
    version = model.create("a.md", "text\n")
    change = {"file": "a.md", "base_version": version, "mode": "append"}
    first = model.propose("desk_update_file", **change, content="one\n")
    second = model.propose("desk_update_file", **change, content="two\n")
    model.approve(first)
    other = Model(desk, "s2")
    other.create("b.md")
    context = context_text(context_of(desk.panels("s1"), "text"))
    model.session.record(
        [ev.MessageReceived(message_id="m1", text=ev.Stowed(inline="hi", chars=2), context=context)]
    )
    read = model.ok("desk_read_context")
    opened = open_envelope(read.text)
    assert opened is not None
    file_id = desk.files.get("a.md").id
    assert opened.body.splitlines() == [
        "Open panels, 1, the focused one first:",
        f'panel_{file_id} markdown "a.md" focused ai-modified',
        "In focus:",
        'selection "text"',
        "Decided lately, 1:",
        f'{first.data["proposal_id"]} change "a.md" executed by human:ann',
        "Waiting for a person, 1:",
        f'{second.data["proposal_id"]} change "a.md"',
    ]
    assert (read.data["focused"], read.data["selection"]) == (f"panel_{file_id}", "text")
    assert (read.data["pending"], read.data["decided"]) == (
        [second.data["proposal_id"]],
        [first.data["proposal_id"]],
    )


def test_the_context_of_a_crowded_desk_keeps_the_limit(desk: Desk, model: Model) -> None:
    for number in range(30):
        version = model.create(f"{'鿏' * 70}{number}.md", "x")
        arguments = {
            "file": f"{'鿏' * 70}{number}.md",
            "base_version": version,
            "mode": "append",
            "content": "y",
        }
        waiting = model.propose("desk_update_file", **arguments)
        if number % 2:
            model.reject(waiting, "鿏" * 300)
    read = model.ok("desk_read_context")
    assert read.data["open_panels"] == 30 and len(read.data["panels"]) == 12
    assert "Open panels, 30" in read.text and "Waiting for a person, 15" in read.text


def test_the_context_of_an_empty_desk_says_so(model: Model) -> None:
    assert "Nothing is open, decided or waiting." in model.ok("desk_read_context").text
