"""The page about pictures says what the code does."""

import re
import shutil
from pathlib import Path
from typing import Any, get_args

import pytest

from researchdesk.evals import plots
from researchdesk.evals.cli_plot import Kind

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "plots.md").read_text(encoding="utf-8")


def test_the_example_runs_as_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    shutil.copytree(ROOT / "notebooks" / "corpus", tmp_path / "notebooks" / "corpus")
    monkeypatch.chdir(tmp_path)
    found: dict[str, Any] = {}
    exec(compile(example, "plots.md", "exec"), found)
    with found["desk"]:
        assert (tmp_path / "ferry.svg").read_text() == found["plot"].svg()
    said = capsys.readouterr().out
    assert said.startswith("Sources and claims · ferry\n") and "'publisher': " in said


def test_it_names_every_picture_function_and_notebook() -> None:
    for kind in get_args(Kind):
        assert f"| `{kind}` | `plot_{kind}(" in PAGE
        assert hasattr(plots, f"plot_{kind}")
    for notebook in (ROOT / "notebooks").glob("*.ipynb"):
        assert f"(../notebooks/{notebook.name})" in PAGE


def test_its_pictures_are_there_and_load_nothing() -> None:
    named = re.findall(r"!\[[^\]]+\]\(images/(\w+\.svg)\)", PAGE)
    assert len(named) == 4
    for path in (ROOT / "docs" / "images").glob("*.svg"):
        text = path.read_text(encoding="utf-8")
        assert text.startswith("<svg ") and "<script" not in text and "href" not in text
