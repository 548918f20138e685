"""Investigations that once broke: whatever stands in notes, questions and pages, a run goes on and leaves a report."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import researchdesk as rd
from researchdesk.graph import upkeep
from researchdesk.graph.rendering import render_report
from researchdesk.graph.report import read_report
from researchdesk.state import events as ev
from researchdesk.state.limits import CALLS_PER_TURN
from researchdesk.tools.door import Session
from researchdesk.tools.sources.gathering import Sources
from researchdesk.tools.sources.ports import Fetched, SearchFailed, SearchOutcome
from researchdesk.tools.sources.scripted import Page

from .investigators import (
    ALPS,
    ALPS_QUOTE,
    COPY,
    NEGATION,
    ROADS,
    ROADS_QUOTE,
    archive,
    ask,
    challenge,
    investigate,
    link,
    note,
    player,
    search,
    take_up,
    web,
)
from .scripted_model import call

TITLED = "https://titled.org/"
OLD = "https://old.org/"
LOOSE = {"kind": "claim", "text": "It is high.", "links": []}


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[rd.Desk]:
    monkeypatch.setattr(upkeep, "BACKOFF_SECONDS", 0.0)
    with rd.open_desk(tmp_path / "home") as opened:
        yield opened


def codes(desk: rd.Desk, tool: str) -> list[str]:
    """The code of each call of a tool; empty where it worked."""
    events = [stored.event() for stored in desk.existing("s").events()]
    return [event.code for event in events if isinstance(event, ev.CallRecorded) and event.name == tool]


HOSTILE_WORDS = {
    "a claim quotes what stands nowhere": note(text='Engineers call it "the queen of all bridges".'),
    "a claim quotes in single marks": note(text="It is ‘the queen of all the bridges’ since 1963."),
    "a claim cites what is not there": note(text="It is high [c_999], or so they say [s_999]."),
    "a claim is several blocks": note(text="It is high.\n\n> A quotation of nobody at all\n\n## A heading"),
    "a claim has no source": call("notes_append", section="Unverified", entries=[LOOSE]),
    "a question cites what is not there": ask("What does [s_999] say?"),
    "a page's title quotes": archive(TITLED)[0],
}


@pytest.mark.parametrize("hostile", HOSTILE_WORDS)
def test_a_model_that_falls_silent_leaves_a_report_whatever_words_stand_in_its_notes(
    desk: rd.Desk, hostile: str
) -> None:
    page = Page(text="A page on bridges of the world.", title='Why "the highest bridge" is none')
    model = player([search(), *archive(ALPS, ROADS)], [note(), HOSTILE_WORDS[hostile]])
    ended = investigate(desk, model, web(pages={TITLED: page}))
    assert (ended.status, ended.stop_reason) == ("completed", "no_progress")
    assert ALPS_QUOTE in render_report(read_report(desk, "s"))
    assert desk.verify().problems == ()


def test_an_objective_that_quotes_and_cites_is_written_about_by_code(desk: rd.Desk) -> None:
    source = web()
    ended = rd.run_research(
        desk,
        'What does [s_999] mean by "the queen of all bridges"?',
        model=player([search(), *archive(ALPS, ROADS)], [note()]),
        sources=Sources(providers=(source,), fetchers=(source,)),
        scope="quick",
        template="general",
        session_id="s",
    )
    assert (ended.status, ended.stop_reason) == ("completed", "no_progress")


@pytest.mark.parametrize(
    ("quote", "value"),
    [
        ("there were ſeven bridges", "7"),
        ("of them fıve stood", "5"),
        ("weighed 1e9999999 tons", "3"),
        ("there were ſeven bridges", "1e-99999999"),
    ],
)
def test_a_number_that_cannot_be_read_is_refused_and_the_run_goes_on(
    desk: rd.Desk, quote: str, value: str
) -> None:
    old = Page(
        text="In that yeare there were ſeven bridges, of them fıve stood, which weighed 1e9999999 tons."
    )
    figure = note(link("s_002", quote), text="It is counted.", claim_kind="figure", value=value)
    ended = investigate(
        desk, player([search(), *archive(ALPS, OLD)], [figure], [note()]), web(pages={OLD: old})
    )
    assert codes(desk, "notes_append") == ["figure_not_quoted", ""]
    assert ended.status == "completed"


def test_the_next_question_is_found_among_very_many_that_wait_for_each_other(desk: rd.Desk) -> None:
    """A hundred in pairs, each of which waits for both of the pair before, wait along 2^49 paths."""

    def waiting(number: int) -> dict[str, Any]:
        layer = number // 2
        before = [f"q_{2 * layer:03d}", f"q_{2 * layer + 1:03d}"] if layer else ["q_001"]
        return ask(f"What is known of bridge number {number}?", depends_on=before)

    asked = [waiting(number) for number in range(6 * CALLS_PER_TURN)]
    turns = [asked[start : start + CALLS_PER_TURN] for start in range(0, len(asked), CALLS_PER_TURN)]
    investigate(desk, player([search(), *archive(ALPS)], *turns, [take_up()]), scope="deep")
    frontier = desk.existing("s").frontier
    assert len(frontier.questions) == 1 + len(asked)
    assert codes(desk, "frontier_next") == [""]
    assert frontier.current_id == ""


# -- killed ------------------------------------------------------------------------------------------------------


class Killed(BaseException):
    """Stands for the end of the process."""


def killed_at(desk: rd.Desk, times: int, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """Let the desk's process end before a call of code is recorded for the ``times``-th time."""
    commit, seen = Session.call, [0]

    def call_or_die(self: Session, name: str, *rest: Any, **more: Any) -> Any:
        seen[0] += more["tool_call_id"].startswith("code:") and name == kind
        if seen[0] == times:
            monkeypatch.setattr(Session, "call", commit)
            raise Killed
        return commit(self, name, *rest, **more)

    monkeypatch.setattr(Session, "call", call_or_die)


