"""Providers and fetchers whose values no store has a form for: what can be kept is kept, and can be read again."""

import json
from dataclasses import replace
from typing import Any, TypeVar

import pytest

from researchdesk.state import events as ev
from researchdesk.state.stowing import unstow
from researchdesk.tools.sources import gathering
from researchdesk.tools.sources.extracted import MAX_SECTIONS
from researchdesk.tools.sources.gathering import Sources
from researchdesk.tools.sources.ports import (
    Fetched,
    Hit,
    SearchFailed,
    SearchOutcome,
    SearchProvider,
    Section,
)
from researchdesk.tools.sources.scripted import ScriptedSource
from researchdesk.tools.workspace import Desk

from ...desks import SKY, Caller
from .test_providers import SERVICES, Server

Kind = TypeVar("Kind")
PAGE = "https://a.org/x"
LONE = "\\ud800"
"""Half of a character, as JSON spells it."""


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test waits between two tries."""
    monkeypatch.setattr(gathering._patiently, "sleep", lambda seconds: None)


def caller(desk: Desk, *providers: SearchProvider, fetcher: Any = None) -> Caller:
    sources = Sources(providers=providers, fetchers=(fetcher,) if fetcher else ())
    made = Caller(desk.session("s1", sources=sources))
    made.start()
    made.session.start_investigation()
    return made


def recorded(desk: Desk, kind: type[Kind]) -> Kind:
    """The newest event of a kind, as it is read again."""
    assert desk.verify().problems == ()
    events = [stored.event() for stored in desk.existing("s1").events()]
    return next(event for event in reversed(events) if isinstance(event, kind))


def told(desk: Desk) -> str:
    """What the newest call was answered."""
    return unstow(recorded(desk, ev.CallRecorded).text, desk.records.text)


def results(*records: str) -> str:
    return f'{{"results": [{", ".join(records)}]}}'


def record(**more: str) -> str:
    given = {"url": json.dumps(PAGE), "title": '"T"', "content": '"c"', **more}
    return "{" + ", ".join(f'"{name}": {value}' for name, value in given.items()) + "}"


SCORES = ["1e999", "-1e999", "Infinity", "NaN", "1" + "0" * 400, "true", '"9"', "null"]


@pytest.mark.parametrize("service", ["tavily", "searxng"])
@pytest.mark.parametrize("score", SCORES)
def test_a_score_that_is_no_number_is_the_rank(desk: Desk, service: str, score: str) -> None:
    provider = SERVICES[service](Server(results(record(score=score))).transport)
    caller(desk, provider).ok("search_sources", query="sky")
    search = recorded(desk, ev.SearchRecorded)
    assert [(hit.locator, hit.score) for hit in search.hits] == [(PAGE, 1.0)]


HUGE = "9" * 40
TOTALS = {
    "wikipedia": f'{{"query": {{"search": [{{"title": "T"}}], "searchinfo": {{"totalhits": {HUGE}}}}}}}',
    "semantic_scholar": f'{{"total": {HUGE}, "data": [{{"url": "{PAGE}"}}]}}',
    "arxiv": '<feed xmlns="http://www.w3.org/2005/Atom" xmlns:o="http://a9.com/-/spec/opensearch/1.1/">'
    f"<o:totalResults>{HUGE}</o:totalResults><entry><id>{PAGE}</id></entry></feed>",
}


@pytest.mark.parametrize("service", TOTALS)
def test_a_count_beyond_all_numbers_is_what_was_found(desk: Desk, service: str) -> None:
    caller(desk, SERVICES[service](Server(TOTALS[service]).transport)).ok("search_sources", query="sky")
    search = recorded(desk, ev.SearchRecorded)
    assert (search.total, len(search.hits)) == (1, 1)


HALVES = {
    "tavily": results(record(title=f'"T{LONE}"', content=f'"{LONE}c"')),
    "brave": '{"web": ' + results(record(title=f'"T{LONE}"', description=f'"{LONE}c"')) + "}",
    "searxng": results(record(title=f'"T{LONE}"', content=f'"{LONE}c"')),
}


@pytest.mark.parametrize("service", HALVES)
def test_halves_of_characters_are_left_out(desk: Desk, service: str) -> None:
    caller(desk, SERVICES[service](Server(HALVES[service]).transport)).ok("search_sources", query="sky")
    search = recorded(desk, ev.SearchRecorded)
    assert [(hit.locator, hit.title, hit.snippet) for hit in search.hits] == [(PAGE, "T", "c")]


@pytest.mark.parametrize(
    ("service", "body"),
    [
        ("wikipedia", f'{{"query": {{"search": [{{"title": "{LONE}"}}, {{"title": "T"}}]}}}}'),
        (
            "semantic_scholar",
            f'{{"data": [{{"externalIds": {{"DOI": "{LONE}"}}}}, {{"url": "{PAGE}", "title": "T"}}]}}',
        ),
    ],
)
def test_one_bad_result_does_not_cost_the_others(desk: Desk, service: str, body: str) -> None:
    caller(desk, SERVICES[service](Server(body).transport)).ok("search_sources", query="sky")
    search = recorded(desk, ev.SearchRecorded)
    assert search.hits[-1].title == "T"


def test_of_a_list_without_end_the_first_results_are_read(desk: Desk) -> None:
    records = (record(url=f'"{PAGE}/{number}"') for number in range(30_000))
    outcome = SERVICES["tavily"](Server(results(*records)).transport).search("sky", limit=5)
    assert (len(outcome.hits), outcome.total) == (5, 1_000)


@pytest.mark.parametrize(
    ("service", "body"),
    [
        ("wikipedia", f'{{"error": {{"code": "internal", "info": "{LONE}{"x" * 9_000}"}}}}'),
        ("searxng", f'{{"results": [], "unresponsive_engines": [["{"e" * 9_000}{LONE}", "{LONE}"]]}}'),
    ],
)
def test_what_a_service_says_of_its_failure_can_be_recorded(desk: Desk, service: str, body: str) -> None:
    research = caller(desk, SERVICES[service](Server(body).transport))
    assert research.refused("search_sources", query="sky") == "search_unavailable"
    assert len(told(desk)) < 700


class Own(ScriptedSource):
    """A provider and fetcher of somebody's own, which gives what it is told."""

    def __init__(self, *, found: Hit | None = None, page: Fetched | None = None, fails: str = "") -> None:
        super().__init__(name="own")
        self._found, self._page, self._fails = found, page, fails

    def search(self, query: str, *, limit: int) -> SearchOutcome:
        if self._fails:
            raise SearchFailed("search_bad_query", self._fails)
        assert self._found is not None
        return SearchOutcome(provider="own\ud800", hits=(self._found,), total=2**70)

    def accepts(self, locator: str) -> bool:
        return True

    def fetch(self, locator: str) -> Fetched:
        assert self._page is not None
        return self._page


