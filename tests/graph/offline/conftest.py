"""A small desk that answers the offline model: an index, an archive and the views built from them."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def guidance() -> Path:
    """The folder of authentication guidance, or a skip."""
    folder = Path(os.environ.get("RESEARCHDESK_TEST_DATA", "/nowhere")) / "auth-guidance"
    if not folder.is_dir():
        pytest.skip("RESEARCHDESK_TEST_DATA has no auth-guidance")
    return folder