NOTES = (
    note(link("s_002", ROADS_QUOTE), text="The deck is high."),
    note(link("s_001", "six lanes carry the motorway"), text="It has six lanes."),
)
LIMITED = SearchFailed("search_rate_limited", "Too many requests.", transient=False)
DOUBTED = ([search(), *archive(ALPS, ROADS)], [note(), *NOTES], [challenge(), search(NEGATION)])


@pytest.mark.parametrize(
    ("kind", "times"),
    [
        ("search_sources", 1),
        ("search_sources", 2),
        *(("deep_research_save_artifact", n) for n in range(1, 7)),
    ],
)
def test_a_run_that_dies_while_code_searches_again_or_closes_it_ends_as_it_would_have(
    desk: rd.Desk, monkeypatch: pytest.MonkeyPatch, kind: str, times: int
) -> None:
    source = web(searches={NEGATION: LIMITED})
    sources = Sources(providers=(source,), fetchers=(source,))
    investigate(desk, player(*DOUBTED), source, session_id="whole")
    model = player(*DOUBTED)
    killed_at(desk, times, monkeypatch, kind)
    with pytest.raises(Killed):
        investigate(desk, model, source)
    ended = rd.resume_research(desk, "s", model=model, sources=sources)
    assert ended.status == "completed"
    whole, again = (desk.existing(key) for key in ("whole", "s"))
    assert (again.frontier, again.challenges) == (whole.frontier, whole.challenges)
    written = [
        [(a.name, a.content_hash) for a in s.run.by_role("report_section")] for s in (whole, again) if s.run
    ]
    assert written[0] == written[1]
    assert desk.ledger.query("SELECT * FROM gathered") == []
    assert desk.verify().problems == ()


def test_a_reader_and_a_provider_that_break_cost_their_own_calls_alone(
    desk: rd.Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = web()
    read, find = source.fetch, source.search

    def fetch(locator: str) -> Fetched:
        if locator == ROADS:
            raise RuntimeError("no such thing")
        return read(locator)

    def look(query: str, *, limit: int) -> SearchOutcome:
        if query == NEGATION:
            raise KeyError("results")
        return find(query, limit=limit)

    monkeypatch.setattr(source, "fetch", fetch)
    monkeypatch.setattr(source, "search", look)
    ended = investigate(
        desk, player([search(), search(NEGATION), *archive(ALPS, ROADS, COPY)], [note()]), source
    )
    assert ended.status == "completed"
    assert codes(desk, "search_sources") == ["", "search_unavailable"]
    assert codes(desk, "archive_source") == ["", "fetch_unreadable", ""]
    tried = desk.existing("s").frontier.attempts.values()
    assert {a.query: a.cause for a in tried if a.cause} == {
        NEGATION: "infrastructure",
        ROADS: "infrastructure",
    }
