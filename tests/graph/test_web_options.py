"""The web as an option of a run: named providers only, remembered, and nothing of the web without them."""

from pathlib import Path

import pytest

import researchdesk as rd
from researchdesk.graph.options import RunOptions, remembered_options, sources_of
from researchdesk.tools.sources.ports import Fetcher
from researchdesk.tools.sources.scripted import ScriptedSource
from researchdesk.tools.sources.web.fetcher import WebFetcher

from .scripted_model import ScriptedModel, call, says


def run_that_asks_for_a_page(desk: rd.Desk, corpus: Path, **options: object) -> rd.Session:
    """A run whose model asks for a web page at once and then falls silent."""

    def script(view: dict[str, object]) -> object:
        return says(call("archive_source", locator="https://sky.org/blue")) if not view["last"] else says()

    rd.run_research(
        desk,
        "Why is the sky blue?",
        corpus=[corpus],
        model=ScriptedModel(script=script),
        session_id="s",
        scope="quick",
        **options,  # type: ignore[arg-type]
    )
    return desk.existing("s")


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "sky.md").write_text("# Sky\n\nThe sky is blue because of scattering.\n")
    return folder


def test_without_a_provider_a_page_of_the_web_is_refused_as_unsafe(tmp_path: Path, corpus: Path) -> None:
    with rd.open_desk(tmp_path / "home") as desk:
        session = run_that_asks_for_a_page(desk, corpus)
        assert dict(session.workspace.refused_locators) == {"https://sky.org/blue": "fetch_unsafe"}
        told = [str(row["result"]) for row in desk.ledger.query("SELECT result FROM tool_calls")]
        assert any(
            "pages of the web only where it is started with search providers (--web)" in one for one in told
        )
        assert not any(isinstance(one, WebFetcher) for one in sources_of(desk, RunOptions()).fetchers)


def test_named_providers_are_searched_beside_the_corpus_and_remembered(
    tmp_path: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TAVILY_API_KEY", "k")
    with rd.open_desk(tmp_path / "home") as desk:
        session = run_that_asks_for_a_page(desk, corpus, sources=rd.Sources(), web=["tavily", "arxiv"])
        options = remembered_options(session)
        assert options.web == ("tavily", "arxiv")
        sources = sources_of(desk, options)
        assert [provider.name for provider in sources.providers][1:] == ["tavily", "arxiv"]
        assert all(isinstance(fetcher, Fetcher) for fetcher in sources.fetchers)
        assert remembered_options(session, web=()).web == ()


@pytest.mark.parametrize("name", ["fulltext", "tavily"])
def test_a_provider_that_cannot_be_used_is_told_before_a_run_begins(
    tmp_path: Path, corpus: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TAVILY_API_KEY", raising=False)
    with rd.open_desk(tmp_path / "home") as desk, pytest.raises(rd.UsageError, match=name):
        rd.run_research(desk, "Why is the sky blue?", corpus=[corpus], web=[name])
    with rd.open_desk(tmp_path / "home") as desk:
        assert desk.sessions() == []


def test_a_page_that_two_calls_of_an_answer_ask_for_is_read_once(tmp_path: Path) -> None:
    source = ScriptedSource(
        searches={"sky": [], "sea": []},
        pages={"https://sky.org/blue": "The sky is blue because of scattering."},
    )

    def script(view: dict[str, object]) -> object:
        page = call("archive_source", locator="https://sky.org/blue")
        twice = [page, call("search_sources", query="sky"), page, call("search_sources", query="sky")]
        return says(*twice) if not view["last"] else says()

    with rd.open_desk(tmp_path / "home") as desk:
        sources = rd.Sources(providers=(source,), fetchers=(source,))
        model = ScriptedModel(script=script)
        rd.run_research(
            desk, "Why is the sky blue?", sources=sources, model=model, session_id="s", scope="quick"
        )
        rows = desk.ledger.query(
            "SELECT name, status, result FROM tool_calls WHERE name IN ('archive_source')"
        )
    assert source.fetch_calls == {"https://sky.org/blue": 1}
    assert source.search_calls == {"sky": 1}
    assert len(rows) >= 2 and {row["status"] for row in rows} == {"success"}
