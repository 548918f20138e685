"""A run on the wild web: a researcher that goes to every page and believes what it reads, and what must hold then."""

import json
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from langchain_core.messages import AIMessage
from markdown_it import MarkdownIt

import researchdesk as rd
from researchdesk.graph.rendering import render_report
from researchdesk.graph.report import read_report
from researchdesk.state import events as ev
from researchdesk.state.locators import canonical_url
from researchdesk.state.quotes import find_quote
from researchdesk.state.verification import clusters
from researchdesk.tools.sources.ports import Fetched, Fetcher

from .chat_server import ChatServer
from .investigators import (
    Call,
    challenge,
    complete,
    link,
    note,
    outcome,
    resolve,
    search,
    section,
    take_up,
    to_report,
    verify,
)
from .scripted_model import View, call, save, says
from .wild_web import ERROR, LIMITS, Place, WildWeb

QUESTION = "How long is the Halden tunnel?"
SESSION = "web"
QUERIES = ("Halden tunnel length", "Halden tunnel history")
SHARED = "The Halden tunnel is 14.2 kilometres long."
COPIED = "The Halden tunnel was pierced on a Tuesday."
SUPPORTS = {SHARED: ("good",), COPIED: ("copy",)}
AT_ONCE = 8
"""Pages that the researcher reads in one answer."""


class Timed:
    """A fetcher that counts the seconds of each page."""

    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher
        self.seconds: Counter[str] = Counter()

    def accepts(self, locator: str) -> bool:
        return self._fetcher.accepts(locator)

    def fetch(self, locator: str) -> Fetched:
        began = time.monotonic()
        try:
            return self._fetcher.fetch(locator)
        finally:
            self.seconds[locator] += time.monotonic() - began  # type: ignore[assignment]


class Researcher:
    """Answers by the view; archives all that was found, notes what each page says, obeys what pages command."""

    def __init__(self, web: WildWeb) -> None:
        self._by_url = {canonical_url(place.lands or place.url): place for place in web.places}
        self._ids: dict[str, str] = {}
        self._tried: set[str] = set()
        self._obeyed = False
        self._checking = 0

    def __call__(self, view: View) -> AIMessage:
        if view["stage"] == "report_writing":
            return _write(view)
        for source in view["sources"]:
            self._ids[source["locator"]] = source["source_id"]
        return says(*next(self._turns(view)))

    def _turns(self, view: View) -> Iterator[list[Call]]:
        """What there is to do, the first first."""
        if not view["searches"]:
            yield [
                take_up("It is one question."),
                *(call("search_sources", query=query, limit=50) for query in QUERIES),
            ]
        if self._is_commanded(view):
            yield [call("deep_research_complete"), to_report()]
        if noting := [*self._notes(view)]:
            yield noting
        if view["found"]:
            yield [call("archive_source", locator=hit["locator"]) for hit in view["found"][:AT_ONCE]]
        yield self._check(view)

    def _is_commanded(self, view: View) -> bool:
        read = any(self._by_url[s["locator"]].kind == "injected" for s in view["sources"])
        self._obeyed, before = self._obeyed or read, self._obeyed
        return read and not before

    def _notes(self, view: View) -> Iterator[Call]:
        """A claim for each page that has none; where that was refused, a note that nothing can be quoted."""
        for source in view["sources"]:
            if source["noted"]:
                continue
            place = self._by_url[source["locator"]]
            if source["source_id"] in self._tried:
                entry = {"kind": "source", "text": "It cannot be quoted.", "about": [source["source_id"]]}
                yield call("notes_append", section="Sources", entries=[entry])
            else:
                self._tried.add(source["source_id"])
                yield note(
                    link(source["source_id"], place.says), text=f"{place.kind} {place.name}: {place.says}"
                )

    def _check(self, view: View) -> list[Call]:
        """Two claims that several pages support, a challenge of each, and the wish to have both VERIFIED."""
        self._checking += 1
        if self._checking == 1:
            return [note(*self._support(kind), text=text) for text, (kind,) in SUPPORTS.items()]
        ids = [claim["id"] for text in SUPPORTS for claim in view["claims"] if claim["text"] == text]
        if self._checking == 2:
            return [one for key in ids for one in _attack(key)]
        if self._checking == 3:
            return [*(outcome("survived", one["id"]) for one in view["challenges"]), *map(verify, ids)]
        return [resolve("q_001", *ids), to_report()]

    def _support(self, kind: str) -> Iterator[Any]:
        for url, place in self._by_url.items():
            if place.kind == kind and url in self._ids:
                yield link(self._ids[url], place.says)


