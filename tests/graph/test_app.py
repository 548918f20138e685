"""The graph that a LangGraph server serves."""

import importlib.util
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_the_exported_graph_has_no_checkpointer_and_opens_nothing_on_import(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RESEARCHDESK_HOME", str(tmp_path / "home"))
    from researchdesk.graph.app import graph

    assert graph.checkpointer is None
    assert {"open_run", "knowledge_base", "report_writing", "close_run"} <= set(graph.get_graph().nodes)
    assert not (tmp_path / "home").exists()


def test_langgraph_json_names_the_exported_graph() -> None:
    named = json.loads((ROOT / "langgraph.json").read_text())["graphs"]["research"]
    path, _, attribute = named.partition(":")
    assert (ROOT / path).is_file()
    assert attribute == "graph"


@pytest.mark.skipif(
    importlib.util.find_spec("langgraph_api") is None, reason="langgraph-cli[inmem] is not installed"
)
def test_langgraph_dev_serves_a_whole_run_without_a_key(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "guide.md").write_text("# Widget guide\n\nThe widget must be at least 12 millimetres wide.\n")
    (docs / "standard.md").write_text(
        "# Widget standard\n\nA widget shall be at least 10 millimetres wide.\n"
    )
    (tmp_path / "graph").symlink_to(ROOT / "graph")  # the server looks for paths from where it is started
    shutil.copy(ROOT / "langgraph.json", tmp_path)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {
        **os.environ,
        "RESEARCHDESK_HOME": str(tmp_path / "home"),
        "RESEARCHDESK_CORPUS": str(docs),
        "LANGSMITH_TRACING": "false",
    }
    command = [
        shutil.which("langgraph", path=str(Path(sys.executable).parent)) or "langgraph",
        "dev",
        "--no-browser",
    ]
    command += ["--no-reload", "--port", str(port)]
    with (tmp_path / "server.log").open("wb") as log:
        server = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=log, stderr=log)
        try:
            base = f"http://127.0.0.1:{port}"
            _wait_for(f"{base}/ok")
            thread = _post(f"{base}/threads", {})["thread_id"]
            given = {"objective": "How wide must a widget be?", "scope_level": "quick", "template": "general"}
            ended = _post(f"{base}/threads/{thread}/runs/wait", {"assistant_id": "research", "input": given})
        finally:
            server.terminate()
            server.wait(timeout=20)
    assert ended["status"] == "completed", (tmp_path / "server.log").read_text()
    assert ended["session_id"] == thread
    assert "BlockingError" not in (tmp_path / "server.log").read_text()


def _wait_for(url: str) -> None:
    for _ in range(120):
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except OSError:
            time.sleep(0.5)
    raise AssertionError(f"{url} did not answer")


def _post(url: str, body: dict[str, Any]) -> dict[str, Any]:
    request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=120) as answer:
        found: dict[str, Any] = json.load(answer)
        return found
