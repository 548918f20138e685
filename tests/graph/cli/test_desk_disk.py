"""Files that come from a disk to the desk and go back there."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.graph.cli.desk_agent import BUDGET, call

from researchdesk.tools.workspace import open_desk

HOSTILE = {
    "CON.md": "a device",
    ".bashrc": "a hidden file",
    "-rf.md": "an option",
    'What "is" it?.md': "signs",
    "文" * 80: "a long name",
}


@pytest.fixture(autouse=True)
def ann(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ann works in an empty folder, upon the desk in its `home`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RESEARCHDESK_HOME", "home")
    monkeypatch.setenv("RESEARCHDESK_ACTOR", "human:ann")


def parsed(*arguments: str | Path) -> Any:
    done = call(*arguments, "--json")
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


def paths(folder: str = "") -> list[str]:
    return [file["path"] for file in parsed("desk", "ls", *([folder] if folder else []))]


def tree(folder: str) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text()
        for path in sorted(Path(folder).rglob("*"))
        if path.is_file()
    }


def write(files: dict[str, str]) -> None:
    for name, text in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)


def test_files_and_folders_come_to_the_desk_and_what_is_no_text_is_named() -> None:
    write(
        {
            "in/a.md": "a\n",
            "in/deep/b.csv": BUDGET,
            "in/.git/config": "x",
            "in/pixel.png": "x",
            "c.txt": "c\n",
        }
    )
    Path("in/bad.md").write_bytes(b"\xff\xfe\xfa")
    Path("in/link.md").symlink_to(Path("c.txt").absolute())
    done = call("desk", "import", "in", "c.txt", "--to", "box")
    assert done.exit_code == 0
    assert [line.split()[:3] for line in done.stdout.splitlines()[1:]] == [
        ["box/in/a.md", "markdown", "2"],
        ["box/in/deep/b.csv", "spreadsheet", "27"],
        ["box/c.txt", "markdown", "2"],
    ]
    assert done.stderr.splitlines() == [
        "left out  in/bad.md: it is not UTF-8 text (byte 1); save it as UTF-8",
        "left out  in/link.md: it is a link",
        "left out  in/pixel.png: a desk takes md, markdown, txt, csv, xlsx, xlsm",
    ]
    again = parsed("desk", "import", "in", "--to", "box")
    assert [file["rev"] for file in again["files"]] == [1, 1] and len(again["left_out"]) == 3
    assert parsed("desk", "import", ".", "--to", "all")["files"][0]["path"] == "all/c.txt"


def test_a_file_that_is_named_and_cannot_be_read_ends_an_import_before_anything_is_there() -> None:
    write({"a.md": "a\n", "b.pdf": "b", "c.xlsx": "no workbook"})
    done = call("desk", "import", "a.md", "b.pdf", "missing.md", "missing", "c.xlsx")
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.splitlines() == [
        "researchdesk: nothing was imported, since this cannot be read:",
        "b.pdf: a desk takes md, markdown, txt, csv, xlsx, xlsm",
        "missing.md: No such file or directory",
        "missing: No such file or directory",
        'c.xlsx: "c.xlsx" is no .xlsx or .xlsm file, or is encrypted. Save it as .xlsx.',
    ]
    assert not Path("home").exists()


def test_an_import_is_whole_or_not_at_all_and_saves_over_nothing_unasked() -> None:
    write({"in/a.md": "a\n", "in/b.md": "b\n"})
    call("desk", "put", "in/b.md", "-", "--json")
    refused = call("desk", "import", "in")
    assert refused.exit_code == 1
    assert '"in/b.md" already exists' in refused.stderr
    assert refused.stderr.endswith("Nothing was imported. --force saves over it and keeps what it was.\n")
    assert paths() == ["in/b.md"]
    forced = parsed("desk", "import", "in", "--force")
    assert [(file["path"], file["rev"]) for file in forced["files"]] == [("in/a.md", 1), ("in/b.md", 2)]
    (kept,) = parsed("desk", "revisions", "in/b.md")
    assert (kept["op"], kept["chars"]) == ("human_edit", 0)


def test_two_files_for_one_place_are_refused() -> None:
    write({"one/a.md": "1\n", "two/A.md": "2\n"})
    done = call("desk", "import", "one/a.md", "two/A.md", "--force")
    assert done.exit_code == 1 and "two/A.md: it would stand at A.md as one/a.md does" in done.stderr
    assert not Path("home").exists()


def test_what_is_exported_can_be_imported_again() -> None:
    files = {"notes/a.md": "a\r\n", "notes/deep/b.csv": BUDGET, "Für Elise.md": "é\n"}
    for path, text in files.items():
        Path("x").write_bytes(text.encode())
        call("desk", "put", path, "x")
    done = call("desk", "export", "--out", "out")
    assert [line.split("  ")[-1] for line in done.stdout.splitlines()[1:]] == [
        f"out/{path}" for path in sorted(files)
    ]
    assert {path: Path("out", path).read_bytes().decode() for path in files} == files
    assert tree("out") == {path: text.replace("\r\n", "\n") for path, text in files.items()}
    call("desk", "export", "notes", "--out", "part/of/it")
    assert sorted(tree("part/of/it")) == ["a.md", "deep/b.csv"]
    assert call("desk", "import", "out/notes", "out/Für Elise.md").exit_code == 0
    assert [file["rev"] for file in parsed("desk", "ls")] == [1, 1, 1]


def test_one_file_goes_under_a_name_of_ones_own_or_into_a_folder() -> None:
    call("desk", "put", "notes/a.md", "-", "--json")
    Path("out").mkdir()
    assert parsed("desk", "export", "notes/a.md", "--out", "out")[0]["to"] == "out/a.md"
    assert parsed("desk", "export", "notes/a.md", "--out", "new/b.md")[0]["to"] == "new/b.md"


def test_nothing_is_written_over_or_through_a_link_and_nothing_outside_the_target() -> None:
    for path in ("notes/a.md", "notes/b.md"):
        call("desk", "put", path, "-")
    write({"out/notes/b.md": "mine\n", "elsewhere/x": ""})
    refused = call("desk", "export", "--out", "out")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "out/notes/b.md would be written over; --force does it, nothing was written" in refused.stderr
    assert tree("out") == {"notes/b.md": "mine\n"}
    assert call("desk", "export", "--out", "out", "--force").exit_code == 0
    assert tree("out") == {"notes/a.md": "", "notes/b.md": ""}
    Path("linked").mkdir()
    Path("linked/notes").symlink_to(Path("elsewhere").absolute())
    through = call("desk", "export", "--out", "linked", "--force")
    assert (
        through.exit_code == 2 and "linked/notes is a link; nothing is written through it" in through.stderr
    )
    Path("out/notes/a.md").unlink()
    Path("out/notes/a.md").symlink_to(Path("elsewhere/x").absolute())
    over = call("desk", "export", "--out", "out", "--force")
    assert over.exit_code == 2 and "out/notes/a.md is in the way; nothing was written" in over.stderr
    assert tree("elsewhere") == {"x": ""}


def test_names_that_are_not_safe_on_every_system_are_made_so_and_stay_apart() -> None:
    with open_desk() as desk:
        for name, text in HOSTILE.items():
            desk.files.put(name, text, actor="human:ann")
    written = {one["path"]: Path(one["to"]) for one in parsed("desk", "export", "--out", "out")}
    assert {path: to.read_text() for path, to in written.items()} == HOSTILE
    names = sorted(os.listdir("out"))  # noqa: PTH208 - the bare names
    assert len({name.casefold() for name in names}) == len(HOSTILE)
    assert all(name[0].isalnum() and name.isascii() and len(name) <= 120 for name in names)
    assert not any(name.startswith(("con.", "CON.")) for name in names)


def test_spreadsheets_go_as_workbooks_where_asked_and_come_back_as_they_were() -> None:
    sheets = {"q/income.csv": "month,eur\n2027-01-01,900\n", "q/costs.csv": "item,eur\nfood,300\nsum,=B2*2\n"}
    for path, text in sheets.items():
        Path("x").write_text(text)
        call("desk", "put", path, "x")
    assert [one["to"] for one in parsed("desk", "export", "q", "--out", "out", "--xlsx")] == [
        "out/costs.xlsx",
        "out/income.xlsx",
    ]
    assert parsed("desk", "export", "q/costs.csv", "--out", "c.xlsx")[0]["to"] == "c.xlsx"
    assert len(parsed("desk", "export", "q", "--out", "both.xlsx")) == 1
    parsed("desk", "import", "both.xlsx", "c.xlsx", "--to", "back")
    assert paths("back") == ["back/both - costs.csv", "back/both - income.csv", "back/c.csv"]
    for name, path in (
        ("both - costs", "q/costs.csv"),
        ("both - income", "q/income.csv"),
        ("c", "q/costs.csv"),
    ):
        assert parsed("desk", "cat", f"back/{name}.csv")["content"] == sheets[path]


def test_formulas_that_reach_out_of_a_workbook_are_held_back_and_named() -> None:
    Path("x").write_text('a,"=WEBSERVICE(""https://example.org"")"\n')
    call("desk", "put", "a.csv", "x")
    done = call("desk", "export", "a.csv", "--out", "a.xlsx")
    assert done.stderr == "a.xlsx: formulas that reach out stand as text in a!B1\n"


def test_an_export_to_where_no_folder_can_be_says_so() -> None:
    call("desk", "put", "a.md", "-")
    call("desk", "put", "notes/b.md", "-")
    write({"taken": "mine\n"})
    for target, named in (("taken", "taken"), ("taken/below", "taken/below")):
        done = call("desk", "export", "--out", target)
        assert (done.exit_code, done.stdout) == (1, "")
        assert done.stderr.startswith(f"researchdesk: cannot make the folder {named}: ")
    assert Path("taken").read_text() == "mine\n"


def test_an_import_names_the_file_whose_text_is_refused() -> None:
    write({"in/good.csv": "a,b\n", "in/sub/bad.csv": 'a,"b\n'})
    done = call("desk", "import", "in")
    assert done.exit_code == 1
    assert done.stderr.startswith('researchdesk: "in/sub/bad.csv": content: row 1: a quote is never closed.')
    assert paths() == []
