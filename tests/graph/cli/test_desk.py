"""The commands about the desk's files, as a person calls them."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.graph.cli.desk_agent import BUDGET, COMMAND, agent, at_terminal, call, create

from researchdesk.tools.workspace import Desk, open_desk

FIRST = "sha256:98ea6e4f216f2fb4b69fff9b3a44842c38686ca685f3f55dc48c5d3fb1107be4"
"""Of ``hi`` and a line end."""


@pytest.fixture(autouse=True)
def ann(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ann works in an empty folder, upon the desk in its `home`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RESEARCHDESK_HOME", "home")
    monkeypatch.setenv("RESEARCHDESK_ACTOR", "human:ann")


@pytest.fixture
def opened() -> Iterator[Desk]:
    """The same desk, from Python."""
    with open_desk() as desk:
        yield desk


def parsed(*arguments: str | Path, stdin: str = "") -> Any:
    done = call(*arguments, "--json", stdin=stdin)
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


def test_a_file_is_put_on_the_desk_and_its_version_is_told() -> None:
    call("desk", "put", "other.md", stdin="ho\n")
    assert call("desk", "ls", "--deleted").stderr == "nothing was deleted\n"
    call("desk", "rm", "other.md")
    assert call("desk", "ls").stderr == "nothing is here; put a file there: researchdesk desk put PATH FILE\n"
    done = call("desk", "put", "notes/plan.md", stdin="hi\n")
    assert done.stdout == f"notes/plan.md\nversion {FIRST}\n"
    (file,) = parsed("desk", "ls")
    assert done.stderr == f"notes/plan.md: new, revision 1, id {file['id']}\n"
    assert file == {
        "id": file["id"],
        "path": "notes/plan.md",
        "kind": "markdown",
        "hash": FIRST,
        "rev": 1,
        "chars": 3,
        "deleted": False,
        "created_at": file["created_at"],
        "created_by": "human:ann",
        "updated_at": file["created_at"],
        "updated_by": "human:ann",
        "created_by_call": None,
    }
    head, row = call("desk", "ls").stdout.splitlines()
    assert head.split() == ["path", "kind", "rev", "chars", "changed", "by", "id", "version"]
    assert row.split() == [
        *("notes/plan.md", "markdown", "1", "3", file["updated_at"][:19], "human:ann", file["id"]),
        FIRST[7:19],
    ]


def test_another_text_is_only_saved_over_the_version_that_was_read(tmp_path: Path) -> None:
    call("desk", "put", "plan.md", stdin="hi\n")
    Path("new.md").write_text("ho\n")
    refused = call("desk", "put", "plan.md", "new.md")
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert refused.stderr.splitlines() == [
        f'researchdesk: "plan.md" is there already; name the version that you read (it has {FIRST}).',
        "read it: researchdesk desk cat plan.md",
        f"then save over that version with --if-match {FIRST}, or over any with --force; what stood there is kept as "
        "a revision",
    ]
    wrong = call("desk", "put", "plan.md", "new.md", "--if-match", "sha256:" + "0" * 64)
    assert wrong.exit_code == 1
    assert "changed since you read it (now 98ea6e4f, you had 00000000)" in wrong.stderr
    assert parsed("desk", "put", "plan.md", "new.md", "--if-match", FIRST[7:19])["rev"] == 2
    third = parsed("desk", "put", parsed("desk", "ls")[0]["id"], "-", "--force", stdin="he\n")
    assert (third["path"], third["rev"]) == ("plan.md", 3)
    assert call("desk", "cat", "plan.md").stdout == "he\n"
    assert call("desk", "put", "else.md", "new.md", "--if-match", FIRST).exit_code == 1


def test_a_file_and_its_versions_are_printed_byte_for_byte_to_a_pipe_and_harmless_to_a_terminal() -> None:
    text = "one\r\n\x1b[31mred\u202e\n"
    Path("a.md").write_bytes(text.encode())
    call("desk", "put", "a.md", "a.md")
    piped = subprocess.run([*COMMAND, "desk", "cat", "a.md"], capture_output=True, check=True)
    assert piped.stdout == text.encode()
    code, seen = at_terminal("desk", "cat", "a.md")
    assert (code, seen) == (0, "one\n[31mred\n")
    first = parsed("desk", "cat", "a.md")
    assert first["content"] == text
    call("desk", "put", "a.md", "--force", stdin="two\n")
    assert parsed("desk", "cat", "a.md", "--version", first["hash"])["content"] == text
    done = call("desk", "cat", "a.md", "--version", "f" * 12)
    assert done.exit_code == 1 and "a.md has no version 'ffffffffffff'" in done.stderr


def test_cells_of_a_spreadsheet_are_printed_as_csv() -> None:
    call("desk", "put", "budget.csv", stdin=BUDGET)
    assert call("desk", "cat", "budget.csv", "--range", "A2:A3").stdout == "rent\nfood\n"
    assert parsed("desk", "cat", "budget.csv", "--range", "B2")["content"] == "900\n"
    assert '"2B" is not a cell or range' in call("desk", "cat", "budget.csv", "--range", "2B").stderr
    call("desk", "put", "a.md", stdin="hi\n")
    done = call("desk", "cat", "a.md", "--range", "A1")
    assert (done.exit_code, done.stderr) == (
        2,
        "researchdesk: --range is for spreadsheets; a.md is a markdown\n",
    )


def test_formulas_are_printed_as_they_stand_or_with_what_they_come_to() -> None:
    call("desk", "put", "sum.csv", stdin="a,1\nb,2\nall,=SUM(B1:B2)\n")
    assert call("desk", "cat", "sum.csv", "--range", "A3:B3").stdout == "all,=SUM(B1:B2)\n"
    assert call("desk", "cat", "sum.csv", "--values").stdout == "a,1\nb,2\nall,3\n"
    assert parsed("desk", "cat", "sum.csv", "--values", "--range", "B3")["content"] == "3\n"
    call("desk", "put", "a.md", stdin="hi\n")
    done = call("desk", "cat", "a.md", "--values")
    assert (done.exit_code, done.stderr) == (
        2,
        "researchdesk: only a spreadsheet has values; a.md is a markdown\n",
    )


def test_a_deleted_file_comes_back_by_what_rm_says_and_restoring_can_be_undone() -> None:
    call("desk", "put", "plan.md", stdin="hi\n")
    gone = call("desk", "rm", "plan.md")
    assert gone.stdout == "plan.md is deleted\n"
    command = gone.stderr.removeprefix("bring it back with: researchdesk ").split()
    assert call("desk", "ls").stdout.splitlines()[1:] == []
    assert [file["path"] for file in parsed("desk", "ls", "--deleted")] == ["plan.md"]
    missed = call("desk", "cat", "plan.md")
    assert missed.exit_code == 1 and "plan.md is deleted; `researchdesk desk revisions f_" in missed.stderr
    assert [kept["op"] for kept in parsed("desk", "revisions", "plan.md")] == ["delete"]
    assert call(*command).stdout == f"plan.md\nversion {FIRST}\n"
    newest, _ = parsed("desk", "revisions", "plan.md")
    assert (newest["op"], newest["deleted"], newest["actor"]) == ("restore", True, "human:ann")
    assert call("desk", "restore", "r_0").stderr == "researchdesk: no revision 'r_0' on this desk\n"


def test_revisions_say_until_when_a_text_stood_and_whose_change_ended_it(opened: Desk) -> None:
    version = create(agent(opened), "budget.csv")
    call("desk", "mv", "budget.csv", "2027/budget.csv")
    call("desk", "put", "2027/budget.csv", "--force", stdin="item\n")
    done = call("desk", "revisions", "2027/budget.csv")
    head, *rows = done.stdout.splitlines()
    assert head.split() == ["revision", "rev", "path", "chars", "until", "what", "by", "proposal", "version"]
    assert [row.split()[1:4] + row.split()[5:] for row in rows] == [
        ["2", "2027/budget.csv", "27", "human_edit", "human:ann", "-", version[7:19]],
        ["1", "budget.csv", "27", "rename", "human:ann", "-", version[7:19]],
    ]
    assert done.stderr.startswith("2027/budget.csv: revision 3, version ")
    (found,) = parsed("desk", "ls", "2027")
    assert found["created_by_call"] == {"session_id": "chat", "turn_id": "", "tool_call_id": "c1"}


def test_a_folder_is_listed_and_moved_with_what_is_in_it() -> None:
    for path in ("notes/a.md", "notes/deep/b.md", "c.md"):
        call("desk", "put", path, stdin=f"{path}\n")
    assert [file["path"] for file in parsed("desk", "ls", "notes/")] == ["notes/a.md", "notes/deep/b.md"]
    assert [file["path"] for file in parsed("desk", "ls", "c.md")] == ["c.md"]
    assert len(parsed("desk", "ls", ".")) == 3
    missed = call("desk", "ls", "nowhere")
    assert missed.exit_code == 1 and "no file 'nowhere' on this desk" in missed.stderr
    folder = call("desk", "cat", "notes")
    assert folder.stderr == "researchdesk: notes is no file but a folder with 2 files in it\n"
    assert parsed("desk", "put", "box", "--kind", "folder")["kind"] == "folder"
    call("desk", "mv", "c.md", "box/c.md")
    assert call("desk", "mv", "box", "case").exit_code == 0
    assert [file["path"] for file in parsed("desk", "ls", "case")] == ["case/c.md"]
    assert (
        call("desk", "rm", "case").stderr
        == 'researchdesk: "case" contains 1 items; delete or move them first.\n'
    )


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["put"], 2, "say where: researchdesk desk put PATH [FILE|-]"),
        (["put", "a.md", "missing.txt"], 1, "no file missing.txt"),
        (["put", "a.md", "."], 1, "cannot read .: Is a directory"),
        (["put", "a.md", "latin.txt"], 1, "latin.txt: it is not UTF-8 text (byte 4); save it as UTF-8"),
        (["put", "a.md", "nul.txt"], 1, "nul.txt: it holds NUL characters"),
        (["put", "a.md", "pipe"], 1, "pipe: it is no plain file; a pipe is read from stdin"),
        (["put", "../a.md"], 1, '"../a.md" is not a desk path'),
        (["put", "a.md", "latin.txt", "--report", "r1"], 2, "name one: FILE, --report SESSION or --handoff"),
        (["put", "a.md", "--actor", "agent:chat"], 1, "agent:chat changes files through its tools alone."),
        (["cat", "a.md"], 1, "no file 'a.md' on this desk; `researchdesk desk ls` lists what is there"),
        (["mv", "kept.md", "other.md"], 1, '"other.md" already exists (id f_'),
        (["rm", "kept.md", "--if-match", "0" * 64], 1, '"kept.md" changed since you read it'),
        (["export"], 2, "say where to write with --out DIR_OR_FILE"),
        (["export", "nowhere", "--out", "out"], 1, "no file 'nowhere' on this desk"),
        (["shred", "a.md"], 2, "No such command 'shred'"),
    ],
)
def test_wrong_use_is_one_message_and_changes_nothing(arguments: list[str], code: int, said: str) -> None:
    Path("latin.txt").write_bytes("caf\xe9".encode("latin-1"))
    Path("nul.txt").write_bytes(b"a\0b")
    os.mkfifo("pipe")
    for path in ("kept.md", "other.md"):
        call("desk", "put", path, stdin="hi\n")
    before = parsed("desk", "ls")
    done = call("desk", *arguments)
    assert (done.exit_code, done.stdout) == (code, "")
    assert said in done.stderr
    assert parsed("desk", "ls") == before


def test_at_a_terminal_what_is_to_be_put_has_to_be_named() -> None:
    code, seen = at_terminal("desk", "put", "a.md")
    assert code == 2 and "say what to put there: a FILE, or - to type it in" in seen


def test_looking_at_a_desk_that_is_not_there_makes_none() -> None:
    for command in (
        ("desk", "ls"),
        ("proposals", "list"),
        ("desk", "cat", "a.md"),
        ("desk", "export", "--out", "o"),
    ):
        assert call(*command).exit_code == 1
    assert not Path("home").exists() and not Path("o").exists()


def test_a_report_and_a_handoff_of_a_run_are_put_on_the_desk(desk: Desk) -> None:
    home = ("--home", desk.home)
    report = parsed("desk", "put", "--report", "r1", *home)
    assert report["path"] == "reports/r1.md" and report["kind"] == "markdown"
    assert call("desk", "cat", "reports/r1.md", *home).stdout == call("report", "r1", *home).stdout
    handoff = parsed("desk", "put", "next/task.md", "--handoff", "r1", *home)
    assert handoff["path"] == "next/task.md"
    assert "This task continues a finished research run." in call("desk", "cat", handoff["id"], *home).stdout
    again = call("desk", "put", "--report", "r1", *home)
    assert again.exit_code == 1 and "--force" in again.stderr
    missing = call("desk", "put", "--report", "r9", *home)
    assert missing.exit_code == 1 and "no session 'r9'" in missing.stderr


def test_files_of_a_desk_on_a_server_are_worked_with_the_same(postgres: str) -> None:
    home = ("--home", postgres)
    assert parsed("desk", "put", "notes/plan.md", *home, stdin="hi\n")["hash"] == FIRST
    parsed("desk", "put", "notes/plan.md", "--force", *home, stdin="ho\n")
    (kept,) = parsed("desk", "revisions", "notes/plan.md", *home)
    assert call("desk", "restore", kept["id"], *home).stdout == f"notes/plan.md\nversion {FIRST}\n"
    call("desk", "export", "--out", "out", *home)
    assert Path("out/notes/plan.md").read_text() == "hi\n"
    assert parsed("verify", *home)["ok"]


def test_working_with_the_desk_loads_no_langgraph_and_no_library_of_workbooks() -> None:
    script = (
        "import sys\nfrom typer.testing import CliRunner\nfrom researchdesk.graph.cli import app\n"
        "for words in (['desk', '--help'], ['desk', 'put', 'a.md'], ['desk', 'ls'], ['desk', 'import', 'b.md'],\n"
        "              ['desk', 'export', '--out', 'out'], ['proposals', 'list'], ['log', '--all']):\n"
        "    assert CliRunner().invoke(app, words).exit_code == 0, words\n"
        "print([name for name in ('langgraph', 'langchain_core', 'trafilatura', 'openpyxl') if name in sys.modules])\n"
    )
    Path("b.md").write_text("b\n")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_words_are_found_in_documents_and_cells_and_in_one_folder() -> None:
    call("desk", "put", "notes/rent.md", stdin="# Flat\n\nThe landlord raises the rent in May.\n")
    call("desk", "put", "budget.csv", stdin=BUDGET)
    found = parsed("desk", "search", "rent")
    assert {(hit["path"], hit["line"], hit["ref"]) for hit in found} == {
        ("notes/rent.md", 3, ""),
        ("budget.csv", 2, "A2"),
    }
    (row,) = call("desk", "search", "landlord", "rent", "--folder", "notes").stdout.splitlines()[1:]
    assert row.split("  ") == ["notes/rent.md", "line 3", "# Flat The landlord raises the rent in May."]
    nothing = call("desk", "search", "zebra")
    assert (nothing.exit_code, nothing.stderr) == (0, "nothing was found\n")
    assert call("desk", "search", "rent", "--folder", "nowhere").exit_code == 1


def test_a_folder_goes_with_all_that_is_in_it_and_each_file_comes_back_by_what_rm_says() -> None:
    for path in ("Case/b.md", "Case/more/a.md", "Casebook.md"):
        call("desk", "put", path, stdin="hi\n")
    call("desk", "put", "case/more/empty", "--kind", "folder")
    gone = call("desk", "rm", "-r", "case")
    assert sorted(gone.stdout.splitlines()) == [
        f"{path} is deleted" for path in ("Case/b.md", "Case/more/a.md", "case/more/empty")
    ]
    assert [file["path"] for file in parsed("desk", "ls")] == ["Casebook.md"]
    for line in gone.stderr.splitlines():
        call(*line.partition(" back with: researchdesk ")[2].split())
    assert len(parsed("desk", "ls")) == 4
    missed = call("desk", "rm", "-r", "nowhere")
    assert missed.exit_code == 1 and 'no file "nowhere" on this desk' in missed.stderr
    both = call("desk", "rm", "-r", "Case", "--if-match", "abc")
    assert both.exit_code == 2 and "leave it out with --recursive" in both.stderr
