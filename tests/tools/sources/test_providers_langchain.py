"""LangChain retrievers and tools, those of MCP servers among them, as search providers and fetchers."""

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import pytest
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import BaseTool, StructuredTool, ToolException
from pydantic import Field

import researchdesk as rd
from researchdesk.tools.sources.ports import FetchRefused, SearchFailed
from researchdesk.tools.workspace import Desk

from ...desks import Caller

SKY = "https://spaceplace.nasa.gov/blue-sky/en/"
TEXT = "The sky is blue because molecules scatter short wavelengths more."


class Shelf(BaseRetriever):
    """Gives its documents whatever the query is."""

    documents: list[Document] = Field(default_factory=list)
    problem: str = ""

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        if self.problem:
            raise RuntimeError(self.problem)
        return self.documents


def test_a_document_with_an_address_is_found_under_it_once() -> None:
    chunks = [
        Document(page_content="<b>First</b> chunk", metadata={"source": SKY, "title": "Why blue?"}),
        Document(page_content="Second chunk", metadata={"source": SKY}),
        Document(page_content="Elsewhere", metadata={"source": "notes.pdf", "url": "https://b.org/x"}),
    ]
    source = rd.from_retriever(Shelf(documents=chunks), name="shelf")
    outcome = source.search("sky", limit=5)
    assert [(hit.locator, hit.title, hit.snippet, hit.start, hit.origin) for hit in outcome.hits] == [
        (SKY, "Why blue?", "First chunk", -1, "nasa.gov"),
        ("https://b.org/x", None, "Elsewhere", -1, "b.org"),
    ]
    assert (outcome.provider, outcome.total, source.accepts(SKY)) == ("shelf", 2, False)


def test_a_document_of_text_alone_is_archived_and_its_receipt_tells_where_it_comes_from(desk: Desk) -> None:
    shelf = Shelf(documents=[Document(page_content=TEXT, metadata={"source": "notes.pdf", "title": "Notes"})])
    source = rd.from_retriever(shelf, name="shelf")
    research = Caller(desk.session("s1", sources=rd.Sources(providers=(source,), fetchers=(source,))))
    research.start()
    (locator,) = research.ok("search_sources", query="sky").data["hits"]
    assert locator.startswith("file:retriever/shelf/")
    research.ok("archive_source", locator=locator)
    run = research.session.run
    assert run is not None
    (archived,) = run.fetched_sources
    assert archived.receipt is not None
    assert (archived.title, archived.origin, archived.receipt.extractor, archived.receipt.note) == (
        "Notes",
        "shelf",
        "retriever shelf",
        "the text as the retriever shelf gave it, not read from the document itself; "
        "it names 'notes.pdf' as its source",
    )
    assert desk.ledger.body(archived.receipt.raw_hash) == TEXT.encode()
    assert desk.verify().ok


def test_a_retriever_and_a_corpus_read_their_own_documents(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "sky.md").write_text("# Sky\n\nThe sky of the corpus is blue.\n")
    corpus = desk.corpus_sources([tmp_path / "docs"])
    source = rd.from_retriever(Shelf(documents=[Document(page_content=TEXT)]))
    both = rd.Sources(providers=(*corpus.providers, source), fetchers=(source, *corpus.fetchers))
    research = Caller(desk.session("s1", sources=both))
    research.start()
    hits = research.ok("search_sources", query="sky").data["hits"]
    assert len(hits) == 2
    for locator in hits:
        research.ok("archive_source", locator=locator)


def test_a_text_that_was_not_found_cannot_be_archived() -> None:
    source = rd.from_retriever(Shelf())
    with pytest.raises(FetchRefused) as caught:
        source.fetch("file:retriever/retriever/0123456789abcdef")
    assert caught.value.code == "fetch_not_found"


def test_a_retriever_that_raises_is_unavailable_and_its_words_are_not_told() -> None:
    source = rd.from_retriever(Shelf(problem="password=hunter2"), name="shelf")
    with pytest.raises(SearchFailed) as caught:
        source.search("sky", limit=5)
    assert (caught.value.code, caught.value.text) == (
        "search_unavailable",
        "The retriever shelf failed (RuntimeError).",
    )


