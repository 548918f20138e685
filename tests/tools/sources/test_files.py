"""Walking and reading local files: nothing outside is reached, what is unfit is left out and counted."""

import os
import threading
import time
from pathlib import Path

import pytest

from researchdesk.state.errors import UsageError
from researchdesk.tools.sources.files import CorpusRoot
from researchdesk.tools.sources.leaveout import LeftOut, file_reason, folder_reason
from researchdesk.tools.sources.ports import FetchRefused
from researchdesk.tools.sources.roots import open_roots


def put(folder: Path, name: str, text: str = "text") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def walked(root: CorpusRoot) -> tuple[list[str], dict[str, int]]:
    left_out = LeftOut()
    return [file.path for file in root.walk(left_out)], left_out.counts


def refusal(root: CorpusRoot, path: str) -> str:
    with pytest.raises(FetchRefused) as refused:
        root.read(path)
    return refused.value.code


def test_a_walk_gives_documents_in_a_stable_order(tmp_path: Path) -> None:
    for name in ("b.md", "a.md", "z/a.md", "c/d/e.md", "密码.md", "with space.md"):
        put(tmp_path, name)
    assert walked(CorpusRoot(tmp_path)) == (
        ["a.md", "b.md", "with space.md", "密码.md", "c/d/e.md", "z/a.md"],
        {},
    )


def test_nested_gitignores_hold_where_they_stand(tmp_path: Path) -> None:
    put(tmp_path, ".gitignore", "*.log\n/build/\n!keep.log\n[\n")
    put(tmp_path, "sub/.gitignore", "!special.log\ndraft.md\n")
    for name in (
        "a.log",
        "keep.log",
        "build/x.md",
        "sub/build/x.md",
        "sub/special.log",
        "sub/draft.md",
        "draft.md",
    ):
        put(tmp_path, name)
    root = CorpusRoot(tmp_path)
    assert walked(root) == (["draft.md", "keep.log", "sub/special.log", "sub/build/x.md"], {"gitignored": 3})
    assert root.why_left_out("build/x.md") == root.why_left_out("a.log") == "gitignored"
    assert root.why_left_out("sub/draft.md") == "gitignored"
    assert root.why_left_out("sub/special.log") == root.why_left_out("sub/build/x.md") == ""


@pytest.mark.parametrize(
    "name",
    [
        *(
            ".env",
            ".env.local",
            "prod.env",
            ".ENV",
            "server.pem",
            "tls.key",
            "id_rsa",
            "id_ed25519.pub",
            ".netrc",
        ),
        *(
            ".npmrc",
            ".pypirc",
            "credentials",
            "credentials.json",
            "aws-credentials.csv",
            "kubeconfig",
            "secrets.yaml",
        ),
        *(
            "client_secret_123.json",
            "terraform.tfstate.backup",
            ".git-credentials",
            "keystore.jks",
            "vault.kdbx",
        ),
    ],
)
def test_files_that_hold_secrets_are_left_out(name: str) -> None:
    assert file_reason(name) == "secret"


@pytest.mark.parametrize(
    "name",
    ["credentials.md", "secrets.rst", "passwords.py", "environment.md", "key.md", "keys.txt", "monkey"],
)
def test_documents_about_secrets_are_read(name: str) -> None:
    assert file_reason(name) == ""


def test_tool_folders_and_a_desk_home_are_not_entered(tmp_path: Path) -> None:
    for name in (
        ".git/config",
        "node_modules/a/readme.md",
        "__pycache__/a.txt",
        "a/.venv/x.md",
        "pkg.egg-info/a.txt",
    ):
        put(tmp_path, name)
    put(tmp_path, "myenv/pyvenv.cfg")
    put(tmp_path, "myenv/lib/readme.md")
    put(tmp_path, "desk/ledger.sqlite")
    put(tmp_path, "desk/notes/notes.md")
    assert walked(CorpusRoot(tmp_path)) == ([], {"ignored_folder": 7})
    assert CorpusRoot(tmp_path).why_left_out("desk/notes/notes.md") == "ignored_folder"
    assert folder_reason("Node_Modules") == "ignored_folder"


