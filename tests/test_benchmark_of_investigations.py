"""The benchmark of investigations measures what a run really holds."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from researchdesk.state.vocabulary import INVESTIGATION_LABEL, RESEARCH_LABEL
from researchdesk.tools.workspace import open_desk

from .desks import Caller
from .tools.investigate.scripts import challenge, entry, figure, link

SCRIPT = Path(__file__).resolve().parents[1] / "benchmarks" / "investigation.py"
FILES = {
    "corpus.toml": '[origins]\n"a/" = "Alpha"\n"b/" = "Beta"\n',
    "a/rules.md": "# Rules\n\nPasswords have at least 8 characters\nin length, says Alpha.\n",
    "b/rules.md": "# Rules\n\nPasswords have at least 12 characters in length, says Beta.\n",
    "b/more.md": "# More\n\nA word about keys.\n",
}
LINE: dict[str, Any] = {
    "id": "one",
    "type": "conflict",
    "question": "How long are passwords?",
    "evidence": [
        {"file": "a/rules.md", "quote": "at least 8 characters in length"},
        {"file": "b/rules.md", "quote": "says Beta"},
        {"file": "b/more.md", "quote": "A word about keys"},
    ],
}


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    spec = importlib.util.spec_from_file_location("investigation_benchmark", SCRIPT)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_files_passages_conflicts_and_checks_of_a_run_are_counted(
    benchmark: ModuleType, corpus: Path, tmp_path: Path
) -> None:
    labels = (RESEARCH_LABEL, INVESTIGATION_LABEL)
    with open_desk(tmp_path / "home") as desk:
        caller = Caller(desk.session("one", labels=labels, sources=desk.corpus_sources([corpus])))
        caller.start(LINE["question"], scope_level="standard")
        caller.ok("search_sources", query="passwords length")
        for name in ("a/rules.md", "b/rules.md"):
            caller.ok("archive_source", locator=f"file:{name}")
        eight = figure(link("s_001", "at least 8 characters\nin length"))
        twelve = figure(link("s_002", "Passwords have at least 12 characters"), value="12")
        caller.ok("notes_append", section="Unverified", entries=[eight, twelve])
        record = entry("contradiction", "8 or 12", about=["c_001", "c_002"])
        caller.ok("notes_append", section="Contradictions", entries=[record])
        asked = challenge(query="no minimum passwords length needed")
        caller.ok("challenge", **asked)
        caller.ok("search_sources", query=asked["query"])
        caller.ok(
            "record_challenge_result", challenge_id="ch_001", outcome="survived", evidence="It repeats it."
        )
        found = benchmark.measure(caller.session, LINE, 1.0)
    assert (found.documents, found.files, found.files_all) == (2, 2, 3)
    assert (found.claims, found.quotes, found.quotes_all) == (2, 1, 3)
    assert (found.contradictions, found.figures) == (1, ("8 against 12 characters (c_001, c_002)",))
    assert (found.verified, found.forbidden, found.outcome) == (0, 0, "unfinished")
    assert (found.challenged, found.challengeable, found.challenges["survived"]) == (1, 2, 1)
    assert [text.partition(":")[0] for text in found.missed] == [
        "file b/more.md",
        "quote in b/rules.md",
        "quote in b/more.md",
    ]
    assert benchmark.total([found, found]).files == 4
