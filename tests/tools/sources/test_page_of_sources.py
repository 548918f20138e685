"""The blocks of Python on the page about sources run as they stand, against servers of this machine."""

import re
import sys
from pathlib import Path
from typing import Any

import pytest
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from .loopback import serving, typed

PAGE = Path(__file__).resolve().parents[3] / "docs" / "sources.md"
SERVER = """
from mcp.server.fastmcp import FastMCP
server = FastMCP("web", log_level="ERROR")

@server.tool()
def search(query: str) -> list[dict[str, str]]:
    return [{"title": query, "url": "https://nist.gov/hash"}]

@server.tool()
def fetch(url: str) -> str:
    return f"Argon2 is advised, says {url}."

server.run()
"""


class Shelf(BaseRetriever):
    """One document that stands nowhere else."""

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        return [Document(page_content=f"About {query}.")]


def test_every_block_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("langchain_mcp_adapters")
    (tmp_path / "server.py").write_text(SERVER)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "hash.md").write_text(
        "# Hash functions\n\nArgon2 is advised for passwords by all.\n"
    )
    monkeypatch.chdir(tmp_path)
    found: dict[str, Any] = {"my_retriever": Shelf()}
    with serving() as wikipedia:
        wikipedia.routes["/w/api.php"] = typed(b'{"query": {"search": []}}', "application/json")
        monkeypatch.setenv("WIKIPEDIA_BASE_URL", wikipedia.url().rstrip("/"))
        for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL):
            own = block.replace('"my-server", "args": []', f'{sys.executable!r}, "args": ["server.py"]')
            exec(compile(own, str(PAGE), "exec"), found)
        assert wikipedia.paths
    with found["desk"]:
        assert (found["result"].status, found["result"].stop_reason) == ("completed", None)
        (search,) = found["sources"].providers
        (hit,) = search.search("sky", limit=5).hits
        assert (
            found["sources"].fetchers[-1].fetch(hit.locator).text == f"Argon2 is advised, says {hit.locator}."
        )