def test_a_retriever_that_hangs_is_left_at_the_deadline() -> None:
    never = threading.Event()

    class Hanging(Shelf):
        def _get_relevant_documents(
            self, query: str, *, run_manager: CallbackManagerForRetrieverRun
        ) -> list[Document]:
            never.wait(5)
            return []

    with pytest.raises(SearchFailed) as caught:
        rd.from_retriever(Hanging(), timeout=0.05).search("sky", limit=5)
    never.set()
    assert caught.value.code == "search_timeout"


RESULTS = [
    {"title": "Why <i>blue</i>?", "url": SKY, "snippet": "short &amp; long"},
    {"name": "B", "link": "https://b.org/x", "description": "d"},
]
PROSE = f"""Found 2 results:

1. Title: Why blue?
   URL: {SKY}
   Content: short waves

- [B](https://b.org/x)
  d
"""


def answering(answer: tuple[Any, Any] | str) -> BaseTool:
    """An async tool in the form that the MCP adapter gives; a text is what it fails with."""

    async def search(query: str, max_results: int = 3) -> tuple[Any, Any]:
        await asyncio.sleep(0)
        if isinstance(answer, str):
            raise ToolException(answer)
        return answer

    return StructuredTool.from_function(
        coroutine=search,
        name="web_search",
        description="Searches.",
        response_format="content_and_artifact",
        handle_tool_error=True,
    )


@pytest.mark.parametrize(
    "answer",
    [
        (json.dumps(RESULTS), None),
        (json.dumps({"web": {"results": RESULTS}}), None),
        ([{"type": "text", "text": json.dumps({"results": RESULTS})}], None),
        ("see the structure", {"structured_content": {"result": RESULTS}}),
        ("see the structure", {"structured_content": {"result": json.dumps(RESULTS)}}),
    ],
)
def test_a_tool_that_answers_with_data_is_a_provider(answer: Any) -> None:
    outcome = rd.from_mcp_tool(answering(answer)).search("sky", limit=5)
    assert [(hit.locator, hit.title, hit.snippet, hit.origin) for hit in outcome.hits] == [
        (SKY, "Why blue?", "short & long", "nasa.gov"),
        ("https://b.org/x", "B", "d", "b.org"),
    ]
    assert outcome.provider == "web_search"


def test_a_tool_that_answers_with_prose_is_a_provider() -> None:
    outcome = rd.from_mcp_tool(answering((PROSE, None)), name="prose").search("sky", limit=5)
    assert [(hit.locator, hit.title, hit.snippet) for hit in outcome.hits] == [
        (SKY, "Why blue?", "Content: short waves"),
        ("https://b.org/x", "B", "d"),
    ]


@pytest.mark.parametrize("answer", ["[]", "No results found.", '{"results": []}', ""])
def test_a_tool_that_finds_nothing_gives_an_empty_answer(answer: str) -> None:
    assert rd.from_mcp_tool(answering((answer, None))).search("sky", limit=5).hits == ()


def test_of_results_without_end_the_first_are_read() -> None:
    many = [{"url": f"https://b.org/{number}"} for number in range(2_000)]
    outcome = rd.from_mcp_tool(answering((json.dumps(many), None))).search("sky", limit=5)
    assert (len(outcome.hits), outcome.total) == (5, 1_000)


def test_an_answer_beyond_all_measure_is_a_failure() -> None:
    with pytest.raises(SearchFailed) as caught:
        rd.from_mcp_tool(answering(("x" * 4_000_001, None))).search("sky", limit=5)
    assert (caught.value.code, caught.value.transient) == ("search_unavailable", False)
    assert "4,000,001 characters; at most 4,000,000 are read" in caught.value.text


def test_prose_made_to_be_slow_is_read_in_time() -> None:
    prose = "[x](https://b.org/x" * 200_000
    assert rd.from_mcp_tool(answering((prose, None))).search("sky", limit=5).total == 1


def test_a_tool_that_says_it_failed_has_failed() -> None:
    with pytest.raises(SearchFailed) as caught:
        rd.from_mcp_tool(answering("quota exceeded")).search("sky", limit=5)
    assert (caught.value.code, "quota exceeded" in caught.value.text) == ("search_unavailable", True)


def test_an_async_tool_is_searched_from_inside_a_running_loop() -> None:
    async def notebook() -> int:
        return len(rd.from_mcp_tool(answering((json.dumps(RESULTS), None))).search("sky", limit=5).hits)

    assert asyncio.run(notebook()) == 2


