"""The scripted source answers as written and counts."""

import pytest

from researchdesk.tools.sources.ports import (
    Fetcher,
    FetchRefused,
    Hit,
    SearchFailed,
    SearchOutcome,
    SearchProvider,
)
from researchdesk.tools.sources.scripted import InTurn, Page, ScriptedSource

HIT = Hit(
    locator="https://nist.gov/a",
    title="A",
    snippet="text",
    start=0,
    score=1.0,
    origin="nist.gov",
    media_type="",
)


def test_a_search_returns_what_the_script_says_and_nothing_for_other_queries() -> None:
    source = ScriptedSource(searches={"length": [HIT, HIT]})
    provider: SearchProvider = source
    assert provider.search("length", limit=1) == SearchOutcome(provider="scripted", hits=(HIT,), total=2)
    assert provider.search("other", limit=5).hits == ()
    assert source.search_calls == {"length": 1, "other": 1}


def test_a_failure_can_come_before_an_answer() -> None:
    limited = SearchFailed("search_rate_limited", "wait")
    source = ScriptedSource(searches={"q": InTurn((limited, [HIT]))})
    with pytest.raises(SearchFailed) as failed:
        source.search("q", limit=5)
    assert failed.value.transient
    assert source.search("q", limit=5).hits == source.search("q", limit=5).hits == (HIT,)


def test_a_page_is_found_under_any_spelling() -> None:
    source = ScriptedSource(pages={"https://www.nist.gov/a": Page(text="body", title="A"), "notes.md": "n"})
    fetcher: Fetcher = source
    assert fetcher.accepts("http://www.NIST.gov/a#x")
    page = fetcher.fetch("http://www.NIST.gov/a#x")
    assert (page.text, page.title, page.origin, page.status) == ("body", "A", "nist.gov", 200)
    assert (page.requested, page.canonical) == ("http://www.NIST.gov/a#x", "https://www.nist.gov/a")
    assert fetcher.fetch("file:notes.md").origin == "scripted"


def test_an_unknown_page_is_not_found_and_a_scripted_refusal_is_raised() -> None:
    blocked = FetchRefused("fetch_blocked", "429", transient=True)
    source = ScriptedSource(pages={"https://nist.gov/b": blocked})
    with pytest.raises(FetchRefused, match="429") as refused:
        source.fetch("https://nist.gov/b")
    assert refused.value.transient
    with pytest.raises(FetchRefused) as missing:
        source.fetch("https://nist.gov/c")
    assert (missing.value.code, missing.value.transient) == ("fetch_not_found", False)
