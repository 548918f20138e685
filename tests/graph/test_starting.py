"""Starting a run from Python: what may be given, and what is refused before there is a session."""

from pathlib import Path

import pytest
from langchain_core.language_models.fake_chat_models import FakeListChatModel

import researchdesk as rd

QUESTION = "How wide must a widget be?"


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "guide.md").write_text("# Widget guide\n\nThe widget must be at least 12 millimetres wide.\n")
    return folder


def test_a_single_path_is_a_corpus_whether_it_is_a_text_or_a_path(docs: Path, tmp_path: Path) -> None:
    with rd.open_desk(tmp_path / "home") as desk:
        for corpus in (str(docs), docs):
            result = rd.run_research(desk, QUESTION, corpus=corpus, scope="quick")
            assert (result.status, result.stop_reason) == ("completed", None)
            config = desk.existing(result.session_id).workspace.config
            assert config is not None and config.corpus == (str(docs.resolve()),)
            assert rd.resume_research(desk, result.session_id, corpus=corpus).status == "completed"
            desk.corpus_sources(corpus)
        graph = rd.create_research_graph(desk, corpus=str(docs), scope="quick")
        for given in ({}, {"corpus": [str(docs)]}, {"corpus": str(docs)}):
            state = graph.invoke({"objective": QUESTION, **given})
            assert state["status"] == "completed"


def test_a_model_that_cannot_call_tools_is_refused_before_a_session_is_made(
    docs: Path, tmp_path: Path
) -> None:
    model = FakeListChatModel(responses=["hi"])
    with rd.open_desk(tmp_path / "home") as desk:
        told = r"this model cannot call tools \(no bind_tools\): FakeListChatModel"
        with pytest.raises(rd.UsageError, match=told):
            rd.run_research(desk, QUESTION, corpus=[docs], model=model)
        with pytest.raises(rd.UsageError, match=told):
            rd.create_research_graph(desk, corpus=[docs], model=model).invoke({"objective": QUESTION})
        assert desk.sessions() == []


def test_a_corpus_without_a_document_is_refused_before_a_session_is_made(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with rd.open_desk(tmp_path / "home") as desk:
        with pytest.raises(rd.UsageError, match="can be read; name a folder with documents"):
            rd.run_research(desk, QUESTION, corpus=[tmp_path / "empty"])
        assert desk.sessions() == []


def test_a_question_that_no_store_can_take_as_it_is_starts_a_run_and_takes_it_up_again(
    docs: Path, tmp_path: Path
) -> None:
    asked = "How wide\x1b must a\x00 widget be?"
    with rd.open_desk(tmp_path / "home") as desk:
        for _ in range(2):
            result = rd.run_research(desk, asked, corpus=docs, scope="quick", session_id="widgets")
            assert (result.status, result.stop_reason) == ("completed", None)
        run = desk.existing("widgets").run
        assert run is not None and run.objective == "How wide\ufffd must a\ufffd widget be?"