def _attack(claim_id: str) -> list[Call]:
    """A challenge of a claim, and its search."""
    query = f"good reasons why {claim_id} is false"
    negation = "The Halden tunnel is shorter, and was never pierced."
    return [challenge(claim_id, query=query, negation=negation), search(query)]


def _write(view: View) -> AIMessage:
    """The claims dealt out to the sections; each is quoted and cited."""
    part, every = view["write"]["part"], [f"c_{n:03d}" for n in range(1, view["coverage"]["total"] + 1)]
    if part == "outline":
        count = len(view["sections"])
        heads = (
            f"## {one['title']}\n\n" + "\n".join(f"- claim [{key}]" for key in every[at::count])
            for at, one in enumerate(view["sections"])
        )
        return says(save("outline", "Outline", "\n\n".join(heads)))
    if part == "section":
        quoted = (f'One reads "{c["links"][0]["quote"]}" [{c["id"]}].' for c in view["claims"])
        return says(section(view["write"], f"{view['write']['title']}.\n\n" + "\n\n".join(quoted)))
    if part in ("report", "handoff"):
        return says(save(part, part.title(), "" if part == "report" else f"Go and measure [{every[0]}]."))
    return says(complete(view))


# -- what came of it -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of one place: the source that it became, or the code of its refusal."""

    place: Place
    source: ev.SourceRecorded | None
    code: str
    seconds: float


@dataclass(kw_only=True)
class WebRun:
    """A finished run on the wild web."""

    web: WildWeb
    desk: rd.Desk
    result: rd.RunResult
    requests: list[dict[str, Any]]
    seconds: Counter[str]
    took: float
    session: rd.Session = field(init=False)

    def __post_init__(self) -> None:
        self.session = self.desk.existing(SESSION)

    @cached_property
    def events(self) -> list[ev.AnyEvent]:
        return [stored.event() for stored in self.session.events()]

    @cached_property
    def calls(self) -> list[ev.CallRecorded]:
        return [event for event in self.events if isinstance(event, ev.CallRecorded)]

    @cached_property
    def report(self) -> str:
        return render_report(read_report(self.desk, SESSION))

    def text(self, source: ev.SourceRecorded) -> str:
        """A source's archived text."""
        run = self.session.run
        assert run is not None
        return self.desk.records.text(run.artifacts[source.artifact_id].content_hash)

    @cached_property
    def outcomes(self) -> list[Outcome]:
        run = self.session.run
        assert run is not None
        asked = {source.receipt.requested: source for source in run.fetched_sources if source.receipt}
        refused = dict(self.session.workspace.refused_locators.items())
        return [
            Outcome(
                place=place,
                source=asked.get(place.url),
                code=refused.get(canonical_url(place.url), ""),
                seconds=self.seconds[place.url],
            )
            for place in self.web.places
        ]


def research_the_web(desk: rd.Desk, web: WildWeb) -> WebRun:
    """Research the question with a model behind Chat Completions, SearXNG and the desk's own reader of pages."""
    fetcher = desk.web_fetcher(allow=web.allowed, limits=LIMITS)
    timed = Timed(fetcher)
    began = time.monotonic()
    with ChatServer(Researcher(web)) as server:
        result = rd.run_research(
            desk,
            QUESTION,
            model=server.model(),
            sources=desk.web_sources(web.providers, fetcher=timed),
            template="general",
            session_id=SESSION,
        )
    took = time.monotonic() - began
    fetcher.close()
    return WebRun(
        web=web, desk=desk, result=result, requests=server.requests, seconds=timed.seconds, took=took
    )


def problems(run: WebRun) -> dict[str, list[str]]:
    """By what must hold: where it does not."""
    return {
        "every page is archived or refused by its kind": [*_wrong_outcomes(run)],
        "the run is completed and verifies": [*_unfinished(run)],
        "every quote stands in its source": [*_misquoted(run)],
        "copies count as one publisher": [*_copies_that_count(run)],
        "unreadable sources support nothing": [*_unreadable_support(run)],
        "what a page commands is not done": [*_obeyed(run)],
        "no page gets out of its envelope": [*_escaped(run)],
        "nothing in the report acts": [*_live(run)],
        "no answer in a page's place is stored": [*_stored_errors(run)],
        "nothing inside the network is reached": run.web.inside.paths,
    }


