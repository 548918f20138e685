"""The documents say what the code does."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate_tables", ROOT / "docs" / "generate_tables.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_of_tables_is_the_one_that_the_schema_generates(generator: ModuleType) -> None:
    assert (ROOT / "docs" / "tables.md").read_text(encoding="utf-8") == generator.page(), (
        "run `python docs/generate_tables.py`"
    )


def test_the_readme_names_the_rooms_that_exist() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    rooms = sorted(link.name for link in (ROOT / ".src" / "researchdesk").iterdir() if link.is_symlink())
    assert rooms == ["evals", "graph", "state", "stores", "tools"]
    assert all(f"| `{room}/` |" in readme for room in rooms)
