"""Several providers asked for one query: their hits by reciprocal rank, their failures by name."""

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from researchdesk.tools.sources import gathering
from researchdesk.tools.sources.gathering import Sources
from researchdesk.tools.sources.ports import FetchRefused, Hit, SearchFailed, SearchOutcome, SearchProvider
from researchdesk.tools.sources.scripted import InTurn, ScriptedSource
from researchdesk.tools.workspace import Desk

from ...desks import Caller


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that calls would have waited between two tries; nobody does."""
    slept: list[float] = []
    monkeypatch.setattr(gathering._patiently, "sleep", slept.append)
    return slept


def hit(locator: str, title: str | None = "Sky", snippet: str = "blue", score: float = 9.0) -> Hit:
    return Hit(
        locator=locator,
        title=title,
        snippet=snippet,
        start=-1,
        score=score,
        origin="sky.org",
        media_type="text/html",
    )


def provider(name: str, *hits: Hit) -> ScriptedSource:
    return ScriptedSource(searches={"sky": hits}, name=name)


def failing(name: str, code: str, *, retry_after: float | None = None) -> ScriptedSource:
    problem = SearchFailed(code, f"told by {name}", retry_after=retry_after)
    return ScriptedSource(searches={"sky": problem}, name=name)


def caller(desk: Desk, *providers: SearchProvider) -> Caller:
    made = Caller(desk.session("s1", sources=Sources(providers=providers)))
    made.start()
    return made


def recorded(research: Caller) -> list[tuple[str, float]]:
    run = research.session.run
    assert run is not None
    return [(found.locator, found.score) for found in next(iter(run.searches)).hits]


def test_what_several_find_stands_above_what_one_finds(desk: Desk) -> None:
    first = provider("first", hit("https://a.org/"), hit("https://b.org/"))
    second = provider("second", hit("https://b.org/"), hit("https://c.org/"))
    research = caller(desk, first, second)
    assert research.ok("search_sources", query="sky").data["hits"] == [
        "https://b.org/",
        "https://a.org/",
        "https://c.org/",
    ]
    assert recorded(research) == [
        ("https://b.org/", 1 / 61 + 1 / 62),
        ("https://a.org/", 1 / 61),
        ("https://c.org/", 1 / 62),
    ]
    assert desk.ledger.query("SELECT provider, hits, total FROM searches") == [
        {"provider": "first, second", "hits": 3, "total": 4}
    ]
    assert desk.verify().ok


def test_one_page_in_two_spellings_is_one_hit_with_the_words_of_who_has_it_higher(desk: Desk) -> None:
    first = provider("first", hit("https://a.org/"), hit("http://B.org:80/x?utm_source=y#z", title="A title"))
    second = provider("second", hit("https://b.org/x", title=None, snippet="the better snippet"))
    research = caller(desk, first, second)
    research.ok("search_sources", query="sky")
    run = research.session.run
    assert run is not None
    best = next(iter(run.searches)).documents[0]
    assert (best.locator, best.title, best.snippet) == ("https://b.org/x", "A title", "the better snippet")


def test_the_passages_of_a_local_document_stay_together_and_the_limit_counts_documents(desk: Desk) -> None:
    local = provider(
        "corpus", hit("file:a.md"), hit("file:a.md", snippet=""), hit("file:b.md"), hit("file:c.md")
    )
    web = provider("web", hit("https://a.org/"))
    research = caller(desk, local, web)
    research.ok("search_sources", query="sky", limit=3)
    assert [locator for locator, _ in recorded(research)] == [
        "file:a.md",
        "file:a.md",
        "https://a.org/",
        "file:b.md",
    ]


def test_one_provider_alone_is_recorded_with_its_scores_under_the_pages_own_locators(desk: Desk) -> None:
    odd = hit("https://a.org/?utm_source=x", score=0.123)
    research = caller(desk, provider("only", odd))
    research.ok("search_sources", query="sky")
    assert recorded(research) == [("https://a.org/", 0.123)]


@pytest.mark.parametrize("others", [0, 1])
def test_a_page_that_was_found_without_tls_is_read_without_it(desk: Desk, others: int) -> None:
    pages = ScriptedSource(pages={"https://a.org/old": "The sky is blue."})
    found = [provider("old", hit("http://a.org:80/old")), provider("new", hit("https://b.org/"))]
    research = Caller(desk.session("s1", sources=Sources(providers=found[: 1 + others], fetchers=(pages,))))
    research.start()
    research.ok("search_sources", query="sky")
    run = research.session.run
    assert run is not None
    assert set(run.leads) >= {"https://a.org/old"}
    research.ok("archive_source", locator="https://a.org/old")
    assert list(pages.fetch_calls) == ["http://a.org:80/old"]
    run = research.session.run
    assert run is not None
    receipt = run.fetched_sources[0].receipt
    assert receipt is not None
    assert (run.fetched_sources[0].url, receipt.requested) == ("https://a.org/old", "http://a.org:80/old")


def test_a_provider_that_fails_is_told_beside_the_hits_of_the_others(desk: Desk, waits: list[float]) -> None:
    research = caller(desk, failing("brave", "search_rate_limited"), provider("arxiv", hit("https://a.org/")))
    result = research.ok("search_sources", query="sky")
    assert "1 documents found. No answer from brave (search_rate_limited)." in result.text
    run = research.session.run
    assert run is not None
    search = next(iter(run.searches))
    assert (search.provider, search.failed) == ("arxiv", (("brave", "search_rate_limited"),))
    assert len(waits) == 2


def test_nothing_found_while_one_failed_proves_nothing_and_can_be_asked_again(
    desk: Desk, waits: list[float]
) -> None:
    down = SearchFailed("search_unavailable", "down", transient=False)
    flaky = ScriptedSource(searches={"sky": InTurn((down, (hit("https://a.org/"),)))}, name="brave")
    research = caller(desk, provider("arxiv"), flaky)
    research.session.start_investigation()
    empty = research.ok("search_sources", query="sky")
    assert "Nothing was found for 'sky'. No answer from brave (search_unavailable)." in empty.text
    frontier = research.session.frontier
    assert frontier is not None
    (attempt,) = frontier.tried("q_001")
    assert (attempt.cause, attempt.outcome) == (
        "infrastructure",
        "nothing by arxiv; no answer from brave",
    )
    assert research.ok("search_sources", query="sky").data["hits"] == ["https://a.org/"]


@pytest.mark.parametrize(
    ("codes", "told"),
    [
        (("search_bad_query", "search_unavailable"), "search_unavailable"),
        (("search_unavailable", "search_timeout"), "search_timeout"),
        (("search_timeout", "search_rate_limited", "search_bad_query"), "search_rate_limited"),
        (("search_bad_query", "search_bad_query"), "search_bad_query"),
    ],
)
def test_when_all_fail_the_most_telling_failure_is_told_with_all_texts(
    desk: Desk, codes: tuple[str, ...], told: str, waits: list[float]
) -> None:
    research = caller(desk, *(failing(f"p{number}", code) for number, code in enumerate(codes)))
    assert research.refused("search_sources", query="sky") == told
    text = research("search_sources", query="sky").text
    assert all(f"p{number}: told by p{number}" in text for number in range(len(codes)))


def test_a_short_wait_that_a_service_asks_for_is_kept_and_a_long_one_ends_the_call(
    desk: Desk, waits: list[float]
) -> None:
    patient, gone = (
        failing("soon", "search_rate_limited", retry_after=2.0),
        failing("late", "search_rate_limited", retry_after=3_600.0),
    )
    assert caller(desk, patient, gone).refused("search_sources", query="sky") == "search_rate_limited"
    assert waits == [2.0, 2.0]
    assert (patient.search_calls["sky"], gone.search_calls["sky"]) == (3, 1)


def test_a_query_that_was_shortened_is_recorded_as_it_was_asked(desk: Desk) -> None:
    class Short(ScriptedSource):
        def search(self, query: str, *, limit: int) -> SearchOutcome:
            return replace(super().search(query, limit=limit), asked="sk")

    research = caller(desk, Short(name="short"), provider("long", hit("https://a.org/")))
    research.ok("search_sources", query="sky")
    run = research.session.run
    assert run is not None
    assert next(iter(run.searches)).asked == (("short", "sk"),)


def test_providers_are_asked_at_the_same_time(desk: Desk) -> None:
    together = threading.Barrier(3)

    class Meeting(ScriptedSource):
        def search(self, query: str, *, limit: int) -> SearchOutcome:
            together.wait(timeout=30)
            return super().search(query, limit=limit)

    research = caller(desk, *(Meeting(name=f"p{number}") for number in range(3)))
    research.ok("search_sources", query="sky")


def test_a_document_is_read_by_the_first_fetcher_that_has_it(desk: Desk) -> None:
    def reader(**pages: FetchRefused | str) -> ScriptedSource:
        return ScriptedSource(pages={f"file:{name}.md": page for name, page in pages.items()})

    gone, blocked = FetchRefused("fetch_not_found", "first"), FetchRefused("fetch_unsafe", "left out")
    first = reader(a=gone, b=blocked, c=gone)
    second = reader(a="The second one has it.", b="never asked", c=FetchRefused("fetch_not_found", "second"))
    research = Caller(desk.session("s1", sources=Sources(fetchers=(first,)) + Sources(fetchers=(second,))))
    research.start()
    research.ok("archive_source", locator="file:a.md")
    assert research.refused("archive_source", locator="file:b.md") == "fetch_unsafe"
    assert second.fetch_calls["file:b.md"] == 0
    assert research("archive_source", locator="file:c.md").text == "first"


def test_a_desk_searches_and_reads_a_corpus_and_the_web_together(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "sky.md").write_text("# Sky\n\nThe sky is blue.\n")
    web = provider("web", hit("https://a.org/"))
    pages = ScriptedSource(pages={"https://a.org/": "The sky of the web is blue."})
    sources = desk.corpus_sources([tmp_path / "docs"]) + desk.web_sources([web], fetcher=pages)
    research = Caller(desk.session("s1", sources=sources))
    research.start()
    hits = research.ok("search_sources", query="sky").data["hits"]
    assert hits == ["file:sky.md", "https://a.org/"]
    for locator in hits:
        research.ok("archive_source", locator=locator)


def test_a_desk_makes_providers_by_name_and_reads_with_its_own_fetcher(desk: Desk) -> None:
    sources = desk.web_sources(["wikipedia", "arxiv"])
    assert [one.name for one in sources.providers] == ["wikipedia", "arxiv"]
    (fetcher,) = sources.fetchers
    assert fetcher.accepts("https://a.org/")