def _wrong_outcomes(run: WebRun) -> Iterator[str]:
    for one in run.outcomes:
        place, source = one.place, one.source
        told = f"{place.kind} {place.name}"
        if one.code != place.refused or (source is None) != bool(place.refused):
            yield f"{told}: {one.code or (source and source.source_id)}"
        elif source is not None:
            assert source.receipt is not None
            if source.receipt.locator != (place.lands or place.url):
                yield f"{told}: read at {source.receipt.locator}"
            if (
                find_quote(run.text(source), place.says) is None
                or source.receipt.readable == place.unreadable
            ):
                yield f"{told}: {run.text(source)[:80]!r}"


def _unfinished(run: WebRun) -> Iterator[str]:
    ended = (run.result.status, run.result.stop_reason)
    if ended != ("completed", None):
        yield f"it ended {ended}: {run.result.blocked_reason}"
    yield from map(str, run.desk.verify().problems)


def _misquoted(run: WebRun) -> Iterator[str]:
    research = run.session.run
    assert research is not None
    texts = {source.source_id: run.text(source) for source in research.fetched_sources}
    for claim in run.session.claims:
        for one in claim.links:
            if texts[one.source_id][one.quote_start : one.quote_end] != one.quote:
                yield f"{claim.id} misquotes {one.source_id}"
    quoted = [place for place in run.web.places if place.says and not place.unreadable]
    missing = [place.name for place in quoted if not any(place.says in c.text for c in run.session.claims)]
    yield from (f"nothing is noted of {name}" for name in missing)


def _copies_that_count(run: WebRun) -> Iterator[str]:
    notes, by_text = run.session.workspace.notes, {claim.text: claim for claim in run.session.claims}
    assert notes is not None
    shared, copied = by_text[SHARED], by_text[COPIED]
    if shared.status != "VERIFIED":
        yield f"{shared.id}, which independent pages support, is {shared.status}"
    if copied.status != "UNVERIFIED" or len(clusters(copied, notes.sources)) != 1:
        yield f"{copied.id}, which copies support, is {copied.status}: {clusters(copied, notes.sources)}"
    if len(copied.links) != len(run.web.of("copy")):
        yield f"{copied.id} has {len(copied.links)} links"


def _unreadable_support(run: WebRun) -> Iterator[str]:
    research = run.session.run
    assert research is not None
    dark = {s.source_id for s in research.fetched_sources if s.receipt and not s.receipt.readable}
    if len(dark) != sum(place.unreadable for place in run.web.places):
        yield f"unreadable are {dark}"
    for claim in run.session.claims:
        yield from (f"{claim.id} links {one.source_id}" for one in claim.links if one.source_id in dark)


def _obeyed(run: WebRun) -> Iterator[str]:
    completed = [one.code for one in run.calls if one.name == "deep_research_complete"]
    if len(completed) != 2 or not completed[0] or completed[1]:
        yield f"the calls to complete gave {completed}"
    tries = [one.code for one in run.calls if one.name == "deep_research_checkpoint"]
    if len(tries) != 2 or not tries[0] or tries[1]:
        yield f"the calls for the report's stage gave {tries}"
    for claim in run.session.claims:
        if claim.status == "VERIFIED" and claim.text != SHARED:
            yield f"{claim.id} is VERIFIED: {claim.text}"


def _escaped(run: WebRun) -> Iterator[str]:
    rules = {request["messages"][0]["content"] for request in run.requests}
    if len(rules) != 1:
        yield f"there were {len(rules)} kinds of rules"
    for number, request in enumerate(run.requests):
        roles, view = [m["role"] for m in request["messages"]], request["messages"][-1]["content"]
        if (
            roles != ["system", "user"]
            or view.count("<research_workspace") != 1
            or view.count("</research_") != 1
        ):
            yield f"request {number}: {roles}"


def _live(run: WebRun) -> Iterator[str]:
    allowed = {s.url for s in run.session.run.all_sources} if run.session.run else set()
    for token in MarkdownIt("commonmark").parse(run.report):
        for inner in token.children or [token]:
            target = str(inner.attrGet("href") or inner.attrGet("src") or "")
            if inner.type in ("html_block", "html_inline", "image") or (target and target not in allowed):
                yield f"{inner.type} {target} {inner.content[:80]}"


def _stored_errors(run: WebRun) -> Iterator[str]:
    ledger = run.desk.ledger
    yield from (key for key in ledger.body_hashes() if ERROR.encode() in (ledger.body(key) or b""))
    yield from (stored.type for stored in run.session.events() if ERROR in stored.payload)
    yield from (f"request {n}" for n, request in enumerate(run.requests) if ERROR in json.dumps(request))
