"""Where the data of these tests is; and small corpora that are researched by the real graph."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[3]))

from tests.graph.offline.runs import Run, investigate

Researched = Callable[..., Run]


@pytest.fixture
def researched(tmp_path: Path) -> Researched:
    """Research a question in a few texts: ``researched(texts, question, origins=…, scope=…)``."""

    def run(texts: dict[str, str], question: str, **options: object) -> Run:
        return investigate(tmp_path, texts, question, **options)  # type: ignore[arg-type]

    return run


@pytest.fixture(scope="session")
def guidance(data_dir: Path) -> Path:
    """The folder of authentication guidance, or a skip."""
    folder = data_dir / "auth-guidance"
    if not folder.is_dir():
        pytest.skip("RESEARCHDESK_TEST_DATA has no auth-guidance")
    return folder
