"""Providers and fetchers that break in ways of their own: a refusal for their call, and nothing else is lost."""

from collections.abc import Callable
from typing import Any

import pytest

from researchdesk.state.errors import Refusal, Unavailable, UsageError
from researchdesk.tools.sources.gathering import Sources
from researchdesk.tools.sources.ports import Fetched, FetchRefused, Hit, SearchOutcome, StoppedEarly
from researchdesk.tools.sources.scripted import ScriptedSource
from researchdesk.tools.workspace import Desk

from ...desks import Caller, scripted_source

PAGE = "https://b.org/"
TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3


class Broken(ScriptedSource):
    """Searches, accepts and reads as it is told: an exception is raised, anything else is the answer."""

    def __init__(self, search: Any = (), accepts: Any = True, page: Any = None) -> None:
        super().__init__(name="broken")
        self.tries = 0
        self._does = {"search": search, "accepts": accepts, "fetch": page}

    def _do(self, what: str) -> Any:
        self.tries += what != "accepts"
        if isinstance(self._does[what], BaseException):
            raise self._does[what]
        return self._does[what]

    def search(self, query: str, *, limit: int) -> SearchOutcome:
        return self._do("search")  # type: ignore[no-any-return]

    def accepts(self, locator: str) -> bool:
        return self._do("accepts")  # type: ignore[no-any-return]

    def fetch(self, locator: str) -> Fetched:
        return self._do("fetch")  # type: ignore[no-any-return]


def caller(desk: Desk, *sources: ScriptedSource) -> Caller:
    """A started investigation that searches and reads in these."""
    made = Caller(desk.session("s1", sources=Sources(providers=sources, fetchers=sources)))
    made.start()
    made.session.start_investigation()
    return made


def attempts(research: Caller) -> list[tuple[str, str, str]]:
    """Kind, query and cause of each."""
    frontier = research.session.frontier
    assert frontier is not None
    return [(one.kind, one.query, one.cause) for one in frontier.tried("q_001")]


def hit(**other: Any) -> Hit:
    given = {"locator": PAGE, "title": "B", "snippet": "b", "start": 0, "score": 1.0, "origin": "b.org"}
    return Hit(**{**given, "media_type": "text/plain", **other})


SEARCHES: dict[str, tuple[Any, str]] = {
    "a bug": (KeyError("results"), "The search provider broken failed (KeyError: 'results')."),
    "its own error": (RuntimeError("no\nconnection"), "broken failed (RuntimeError: no connection)."),
    "an error without words": (OSError(), "broken failed (OSError)."),
    "no answer": (None, "The search provider broken failed (AttributeError: "),
    "something else": ([hit()], "The search provider broken failed (AttributeError: "),
    "hits of another form": (
        SearchOutcome(provider="x", hits=(hit(score="?"),), total=1),
        "The search failed (",
    ),
}


@pytest.mark.parametrize("name", SEARCHES)
def test_a_provider_that_breaks_is_unavailable_and_asked_once(desk: Desk, name: str) -> None:
    does, told = SEARCHES[name]
    source = Broken(search=does)
    research = caller(desk, source)
    result = research("search_sources", query="sky")
    assert (result.data["code"], source.tries) == ("search_unavailable", 1)
    assert told in result.text
    assert attempts(research) == [("search", "sky", "infrastructure")]
    assert desk.verify().problems == ()


def test_what_the_others_found_is_kept(desk: Desk) -> None:
    research = caller(desk, Broken(search=KeyError("results")), scripted_source())
    found = research.ok("search_sources", query="sky")
    assert found.data["hits"] == [PAGE]
    assert "No answer from broken (search_unavailable)." in found.text


FETCHES: dict[str, tuple[Broken, str]] = {
    "a bug": (Broken(page=KeyError("body")), "The reader Broken failed (KeyError: 'body')."),
    "its own error": (Broken(page=RuntimeError("gone")), "The reader Broken failed (RuntimeError: gone)."),
    "a question it cannot answer": (
        Broken(accepts=IndexError("0")),
        "The reader Broken failed (IndexError: 0).",
    ),
    "no answer": (Broken(page=None), "What was read failed (AttributeError: "),
}


@pytest.mark.parametrize("name", FETCHES)
def test_a_fetcher_that_breaks_says_nothing_of_the_document(desk: Desk, name: str) -> None:
    source, told = FETCHES[name]
    research = caller(desk, source)
    result = research("archive_source", locator=PAGE)
    assert result.data["code"] == "fetch_unreadable"
    assert told in result.text
    assert source.tries <= 1
    assert attempts(research) == [("fetch", PAGE, "infrastructure")]
    assert list(desk.ledger.body_hashes()) == []
    assert desk.verify().problems == ()


@pytest.mark.parametrize(
    ("refusal", "cause"),
    [
        (FetchRefused("fetch_unreadable", "status 500", transient=True), "infrastructure"),
        (FetchRefused("fetch_not_found", "nothing answers", transient=True), "infrastructure"),
        (FetchRefused("fetch_timeout", "late", transient=False), "infrastructure"),
        (FetchRefused("fetch_blocked", "status 403"), "infrastructure"),
        (FetchRefused("fetch_not_found", "status 404"), "evidence"),
        (FetchRefused("fetch_unreadable", "a locked PDF"), "evidence"),
        (FetchRefused("fetch_empty", "no text"), "evidence"),
        (Refusal("fetch_unsafe", "no such locator"), "evidence"),
    ],
)
def test_only_what_says_something_of_the_document_counts_as_evidence(
    desk: Desk, refusal: Refusal, cause: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("researchdesk.tools.sources.gathering._patiently.sleep", lambda seconds: None)
    research = caller(desk, Broken(page=refusal))
    assert research.refused("archive_source", locator=PAGE) == refusal.code
    assert attempts(research) == [("fetch", PAGE, cause)]


def test_a_secret_in_an_error_and_the_way_to_a_file_are_not_told(desk: Desk) -> None:
    problem = RuntimeError(f"cannot open /home/anna/.keys/all.txt with {TOKEN}")
    research = caller(desk, Broken(search=problem, page=problem))
    for result in (research("search_sources", query="sky"), research("archive_source", locator=PAGE)):
        assert "RuntimeError: cannot open …/all.txt with" in result.text
    assert TOKEN not in str(research.session.events())
    assert "anna" not in str(research.session.events())


@pytest.mark.parametrize(
    "problem",
    [StoppedEarly(), Unavailable("the disk is full"), UsageError("no address"), KeyboardInterrupt()],
)
@pytest.mark.parametrize("searches", [True, False])
def test_what_has_to_end_everything_passes_and_leaves_no_record(
    desk: Desk, problem: BaseException, searches: bool
) -> None:
    research = caller(desk, Broken(search=problem, page=problem))
    does: Callable[[], object] = (
        (lambda: research("search_sources", query="sky"))
        if searches
        else (lambda: research("archive_source", locator=PAGE))
    )
    before = research.session.workspace.seq
    with pytest.raises(type(problem)):
        does()
    assert research.session.workspace.seq == before
