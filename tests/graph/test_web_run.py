"""A whole research of a web most of whose pages are moved, blocked, broken, foreign or hostile."""

import contextlib
from collections import Counter
from collections.abc import Iterator

import pytest

import researchdesk as rd
from researchdesk.graph import upkeep
from researchdesk.state.locators import canonical_url
from researchdesk.tools.sources import gathering

from .web_researcher import WebRun, problems, research_the_web
from .wild_web import wild_web


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebRun]:
    """The run, once for all tests; nobody waits between two tries."""
    with contextlib.ExitStack() as stack:
        try:
            web = stack.enter_context(wild_web())
        except OSError as problem:
            pytest.skip(f"the loopback has one address only: {problem}")
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setattr(gathering._patiently, "sleep", lambda seconds: None)
        patch.setattr(upkeep, "BACKOFF_SECONDS", 0.0)
        desk = stack.enter_context(rd.open_desk(tmp_path_factory.mktemp("web") / "home"))
        yield research_the_web(desk, web)


def test_whatever_the_web_sends_the_run_ends_in_a_report_that_holds(run: WebRun) -> None:
    assert {rule: found for rule, found in problems(run).items() if found} == {}


def test_each_page_is_asked_for_as_often_as_trying_again_may_help(run: WebRun) -> None:
    asked = Counter(server.url(path) for server in run.web.servers.values() for path in server.paths)
    tries = {place.name: asked[place.url] for place in run.web.places}
    expected = {
        "one": 1,
        "busy once": 2,
        "303": 1,
        "403": 1,
        "404": 1,
        "a drip": 1,
        "500": 3,
        "half a page": 3,
    }
    assert {name: tries[name] for name in expected} == expected


def test_what_broke_on_the_way_to_a_page_says_nothing_of_it(run: WebRun) -> None:
    frontier = run.session.frontier
    assert frontier is not None
    causes = {
        attempt.query: attempt.cause for attempt in frontier.attempts.values() if attempt.kind == "fetch"
    }
    told = {place.name: causes[canonical_url(place.url)] for place in run.web.places if place.refused}
    broken = {name for name, cause in told.items() if cause == "infrastructure"}
    ways = [place.name for kind in ("blocked", "slow", "broken") for place in run.web.of(kind)]
    assert broken == {*ways} - {"a broken packing"}
