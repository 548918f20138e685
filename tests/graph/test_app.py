"""The graph that a LangGraph server serves."""

import importlib
import importlib.util
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from researchdesk.graph.checkpoints import checkpointer_of, safe_serializer
from researchdesk.tools.workspace import open_desk

ROOT = Path(__file__).resolve().parents[2]
CONFIGURATIONS = ("langgraph.json", "langgraph.server.json")
GIVEN = {"objective": "How wide must a widget be?", "scope_level": "quick", "template": "general"}


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "guide.md").write_text("# Widget guide\n\nThe widget must be at least 12 millimetres wide.\n")
    (folder / "standard.md").write_text(
        "# Widget standard\n\nA widget shall be at least 10 millimetres wide.\n"
    )
    return folder


def test_the_exported_graph_has_no_checkpointer_and_opens_nothing_on_import(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RESEARCHDESK_HOME", str(tmp_path / "home"))
    from researchdesk.graph.app import graph

    assert graph.checkpointer is None
    assert {"open_run", "knowledge_base", "report_writing", "close_run"} <= set(graph.get_graph().nodes)
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_each_configuration_names_the_exported_graph_and_what_a_shell_passes_on(name: str) -> None:
    configuration = json.loads((ROOT / name).read_text())
    path, _, attribute = configuration["graphs"]["research"].partition(":")
    assert (ROOT / path).is_file()
    assert attribute == "graph"
    # The image is built by a shell command that holds these as they stand.
    assert all(re.fullmatch(r"[\w.~=\[\]-]+", one) for one in configuration["dependencies"])


@pytest.fixture
def served(docs: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The exported graph of a process with this environment."""
    monkeypatch.setenv("RESEARCHDESK_CORPUS", str(docs))
    monkeypatch.delitem(sys.modules, "researchdesk.graph.app", raising=False)
    yield importlib.import_module("researchdesk.graph.app").graph
    sys.modules.pop("researchdesk.graph.app", None)


@pytest.mark.parametrize("saver", ["memory", "postgres"])
def test_the_exported_graph_runs_on_a_server_desk_with_the_platforms_checkpointer(
    postgres: str, monkeypatch: pytest.MonkeyPatch, saver: str, docs: Path, served: Any
) -> None:
    monkeypatch.setenv("RESEARCHDESK_HOME", postgres)
    thread = {"configurable": {"thread_id": "0f5c9f0e-8c5e-4d0e-9f43-1d6b0d0a1a11"}}
    with open_desk(postgres) as desk, checkpointer_of(desk) as on_server:
        checkpointer = InMemorySaver(serde=safe_serializer()) if saver == "memory" else on_server
        graph = served.copy(update={"checkpointer": checkpointer})
        ended = graph.invoke(GIVEN, thread)
        assert (ended["status"], ended["session_id"]) == ("completed", thread["configurable"]["thread_id"])
        assert graph.get_state(thread).values["report_artifact_id"] == ended["report_artifact_id"]
        again = graph.invoke({}, thread)
        assert again == ended
        session = desk.existing(ended["session_id"])
        assert session.workspace.config is not None
        assert session.workspace.config.corpus == (str(docs.resolve()),)
        assert desk.verify().problems == ()


@pytest.mark.parametrize(
    ("corpus", "web", "given"),
    [
        ("", "", (["."], [])),
        ("", "wikipedia, arxiv", ([], ["wikipedia", "arxiv"])),
        ("a:b", "arxiv", (["a", "b"], ["arxiv"])),
    ],
)
def test_the_environment_says_where_a_server_may_look(
    monkeypatch: pytest.MonkeyPatch, corpus: str, web: str, given: tuple[list[str], list[str]]
) -> None:
    asked: dict[str, Any] = {}
    monkeypatch.setattr("researchdesk.graph.research.create_research_graph", asked.update)
    monkeypatch.setenv("RESEARCHDESK_CORPUS", corpus)
    monkeypatch.setenv("RESEARCHDESK_WEB", web)
    monkeypatch.setenv("RESEARCHDESK_MODEL", "")
    monkeypatch.delitem(sys.modules, "researchdesk.graph.app", raising=False)
    importlib.import_module("researchdesk.graph.app")
    sys.modules.pop("researchdesk.graph.app")
    assert asked == {"corpus": given[0], "web": given[1], "model": "offline"}


@pytest.fixture(params=["folder", "server"])
def deployment(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str]:
    """A configuration and the home it is used with."""
    if request.param == "server":
        return "langgraph.server.json", request.getfixturevalue("postgres")
    return "langgraph.json", str(tmp_path / "home")


@pytest.mark.skipif(
    importlib.util.find_spec("langgraph_api") is None, reason="langgraph-cli[inmem] is not installed"
)
def test_langgraph_dev_serves_a_whole_run_without_a_key(
    tmp_path: Path, docs: Path, deployment: tuple[str, str]
) -> None:
    configuration, home = deployment
    (tmp_path / "graph").symlink_to(ROOT / "graph")  # the server looks for paths from where it is started
    shutil.copy(ROOT / configuration, tmp_path)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {
        **os.environ,
        "RESEARCHDESK_HOME": home,
        "RESEARCHDESK_CORPUS": str(docs),
        "LANGSMITH_TRACING": "false",
    }
    command = [
        shutil.which("langgraph", path=str(Path(sys.executable).parent)) or "langgraph",
        "dev",
        "--no-browser",
    ]
    command += ["--no-reload", "--port", str(port), "--config", configuration]
    with (tmp_path / "server.log").open("wb") as log:
        server = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=log, stderr=log)
        try:
            base = f"http://127.0.0.1:{port}"
            _wait_for(f"{base}/ok")
            thread = _post(f"{base}/threads", {})["thread_id"]
            ended = _post(f"{base}/threads/{thread}/runs/wait", {"assistant_id": "research", "input": GIVEN})
        finally:
            server.terminate()
            server.wait(timeout=20)
    assert ended["status"] == "completed", (tmp_path / "server.log").read_text()
    assert ended["session_id"] == thread
    assert "BlockingError" not in (tmp_path / "server.log").read_text()
    with open_desk(home) as desk:
        assert desk.verify().problems == ()


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