def test_an_own_provider_may_give_anything(desk: Desk) -> None:
    found = Hit(
        locator=PAGE,
        title="T\ud800" + "t" * 9_000,
        snippet="\udfffs",
        start=2**70,
        score=float("-inf"),
        origin="a.org\ud800",
        media_type="text/plain",
    )
    caller(desk, Own(found=found)).ok("search_sources", query="sky")
    search = recorded(desk, ev.SearchRecorded)
    (hit,) = search.hits
    assert (search.provider, search.total, hit.origin, hit.snippet) == ("own", 1, "a.org", "s")
    assert (hit.start, hit.score, len(hit.title or "")) == (-1, 0.0, 500)


def test_an_own_provider_may_fail_with_any_words(desk: Desk) -> None:
    assert caller(desk, Own(fails="\ud800" + "no " * 50_000)).refused("search_sources", query="sky")
    assert told(desk).startswith("no no") and len(told(desk)) == 2_000


def test_an_own_fetcher_may_give_anything(desk: Desk) -> None:
    plain = ScriptedSource(pages={PAGE: SKY}).fetch(PAGE)
    many = tuple(Section(title="T" * 5_000, start=0, end=1, page=0) for _ in range(MAX_SECTIONS + 1))
    page = replace(plain, title="T\ud800", media_type="text/" + "x" * 70_000, sections=many, note="n" * 9_000)
    caller(desk, fetcher=Own(page=page)).ok("archive_source", locator=PAGE)
    source = recorded(desk, ev.SourceRecorded)
    receipt = source.receipt
    assert receipt is not None
    assert (receipt.title, len(receipt.media_type), len(receipt.note)) == ("T", 240, 2_000)
    assert (len(receipt.sections), len(receipt.sections[0].title)) == (MAX_SECTIONS, 240)


def test_a_text_with_halves_of_characters_is_archived_without_them(desk: Desk) -> None:
    plain = ScriptedSource(pages={PAGE: SKY}).fetch(PAGE)
    section = Section(title="T", start=0, end=4, page=0)
    page = replace(plain, text="\ud800" + SKY, sections=(section,))
    archived = caller(desk, fetcher=Own(page=page)).ok("archive_source", locator=PAGE)
    source = recorded(desk, ev.SourceRecorded)
    assert source.receipt is not None and source.receipt.sections == ()  # their offsets are of the other text
    run = desk.existing("s1").run
    assert run is not None
    assert desk.records.text(run.artifacts[archived.data["artifact_id"]].content_hash) == SKY