def test_unfit_files_are_counted_by_reason(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    put(folder, "a.md")
    put(folder, "picture.png")
    with (folder / "big.txt").open("wb") as big:
        big.truncate(25_000_000)
    os.mkfifo(folder / "pipe.md")
    (folder / "inside.md").symlink_to("a.md")
    (folder / "outside.md").symlink_to(put(tmp_path, "elsewhere.md"))
    (folder / "outside").symlink_to(tmp_path)
    (folder / "loop").symlink_to("loop")
    (folder / os.fsdecode(b"bad\xff.md")).write_text("x")
    (folder / "new\nline.md").write_text("x")
    files, counts = walked(CorpusRoot(folder))
    assert files == ["a.md"]
    assert counts == {
        "binary": 1,
        "too_large": 1,
        "special": 1,
        "symlink": 2,
        "symlink_outside": 2,
        "bad_name": 2,
    }


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read anything")
def test_what_may_not_be_read_is_counted(tmp_path: Path) -> None:
    put(tmp_path, "closed/a.md")
    (tmp_path / "closed").chmod(0)
    assert walked(CorpusRoot(tmp_path)) == ([], {"unreadable": 1})
    (tmp_path / "closed").chmod(0o700)


def test_reading_refuses_what_is_no_plain_file_below_the_root(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    put(folder, "sub/a.md", "words")
    secret = put(tmp_path, "secret.md", "secret")
    os.mkfifo(folder / "pipe.md")
    (folder / "link.md").symlink_to(secret)
    (folder / "up").symlink_to(tmp_path)
    with (folder / "big.txt").open("wb") as big:
        big.truncate(1_000_000_000)
    root = CorpusRoot(folder)
    assert root.read("sub/a.md")[0] == b"words"
    for path in (
        "../secret.md",
        "sub/../../secret.md",
        "/etc/passwd",
        "link.md",
        "up/secret.md",
        "pipe.md",
        "",
        "a\0b",
    ):
        assert refusal(root, path) == "fetch_unsafe"
    assert refusal(root, "big.txt") == "fetch_too_large"
    assert refusal(root, "none.md") == refusal(root, "sub") == "fetch_not_found"


def test_a_very_deep_tree_is_walked(tmp_path: Path) -> None:
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(400):
        os.mkdir("d", dir_fd=here)
        inner = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)
    put(tmp_path, "a.md")
    assert walked(CorpusRoot(tmp_path)) == (["a.md"], {})


def test_a_link_that_is_swapped_in_never_leads_outside(tmp_path: Path) -> None:
    folder, outside = tmp_path / "docs", tmp_path / "outside"
    put(folder, "sub/a.md", "inside")
    put(outside, "a.md", "outside")
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            (folder / "sub").rename(folder / "kept")
            (folder / "sub").symlink_to(outside)
            (folder / "sub").unlink()
            (folder / "kept").rename(folder / "sub")

    swapper = threading.Thread(target=swap)
    swapper.start()
    root = CorpusRoot(folder)
    seen, until = set(), time.monotonic() + 0.7
    try:
        while time.monotonic() < until:
            try:
                seen.add(root.read(root.locate("sub/a.md"))[0])
            except FetchRefused as refused:
                assert refused.code in ("fetch_unsafe", "fetch_not_found")
    finally:
        stop.set()
        swapper.join()
    assert seen <= {b"inside"}
    assert root.read(root.locate("sub/a.md"))[0] == b"inside"


def test_roots_of_one_name_are_told_apart_and_files_are_grouped(tmp_path: Path) -> None:
    for name in ("a/docs/x.md", "b/docs/x.md", "c/one.md", "c/two.md", "c/three.md"):
        put(tmp_path, name)
    roots = open_roots(
        [
            tmp_path / "a/docs",
            tmp_path / "b/docs",
            tmp_path / "c/one.md",
            tmp_path / "c/two.md",
            tmp_path / "a/docs",
        ]
    )
    assert [(root.name, sorted(root.only)) for root in roots] == [
        ("a~docs", []),
        ("b~docs", []),
        ("c", ["one.md", "two.md"]),
    ]
    assert [walked(root)[0] for root in roots] == [["x.md"], ["x.md"], ["one.md", "two.md"]]


def test_a_root_inside_another_keeps_its_documents(tmp_path: Path) -> None:
    for name in ("docs/a.md", "docs/sub/b.md", "docs/home/index.sqlite", "docs/home/notes/n.md"):
        put(tmp_path, name)
    outer, inner = open_roots([tmp_path / "docs", tmp_path / "docs/sub"], without=[tmp_path / "docs/home"])
    assert (walked(outer)[0], walked(inner)[0]) == (["a.md"], ["b.md"])


def test_a_path_that_is_not_there_is_a_usage_error(tmp_path: Path) -> None:
    for wrong in ("nowhere", "a\0b", "x" * 5_000):
        with pytest.raises(UsageError, match=r"no such folder or file|is not UTF-8"):
            open_roots([tmp_path / wrong])
    with pytest.raises(UsageError, match="names no path"):
        open_roots([])
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="neither a folder nor a plain file"):
        open_roots([tmp_path / "pipe"])
