"""The command `plot`, as a person types it."""

from pathlib import Path

import pytest

import researchdesk as rd

from ..graph.commands import ended, given
from .worlds import Size, made


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plot") / "home"
    with rd.open_desk(folder) as desk:
        for name in ("one", "two"):
            made(desk, Size(questions=3, sources=3, publishers=3, claims=4, calls=2), session_id=name)
    return folder


def test_it_writes_svg_to_stdout_or_a_file_of_the_named_form(home: Path, tmp_path: Path) -> None:
    assert ended("plot", "frontier", "one", "--home", home).startswith("<svg ")
    for kind, name in (
        ("claims", "c.svg"),
        ("timeline", "t.html"),
        ("sources", "s.png"),
        ("coverage", "v.svg"),
    ):
        done = given("plot", kind, "--home", home, "--by", "events", "--out", tmp_path / name)
        assert (done.exit_code, done.stdout) == (0, ""), done.stderr
        assert done.stderr == f"{kind}  {tmp_path / name}\n"
    assert (tmp_path / "t.html").read_text().startswith("<!doctype html>")
    assert (tmp_path / "s.png").read_bytes().startswith(b"\x89PNG")
    assert (
        ">one</text>" in (tmp_path / "v.svg").read_text()
        or ">one, two</text>" in (tmp_path / "v.svg").read_text()
    )


def test_what_cannot_be_drawn_is_told_with_its_exit_code(home: Path, tmp_path: Path) -> None:
    two = given("plot", "sources", "one", "two", "--home", home)
    assert (two.exit_code, two.stdout) == (2, "") and "shows one session, got 2" in two.stderr
    form = given("plot", "cost", "one", "two", "--home", home, "--out", tmp_path / "x.pdf")
    assert form.exit_code == 2 and "ends with .svg, .html, .png" in form.stderr
    none = given("plot", "frontier", "three", "--home", home)
    assert none.exit_code == 1 and "no session 'three'" in none.stderr
    assert list(tmp_path.iterdir()) == []


def test_drawing_loads_nothing_before_it_is_asked_for(home: Path) -> None:
    assert "frontier" in ended("plot", "--help")
    assert "plot" in ended("--help")
