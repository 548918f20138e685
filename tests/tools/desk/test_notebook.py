"""What a notebook shows of a desk: harmless whatever its files say, and alone."""

from pathlib import Path

from researchdesk.tools.workspace import Desk, open_desk

from ...fragments import EVIL, shown_safely
from .conftest import ANN, Model


def proposed(desk: Desk) -> str:
    """A change of a file with a hostile text, by a model that writes another one."""
    session = desk.session("chat", labels=(), profile="desk")
    version = desk.files.put("plan.md", f"{EVIL}\nstays\n", actor="human:<b>ann</b>").content_hash
    arguments = {
        "file": "plan.md",
        "base_version": version,
        "mode": "replace",
        "content": f"new\n{EVIL}\nstays\n",
    }
    return str(session.call("desk_update_file", arguments, tool_call_id="c1").data["proposal_id"])


def test_proposals_are_a_table_with_the_diff_of_what_waits(tmp_path: Path) -> None:
    with open_desk(tmp_path) as desk:
        made = proposed(desk)
        shown = shown_safely(desk.proposals()._repr_html_())
        assert f">{made}</td>" in shown and "Proposals: 1" in shown
        added = '<span style="display:block;background:rgba(46,160,67,.22)">+new</span>'
        assert added in shown and "+++ plan.md" in shown and "rgba(248,81,73,.22)" in shown
        assert "&lt;script&gt;" in shown and "&lt;U+202E&gt;" in shown
        desk.decide(made, "reject", actor="human:ann", proposal_hash=desk.proposal(made).hash, reason=EVIL)
        decided = shown_safely(desk.proposals()._repr_html_())
        assert added not in decided and ">rejected</td>" in decided
        one = shown_safely(desk.proposal(made)._repr_html_())
        assert added in one and "human:ann at " in one and desk.proposal(made).hash in one


def test_files_and_revisions_are_tables(tmp_path: Path) -> None:
    with open_desk(tmp_path) as desk:
        proposed(desk)
        desk.files.rename("plan.md", "a&b.md", actor="human:ann")
        files = shown_safely(desk.files._repr_html_())
        assert files == desk.files.listed()._repr_html_()
        assert ">a&amp;b.md</td>" in files and ">&lt;b&gt;" not in files
        assert ">human:ann</td>" in files and ">human:&lt;b&gt;ann&lt;/b&gt;</td>" not in files
        kept = shown_safely(desk.files.revisions("a&b.md")._repr_html_())
        assert ">plan.md</td>" in kept and ">rename</td>" in kept
        shown_safely(desk.log("chat")._repr_html_())


def test_a_desk_and_a_session_say_what_they_are_in_a_line(tmp_path: Path) -> None:
    with open_desk(tmp_path) as desk:
        session = desk.session("chat", labels=(), profile="desk")
        assert repr(desk) == f"Desk({str(tmp_path)!r})"
        assert (repr(session)[:18], "ToolSpec" in repr(session)) == ("Session(id='chat',", False)
        assert "Records" not in repr(desk.files)


def test_what_a_notebook_shows_is_still_a_list(tmp_path: Path) -> None:
    with open_desk(tmp_path) as desk:
        made = proposed(desk)
        assert desk.proposals() == [desk.proposal(made)]
        assert desk.files.listed() == [desk.files.get("plan.md")]
        assert (desk.proposals(status="executed"), desk.files.listed("none")) == ([], [])


def test_names_of_every_script_are_shown_as_they_are_written(desk: Desk) -> None:
    model = Model(desk)
    names = ("می\u200cخواهم.md", "क्\u200dष.md", "👩\u200d🚀.md")
    for name in names:
        desk.files.put(name, "x\n", actor=ANN)
    listed = (model.ok("desk_list_files").text, desk.files._repr_html_())
    for shown in listed:
        assert all(name in shown for name in names)
