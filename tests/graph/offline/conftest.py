"""Where the data of these tests is; and the repository on the path, so that tests can share the fake desk."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[3]))


@pytest.fixture(scope="session")
def guidance(data_dir: Path) -> Path:
    """The folder of authentication guidance, or a skip."""
    folder = data_dir / "auth-guidance"
    if not folder.is_dir():
        pytest.skip("RESEARCHDESK_TEST_DATA has no auth-guidance")
    return folder