def test_a_tool_runs_on_the_loop_that_its_session_belongs_to() -> None:
    seen: list[asyncio.AbstractEventLoop] = []

    async def search(query: str) -> str:
        seen.append(asyncio.get_running_loop())
        return json.dumps(RESULTS)

    tool = StructuredTool.from_function(coroutine=search, name="t", description="d")

    async def session() -> None:
        loop = asyncio.get_running_loop()
        await asyncio.to_thread(rd.from_mcp_tool(tool, loop=loop).search, "sky", limit=5)
        assert seen == [loop]

    asyncio.run(session())


def test_a_tool_that_hangs_is_left_at_the_deadline() -> None:
    async def search(query: str) -> str:
        await asyncio.Event().wait()
        return ""

    tool = StructuredTool.from_function(coroutine=search, name="t", description="d")
    with pytest.raises(SearchFailed) as caught:
        rd.from_mcp_tool(tool, timeout=0.05).search("sky", limit=5)
    assert caught.value.code == "search_timeout"


def test_a_sync_tool_of_langchain_is_a_provider_too() -> None:
    def search(q: str) -> str:
        return json.dumps([{"title": q, "url": SKY}])

    tool = StructuredTool.from_function(search, name="t", description="d")
    (hit,) = rd.from_mcp_tool(tool).search("sky", limit=5).hits
    assert (hit.locator, hit.title) == (SKY, "sky")


def reading(answer: str, *, error: bool = False) -> BaseTool:
    async def fetch(url: str) -> str:
        if error:
            raise ToolException(answer)
        return answer

    return StructuredTool.from_function(
        coroutine=fetch, name="fetch", description="d", handle_tool_error=True
    )


def test_a_page_that_a_tool_read_is_archived_and_its_receipt_says_who_read_it(desk: Desk) -> None:
    fetcher = rd.from_mcp_fetch_tool(reading(TEXT))
    research = Caller(desk.session("s1", sources=rd.Sources(fetchers=(fetcher,))))
    research.start()
    research.ok("archive_source", locator=f"{SKY}#top")
    run = research.session.run
    assert run is not None
    (archived,) = run.fetched_sources
    assert archived.receipt is not None
    assert (archived.url, archived.origin, archived.receipt.extractor, archived.receipt.note) == (
        SKY,
        "nasa.gov",
        "tool fetch",
        "the text as the tool fetch gave it; the page itself was not seen",
    )


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("status code 404", "fetch_not_found"),
        ("robots.txt forbids it", "fetch_blocked"),
        ("request timed out", "fetch_timeout"),
        ("broken", "fetch_unreadable"),
    ],
)
def test_a_tool_that_read_nothing_says_why(said: str, code: str) -> None:
    with pytest.raises(FetchRefused) as caught:
        rd.from_mcp_fetch_tool(reading(said, error=True)).fetch(SKY)
    assert caught.value.code == code


@pytest.mark.parametrize(
    "locator",
    ["http://127.0.0.1/", "https://[::1]/", "http://localhost/x", "http://10.0.0.1/", "http://b.org:22/"],
)
def test_a_tool_is_not_sent_to_an_address_that_is_not_public(locator: str) -> None:
    with pytest.raises(FetchRefused) as caught:
        rd.from_mcp_fetch_tool(reading(TEXT)).fetch(locator)
    assert caught.value.code == "fetch_unsafe"


def test_a_tool_of_a_real_mcp_server_is_a_provider(tmp_path: Path) -> None:
    adapters = pytest.importorskip("langchain_mcp_adapters.client")
    server = tmp_path / "server.py"
    server.write_text(
        "from mcp.server.fastmcp import FastMCP\n"
        "server = FastMCP('shelf')\n"
        "@server.tool()\n"
        "def search(query: str, limit: int = 5) -> list[dict[str, str]]:\n"
        f"    return [{{'title': query, 'url': {SKY!r}, 'snippet': str(limit)}}]\n"
        "server.run()\n"
    )
    client = adapters.MultiServerMCPClient(
        {"shelf": {"command": __import__("sys").executable, "args": [str(server)], "transport": "stdio"}}
    )
    (tool,) = asyncio.run(client.get_tools())
    (hit,) = rd.from_mcp_tool(tool, timeout=60).search("sky", limit=2).hits
    assert (hit.locator, hit.title, hit.snippet) == (SKY, "sky", "2")
